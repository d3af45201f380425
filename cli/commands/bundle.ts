import { parseArgs } from 'node:util';
import { exportBundle } from '../../lib/bundle/export';
import { ensureGeneratedClient } from '../../lib/db/migrate';
import { UsageError, type Command } from '../command';
import { openMongo } from '../mongo-connection';
import { ProgressLine } from '../progress';
import { toolVersion } from '../tool-version';

export const command: Command = {
  summary: 'export the bundle of a benchmark',
  help: `usage: npm run aptmql -- bundle <benchmark> --out <folder> [options]

Refuses, naming what is missing, unless every source database is finalised and gold scores 1.0 on
the bytes that ship.

  --out DIR            where the bundle goes (an empty folder, or an earlier bundle)
  --draft              take what there is; the bundle is marked DRAFT and lists what is missing
  --json               print the outcome as JSON

Exit status: 0 when the bundle was written.`,

  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { out: { type: 'string' }, draft: { type: 'boolean' }, json: { type: 'boolean' } },
    });
    const [name, ...more] = positionals;
    if (!name || more.length > 0) throw new UsageError('give one benchmark by its name');
    if (!values.out) throw new UsageError('--out is missing');
    await ensureGeneratedClient();
    const { openStores } = await import('../services');
    const { bundleContent } = await import('../../lib/releases/bundle-content');
    const { sharedSigningKey } = await import('../../lib/releases/signing-key');
    const stores = await openStores();
    const progress = new ProgressLine();
    const stopped = new AbortController();
    const stop = () => stopped.abort(new Error('cancelled'));
    process.once('SIGINT', stop).once('SIGTERM', stop);
    try {
      const { config, db, blobs } = stores;
      const benchmark = await db.prisma.benchmark.findUnique({ where: { name } });
      if (!benchmark) throw new UsageError(`there is no benchmark "${name}"`);
      const mongo = await openMongo(config.mongodbUri, config.dataDir);
      try {
        const content = await bundleContent(
          { db, blobs, mongo: mongo.client, toolVersion: toolVersion() },
          benchmark.id,
          values.draft ?? false,
        );
        await exportBundle(content, {
          out: values.out,
          mongo: mongo.client,
          key: await sharedSigningKey(db, config.dataDir),
          signal: stopped.signal,
          onProgress: (done, total, what) =>
            progress.bar(`writing ${what}`, done, total, 'databases'),
        });
        progress.clear();
        if (values.json)
          console.log(
            JSON.stringify({
              out: values.out,
              draft: content.missing !== undefined,
              missing: content.missing ?? [],
            }),
          );
        else console.log(`${content.missing ? 'draft bundle' : 'bundle'}: ${values.out}`);
        return 0;
      } finally {
        await mongo.close();
      }
    } finally {
      progress.clear();
      process.off('SIGINT', stop).off('SIGTERM', stop);
      await stores.close();
    }
  },
};
