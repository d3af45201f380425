import Database from 'better-sqlite3';

/**
 * A lock that one process on this machine holds at a time. The operating system gives it up when
 * the process ends, even by kill -9, so that no stale lock has to be guessed at. (It is SQLite's
 * exclusive lock on an empty database, because Node offers no file lock of its own.)
 */
export interface OwnerLock {
  release(): void;
}

/** The lock, or undefined while another process holds it. */
export function tryOwnerLock(file: string): OwnerLock | undefined {
  const lock = new Database(file, { timeout: 0 });
  try {
    lock.pragma('journal_mode = delete');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      return undefined;
    throw error;
  }
  return { release: () => lock.close() };
}
