import {
  isEmbed,
  isNested,
  type DocumentDesign,
  type Field,
} from '../../../design/model/document-design';
import { columnFields } from '../../../design/model/column-fields';
import { columnPath, placementOf } from '../../../design/model/placement';
import type { Transform } from '../../../design/model/transform-kind';
import { sameName } from '../../../sqlite/catalog';

/** A field in which the values of a source column are. */
export interface ColumnField {
  /** `collection.field`. */
  readonly path: string;
  readonly table: string;
  readonly column: string;
  readonly transform: Transform;
  /** Set where it repeats a row: the columns by which rows of `holder` lead to that row. */
  readonly copy?: Copy;
}

export interface Copy {
  readonly holder: string;
  readonly columns: readonly string[];
}

/**
 * The fields of a column: its own place first, then its copies. An embedded row's key is that of
 * the row around it.
 */
export function fieldsOfColumn(
  design: DocumentDesign,
  table: string,
  column: string,
): ColumnField[] {
  const placement = placementOf(design, table);
  const own = placement && columnPath(placement, column);
  const copies = allFields(design).filter(
    (field) =>
      field.copy !== undefined && sameName(field.table, table) && sameName(field.column, column),
  );
  if (!placement || !own) return copies;
  const path = `${placement.collection}.${own.path}`;
  return [{ path, table, column, transform: own.transform }, ...copies];
}

/** The column whose values a field holds. */
export const columnAtPath = (design: DocumentDesign, path: string): ColumnField | undefined =>
  allFields(design).find((field) => field.path === path);

const known = new WeakMap<DocumentDesign, readonly ColumnField[]>();

function allFields(design: DocumentDesign): readonly ColumnField[] {
  const before = known.get(design);
  if (before) return before;
  const own = columnFields(design).map(({ collection, path, table, column, transform }) => ({
    path: `${collection}.${path}`,
    table,
    column,
    transform,
  }));
  const copies = design.logical.flatMap(({ collection, rootTable, fields }) =>
    copiesIn(fields, rootTable, `${collection}.`),
  );
  const all = [...own, ...copies];
  known.set(design, all);
  return all;
}

function copiesIn(fields: readonly Field[], holder: string, prefix: string): ColumnField[] {
  return fields.flatMap((field): ColumnField[] => {
    if (!isNested(field)) return [];
    const path = `${prefix}${field.name}.`;
    if (isEmbed(field)) return copiesIn(field.fields, field.table, path);
    const side = field.kind === 'extendedReference' ? 'child' : 'parent';
    const columns = field.join.map((pair) => pair[side]);
    return field.fields.map(({ name, column, transform }) => ({
      path: path + name,
      table: field.table,
      column,
      transform,
      copy: { holder, columns },
    }));
  });
}
