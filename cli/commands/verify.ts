import { parseArgs } from 'node:util';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { verifyBundle, type Verification } from '../../lib/bundle/verify';
import { UsageError, type Command } from '../command';
import { openMongo } from '../mongo-connection';
import { ProgressLine } from '../progress';
import { throughOutages } from '../through-outages';

export const command: Command = {
  summary: 'check a bundle: hashes, signature, restore, gold = 1.0',
  help: `usage: npm run aptmql -- verify <bundle> [options]

Checks every file against MANIFEST.json and SHA256SUMS and the manifest's signature, restores the
databases into an empty MongoDB, runs all gold and compares it with the expected results.

  --public-key KEY     the publisher's public key (base64); without it the one that
                       MANIFEST.json names is used, which proves no more than that nothing was damaged
  --uri URI            a MongoDB to restore into (default: MONGODB_URI, else a fresh embedded server)
  --json               print the findings as JSON

Exit status: 0 when everything holds, 1 otherwise.`,

  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        'public-key': { type: 'string' },
        uri: { type: 'string' },
        json: { type: 'boolean' },
      },
    });
    const [folder, ...more] = positionals;
    if (!folder || more.length > 0) throw new UsageError('give one bundle folder');
    const progress = new ProgressLine();
    // A server of its own: verifying needs nothing of an installation and leaves nothing behind.
    const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-verify-'));
    const mongo = await openMongo(values.uri ?? process.env.MONGODB_URI, scratch);
    try {
      const { signal } = new AbortController();
      const verifyAll = (): Promise<Verification> =>
        verifyBundle(folder, {
          mongo: mongo.client,
          ...(values['public-key'] ? { publicKey: values['public-key'] } : {}),
          signal,
          onProgress: (done, total, what) =>
            progress.bar(`verifying ${what}`, done, total, 'databases'),
        });
      const found = await throughOutages(mongo.client, signal, verifyAll, (message) => {
        progress.clear();
        console.error(`it is verified again when MongoDB is back: ${message}`);
      });
      progress.clear();
      if (values.json) console.log(JSON.stringify(found));
      else {
        for (const problem of found.problems.slice(0, 100)) console.log(`  ${problem}`);
        const score =
          found.gold === 0 ? 'no gold' : ((found.equal + found.ties) / found.gold).toFixed(4);
        const ties = found.ties
          ? ` and ${found.ties} with other rows where the SQL leaves them open`
          : '';
        console.log(
          `${found.draft ? 'DRAFT bundle: ' : ''}${found.files} files, ${found.databases} ` +
            `databases restored, gold ${found.equal} equal${ties} of ${found.gold}: ${score}`,
        );
        if (found.key.from === 'bundle')
          console.log(
            `signed with ${found.key.publicKey}, the key that the bundle itself names: give ` +
              `--public-key to know that it is the publisher's`,
          );
        console.log(
          found.problems.length === 0
            ? 'verified'
            : `NOT verified: ${found.problems.length} problems`,
        );
      }
      return found.problems.length === 0 ? 0 : 1;
    } finally {
      progress.clear();
      await mongo.close();
      fs.rmSync(scratch, { recursive: true, force: true });
    }
  },
};
