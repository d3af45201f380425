import { Doc, FieldName } from '../bson/doc';
import { ServerError } from '../errors';
import type { Value } from '../bson/value';

const fieldNames = new Map<string, FieldName>();
/** One FieldName a name, as long as there are not absurdly many. */
export function fieldName(name: string): FieldName {
  let field = fieldNames.get(name);
  if (!field) {
    field = new FieldName(name);
    if (fieldNames.size > 50_000) fieldNames.clear();
    fieldNames.set(name, field);
  }
  return field;
}

export function splitPath(path: string, what = 'FieldPath'): string[] {
  const parts = path.split('.');
  if (path === '') throw new ServerError(40352, `${what} cannot be constructed with empty string`);
  if (path.endsWith('.')) throw new ServerError(40353, `${what} must not end with a '.'.`);
  for (const part of parts) {
    if (part === '') throw new ServerError(15998, `${what} field names may not be empty strings.`);
    if (part.includes('\0'))
      throw new ServerError(16411, `${what} field names may not contain null bytes.`);
    if (part.startsWith('$'))
      throw new ServerError(
        16410,
        `${what} field names may not start with '$'. Consider using $getField or $setField.`,
      );
  }
  if (parts.length > 200) throw new ServerError(15, `${what} is too long`);
  return parts;
}

/**
 * What `"$a.b"` means in an expression: arrays on the way are mapped (elements without the field
 * leave no trace), numbers in the path are names, never positions.
 */
export function pathReader(parts: readonly string[]): (value: Value) => Value {
  const [first, ...rest] = parts;
  const field = fieldName(first as string);
  if (rest.length === 0) return (value) => readField(value, field);
  const next = pathReader(rest);
  return (value) => {
    const inner = value instanceof Doc ? value.read(field) : readField(value, field);
    if (inner === undefined) return undefined;
    return Array.isArray(inner) ? mapPath(inner, next) : next(inner);
  };
}

function readField(value: Value, field: FieldName): Value {
  if (value instanceof Doc) return value.read(field);
  if (Array.isArray(value)) return mapPath(value, (v) => readField(v, field));
  return undefined;
}

function mapPath(items: Value[], read: (value: Value) => Value): Value[] {
  const out: Value[] = [];
  for (const item of items) {
    // Only documents have fields: an array directly inside an array is not traversed.
    if (item instanceof Doc) {
      const value = read(item);
      if (value !== undefined) out.push(value);
    }
  }
  return out;
}
