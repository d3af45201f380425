import Database from 'better-sqlite3';

/**
 * A source database could not be opened or read; the message names the file's problem, not the
 * library's.
 */
export class SourceError extends Error {
  constructor(
    readonly code: 'busy' | 'corrupt' | 'encrypted_or_not_sqlite' | 'missing' | 'unreadable',
    message: string,
  ) {
    super(message);
  }
}

/**
 * Opens a source database read-only. The file is hostile input: its views and triggers may not call
 * functions with side effects (`trusted_schema`), nothing can be written (`query_only`), and
 * integers stay exact.
 */
export function openSource(path: string): Database.Database {
  let sqlite: Database.Database;
  try {
    sqlite = new Database(path, { readonly: true, fileMustExist: true });
  } catch (error) {
    throw sourceError(path, error);
  }
  try {
    sqlite.pragma('trusted_schema = OFF');
    sqlite.pragma('query_only = ON');
    sqlite.pragma('cell_size_check = ON');
    sqlite.prepare('SELECT count(*) FROM sqlite_schema').get();
    sqlite.defaultSafeIntegers(true);
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw sourceError(path, error);
  }
}

/**
 * Reads every page; throws `SourceError` when the file is damaged. Takes about as long as reading
 * the file.
 */
export function assertIntact(sqlite: Database.Database, path: string): void {
  let findings: string[];
  try {
    findings = (sqlite.pragma('quick_check(5)') as unknown[]).map((row) =>
      String(Object.values(row as object)[0]),
    );
  } catch (error) {
    throw sourceError(path, error);
  }
  if (findings.length !== 1 || findings[0] !== 'ok') {
    // Constraint findings (NULL in a NOT NULL column) are the data's affair, not damage.
    const damage = findings.filter(
      (finding) =>
        !/NULL value in|CHECK constraint|non-unique|missing from index/i.test(finding) &&
        finding !== 'ok',
    );
    if (damage.length > 0)
      throw new SourceError(
        'corrupt',
        'the database file is damaged ' +
          `(${damage[0]!.replace(/\*{3} in database main \*{3}\s*/, '').split('\n')[0]})`,
      );
  }
}

const OUTAGES = new Set([
  'SQLITE_FULL',
  'SQLITE_NOMEM',
  'ENOSPC',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
]);

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/**
 * True where this machine lacks something (disk, memory, file handles): that says nothing of the
 * file.
 */
export const lacksResource = (error: unknown): boolean => OUTAGES.has(codeOf(error));

/** What a failed access to the file at `path` means; an outage stays what it is. */
export function sourceError(path: string, error: unknown): unknown {
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof SourceError || lacksResource(error)) return error;
  if (code === 'SQLITE_NOTADB')
    return new SourceError(
      'encrypted_or_not_sqlite',
      'the file is not an SQLite database, or it is encrypted',
    );
  if (code === 'SQLITE_CORRUPT')
    return new SourceError('corrupt', `the database file is damaged: ${text}`);
  if (
    code === 'SQLITE_CANTOPEN' ||
    code === 'ENOENT' ||
    code === 'EACCES' ||
    /does not exist/.test(text)
  )
    return new SourceError('missing', `there is no readable file at ${path}`);
  return new SourceError('unreadable', `the database cannot be read: ${text}`);
}
