import { tableNamed, type Catalog, type Table } from '../../sqlite/catalog';
import type { ColumnProfile, Profile, TableProfile } from '../../sqlite/profile/profile';
import type { Value } from '../../results/value';
import type { Workload } from '../model/workload';
import { count, table as markdownTable, text } from './markdown';

/** What a table is to the others. */
export type Role = 'entity' | 'link' | 'lookup';

export interface Entity {
  readonly table: TableProfile;
  readonly role: Role;
  /** Queries that read it. */
  readonly queries: number;
  readonly parents: readonly string[];
}

/** A table that others refer to, with so few rows and columns, only names what they hold. */
const LOOKUP = { rows: 500, columns: 2 };
/** Where BIRD's descriptions go on to what is known of the values. */
const EVIDENCE = /commonsense evidence:/i;
/** Texts that say that there is no value. */
const PLACEHOLDERS = new Set(['', '-', '--', '?', 'n/a', 'na', 'none', 'null', 'unknown', 'nan']);
const MAX_COLUMNS = 40;
const MAX_WORDS = 12;
const MAX_SHOWN = 30;
const MAX_TOP = 3;

/** The tables, those that most queries read first. */
export function entitiesOf(profile: Profile, workload: Workload): Entity[] {
  return profile.tables
    .map((table) => ({
      table,
      role: roleOf(table, profile),
      queries: workload.patterns
        .filter(({ tables }) => tables.includes(table.table))
        .reduce((sum, { frequency }) => sum + frequency, 0),
      parents: parentsOf(table, profile),
    }))
    .sort((a, b) => b.queries - a.queries);
}

const parentsOf = ({ table }: TableProfile, { relationships }: Profile): string[] => [
  ...new Set(
    relationships
      .filter(({ childTable, selfReference }) => childTable === table && !selfReference)
      .map(({ parentTable }) => parentTable),
  ),
];

/** A link has two parents and hardly anything of its own. */
function roleOf(table: TableProfile, profile: Profile): Role {
  const { relationships } = profile;
  const referring = new Set(
    relationships
      .filter(({ childTable }) => childTable === table.table)
      .flatMap(({ childColumns }) => childColumns),
  );
  const own = table.columns.filter(({ column }) => !referring.has(column));
  const isNamed = relationships.some(({ parentTable }) => parentTable === table.table);
  if (parentsOf(table, profile).length > 1 && own.length <= 1 && !isNamed) return 'link';
  const isSmall = table.rowCount <= LOOKUP.rows && table.columns.length <= LOOKUP.columns;
  return isNamed && isSmall && referring.size === 0 ? 'lookup' : 'entity';
}

/** What it is, how large, and what its columns hold. */
export function describeEntity(
  { table, role, queries, parents }: Entity,
  catalog: Catalog,
  profile: Profile,
): string {
  const source = tableNamed(catalog, table.table);
  const size =
    `${count(table.rowCount, 'row')} of ${Math.round(table.meanRowBytes).toLocaleString('en')} ` +
    `bytes on average`;
  const shown = table.columns.slice(0, MAX_COLUMNS);
  const rows = shown.map((column) => [
    text(column.column),
    meaningOf(column, source),
    storedAs(column),
    share(column.stored.null, table.rowCount),
    `${column.distinctEstimated ? 'about ' : ''}${column.distinct.toLocaleString('en')}`,
    valuesOf(column, table),
    odditiesOf(column, table, source).join('; '),
  ]);
  const headings = ['column', 'meaning', 'stored as', 'null:', 'distinct:', 'values', 'oddities'];
  const rest = table.columns.length - shown.length;
  return [
    `**${text(table.table)}**: ${meaning(table, role, parents)}; ${size}; read by ` +
      `${count(queries, 'query', 'queries')}.${childrenOf(table, profile)}`,
    '',
    markdownTable(headings, rows),
    ...(rest > 0 ? ['', `… and ${count(rest, 'more column', 'more columns')}.`] : []),
  ].join('\n');
}

function meaning({ keys }: TableProfile, role: Role, parents: readonly string[]): string {
  const of = parents.map(text).join(', ');
  if (role === 'link') return `links ${of}`;
  if (role === 'lookup') return 'names what other tables refer to';
  const key = keys[0] ? `one for each ${text(keys[0].join(' + '))}` : 'without a key';
  return parents.length > 0 ? `${key}, belongs to ${of}` : key;
}

function childrenOf({ table }: TableProfile, { relationships }: Profile): string {
  const children = relationships
    .filter(({ parentTable }) => parentTable === table)
    .map(
      ({ childTable, fanOut }) =>
        `${text(childTable)} (${fanOut.mean.toFixed(1)} each, ${String(fanOut.max)} at most)`,
    );
  return children.length > 0 ? ` Has ${children.join(', ')}.` : '';
}

function meaningOf({ column }: ColumnProfile, source: Table | undefined): string {
  const described = source?.columns.find(({ name }) => name === column)?.description?.trim() ?? '';
  const words = described
    .split(EVIDENCE, 1)[0]!
    .split(/\s+/)
    .filter((word) => word !== '');
  return text(words.slice(0, MAX_WORDS).join(' ')) + (words.length > MAX_WORDS ? ' …' : '');
}

const CLASSES = ['integer', 'real', 'text', 'blob'] as const;

const storedAs = ({ stored }: ColumnProfile): string =>
  CLASSES.filter((name) => stored[name] > 0).join(', ') || 'nothing';

const share = (part: number, whole: number): string =>
  part === 0 || whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`;

const written = (value: Value): string => {
  // Bytes, or the driver's class for them where the profile was stored.
  const isBytes = typeof value === 'object';
  const plain = isBytes ? 'a blob' : String(value);
  return text(plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN)}…` : plain);
};

/** The range, and the values that occur most. */
function valuesOf(column: ColumnProfile, { rowCount }: TableProfile): string {
  const { min, max, topValues, distinct } = column;
  if (min === null) return '';
  if (distinct === 1) return written(min);
  const often = topValues.filter(({ value, count: times }) => times > 1 && value !== null);
  const top = often
    .slice(0, MAX_TOP)
    .map(({ value, count: times }) => `${written(value)} ${share(times, rowCount)}`);
  const range = `${written(min)} – ${written(max)}`;
  return top.length > 0 && distinct < rowCount ? `${range}; most: ${top.join(', ')}` : range;
}

/** What a reader would not expect of the column. */
function odditiesOf(
  column: ColumnProfile,
  { rowCount }: TableProfile,
  source: Table | undefined,
): string[] {
  const { stored, formats, numbers } = column;
  const declared = source?.columns.find(({ name }) => name === column.column);
  const classes = CLASSES.filter((name) => stored[name] > 0);
  const isText = classes.length === 1 && classes[0] === 'text';
  const named = formats.filter((format) => format !== 'integer' && format !== 'decimal');
  const found = [
    classes.length > 1 &&
      `mixed: ${classes.map((name) => `${String(stored[name])} ${name}`).join(', ')}`,
    isText &&
      declared &&
      ['INTEGER', 'REAL'].includes(declared.affinity) &&
      `text, although declared ${declared.declaredType}`,
    numbers && `numbers written as text (${text(numbers.format)})`,
    named.length > 0 && `text as ${named.join(', ')}`,
    column.distinct === 1 && stored.null < rowCount && rowCount > 1 && 'one value throughout',
    stored.null === rowCount && rowCount > 0 && 'null throughout',
    ...placeholders(column, rowCount),
    column.trailingBlanks > 0 && `${count(column.trailingBlanks, 'text')} ending in a blank`,
    column.invalidUtf8 > 0 && `${count(column.invalidUtf8, 'text')} with invalid bytes`,
    column.nonFinite > 0 && `${count(column.nonFinite, 'infinite number')}`,
  ];
  return found.filter((oddity): oddity is string => typeof oddity === 'string');
}

/** `-` or an empty text where other rows might have null. */
function placeholders({ topValues, min, max }: ColumnProfile, rows: number): string[] {
  const isOne = (value: Value): value is string =>
    typeof value === 'string' && PLACEHOLDERS.has(value.trim().toLowerCase());
  const frequent = topValues
    .filter(({ value }) => isOne(value))
    .map(({ value, count: times }) => `${quoted(value)} for ${share(times, rows)}`);
  if (frequent.length > 0) return frequent;
  return [...new Set([min, max])].filter(isOne).map((value) => `${quoted(value)} among the values`);
}

const quoted = (value: Value): string => `“${written(value)}”`;
