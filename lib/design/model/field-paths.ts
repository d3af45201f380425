import { entryPaths, isArray, isNested, type Field } from './document-design';

/** A field of documents or of entries, with the path at which it lies in a document. */
export interface FieldAt {
  readonly path: string;
  readonly field: Field;
}

/** Every field, those inside arrays and embedded documents behind the one that holds them. */
export const fieldsAt = (fields: readonly Field[], prefix = ''): FieldAt[] =>
  fields.flatMap((field) => {
    const path = prefix + field.name;
    return [{ path, field }, ...(isNested(field) ? fieldsAt(field.fields, `${path}.`) : [])];
  });

/** The names that a field takes in its document: its own, and an outlier's flag beside it. */
export const namesOf = (field: Field): readonly string[] =>
  field.kind === 'outlier' ? [field.name, field.flag] : [field.name];

/** Paths of values, in the order of the fields; an outlier's flag comes behind its entries. */
export const leafPaths = (fields: readonly Field[], prefix = ''): string[] =>
  fields.flatMap((field) => [
    ...valuePaths(field, prefix + field.name),
    ...namesOf(field)
      .slice(1)
      .map((name) => prefix + name),
  ]);

function valuePaths(field: Field, path: string): readonly string[] {
  if (isNested(field)) return leafPaths(field.fields, `${path}.`);
  return field.kind === 'attribute' ? entryPaths(path) : [path];
}

/** Arrays of rows, of copied ones, and of names and values. */
export const arrayPaths = (fields: readonly Field[]): string[] =>
  fieldsAt(fields).flatMap(({ path, field }) => (isArray(field) ? [path] : []));

/** What holds other values: arrays and embedded documents. */
export const containerPaths = (fields: readonly Field[]): string[] =>
  fieldsAt(fields).flatMap(({ path, field }) =>
    isNested(field) || field.kind === 'attribute' ? [path] : [],
  );

/** The arrays of outliers, each with its flag: by name beside the array, and by path. */
export const outlierArrays = (
  fields: readonly Field[],
): { readonly path: string; readonly flag: string; readonly flagPath: string }[] =>
  fieldsAt(fields).flatMap(({ path, field }) => {
    if (field.kind !== 'outlier') return [];
    const { name, flag } = field;
    return [{ path, flag, flagPath: path.slice(0, path.length - name.length) + flag }];
  });
