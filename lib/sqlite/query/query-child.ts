import type Database from 'better-sqlite3';
import { endBeyondMemory } from './memory-watch';
import { openSource } from '../open';
import type { QueryErrorKind, QueryReply, QueryRequest } from './query-process';

/**
 * The process in which foreign SQL runs: its parent kills it when a query takes too long, and it
 * ends itself when a query takes too much memory (its first argument, in bytes).
 */
endBeyondMemory(Number(process.argv[2]));

const opened = new Map<string, Database.Database>();

function openOnce(file: string): Database.Database {
  let sqlite = opened.get(file);
  if (!sqlite) {
    sqlite = openSource(file);
    sqlite.pragma('temp_store = MEMORY');
    opened.set(file, sqlite);
  }
  return sqlite;
}

const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  return value instanceof Uint8Array ? value.length : 8;
};

function run(request: QueryRequest): QueryReply {
  const { id } = request;
  try {
    const sqlite = openOnce(request.file);
    // Decides how a statement is compiled.
    sqlite.pragma(`reverse_unordered_selects = ${request.isReversed ? 'ON' : 'OFF'}`);
    const statement = sqlite.prepare(request.sql);
    if (!statement.reader || !statement.readonly)
      return { id, error: { kind: 'forbidden', message: 'only queries are run here' } };
    const columns = statement.columns().map((column) => column.name);
    const rows: unknown[][] = [];
    let bytes = 0;
    let more = false;
    for (const row of statement.raw().safeIntegers().iterate() as Iterable<unknown[]>) {
      if (rows.length >= request.maxRows) {
        more = true;
        break;
      }
      for (const value of row) bytes += bytesOf(value);
      if (bytes > request.maxBytes)
        return {
          id,
          error: {
            kind: 'too_large',
            message: `the result is larger than ${request.maxBytes} bytes`,
          },
        };
      rows.push(row);
    }
    return { id, columns, rows, more };
  } catch (error) {
    return {
      id,
      error: {
        kind: kindOf(error),
        message: error instanceof Error ? error.message : String(error),
      },
    };
  }
}

/** What this machine lacks is no complaint about the query. */
function kindOf(error: unknown): QueryErrorKind {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'SQLITE_NOMEM') return 'memory';
  return code === 'SQLITE_FULL' || code.startsWith('SQLITE_IOERR') ? 'disk' : 'error';
}

process.on('message', (request: QueryRequest) => {
  process.send?.(run(request));
});
// The parent is gone: nobody waits for an answer.
process.on('disconnect', () => process.exit(0));
