import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import Database from 'better-sqlite3';
import { DISCOVERY_FILE } from './discovery-file';
import { makeCredential } from './wire/scram';
import { startServer, type RunningServer } from './wire/server';

/** The server in this process, one for each data folder; a discovery file tells others its URI. */

const USER = 'embedded';

/** Another process serves this data folder. */
export class FolderInUse extends Error {}

/** Held while the process runs; the operating system releases it however the process ends. */
function lockFolder(dataDir: string): Database.Database {
  const file = path.join(dataDir, 'lock.sqlite');
  const lock = new Database(file);
  try {
    lock.pragma('busy_timeout = 0');
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec(
      'BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS owner(pid INTEGER); DELETE FROM owner; COMMIT',
    );
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')) {
      throw new FolderInUse(`the data folder ${dataDir} is served by another process`);
    }
    throw error;
  }
}

function password(dataDir: string): string {
  const file = path.join(dataDir, 'credential');
  if (existsSync(file)) {
    const stored = readFileSync(file, 'utf8').trim();
    if (/^[0-9a-f]{32,}$/.test(stored)) return stored;
  }
  const made = randomBytes(24).toString('hex');
  writeFileSync(file, `${made}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return made;
}

export interface OwnedServer {
  readonly uri: string;
  close(): Promise<void>;
}

/**
 * Serves a data folder. Throws `FolderInUse`, or an error that names the folder or port in the way.
 */
export async function serveFolder(dataDir: string, port: number): Promise<OwnedServer> {
  const folder = path.resolve(dataDir);
  let lock: Database.Database;
  let secret: string;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    lock = lockFolder(folder);
    secret = password(folder);
  } catch (error) {
    if (error instanceof FolderInUse) throw error;
    throw new Error(
      `the data folder ${folder} cannot be used: ` +
        `${error instanceof Error ? error.message : String(error)}`,
    );
  }
  let server: RunningServer;
  try {
    server = await startServer({
      file: path.join(folder, 'data.sqlite'),
      port,
      credential: makeCredential(USER, secret),
    });
  } catch (error) {
    lock.close();
    throw error;
  }
  const options = 'authSource=admin&authMechanism=SCRAM-SHA-256&directConnection=true';
  const uri = `mongodb://${USER}:${secret}@127.0.0.1:${server.port}/?${options}`;
  const discovery = path.join(folder, DISCOVERY_FILE);
  // Renamed into place, so that nobody reads half of it.
  writeFileSync(`${discovery}.new`, JSON.stringify({ pid: process.pid, port: server.port, uri }), {
    mode: 0o600,
  });
  renameSync(`${discovery}.new`, discovery);
  return {
    uri,
    close: async () => {
      rmSync(discovery, { force: true });
      await server.close();
      lock.close();
    },
  };
}
