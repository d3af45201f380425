import type { Catalog } from '../catalog';
import { bindSelect } from './bind';
import { SqlBindError } from './bind-error';
import { parseSelect } from './parse-select';
import { SqlSyntaxError } from './syntax-error';

/**
 * Gold SQL as better-sqlite3 accepts it: `"text"` that names nothing becomes `'text'`, because that
 * build refuses SQLite's double-quoted strings. Everything else stays as it was written; SQL that
 * cannot be bound is returned unchanged, so that running it gives SQLite's own error.
 */
export function runnableSql(sql: string, catalog: Catalog): string {
  try {
    const { strings } = bindSelect(parseSelect(sql), catalog);
    return [...strings]
      .sort((a, b) => b.start - a.start)
      .reduce(
        (text, { start, end, value }) =>
          `${text.slice(0, start)}'${value.replaceAll("'", "''")}'${text.slice(end)}`,
        sql,
      );
  } catch (error) {
    if (error instanceof SqlSyntaxError || error instanceof SqlBindError) return sql;
    throw error;
  }
}
