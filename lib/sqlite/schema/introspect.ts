import type Database from 'better-sqlite3';
import {
  affinityOf,
  findTable,
  quoteName,
  sameName,
  type Catalog,
  type Column,
  type ForeignKey,
  type Table,
  type View,
} from '../catalog';
import type { SourceDatabase } from '../benchmark';
import { declaredCollations, viewSelect } from './declaration';
import { openSource } from '../open';

/** Reads the schema of a source database. Throws `SourceError` when the file cannot be read. */
export function readCatalog(source: SourceDatabase): Catalog {
  const sqlite = openSource(source.path);
  try {
    return catalogOf(sqlite, source);
  } finally {
    sqlite.close();
  }
}

export function catalogOf(
  sqlite: Database.Database,
  source: Pick<SourceDatabase, 'name' | 'sha256' | 'descriptions'>,
): Catalog {
  const listed = (sqlite.pragma('table_list') as ListedTable[]).filter((t) => t.schema === 'main');
  // Views hold no rows of their own. A virtual table's rows may come from code that is not here:
  // nothing could show that they were all migrated. It is left out and named, with the shadow
  // tables that only its code understands.
  const leftOut = listed
    .filter((t) => t.type === 'virtual')
    .map((t) => t.name)
    .sort();
  const own = listed.filter((t) => t.type === 'table' && !/^sqlite_/i.test(t.name));
  const order = new Map(
    (
      sqlite
        .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid`)
        .pluck()
        .all() as string[]
    ).map((name, index) => [name, index]),
  );
  own.sort((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0));
  const tables = own.map((t) => readTable(sqlite, t, source.descriptions));
  const views = readViews(sqlite, listed);
  const catalog = {
    database: source.name,
    sha256: source.sha256,
    tables,
    ...(views.length > 0 ? { views } : {}),
    ...(leftOut.length > 0 ? { leftOut } : {}),
  };
  return {
    ...catalog,
    tables: tables.map((table) => ({
      ...table,
      foreignKeys: readForeignKeys(sqlite, table, catalog),
    })),
  };
}

/** Views whose text can be read and which still run: one that does not is as good as none. */
function readViews(sqlite: Database.Database, listed: readonly ListedTable[]): View[] {
  return listed
    .filter((t) => t.type === 'view')
    .flatMap(({ name }) => {
      const sql = sqlite
        .prepare("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?")
        .pluck()
        .get(name);
      const select = typeof sql === 'string' ? viewSelect(sql) : undefined;
      if (select === undefined) return [];
      try {
        const columns = (sqlite.pragma(`table_xinfo(${quoteName(name)})`) as TableInfoRow[]).map(
          (row) => row.name,
        );
        return [{ name, columns, select }];
      } catch (error) {
        // The view reads a table that is gone.
        if ((error as { code?: unknown }).code === 'SQLITE_ERROR') return [];
        throw error;
      }
    });
}

interface ListedTable {
  readonly schema: string;
  readonly name: string;
  readonly type: string;
  /** WITHOUT ROWID. */
  readonly wr: bigint;
  readonly strict: bigint;
}

interface TableInfoRow {
  name: string;
  type: string;
  notnull: bigint;
  pk: bigint;
  hidden: bigint;
}

function readTable(
  sqlite: Database.Database,
  listed: ListedTable,
  descriptions: SourceDatabase['descriptions'],
): Table {
  const { name } = listed;
  const [withoutRowid, isStrict] = [listed.wr === 1n, listed.strict === 1n];
  // `table_info` would leave generated columns out; what is hidden otherwise (1) belongs to virtual
  // tables.
  const info = (sqlite.pragma(`table_xinfo(${quoteName(name)})`) as TableInfoRow[]).filter(
    (row) => row.hidden !== 1n,
  );
  const collations = readCollations(sqlite, name);
  const described =
    Object.entries(descriptions).find(([table]) => sameName(table, name))?.[1] ?? {};
  const columns: Column[] = info.map((row) => {
    const description = Object.entries(described).find(([column]) =>
      sameName(column.trim(), row.name),
    )?.[1];
    return {
      name: row.name,
      declaredType: row.type,
      affinity: isStrict && row.type.toUpperCase() === 'ANY' ? 'BLOB' : affinityOf(row.type),
      collation: collations.get(row.name) ?? 'BINARY',
      notNull: row.notnull === 1n,
      ...(description ? { description } : {}),
    };
  });
  const primaryKey = info
    .filter((row) => row.pk > 0n)
    .sort((a, b) => Number(a.pk - b.pk))
    .map((row) => row.name);
  const only =
    primaryKey.length === 1 ? columns.find((column) => column.name === primaryKey[0]) : undefined;
  const rowidAlias =
    !withoutRowid &&
    only?.declaredType.toUpperCase() === 'INTEGER' &&
    !hasDescendingKey(sqlite, name);
  return {
    name,
    columns,
    primaryKey,
    rowidAlias,
    withoutRowid,
    uniqueKeys: readUniqueKeys(sqlite, name),
    foreignKeys: [],
  };
}

// `INTEGER PRIMARY KEY DESC` is, for historical reasons, no alias of the rowid; it shows by having
// an index.
function hasDescendingKey(sqlite: Database.Database, table: string): boolean {
  const indexes = sqlite.pragma(`index_list(${quoteName(table)})`) as { origin: string }[];
  return indexes.some((index) => index.origin === 'pk');
}

function readUniqueKeys(sqlite: Database.Database, table: string): string[][] {
  const indexes = sqlite.pragma(`index_list(${quoteName(table)})`) as {
    name: string;
    unique: bigint;
    origin: string;
    partial: bigint;
  }[];
  return indexes
    .filter((index) => index.unique === 1n && index.origin !== 'pk' && index.partial === 0n)
    .map((index) =>
      (sqlite.pragma(`index_info(${quoteName(index.name)})`) as { name: string | null }[]).map(
        (row) => row.name,
      ),
    )
    .filter((columns): columns is string[] => columns.every((column) => column !== null));
}

// SQLite reports a column's collation nowhere but in an index over it.
function readCollations(
  sqlite: Database.Database,
  table: string,
): Map<string, Column['collation']> {
  const sql = sqlite
    .prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .pluck()
    .get(table);
  return typeof sql === 'string' ? declaredCollations(sql) : new Map<string, Column['collation']>();
}

function readForeignKeys(sqlite: Database.Database, table: Table, catalog: Catalog): ForeignKey[] {
  const rows = sqlite.pragma(`foreign_key_list(${quoteName(table.name)})`) as {
    id: bigint;
    seq: bigint;
    table: string;
    from: string;
    to: string | null;
  }[];
  const byId = new Map<bigint, typeof rows>();
  for (const row of rows) byId.set(row.id, [...(byId.get(row.id) ?? []), row]);
  return [...byId.values()].reverse().map((parts) => {
    parts.sort((a, b) => Number(a.seq - b.seq));
    const parent = findTable(catalog, parts[0]!.table);
    const columns = parts.map(
      (part) => table.columns.find((column) => sameName(column.name, part.from))?.name ?? part.from,
    );
    // A reference without columns means the parent's primary key.
    const wanted = parts.map((part, index) => part.to ?? parent?.primaryKey[index]);
    const toColumns = wanted.map(
      (name) =>
        name !== undefined && parent?.columns.find((column) => sameName(column.name, name))?.name,
    );
    const resolved =
      parent !== undefined && toColumns.every((column) => typeof column === 'string');
    return {
      columns,
      toTable: parent?.name ?? parts[0]!.table,
      toColumns: toColumns.map((column, index) => column || (wanted[index] ?? '')),
      resolved,
    };
  });
}
