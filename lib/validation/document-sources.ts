import { isArray, isEmbed, type Field, type LogicalDesign } from '../design/model/document-design';
import { applyTransform, invertTransform } from '../design/model/transform';
import { type Transform } from '../design/model/transform-kind';
import { valueKey } from '../results/equality';
import { isValueDocument, type ResultSet, type Value, type ValueDocument } from '../results/value';
import { quoteName as q, type Catalog, tableNamed } from '../sqlite/catalog';
import { documentsLevel, levelBelow, type Level } from './collection-validation';
import { sqlLiteral } from './sql-literal';

/** The rows of the source that one document was made from. */
export interface DocumentSource {
  /** Of the root table; in a bucket several, in their order, the first of them only. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  /** How many rows of the root table there are. */
  readonly total: number;
  /** What lies in the document's arrays and embedded documents. */
  readonly children: readonly ChildRows[];
}

export interface ChildRows {
  readonly path: string;
  readonly table: string;
  /** Rows of `table` that belong to the document. */
  readonly rows: number;
  /** How many of them the document is to hold: a subset and an outlier hold fewer. */
  readonly expected: number;
  /** How many it holds. */
  readonly entries: number;
}

/** Runs SQL on the source; it may cut the result. */
export type AskSource = (sql: string) => Promise<ResultSet>;

/**
 * For each of some documents the rows that it was made from, asked all at once. `most`: rows shown
 * of one bucket.
 */
export async function documentSources(
  design: LogicalDesign,
  catalog: Catalog,
  documents: readonly ValueDocument[],
  most: number,
  ask: AskSource,
): Promise<DocumentSource[]> {
  if (documents.length === 0) return [];
  const { level, key } = documentsLevel(design, catalog);
  const table = tableNamed(catalog, design.rootTable)!;
  const chosen =
    `${key.sql} IN ` +
    `(${documents.map(({ _id }) => sqlLiteral(invertTransform(key.transform, _id ?? null))).join(', ')})`;
  const isBucket = design.id.kind === 'bucket';
  // Of a bucket of a thousand rows not all are read.
  const [few, order] = isBucket ? [` AND o.place < ${most}`, 'o.bucket, o.place'] : ['', key.sql];
  const columns = table.columns.map(({ name }) => name);
  const [roots, sizes] = [
    await ask(
      `SELECT ${key.sql}, ${columns.map((column) => `t0.${q(column)}`).join(', ')} FROM ` +
        `${level.from}${key.join} WHERE ${chosen}${few} ORDER BY ${order}`,
    ),
    isBucket
      ? byDocument(
          await ask(
            `SELECT ${key.sql}, count(*) FROM ${level.from}${key.join} WHERE ${chosen} GROUP BY 1`,
          ),
          key.transform,
        )
      : undefined,
  ];
  const children: {
    readonly field: NestedField;
    readonly path: string;
    readonly counts: ReadonlyMap<string, number>;
  }[] = [];
  for (const { field, path, from } of nestedRows(level, catalog)) {
    const counted =
      field.table === design.rootTable && isBucket && path === field.name
        ? sizes!
        : byDocument(
            await ask(
              `SELECT ${key.sql}, count(*) FROM ${from}${key.join} WHERE ${chosen} GROUP BY 1`,
            ),
            key.transform,
          );
    children.push({ field, path, counts: counted });
  }
  return documents.map((document) => {
    const id = valueKey(document._id ?? null);
    const rows = roots.rows
      .filter(([own]) => valueKey(applyTransform(key.transform, own ?? null)) === id)
      .map((row) => row.slice(1));
    return {
      columns,
      rows,
      total: sizes?.get(id) ?? rows.length,
      children: children.map(({ field, path, counts }) => {
        const found = counts.get(id) ?? 0;
        return {
          path,
          table: field.table,
          rows: found,
          expected: expectedEntries(field, found),
          entries: entriesAt(document, path.split('.')),
        };
      }),
    };
  });
}

const byDocument = ({ rows }: ResultSet, transform: Transform): Map<string, number> =>
  new Map(
    rows.map(([key, count]) => [valueKey(applyTransform(transform, key ?? null)), Number(count)]),
  );

type NestedField = Extract<
  Field,
  { readonly kind: 'embedOne' | 'embedMany' | 'subset' | 'outlier' }
>;

/**
 * Everything that holds rows of a child table, with the join that finds them. What arrays repeat of
 * other rows is left to its mapping.
 */
function nestedRows(
  level: Level,
  catalog: Catalog,
  inArray = false,
): { readonly field: NestedField; readonly path: string; readonly from: string }[] {
  return level.fields.flatMap((field) => {
    const path = level.path + field.name;
    if (isEmbed(field)) {
      const below = levelBelow(level, field, catalog);
      return [
        { field, path, from: below.from },
        ...nestedRows(below, catalog, inArray || isArray(field)),
      ];
    }
    if (inArray || (field.kind !== 'subset' && field.kind !== 'outlier')) return [];
    return [
      {
        field,
        path,
        from:
          `${level.from} JOIN ${q(field.table)} copied ON ` +
          `${field.join.map(({ parent, child }) => `${level.alias}.${q(parent)} = copied.${q(child)}`).join(' AND ')}`,
      },
    ];
  });
}

function expectedEntries(field: NestedField, rows: number): number {
  if (field.kind === 'subset') return Math.min(rows, field.limit);
  return field.kind === 'outlier' && rows > field.limit ? 0 : rows;
}

function entriesAt(value: Value, [name, ...rest]: readonly string[]): number {
  if (Array.isArray(value))
    return value.reduce(
      (sum: number, entry) => sum + entriesAt(entry, name === undefined ? [] : [name, ...rest]),
      0,
    );
  if (name === undefined) return value === null ? 0 : 1;
  return isValueDocument(value) && Object.hasOwn(value, name) ? entriesAt(value[name]!, rest) : 0;
}
