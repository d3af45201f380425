import { bsonTypes } from '../../../lib/design/bson-types';
import {
  BUCKET,
  entryPaths,
  isEmbed,
  isNested,
  type ComputedField,
  type Field,
  type LogicalDesign,
} from '../../../lib/design/document-design';
import { heldKey } from '../../../lib/design/placement';
import type { Transform } from '../../../lib/design/transform';
import { describe } from '../../../lib/design/transform-name';
import { columnProfile, type Profile } from '../../../lib/sqlite/profile/profile';

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
  const typesOf = (transform: Transform, table: string, column: string): string =>
    profile ? shown(bsonTypes(transform, table, column, profile), profile, table, column) : '';
  const computedTypes = ({ aggregate, table, column }: ComputedField): string => {
    if (aggregate === 'count' || column === undefined) return 'int';
    return aggregate === 'avg' ? 'double or null' : typesOf(AS_STORED, table, column);
  };
  const visit = (
    level: readonly Field[],
    table: string,
    prefix: string,
    rule?: LogicalDesign['id'],
  ): FieldRow[] =>
    level.flatMap((field): FieldRow[] => {
      const path = prefix + field.name;
      const inner = (): FieldRow[] =>
        isNested(field) ? visit(field.fields, field.table, `${path}.`) : [];
      if (isEmbed(field)) {
        const on =
          field.relationship === BUCKET
            ? 'of the bucket'
            : `on ${field.join.map(({ parent, child }) => `${child} = ${parent}`).join(', ')}`;
        return [
          {
            path,
            source: `${field.table} ${on}`,
            types: field.kind === 'embedMany' ? 'array' : 'object',
            transform: field.kind === 'embedMany' ? 'array of documents' : 'document',
            covered: null,
          },
          ...inner(),
        ];
      }
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
        case 'subset': {
          const order = field.orderBy
            .map(({ column, direction }) => `${column} ${direction}`)
            .join(', ');
          return [
            {
              path,
              source: `${field.table}, first ${field.limit} by ${order}`,
              types: 'array',
              transform: 'array of copied rows',
              covered: null,
            },
            ...inner(),
          ];
        }
        case 'outlier': {
          const key = field.join[0]!.parent;
          const flag = prefix + field.flag;
          return [
            {
              path,
              source: `${field.table}, all up to ${field.limit}`,
              types: 'array',
              transform: 'array of copied rows',
              covered: null,
            },
            ...inner(),
            {
              path: flag,
              source: `${table}.${key}`,
              types: typesOf(heldKey(level, rule, key) ?? AS_STORED, table, key),
              transform: `key, only where there are more than ${field.limit}`,
              covered: covered(flag),
            },
          ];
        }
        case 'extendedReference': {
          const on = field.join.map(({ parent, child }) => `${parent} = ${child}`).join(', ');
          return [
            {
              path,
              source: `${field.table} on ${on}`,
              types: 'object',
              transform: 'copy of the referenced row',
              covered: null,
            },
            ...inner(),
          ];
        }
        case 'attribute': {
          const [k, v] = entryPaths(path);
          // What is null has no entry.
          const values = new Set(
            field.fields
              .flatMap(({ transform, column }) => typesOf(transform, table, column).split(' or '))
              .filter((type) => type !== 'null'),
          );
          return [
            {
              path,
              source: `${table}: ${field.fields.map(({ column }) => column).join(', ')}`,
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
              types: [...values].join(' or '),
              transform: [
                ...new Set(field.fields.map(({ transform }) => describe(transform))),
              ].join(', '),
              covered: covered(v),
            },
          ];
        }
        case 'computed':
          return [
            {
              path,
              source: `${field.table}${field.column === undefined ? '' : `.${field.column}`}`,
              types: computedTypes(field),
              transform: field.aggregate,
              covered: covered(path),
            },
          ];
      }
    });
  return [idRow(id, rootTable, typesOf, covered('_id')), ...visit(fields, rootTable, '', id)];
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

/** Types as a sentence names them; `long` only where an integer needs it. */
function shown(types: readonly string[], profile: Profile, table: string, column: string): string {
  const measured = columnProfile(profile, table, column);
  const integersOnly =
    measured !== undefined &&
    measured.stored.real + measured.stored.text + measured.stored.blob === 0;
  // Over HTTP, integers that a double cannot hold are no numbers.
  const small = (value: unknown): boolean =>
    typeof value === 'number' && value >= -(2 ** 31) && value < 2 ** 31;
  return types
    .filter(
      (type) => type !== 'long' || !(integersOnly && small(measured.min) && small(measured.max)),
    )
    .join(' or ');
}
