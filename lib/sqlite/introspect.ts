import type Database from 'better-sqlite3';
import { affinityOf, findTable, quoteName, sameName, type Catalog, type Column, type ForeignKey, type Table, type View } from './catalog';
import type { SourceDatabase } from './benchmark';
import { openSource, SourceError } from './open';

/** Reads the schema of a source database. Throws `SourceError` when the file cannot be read. */
export function readCatalog(source: SourceDatabase): Catalog {
  const sqlite = openSource(source.path);
  try {
    return catalogOf(sqlite, source);
  } finally {
    sqlite.close();
  }
}

export function catalogOf(sqlite: Database.Database, source: Pick<SourceDatabase, 'name' | 'sha256' | 'descriptions'>): Catalog {
  const listed = sqlite.pragma('table_list') as { schema: string; name: string; type: string; wr: bigint }[];
  // Views hold no rows of their own. A virtual table's rows may come from code that is not here: nothing could show that
  // they were all migrated, so such a database is refused by name instead of being called lossless.
  const virtual = listed.find((t) => t.schema === 'main' && t.type === 'virtual');
  if (virtual) throw new SourceError('unreadable', `the virtual table ${virtual.name} cannot be migrated`);
  const own = listed.filter((t) => t.schema === 'main' && t.type === 'table' && !/^sqlite_/i.test(t.name));
  const order = new Map(
    (sqlite.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid`).pluck().all() as string[]).map((name, at) => [name, at]),
  );
  own.sort((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0));
  const tables = own.map((t) => readTable(sqlite, t.name, t.wr === 1n, source.descriptions));
  const views = readViews(sqlite, listed);
  const catalog = { database: source.name, sha256: source.sha256, tables, ...(views.length > 0 ? { views } : {}) };
  return { ...catalog, tables: tables.map((table) => ({ ...table, foreignKeys: readForeignKeys(sqlite, table, catalog) })) };
}

const NAME = String.raw`(?:"(?:[^"]|"")+"|\[[^\]]+\]|\`(?:[^\`]|\`\`)+\`|'(?:[^']|'')+'|[^\s."'\[\`(]+)`;
const CREATE_VIEW = new RegExp(String.raw`^\s*create\s+view\s+(?:if\s+not\s+exists\s+)?${NAME}(?:\s*\.\s*${NAME})?\s*(?:\((?:${NAME}|[\s,])*\))?\s*\bas\b([\s\S]+)$`, 'i');

/** Views whose text can be read and which still run: one that does not is as good as none. */
function readViews(sqlite: Database.Database, listed: readonly { schema: string; name: string; type: string }[]): View[] {
  return listed.filter((t) => t.schema === 'main' && t.type === 'view').flatMap(({ name }) => {
    const sql = sqlite.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?").pluck().get(name);
    const select = typeof sql === 'string' ? CREATE_VIEW.exec(sql)?.[1]?.trim() : undefined;
    if (select === undefined) return [];
    try {
      const columns = (sqlite.pragma(`table_xinfo(${quoteName(name)})`) as TableInfoRow[]).map((row) => row.name);
      return [{ name, columns, select }];
    } catch (error) {
      // The view reads a table that is gone.
      if ((error as { code?: unknown }).code === 'SQLITE_ERROR') return [];
      throw error;
    }
  });
}

interface TableInfoRow {
  name: string;
  type: string;
  notnull: bigint;
  pk: bigint;
  hidden: bigint;
}

function readTable(sqlite: Database.Database, name: string, withoutRowid: boolean, descriptions: SourceDatabase['descriptions']): Table {
  // `table_info` would leave generated columns out; what is hidden otherwise (1) belongs to virtual tables.
  const info = (sqlite.pragma(`table_xinfo(${quoteName(name)})`) as TableInfoRow[]).filter((row) => row.hidden !== 1n);
  const collations = readCollations(sqlite, name);
  const described = Object.entries(descriptions).find(([table]) => sameName(table, name))?.[1] ?? {};
  const columns: Column[] = info.map((row) => {
    const description = Object.entries(described).find(([column]) => sameName(column.trim(), row.name))?.[1];
    return {
      name: row.name,
      declaredType: row.type,
      affinity: affinityOf(row.type),
      collation: collations.get(row.name) ?? 'BINARY',
      notNull: row.notnull === 1n,
      ...(description ? { description } : {}),
    };
  });
  const primaryKey = info.filter((row) => row.pk > 0n).sort((a, b) => Number(a.pk - b.pk)).map((row) => row.name);
  const only = primaryKey.length === 1 ? columns.find((column) => column.name === primaryKey[0]) : undefined;
  const rowidAlias = !withoutRowid && only?.declaredType.toUpperCase() === 'INTEGER' && !hasDescendingKey(sqlite, name);
  return { name, columns, primaryKey, rowidAlias, withoutRowid, uniqueKeys: readUniqueKeys(sqlite, name), foreignKeys: [] };
}

// `INTEGER PRIMARY KEY DESC` is, for historical reasons, no alias of the rowid; it shows by having an index.
function hasDescendingKey(sqlite: Database.Database, table: string): boolean {
  const indexes = sqlite.pragma(`index_list(${quoteName(table)})`) as { origin: string }[];
  return indexes.some((index) => index.origin === 'pk');
}

function readUniqueKeys(sqlite: Database.Database, table: string): string[][] {
  const indexes = sqlite.pragma(`index_list(${quoteName(table)})`) as { name: string; unique: bigint; origin: string; partial: bigint }[];
  return indexes
    .filter((index) => index.unique === 1n && index.origin !== 'pk' && index.partial === 0n)
    .map((index) => (sqlite.pragma(`index_info(${quoteName(index.name)})`) as { name: string | null }[]).map((row) => row.name))
    .filter((columns): columns is string[] => columns.every((column) => column !== null));
}

// SQLite reports a column's collation nowhere but in an index over it, so one is read off the key columns of a
// prepared comparison: `sqlite3_table_column_metadata` is not exposed by the driver. The declaration is searched instead.
function readCollations(sqlite: Database.Database, table: string): Map<string, Column['collation']> {
  const sql = sqlite.prepare('SELECT sql FROM sqlite_schema WHERE type = \'table\' AND name = ?').pluck().get(table);
  const found = new Map<string, Column['collation']>();
  if (typeof sql !== 'string' || !/\bcollate\b/i.test(sql)) return found;
  const declaration = /[,(]\s*(?:"((?:[^"]|"")+)"|\[([^\]]+)\]|`((?:[^`]|``)+)`|([\w$\u0080-\uffff]+))[^,]*?\bcollate\s+"?(nocase|rtrim|binary)\b/gi;
  for (const match of sql.matchAll(declaration)) {
    const name = match[1]?.replaceAll('""', '"') ?? match[2] ?? match[3]?.replaceAll('``', '`') ?? match[4];
    if (name) found.set(name, match[5]!.toUpperCase() as Column['collation']);
  }
  return found;
}

function readForeignKeys(sqlite: Database.Database, table: Table, catalog: Catalog): ForeignKey[] {
  const rows = sqlite.pragma(`foreign_key_list(${quoteName(table.name)})`) as { id: bigint; seq: bigint; table: string; from: string; to: string | null }[];
  const byId = new Map<bigint, typeof rows>();
  for (const row of rows) byId.set(row.id, [...(byId.get(row.id) ?? []), row]);
  return [...byId.values()].reverse().map((parts) => {
    parts.sort((a, b) => Number(a.seq - b.seq));
    const parent = findTable(catalog, parts[0]!.table);
    const columns = parts.map((part) => table.columns.find((column) => sameName(column.name, part.from))?.name ?? part.from);
    // A reference without columns means the parent's primary key.
    const wanted = parts.map((part, at) => part.to ?? parent?.primaryKey[at]);
    const toColumns = wanted.map((name) => name !== undefined && parent?.columns.find((column) => sameName(column.name, name))?.name);
    const resolved = parent !== undefined && toColumns.every((column) => typeof column === 'string');
    return { columns, toTable: parent?.name ?? parts[0]!.table, toColumns: toColumns.map((column, at) => column || (wanted[at] ?? '')), resolved };
  });
}
