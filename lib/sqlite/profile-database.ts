import type Database from 'better-sqlite3';
import type { Value } from '../results/value';
import { quoteName as q, type Catalog, type Table } from './catalog';
import { readRelationships } from './relationships';
import type { ColumnProfile, Profile, TableProfile, ValueFormat } from './profile';

/** Profiles a source database: types as stored, formats, keys and relationships. Exact, nothing is sampled. */
export function profileDatabase(sqlite: Database.Database, catalog: Catalog, onTable?: (table: string) => void): Profile {
  const tables = catalog.tables.map((table) => {
    onTable?.(table.name);
    return profileTable(sqlite, table);
  });
  return { database: catalog.database, tables, relationships: readRelationships(sqlite, catalog, tables) };
}

// SQLite allows 2,000 result columns; eight are asked for each source column.
const COLUMNS_A_STATEMENT = 200;

function profileTable(sqlite: Database.Database, table: Table): TableProfile {
  const rowCount = Number(sqlite.prepare(`SELECT count(*) FROM ${q(table.name)}`).pluck().get());
  const columns: ColumnProfile[] = [];
  let bytes = 0;
  for (let from = 0; from < table.columns.length; from += COLUMNS_A_STATEMENT) {
    const part = table.columns.slice(from, from + COLUMNS_A_STATEMENT);
    const asked = part.map(({ name }) => {
      const c = q(name);
      return `total(${c} IS NULL), total(typeof(${c})='integer'), total(typeof(${c})='real'), total(typeof(${c})='text'), total(typeof(${c})='blob'),
        count(DISTINCT ${c} COLLATE BINARY), min(${c} COLLATE BINARY), max(${c} COLLATE BINARY), max(length(CAST(${c} AS BLOB))), total(length(CAST(${c} AS BLOB)))`;
    });
    const row = sqlite.prepare(`SELECT ${asked.join(',')} FROM ${q(table.name)}`).raw().get() as Value[];
    part.forEach(({ name }, at) => {
      const [none, integer, real, text, blob, distinct, min, max, maxBytes, allBytes] = row.slice(at * 10, at * 10 + 10);
      bytes += Number(allBytes);
      const stored = { null: Number(none), integer: Number(integer), real: Number(real), text: Number(text), blob: Number(blob) };
      columns.push({
        column: name,
        stored,
        distinct: Number(distinct),
        min: shorten(min ?? null),
        max: shorten(max ?? null),
        maxBytes: Number(maxBytes ?? 0),
        formats: stored.text > 0 ? formatsOf(sqlite, table.name, name) : [],
      });
    });
  }
  return { table: table.name, rowCount, columns, keys: keysThatHold(sqlite, table, rowCount, columns), meanRowBytes: rowCount ? bytes / rowCount : 0 };
}

const shorten = (value: Value): Value =>
  typeof value === 'string' ? value.slice(0, 200) : value instanceof Uint8Array ? value.slice(0, 64) : value;

const formatTests: Record<Exclude<ValueFormat, 'empty'>, (text: string) => boolean> = {
  'iso-date': (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && realDate(text),
  'iso-datetime': (text) => /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d+)?Z?$/.test(text) && realDate(text.slice(0, 10)),
  'us-date': (text) => /^\d{1,2}\/\d{1,2}\/\d{4}$/.test(text),
  boolean: (text) => /^(true|false|t|f|yes|no|y|n)$/i.test(text),
  integer: (text) => /^-?(0|[1-9]\d{0,17})$/.test(text),
  decimal: (text) => /^-?\d+\.\d+$/.test(text),
  money: (text) => /^-?[$€£]\s?\d{1,3}(,?\d{3})*(\.\d+)?$/.test(text),
  json: (text) => /^\s*[[{]/.test(text) && isJson(text),
};

const realDate = (text: string): boolean => {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};
const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

function formatsOf(sqlite: Database.Database, table: string, column: string): ValueFormat[] {
  let open = Object.entries(formatTests) as [ValueFormat, (text: string) => boolean][];
  let allEmpty = true;
  const texts = sqlite.prepare(`SELECT ${q(column)} FROM ${q(table)} WHERE typeof(${q(column)}) = 'text'`).pluck();
  for (const text of texts.iterate() as Iterable<string>) {
    if (text !== '') allEmpty = false;
    open = open.filter(([, test]) => test(text));
    if (open.length === 0 && !allEmpty) return [];
  }
  return allEmpty ? ['empty'] : open.map(([format]) => format);
}

/** Declared keys that the data keeps (SQLite lets primary keys hold nulls), and single columns that happen to be unique. */
function keysThatHold(sqlite: Database.Database, table: Table, rowCount: number, columns: readonly ColumnProfile[]): string[][] {
  const full = (name: string): boolean => columns.find((c) => c.column === name)?.stored.null === 0;
  const declared = [table.primaryKey, ...table.uniqueKeys].filter((key) => key.length > 1 && key.every(full));
  const holding = declared.filter((key) => {
    const names = key.map(q).join(',');
    return !sqlite.prepare(`SELECT 1 FROM ${q(table.name)} GROUP BY ${names} HAVING count(*) > 1 LIMIT 1`).get();
  });
  const single = columns.filter((c) => rowCount > 0 && c.distinct === rowCount && c.stored.null === 0).map((c) => [c.column]);
  const emptyPrimary = rowCount === 0 && table.primaryKey.length > 0 ? [[...table.primaryKey]] : [];
  return [...holding.map((key) => [...key]), ...single, ...emptyPrimary];
}
