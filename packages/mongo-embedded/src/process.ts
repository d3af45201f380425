import { parseArgs } from 'node:util';
import { FolderInUse, serveFolder, type OwnedServer } from './serve-folder';

/**
 * The child process that `start` spawns: `--data folder --port n`. Its first line of output is
 * JSON, `{ uri }` or `{ error, busy }`.
 */

const BUSY_EXIT = 3;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { data: { type: 'string' }, port: { type: 'string' } } });
  const dataDir = values.data;
  if (!dataDir) throw new Error('--data is missing');
  let server: OwnedServer;
  try {
    server = await serveFolder(dataDir, Number(values.port ?? 0));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const busy = error instanceof FolderInUse;
    process.stdout.write(`${JSON.stringify({ error: message, busy })}\n`);
    process.exitCode = busy ? BUSY_EXIT : 1;
    return;
  }
  let closing = false;
  const stop = (): void => {
    if (closing) return;
    closing = true;
    void server.close().finally(() => process.exit(0));
  };
  // The owner holds the other end: it closes when the owner ends, however it ends.
  process.stdin.on('end', stop).on('close', stop).on('error', stop).resume();
  process.on('SIGTERM', stop).on('SIGINT', () => undefined);
  process.stdout.on('error', stop);
  // a message is lost, on a full disk; the data is served
  process.stderr.on('error', () => undefined);
  process.stdout.write(`${JSON.stringify({ uri: server.uri })}\n`);
}

await main();
