import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { SourceError, sourceError } from '../open';

export interface SourceCopy {
  readonly path: string;
  /** Of the copy: a file without committed changes beside it keeps the hash of its own bytes. */
  readonly sha256: string;
  readonly bytes: number;
}

// What SQLite keeps beside a database. The -shm file is only an index of the -wal file.
const SIDE_FILES = ['-wal', '-journal'] as const;
const ATTEMPTS = 5;
const PAUSE_MS = 300;
// Coarser than the time stamps of any file system: a file that is older was not written meanwhile.
const SETTLED_MS = 10_000;

/**
 * Copies a source database with the files beside it into `target` and completes it there as SQLite
 * would: an interrupted transaction is rolled back, a -wal file is checkpointed. Equal files give
 * equal bytes. The source is only read as a file, since opening it in SQLite can create files
 * beside it. Throws `SourceError`.
 */
export async function copySource(file: string, target: string): Promise<SourceCopy> {
  fs.mkdirSync(path.dirname(target), { recursive: true });
  await copyFiles(file, target);
  complete(target);
  return { path: target, ...(await hashFile(target)) };
}

/**
 * The files as they were at one moment. Where they may be written meanwhile they are read twice: if
 * both readings are equal, all of it was there between them, and SQLite can recover what another
 * process left at any moment.
 */
async function copyFiles(file: string, target: string): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt > 1) await sleep(PAUSE_MS);
    try {
      const before = states(file);
      const present = [...before.keys()];
      for (const suffix of ['', ...SIDE_FILES]) fs.rmSync(target + suffix, { force: true });
      for (const suffix of present) await copyFile(file + suffix, target + suffix);
      const isSettled = [...before.values()].every(
        ({ mtimeMs }) => Date.now() - mtimeMs > SETTLED_MS,
      );
      const isSame = isSettled || (await equalFiles(file, target, present));
      if (isSame && describeStates(before) === describeStates(states(file))) return;
    } catch (error) {
      // A -wal or -journal file that was removed meanwhile: the writer has just finished.
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT' && fs.existsSync(file);
      if (!isGone) throw sourceError(file, error);
    }
  }
  throw new SourceError(
    'busy',
    'the database is being written: it changed during each of ' +
      `${ATTEMPTS} attempts to copy it. Stop the program that writes it, or make a copy of ` +
      'it first',
  );
}

async function copyFile(from: string, to: string): Promise<void> {
  await fs.promises.copyFile(from, to, fs.constants.COPYFILE_FICLONE);
  // A file from read-only media keeps its mode, and SQLite has to write to its copy.
  fs.chmodSync(to, 0o600);
}

/** The database and the files beside it that are not empty, by suffix. */
function states(file: string): Map<string, fs.Stats> {
  const found = new Map([['', fs.statSync(file)]]);
  for (const suffix of SIDE_FILES) {
    const state = fs.statSync(file + suffix, { throwIfNoEntry: false });
    if (state && state.size > 0) found.set(suffix, state);
  }
  return found;
}

const describeStates = (found: ReadonlyMap<string, fs.Stats>): string =>
  JSON.stringify(
    [...found].map(([suffix, { ino, size, mtimeMs }]) => [suffix, ino, size, mtimeMs]),
  );

async function equalFiles(
  file: string,
  copy: string,
  suffixes: readonly string[],
): Promise<boolean> {
  for (const suffix of suffixes) {
    const [now, copied] = [await hashFile(file + suffix), await hashFile(copy + suffix)];
    if (now.sha256 !== copied.sha256) return false;
  }
  return true;
}

/** Recovers the copy where there is something to recover; else its bytes stay as they are. */
function complete(copy: string): void {
  if (!SIDE_FILES.some((suffix) => fs.existsSync(copy + suffix))) return;
  let sqlite: Database.Database | undefined;
  try {
    sqlite = new Database(copy, { fileMustExist: true });
    sqlite.pragma('trusted_schema = OFF');
    // rolls a journal back, reads a -wal file
    sqlite.prepare('SELECT count(*) FROM sqlite_schema').get();
    sqlite.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    throw sourceError(copy, error);
  } finally {
    sqlite?.close();
  }
  for (const suffix of [...SIDE_FILES, '-shm']) fs.rmSync(copy + suffix, { force: true });
}

async function hashFile(file: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of fs.createReadStream(file, { highWaterMark: 1 << 20 })) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { sha256: hash.digest('hex'), bytes };
}
