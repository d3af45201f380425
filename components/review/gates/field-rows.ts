import { storedTypes, type StoredTypes } from '../../../lib/design/model/bson-types';
import {
  BUCKET,
  entryPaths,
  isNested,
  type ComputedField,
  type Field,
  type LogicalDesign,
  type NestedField,
} from '../../../lib/design/model/document-design';
import { heldKey } from '../../../lib/design/model/placement';
import type { Transform } from '../../../lib/design/model/transform-kind';
import { describe } from '../../../lib/design/model/transform-kind';
import { type Profile } from '../../../lib/sqlite/profile/profile';

export interface FieldRow {
  readonly path: string;
  readonly source: string;
  /** Empty while the profile is not known. */
  readonly types: string;
  readonly transform: string;
  /** The mappings that cover it; null where its fields are what is covered. */
  readonly covered: readonly string[] | null;
  /** The source column whose values the field holds. */
  readonly column?: { readonly table: string; readonly column: string };
  /** Its type is not the source's. */
  readonly retyped?: boolean;
}

/**
 * The logical design field by field, as the paper's Table 7 lists it, with what covers each field.
 */
export function fieldRows(
  { id, rootTable, fields }: LogicalDesign,
  coverage: Readonly<Record<string, readonly string[]>>,
  profile: Profile | undefined,
): FieldRow[] {
  const covered = (path: string): readonly string[] => coverage[path] ?? [];
  const typesOf: StoredTypes = profile ? storedTypes(profile) : () => '';
  return [
    idRow(id, rootTable, typesOf, covered('_id')),
    ...rowsOfLevel({ fields, table: rootTable, prefix: '', id }, covered, typesOf),
  ];
}

type CoveredBy = (path: string) => readonly string[];

/** Fields of one document or entry. */
interface Level {
  readonly fields: readonly Field[];
  readonly table: string;
  /** Of their paths. */
  readonly prefix: string;
  /** At the top: how documents are identified. */
  readonly id?: LogicalDesign['id'];
}

const rowsOfLevel = (level: Level, covered: CoveredBy, typesOf: StoredTypes): FieldRow[] =>
  level.fields.flatMap((field) => {
    const inner = isNested(field)
      ? rowsOfLevel(
          { fields: field.fields, table: field.table, prefix: `${level.prefix}${field.name}.` },
          covered,
          typesOf,
        )
      : [];
    const [own, ...behind] = rowsOfField(field, level, covered, typesOf);
    return own ? [own, ...inner, ...behind] : inner;
  });

/** The field's own row, and those of fields that come with it. */
function rowsOfField(
  field: Field,
  level: Level,
  covered: CoveredBy,
  typesOf: StoredTypes,
): FieldRow[] {
  const { table, prefix } = level;
  const path = prefix + field.name;
  switch (field.kind) {
    case 'column':
      return [
        {
          path,
          source: `${table}.${field.column}`,
          types: typesOf(field.transform, table, field.column),
          transform: describe(field.transform),
          covered: covered(path),
          column: { table, column: field.column },
          retyped: field.transform.kind !== 'identity',
        },
      ];
    case 'attribute':
      return attributeRows(field, path, table, covered, typesOf);
    case 'computed':
      return [
        {
          path,
          source: `${field.table}${field.column === undefined ? '' : `.${field.column}`}`,
          types: computedTypes(field, typesOf),
          transform: field.aggregate,
          covered: covered(path),
        },
      ];
    case 'outlier':
      return [nestedRow(field, path), flagRow(field, level, covered, typesOf)];
    default:
      return [nestedRow(field, path)];
  }
}

/** Of a field whose own fields have rows of their own. */
const nestedRow = (field: NestedField, path: string): FieldRow => ({
  path,
  ...nestedText(field),
  covered: null,
});

function nestedText(field: NestedField): Pick<FieldRow, 'source' | 'types' | 'transform'> {
  switch (field.kind) {
    case 'subset': {
      const order = field.orderBy.map(({ column, direction }) => `${column} ${direction}`);
      return {
        source: `${field.table}, first ${field.limit} by ${order.join(', ')}`,
        types: 'array',
        transform: 'array of copied rows',
      };
    }
    case 'outlier':
      return {
        source: `${field.table}, all up to ${field.limit}`,
        types: 'array',
        transform: 'array of copied rows',
      };
    case 'extendedReference': {
      const on = field.join.map(({ parent, child }) => `${parent} = ${child}`).join(', ');
      return {
        source: `${field.table} on ${on}`,
        types: 'object',
        transform: 'copy of the referenced row',
      };
    }
    default: {
      const on =
        field.relationship === BUCKET
          ? 'of the bucket'
          : `on ${field.join.map(({ parent, child }) => `${child} = ${parent}`).join(', ')}`;
      const isArray = field.kind === 'embedMany';
      return {
        source: `${field.table} ${on}`,
        types: isArray ? 'array' : 'object',
        transform: isArray ? 'array of documents' : 'document',
      };
    }
  }
}

/** The key that parents have only where their array does not hold all children. */
function flagRow(
  field: Extract<Field, { kind: 'outlier' }>,
  { fields, table, prefix, id }: Level,
  covered: CoveredBy,
  typesOf: StoredTypes,
): FieldRow {
  const key = field.join[0]!.parent;
  const path = prefix + field.flag;
  return {
    path,
    source: `${table}.${key}`,
    types: typesOf(heldKey(fields, id, key) ?? AS_STORED, table, key),
    transform: `key, only where there are more than ${field.limit}`,
    covered: covered(path),
  };
}

function attributeRows(
  { fields }: Extract<Field, { kind: 'attribute' }>,
  path: string,
  table: string,
  covered: CoveredBy,
  typesOf: StoredTypes,
): FieldRow[] {
  const [k, v] = entryPaths(path);
  // What is null has no entry.
  const types = new Set(
    fields
      .flatMap(({ transform, column }) => typesOf(transform, table, column).split(' or '))
      .filter((type) => type !== 'null'),
  );
  const transforms = new Set(fields.map(({ transform }) => describe(transform)));
  return [
    {
      path,
      source: `${table}: ${fields.map(({ column }) => column).join(', ')}`,
      types: 'array',
      transform: 'array of names and values',
      covered: null,
    },
    {
      path: k,
      source: 'name of the field',
      types: 'string',
      transform: 'identity',
      covered: covered(k),
    },
    {
      path: v,
      source: 'value of the field',
      types: [...types].join(' or '),
      transform: [...transforms].join(', '),
      covered: covered(v),
    },
  ];
}

function computedTypes({ aggregate, table, column }: ComputedField, typesOf: StoredTypes): string {
  if (aggregate === 'count' || column === undefined) return 'int';
  return aggregate === 'avg' ? 'double or null' : typesOf(AS_STORED, table, column);
}

const AS_STORED: Transform = { kind: 'identity' };

function idRow(
  id: LogicalDesign['id'],
  rootTable: string,
  typesOf: (transform: Transform, table: string, column: string) => string,
  covered: readonly string[],
): FieldRow {
  switch (id.kind) {
    case 'column':
      return {
        path: '_id',
        source: `${rootTable}.${id.column}`,
        types: typesOf(id.transform, rootTable, id.column),
        transform: describe(id.transform),
        covered,
      };
    case 'ordinal':
      return {
        path: '_id',
        source: rootTable,
        types: 'int',
        transform: 'ordinal of the row',
        covered,
      };
    case 'bucket':
      return {
        path: '_id',
        source: rootTable,
        types: 'int',
        transform:
          `ordinal of the bucket, up to ${id.size} rows with the same ` +
          `${id.columns.join(', ')}`,
        covered,
      };
  }
}
