import path from 'node:path';
import { parseArgs } from 'node:util';
import { serveFolder } from 'mongo-embedded/serve-folder';
import { UsageError, type Command } from '../command';

export const command: Command = {
  summary: 'the embedded MongoDB-compatible server alone, in the foreground',
  help: `usage: npm run aptmql -- mongo [--port n] [--data dir] [--json]

Serves a data folder until it is interrupted, and prints the URI to connect to when it is ready.

  --port n     port on the loopback interface (default: a free one)
  --data dir   data folder (default: mongo/ in APTMQL_DATA, or .data/mongo)
  --json       print {"uri": …} instead of the bare URI`,
  async run(args) {
    const { values } = parseArgs({
      args,
      options: { port: { type: 'string' }, data: { type: 'string' }, json: { type: 'boolean' } },
    });
    const port = Number(values.port ?? 0);
    if (!Number.isInteger(port) || port < 0 || port > 65535)
      throw new UsageError(`--port must be between 0 and 65535, not ${values.port}`);
    const dataDir = values.data ?? path.join(process.env.APTMQL_DATA ?? '.data', 'mongo');
    const server = await serveFolder(dataDir, port);
    console.log(values.json ? JSON.stringify({ uri: server.uri }) : server.uri);
    await new Promise<void>((resolve) => {
      // Not `once`: npm sends the signal a second time, which must not end us while we close.
      process.on('SIGINT', resolve).on('SIGTERM', resolve);
    });
    await server.close();
    return 0;
  },
};
