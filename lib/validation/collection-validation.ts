import { leafPaths } from '../design/model/field-paths';
import type { Document } from 'mongodb';
import { quoteName as q, type Catalog, tableNamed } from '../sqlite/catalog';
import {
  BUCKET,
  entryPaths,
  isArray,
  isEmbed,
  type AttributeField,
  type BucketRule,
  type ColumnField,
  type ComputedField,
  type EmbedField,
  type ExtendedReferenceField,
  type Field,
  type IdRule,
  type LogicalDesign,
  type OutlierField,
  type SubsetField,
} from '../design/model/document-design';
import { NameSet } from '../design/model/names';
import { heldKey } from '../design/model/placement';
import { identity, transformInput } from '../design/model/transform';
import { type Transform } from '../design/model/transform-kind';
import type { MappingResult, ValidationMapping } from './mapping';
import type { PlantedFaults } from './planted-faults';

/** A mapping stays small enough to be read at a glance. */
const COLUMNS_A_MAPPING = 10;

/** The content of a collection_validation artefact. */
export interface CollectionValidation {
  readonly collection: string;
  readonly mappings: readonly MappingResult[];
  /**
   * Every field path of the logical design → the mappings that cover it; an empty list is a hole.
   */
  readonly coverage: Readonly<Record<string, readonly string[]>>;
  /** Faults planted in a copy of the documents, to show that the mappings can fail. */
  readonly faults: PlantedFaults;
}

export const passed = (mapping: MappingResult): boolean => mapping.verdict.kind === 'equal';

export function reportCoverage(
  design: LogicalDesign,
  mappings: readonly MappingResult[],
  faults: PlantedFaults,
): CollectionValidation {
  const coverage = Object.fromEntries(
    ['_id', ...leafPaths(design.fields)].map((path) => [
      path,
      mappings.filter((mapping) => mapping.covers.includes(path)).map((mapping) => mapping.name),
    ]),
  );
  return { collection: design.collection, mappings, coverage, faults };
}

/**
 * The mappings of a collection, derived from its logical design alone: the number of documents, the
 * root's own fields in small groups, and the same for every embedded table. Each carries the root's
 * key, so that rows cannot come apart.
 */
export function collectionMappings(design: LogicalDesign, catalog: Catalog): ValidationMapping[] {
  const { level, key } = documentsLevel(design, catalog);
  return [
    design.id.kind === 'bucket'
      ? bucketCountMapping(design, design.id, catalog)
      : countMapping(design),
    ...levelMappings(design.collection, level, key, catalog),
  ];
}

/**
 * The rows that documents stand for, with the key of the document that each is in; in buckets, the
 * first row of each stands for it.
 */
export function documentsLevel(
  { rootTable, fields, id }: LogicalDesign,
  catalog: Catalog,
): { readonly level: Level; readonly key: KeyColumn } {
  const level: Level = {
    table: rootTable,
    alias: 't0',
    from: `${q(rootTable)} t0`,
    stages: [],
    path: '',
    fields,
    positions: [],
    isEntry: false,
  };
  switch (id.kind) {
    case 'column':
      return {
        level: { ...level, id },
        key: { sql: `t0.${q(id.column)}`, join: '', transform: id.transform },
      };
    case 'ordinal':
      return {
        level: { ...level, id },
        key: { sql: 'o.n', join: ordinalJoin(catalog, rootTable), transform: identity },
      };
    case 'bucket': {
      const scan = scanOrder(catalog, rootTable);
      return {
        level: { ...level, where: ' WHERE o.place = 0' },
        key: {
          sql: 'o.bucket',
          join:
            ` JOIN (${bucketsOf(rootTable, id, catalog)}) o ON ` +
            `${scan.map((column, index) => `o.k${index} = t0.${column}`).join(' AND ')}`,
          transform: identity,
        },
      };
    }
  }
}

/** Every row with its bucket and its place there. */
function bucketsOf(rootTable: string, { columns, size }: BucketRule, catalog: Catalog): string {
  const scan = scanOrder(catalog, rootTable);
  const shared = columns.map((column) => `${q(column)} COLLATE BINARY`);
  // By their bytes, as they are kept apart; then cut into pieces.
  const ranked = `SELECT ${[...scan.map((column, index) => `${column} AS k${index}`), ...shared.map((column, index) => `${column} AS b${index}`)].join(', ')}, row_number() OVER (PARTITION BY ${shared.join(', ')} ORDER BY ${scan.join(', ')}) - 1 AS n FROM ${q(rootTable)}`;
  return (
    'SELECT *, dense_rank() OVER (ORDER BY ' +
    `${columns.map((_, index) => `b${index} COLLATE BINARY`).join(', ')}, n / ${size}) AS bucket, n % ` +
    `${size} AS place FROM (${ranked})`
  );
}

const bucketCountMapping = (
  { collection, rootTable }: LogicalDesign,
  rule: BucketRule,
  catalog: Catalog,
): ValidationMapping => ({
  name: `${collection}: number of documents`,
  description:
    `there are as many documents as ${rootTable} has buckets of up to ${rule.size} ` +
    `rows with the same ${rule.columns.join(', ')}`,
  sql:
    `SELECT count(*) AS n FROM (${bucketsOf(rootTable, rule, catalog)}) WHERE place = 0 ` +
    'HAVING count(*) > 0',
  ...countingDocuments(collection),
});

export interface Level {
  readonly table: string;
  readonly alias: string;
  readonly from: string;
  readonly stages: readonly Document[];
  /** Path of the level's documents, with a trailing dot; empty at the root. */
  readonly path: string;
  readonly fields: readonly Field[];
  /** Of the documents, at the root. */
  readonly id?: IdRule;
  /** Where in the arrays on the way a row is, from the root downwards. */
  readonly positions: readonly Position[];
  /** The level's rows are entries of an array: the last position is theirs. */
  readonly isEntry: boolean;
  /** Which rows of `from` stand for the level's documents, where not all do. */
  readonly where?: string;
}

/**
 * The place of a row among its siblings: what the stages unwind it to, and the same from the
 * source.
 */
interface Position {
  readonly field: string;
  readonly sql: string;
  readonly join: string;
}

export interface KeyColumn {
  readonly sql: string;
  /** What has to be joined to have it. */
  readonly join: string;
  readonly transform: Transform;
}

/** An ordinal is the row's position in the source's scan order. */
function ordinalJoin(catalog: Catalog, table: string): string {
  const scan = scanOrder(catalog, table);
  const keys = scan.map((column, index) => `${column} AS k${index}`);
  return (
    ` JOIN (SELECT ${keys.join(', ')}, row_number() OVER (ORDER BY ${scan.join(', ')}) AS n ` +
    `FROM ${q(table)}) o ON ${scan.map((column, index) => `o.k${index} = t0.${column}`).join(' AND ')}`
  );
}

function scanOrder(catalog: Catalog, name: string): string[] {
  const table = tableNamed(catalog, name)!;
  const hidden = new Set(table.columns.map((column) => column.name.toLowerCase()));
  const rowid = table.withoutRowid
    ? undefined
    : ['rowid', '_rowid_', 'oid'].find((candidate) => !hidden.has(candidate));
  return rowid ? [rowid] : table.primaryKey.map(q);
}

const countMapping = (design: LogicalDesign): ValidationMapping => ({
  name: `${design.collection}: number of documents`,
  description: `${design.rootTable} has as many rows as ${design.collection} has documents`,
  // An empty collection yields no count at all, as does an empty table here.
  sql: `SELECT count(*) AS n FROM ${q(design.rootTable)} HAVING count(*) > 0`,
  ...countingDocuments(design.collection),
});

const countingDocuments = (
  collection: string,
): Pick<ValidationMapping, 'transforms' | 'collection' | 'pipeline' | 'covers'> => ({
  transforms: {},
  collection,
  pipeline: [{ $group: { _id: null, n: { $sum: 1 } } }, { $project: { _id: 0, n: 1 } }],
  covers: [],
});

/** Of the rows of `table` among those of one row of its parent, in the order of the array. */
function positionIn(
  { table: parent, alias: above, positions }: Level,
  { table, join, orderBy }: EmbedField,
  alias: string,
  field: string,
  catalog: Catalog,
): Position {
  const [parentScan, scan] = [scanOrder(catalog, parent), scanOrder(catalog, table)];
  const on = join.map((pair) => `above.${q(pair.parent)} = own.${q(pair.child)}`).join(' AND ');
  const order = [
    ...orderBy.map(({ column, direction }) => `own.${q(column)} ${direction}`),
    ...scan.map((column) => `own.${column}`),
  ].join(', ');
  const rows =
    `SELECT ${scan.map((column, index) => `own.${column} AS k${index}`).join(', ')}, ` +
    `row_number() OVER (PARTITION BY ${parentScan.map((column) => `above.${column}`).join(', ')} ` +
    `ORDER BY ${order}) - 1 AS n FROM ${q(parent)} above JOIN ${q(table)} own ON ${on}`;
  const name = `${above}p${positions.length}`;
  return {
    field,
    sql: `${name}.n`,
    join:
      ` JOIN (${rows}) ${name} ON ` +
      `${scan.map((column, index) => `${name}.k${index} = ${alias}.${column}`).join(' AND ')}`,
  };
}

function levelMappings(
  collection: string,
  level: Level,
  key: KeyColumn,
  catalog: Catalog,
): ValidationMapping[] {
  const columns = level.fields.filter((field): field is ColumnField => field.kind === 'column');
  const groups = columns.length === 0 ? [[]] : chunk(columns, COLUMNS_A_MAPPING);
  const where = level.path === '' ? collection : `${collection}.${level.path.slice(0, -1)}`;
  const own = groups.map((group, index): ValidationMapping => {
    const names = new NameSet();
    const keyName = names.take('_key');
    // Of which row of the parent an entry is, its place says; its own among the others is compared
    // once.
    const positions = (
      level.isEntry && index > 0 ? level.positions.slice(0, -1) : level.positions
    ).map((position) => ({ ...position, name: names.take('_position') }));
    const projected = group.map((field) => ({ field, name: names.take(field.name) }));
    const arrays =
      index > 0
        ? []
        : level.fields.filter(isArray).map((field) => ({
            path: `$${level.path}${field.name}`,
            name: names.take(`${field.name}_array`),
          }));
    return {
      name: `${where}: ${groups.length > 1 ? `fields ${index * COLUMNS_A_MAPPING + 1}–${index * COLUMNS_A_MAPPING + group.length}` : 'fields'}`,
      description:
        `${group.map((field) => field.name).join(', ') || 'number of entries'} of ` +
        `${level.table}, row by row`,
      sql: `SELECT ${[
        `${key.sql} AS ${q(keyName)}`,
        ...positions.map(({ sql, name }) => `${sql} AS ${q(name)}`),
        ...projected.map(
          ({ field, name }) =>
            `${transformInput(field.transform, `${level.alias}.${q(field.column)}`)} AS ${q(name)}`,
        ),
        ...arrays.map(({ name }) => `1 AS ${q(name)}`),
      ].join(
        ', ',
      )} FROM ${level.from}${positions.map(({ join }) => join).join('')}${key.join}${level.where ?? ''}`,
      transforms: retyped([
        [keyName, key.transform],
        ...projected.map(({ field, name }) => [name, field.transform] as const),
      ]),
      collection,
      pipeline: [
        ...level.stages,
        {
          $project: Object.fromEntries([
            ['_id', 0],
            [keyName, '$_id'],
            ...positions.map(({ field, name }) => [name, `$${field}`]),
            ...projected.map(({ field, name }) => [name, `$${level.path}${field.name}`]),
            // An array without entries is there all the same.
            ...arrays.map(({ path, name }) => [name, { $cond: [{ $isArray: path }, 1, 0] }]),
          ]),
        },
      ],
      covers: ['_id', ...group.map((field) => level.path + field.name)],
    };
  });
  const copies = level.fields.flatMap((field): ValidationMapping[] => {
    if (field.kind === 'extendedReference')
      return [referenceMapping(collection, level, field, key)];
    if (field.kind === 'subset') return [keptMapping(collection, level, field, key, catalog)];
    if (field.kind === 'outlier')
      return [
        keptMapping(collection, level, field, key, catalog),
        flagMapping(collection, level, field, key),
      ];
    if (field.kind === 'attribute') return attributeMappings(collection, level, field, key);
    return field.kind === 'computed' ? [computedMapping(collection, level, field, key)] : [];
  });
  const below = level.fields
    .filter(isEmbed)
    .flatMap((field) => levelMappings(collection, levelBelow(level, field, catalog), key, catalog));
  return [...own, ...copies, ...below];
}

const retyped = (columns: readonly (readonly [string, Transform])[]): Record<string, Transform> =>
  Object.fromEntries(columns.filter(([, { kind }]) => kind !== 'identity'));

/** A copy must equal the row that it was taken from, and be there exactly when that row is. */
function referenceMapping(
  collection: string,
  level: Level,
  field: ExtendedReferenceField,
  key: KeyColumn,
): ValidationMapping {
  const names = new NameSet();
  const keyName = names.take('_key');
  const copied = field.fields.map((own) => ({ own, name: names.take(own.name) }));
  const path = level.path + field.name;
  const on = field.join
    .map(({ parent, child }) => `copied.${q(parent)} = ${level.alias}.${q(child)}`)
    .join(' AND ');
  return {
    name: `${collection}.${path}: copy of ${field.table}`,
    description:
      `${field.fields.map((own) => own.name).join(', ')} equal the ${field.table} row ` +
      'that is referred to',
    sql: `SELECT ${[`${key.sql} AS ${q(keyName)}`, ...copied.map(({ own, name }) => `copied.${q(own.column)} AS ${q(name)}`)].join(', ')} FROM ${level.from}${key.join} JOIN ${q(field.table)} copied ON ${on}${level.where ?? ''}`,
    transforms: retyped([
      [keyName, key.transform],
      ...copied.map(({ own, name }) => [name, own.transform] as const),
    ]),
    collection,
    pipeline: [
      ...level.stages,
      { $match: { [path]: { $exists: true } } },
      {
        $project: Object.fromEntries([
          ['_id', 0],
          [keyName, '$_id'],
          ...copied.map(({ own, name }) => [name, `$${path}.${own.name}`]),
        ]),
      },
    ],
    covers: field.fields.map((own) => `${path}.${own.name}`),
  };
}

/**
 * The entries are the first rows that belong to the parent, or all of them unless they are too
 * many: no more and no fewer, in their order.
 */
function keptMapping(
  collection: string,
  level: Level,
  field: SubsetField | OutlierField,
  key: KeyColumn,
  catalog: Catalog,
): ValidationMapping {
  const names = new NameSet();
  const [keyName, position, children] = [
    names.take('_key'),
    names.take('_position'),
    names.take('_children'),
  ];
  const parents = level.positions.map((above) => ({
    ...above,
    name: names.take('_parent_position'),
  }));
  const copied = field.fields.map((own) => ({ own, name: names.take(own.name) }));
  const path = level.path + field.name;
  // The parent on the left, as everywhere: its collation decides what is equal.
  const on = field.join
    .map(({ parent, child }) => `${level.alias}.${q(parent)} = copied.${q(child)}`)
    .join(' AND ');
  const holder = scanOrder(catalog, level.table)
    .map((column) => `${level.alias}.${column}`)
    .join(', ');
  const sorted = field.kind === 'subset' ? field.orderBy : [];
  const order = [
    ...sorted.map(({ column, direction }) => `copied.${q(column)} ${direction}`),
    ...scanOrder(catalog, field.table).map((column) => `copied.${column}`),
  ].join(', ');
  const selected = [
    `${key.sql} AS ${q(keyName)}`,
    ...parents.map(({ sql, name }) => `${sql} AS ${q(name)}`),
    `row_number() OVER (PARTITION BY ${holder} ORDER BY ${order}) - 1 AS ${q(position)}`,
    `count(*) OVER (PARTITION BY ${holder}) AS ${q(children)}`,
    ...copied.map(
      ({ own, name }) =>
        `${transformInput(own.transform, `copied.${q(own.column)}`)} AS ${q(name)}`,
    ),
  ];
  const rows =
    `SELECT ${selected.join(', ')} FROM ` +
    `${level.from}${parents.map(({ join }) => join).join('')}${key.join} JOIN ${q(field.table)} ` +
    `copied ON ${on}`;
  const shown = [
    keyName,
    ...parents.map(({ name }) => name),
    position,
    ...copied.map(({ name }) => name),
  ];
  const what = field.fields.map((own) => own.name).join(', ');
  return {
    name:
      `${collection}.${path}: ` +
      `${field.kind === 'subset' ? `first ${field.limit} rows of ${field.table}` : `all rows of ${field.table} up to ${field.limit}`}`,
    description: `${what} of ${field.kind === 'subset' ? `the first ${field.limit} rows by ${sorted.map(({ column, direction }) => `${column} ${direction}`).join(', ')}` : `all rows where there are ${field.limit} at most`}, with their positions`,
    sql:
      `SELECT ${shown.map(q).join(', ')} FROM (${rows}) WHERE ` +
      `${field.kind === 'subset' ? `${q(position)} < ${field.limit}` : `${q(children)} <= ${field.limit}`}`,
    transforms: retyped([
      [keyName, key.transform],
      ...copied.map(({ own, name }) => [name, own.transform] as const),
    ]),
    collection,
    pipeline: [
      ...level.stages,
      { $unwind: { path: `$${path}`, includeArrayIndex: position } },
      {
        $project: Object.fromEntries([
          ['_id', 0],
          [keyName, '$_id'],
          ...parents.map((above) => [above.name, `$${above.field}`]),
          [position, 1],
          ...copied.map(({ own, name }) => [name, `$${path}.${own.name}`]),
        ]),
      },
    ],
    covers: field.fields.map((own) => `${path}.${own.name}`),
  };
}

/** Exactly the parents whose rows are too many have the flag, and in it their key. */
function flagMapping(
  collection: string,
  level: Level,
  field: OutlierField,
  key: KeyColumn,
): ValidationMapping {
  const names = new NameSet();
  const [keyName, flag] = [names.take('_key'), names.take('flag')];
  const parents = level.positions.map((above) => ({
    ...above,
    name: names.take('_parent_position'),
  }));
  const { parent, child } = field.join[0]!;
  const path = level.path + field.flag;
  const outliers =
    `SELECT parents.${q(parent)} AS g FROM ${q(level.table)} parents JOIN ` +
    `${q(field.table)} counted ON parents.${q(parent)} = counted.${q(child)} GROUP BY 1 HAVING ` +
    `count(*) > ${field.limit}`;
  const selected = [
    `${key.sql} AS ${keyName}`,
    ...parents.map(({ sql, name }) => `${sql} AS ${name}`),
    `${level.alias}.${q(parent)} AS ${flag}`,
  ];
  return {
    name: `${collection}.${path}: more than ${field.limit} rows of ${field.table}`,
    description: `${parent} of those rows of ${level.table} that have more, and of no others`,
    sql:
      `SELECT ${selected.join(', ')} FROM ` +
      `${level.from}${parents.map(({ join }) => join).join('')}${key.join} JOIN (${outliers}) ` +
      `outliers ON outliers.g = ${level.alias}.${q(parent)}`,
    transforms: retyped([
      [keyName, key.transform],
      [flag, heldKey(level.fields, level.id, parent) ?? identity],
    ]),
    collection,
    pipeline: [
      ...level.stages,
      { $match: { [path]: { $exists: true } } },
      {
        $project: Object.fromEntries([
          ['_id', 0],
          [keyName, '$_id'],
          ...parents.map((above) => [above.name, `$${above.field}`]),
          [flag, `$${path}`],
        ]),
      },
    ],
    covers: [path],
  };
}

/**
 * The entries are the names and values of the row's columns that are not null, in the order of the
 * columns. One mapping for each type: the values of a mapping's column are all compared in the same
 * way.
 */
function attributeMappings(
  collection: string,
  level: Level,
  field: AttributeField,
  key: KeyColumn,
): ValidationMapping[] {
  const path = level.path + field.name;
  const [k, v] = entryPaths(path);
  const types = new Map(
    field.fields.map(({ transform }) => [JSON.stringify(transform), transform]),
  );
  // Read once, whatever the key has to be joined with.
  const own = `SELECT ${[`${key.sql} AS key`, ...field.fields.map(({ column }, index) => `${level.alias}.${q(column)} AS c${index}`)].join(', ')} FROM ${level.from}${key.join}`;
  return [...types].map(([type, transform], n): ValidationMapping => {
    const of = field.fields.flatMap((entry, index) =>
      JSON.stringify(entry.transform) === type ? [{ name: entry.name, at: index }] : [],
    );
    const before = (at: number): string =>
      Array.from({ length: at }, (_, earlier) => `(c${earlier} IS NOT NULL)`).join(' + ') || '0';
    const entries = of.map(
      ({ name, at }) =>
        `SELECT key AS _key, ${before(at)} AS _position, ${text(name)} AS k, c${at} AS v FROM ` +
        `own WHERE c${at} IS NOT NULL`,
    );
    return {
      name:
        `${collection}.${path}: names and ` +
        `values${types.size > 1 ? `, ${n + 1} of ${types.size}` : ''}`,
      description:
        `an entry for each of ${of.map(({ name }) => name).join(', ')} that is not ` +
        'null, with its position',
      sql: `WITH own AS (${own}) ${entries.join(' UNION ALL ')}`,
      transforms: retyped([
        ['_key', key.transform],
        ['v', transform],
      ]),
      collection,
      pipeline: [
        ...level.stages,
        { $unwind: { path: `$${path}`, includeArrayIndex: '_position' } },
        ...(types.size > 1 ? [{ $match: { [k]: { $in: of.map(({ name }) => name) } } }] : []),
        { $project: { _id: 0, _key: '$_id', _position: 1, k: `$${k}`, v: `$${v}` } },
      ],
      covers: [k, v],
    };
  });
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Recomputes an aggregate from the source and compares it with what is stored. */
function computedMapping(
  collection: string,
  level: Level,
  field: ComputedField,
  key: KeyColumn,
): ValidationMapping {
  // All groups at once: a subquery for each row would read the children as often as there are
  // parents.
  const keys = field.join.map(({ parent }) => `parents.${q(parent)}`);
  const belongs = field.join
    .map(({ parent, child }) => `parents.${q(parent)} = counted.${q(child)}`)
    .join(' AND ');
  const groups =
    `SELECT ${keys.map((key, index) => `${key} AS g${index}`).join(', ')}, ` +
    `${field.aggregate}(${field.column === undefined ? '*' : `counted.${q(field.column)}`}) AS ` +
    `result FROM ${q(level.table)} parents JOIN ${q(field.table)} counted ON ${belongs} GROUP BY ` +
    `${keys.join(', ')}`;
  const on = field.join
    .map(({ parent }, index) => `grouped.g${index} = ${level.alias}.${q(parent)}`)
    .join(' AND ');
  const path = level.path + field.name;
  const value = field.aggregate === 'count' ? 'coalesce(grouped.result, 0)' : 'grouped.result';
  return {
    name: `${collection}.${path}: ${field.aggregate} over ${field.table}`,
    description: `recomputed from the source`,
    sql:
      `SELECT ${key.sql} AS _key, ${value} AS value FROM ${level.from}${key.join} LEFT JOIN ` +
      `(${groups}) grouped ON ${on}`,
    transforms: key.transform.kind === 'identity' ? {} : { _key: key.transform },
    collection,
    pipeline: [...level.stages, { $project: { _id: 0, _key: '$_id', value: `$${path}` } }],
    covers: [path],
  };
}

export function levelBelow(level: Level, field: EmbedField, catalog: Catalog): Level {
  const path = level.path + field.name;
  if (field.relationship === BUCKET) {
    // The same rows, all of them, each at its place in its bucket.
    const { where: _, ...rows } = level;
    const at = 'position 1';
    return {
      ...rows,
      stages: [{ $unwind: { path: `$${path}`, includeArrayIndex: at } }],
      path: `${path}.`,
      fields: field.fields,
      positions: [{ field: at, sql: 'o.place', join: '' }],
      isEntry: true,
    };
  }
  const alias = `t${Number(level.alias.slice(1)) + 1}`;
  const on = field.join
    .map(({ parent, child }) => `${level.alias}.${q(parent)} = ${alias}.${q(child)}`)
    .join(' AND ');
  // Names that are made from a source's hold no blank.
  const at = `position ${level.positions.length + 1}`;
  const isMany = field.kind === 'embedMany';
  return {
    table: field.table,
    alias,
    from: `${level.from} JOIN ${q(field.table)} ${alias} ON ${on}`,
    stages: [
      ...level.stages,
      isMany
        ? { $unwind: { path: `$${path}`, includeArrayIndex: at } }
        : { $match: { [path]: { $exists: true } } },
    ],
    path: `${path}.`,
    fields: field.fields,
    isEntry: isMany,
    positions: isMany
      ? [...level.positions, positionIn(level, field, alias, at, catalog)]
      : level.positions,
  };
}

const chunk = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, index * size + size),
  );
