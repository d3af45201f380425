import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { serveFolder } from './serve-folder';

const HELP = `usage: mongo-embedded [--port n] [--data-dir folder]

Serves a data folder in the foreground and prints the connection URI when it is ready. SIGINT
(Ctrl-C) and SIGTERM stop it.

  --port n           port on the loopback interface (default: a free one)
  --data-dir folder  where the data is kept (default: an empty temporary folder, removed at the end)
  --help             print this help`;

class UsageError extends Error {}

interface Arguments {
  readonly port: number;
  readonly dataDir: string | undefined;
  readonly help: boolean;
}

export function parseArguments(args: readonly string[]): Arguments {
  let values: { port?: string; 'data-dir'?: string; help?: boolean };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        'data-dir': { type: 'string' },
        help: { type: 'boolean' },
      },
    }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const port = values.port ?? '0';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
    throw new UsageError(`--port must be an integer between 0 and 65535, not '${port}'`);
  const dataDir = values['data-dir'];
  if (dataDir === '') throw new UsageError('--data-dir must name a folder');
  return { port: Number(port), dataDir, help: values.help === true };
}

async function serve({ port, dataDir }: Arguments): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    // Not `once`: a terminal and npx both send the signal, and the second must not end the process
    // while it closes the server.
    process.on('SIGINT', resolve).on('SIGTERM', resolve);
  });
  const folder = dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-'));
  try {
    const server = await serveFolder(folder, port);
    console.log(server.uri);
    await stopped;
    await server.close();
  } finally {
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Exit status 1 when the server cannot start, 2 for wrong arguments. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const options = parseArguments(args);
    if (options.help) console.log(HELP);
    else await serve(options);
    process.exit(0);
  } catch (error) {
    console.error(`mongo-embedded: ${error instanceof Error ? error.message : String(error)}`);
    if (error instanceof UsageError) console.error('See mongo-embedded --help.');
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}
