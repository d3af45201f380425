import type { Catalog } from '../catalog';
import { tryReadSql } from './read-sql';

/**
 * Gold SQL as better-sqlite3 accepts it: `"text"` that names nothing becomes `'text'`, because that
 * build refuses SQLite's double-quoted strings. Everything else stays as it was written; SQL that
 * cannot be bound is returned unchanged, so that running it gives SQLite's own error.
 */
export function runnableSql(sql: string, catalog: Catalog): string {
  const strings = tryReadSql(sql, catalog)?.binding.strings ?? [];
  return [...strings]
    .sort((a, b) => b.start - a.start)
    .reduce(
      (text, { start, end, value }) =>
        `${text.slice(0, start)}'${value.replaceAll("'", "''")}'${text.slice(end)}`,
      sql,
    );
}
