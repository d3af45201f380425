import { arrayPaths, outlierArrays } from './field-paths';
import {
  isArray,
  isEmbed,
  isNested,
  type AttributeField,
  type ComputedField,
  type DocumentDesign,
  type Field,
  type LogicalDesign,
  logicalDesignOf,
} from './document-design';
import type { Transform } from './transform-kind';

type Fields = Pick<DocumentDesign, 'logical'>;

/** A field of a collection that holds a source column. */
export interface ColumnAt {
  readonly collection: string;
  readonly path: string;
  readonly table: string;
  readonly column: string;
  readonly transform: Transform;
  /** Arrays on the way to it. */
  readonly arrays: readonly string[];
}

/** Every field of the design that is the place of a source column, `_id` included. */
export function columnFields(design: Fields): ColumnAt[] {
  return design.logical.flatMap((logical) => fieldsOf(logical));
}

function fieldsOf(logical: LogicalDesign): ColumnAt[] {
  const { collection, rootTable, id } = logical;
  const own: ColumnAt[] =
    id.kind === 'column'
      ? [
          {
            collection,
            path: '_id',
            table: rootTable,
            column: id.column,
            transform: id.transform,
            arrays: [],
          },
        ]
      : [];
  const visit = (
    fields: readonly Field[],
    table: string,
    prefix: string,
    arrays: readonly string[],
  ): ColumnAt[] =>
    fields.flatMap((field): ColumnAt[] => {
      const path = prefix + field.name;
      if (field.kind === 'column')
        return [
          { collection, path, table, column: field.column, transform: field.transform, arrays },
        ];
      if (field.kind !== 'embedOne' && field.kind !== 'embedMany') return [];
      return visit(
        field.fields,
        field.table,
        `${path}.`,
        field.kind === 'embedMany' ? [...arrays, path] : arrays,
      );
    });
  return [...own, ...visit(logical.fields, rootTable, '', [])];
}

/**
 * Every field that repeats a source column, beside a reference to its row or in the parent's array
 * of child rows.
 */
export function copiedFields(design: Fields): ColumnAt[] {
  return design.logical.flatMap(({ collection, rootTable, fields: all }) => {
    const visit = (
      fields: readonly Field[],
      table: string,
      prefix: string,
      arrays: readonly string[],
    ): ColumnAt[] =>
      fields.flatMap((field): ColumnAt[] => {
        const path = prefix + field.name;
        if (isNested(field) && !isEmbed(field)) {
          return field.fields.map(({ name, column, transform }) => ({
            collection,
            path: `${path}.${name}`,
            table: field.table,
            column,
            transform,
            arrays: isArray(field) ? [...arrays, path] : arrays,
          }));
        }
        if (field.kind !== 'embedOne' && field.kind !== 'embedMany') return [];
        return visit(
          field.fields,
          field.table,
          `${path}.`,
          field.kind === 'embedMany' ? [...arrays, path] : arrays,
        );
      });
    return visit(all, rootTable, '', []);
  });
}

/** Aggregates over child rows that the root documents of a collection hold. */
export const computedPaths = (
  design: Fields,
  collection: string,
): { readonly path: string; readonly field: ComputedField }[] =>
  (logicalDesignOf(design, collection)?.fields ?? []).flatMap((field) =>
    field.kind === 'computed' ? [{ path: field.name, field }] : [],
  );

/** The arrays of names and values that the documents of a collection hold. */
export const attributesOf = (design: Fields, collection: string): AttributeField[] =>
  (logicalDesignOf(design, collection)?.fields ?? []).filter((field) => field.kind === 'attribute');

/**
 * Arrays of embedded rows, of copied ones, and of names and values; never missing, empty without
 * any.
 */
export const embeddedArrays = (design: DocumentDesign, collection: string): string[] =>
  arrayPaths(logicalDesignOf(design, collection)?.fields ?? []);

/** The flags of outliers, which only some documents have. */
export const outlierFlags = (design: DocumentDesign, collection: string): string[] =>
  outlierArrays(logicalDesignOf(design, collection)?.fields ?? []).map(({ flagPath }) => flagPath);
