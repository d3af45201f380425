import { Binary, BSONRegExp, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'mongodb';

const WIDTH = 100;

/**
 * A pipeline in shell style, as the paper prints its examples: quoted keys, one level a line where it does not fit.
 * `parseMql` reads it back to the same values.
 */
export function printMql(collection: string, pipeline: readonly unknown[]): string {
  const name = /^[A-Za-z_]\w*$/.test(collection) ? `db.${collection}` : `db.getCollection(${JSON.stringify(collection)})`;
  return `${name}.aggregate(${printValue(pipeline)})`;
}

/** One value in the same style. */
export const printValue = (value: unknown, depth = 0): string => {
  const flat = inline(value);
  if (depth * 2 + flat.length <= WIDTH && !(depth === 0 && Array.isArray(value) && value.length > 0)) return flat;
  const pad = '  '.repeat(depth + 1);
  const close = '  '.repeat(depth);
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[\n${value.map((inner) => pad + printValue(inner, depth + 1)).join(',\n')}\n${close}]`;
  if (!isPlain(value)) return flat;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{\n${entries.map(([key, inner]) => `${pad}${JSON.stringify(key)}: ${printValue(inner, depth + 1)}`).join(',\n')}\n${close}}`;
};

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date) && !(value instanceof RegExp) && !(value instanceof Uint8Array) && !('_bsontype' in value);

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (!isPlain(value)) return scalar(value);
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return entries.length === 0 ? '{}' : `{ ${entries.map(([key, inner]) => `${JSON.stringify(key)}: ${inline(inner)}`).join(', ')} }`;
}

function scalar(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') return Object.is(value, -0) ? 'Double("-0")' : String(value);
  if (typeof value === 'bigint') return `NumberLong("${value.toString()}")`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'ISODate("invalid")' : `ISODate("${value.toISOString()}")`;
  if (value instanceof RegExp) return regex(value.source, value.flags.replace(/[^imsux]/g, ''));
  if (value instanceof BSONRegExp) return regex(value.pattern, value.options);
  if (value instanceof Int32) return String(value.value);
  if (value instanceof Long) return `NumberLong("${value.toString()}")`;
  if (value instanceof Double) return `Double("${Object.is(value.value, -0) ? '-0' : String(value.value)}")`;
  if (value instanceof Decimal128) return `NumberDecimal("${value.toString()}")`;
  if (value instanceof ObjectId) return `ObjectId("${value.toHexString()}")`;
  if (value instanceof Binary) return `BinData(${String(value.sub_type)}, "${Buffer.from(value.value()).toString('base64')}")`;
  if (value instanceof Uint8Array) return `BinData(0, "${Buffer.from(value).toString('base64')}")`;
  if (value instanceof Timestamp) return `Timestamp(${String(value.getHighBitsUnsigned())}, ${String(value.getLowBitsUnsigned())})`;
  if (value instanceof MinKey) return 'MinKey()';
  if (value instanceof MaxKey) return 'MaxKey()';
  throw new TypeError(`no shell syntax for a ${typeof value}`);
}

// Whatever the literal cannot hold as it is, such as a bare slash, goes to the constructor.
function regex(pattern: string, options: string): string {
  const isLiteral = /^(?!\*)(?:[^/\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+$/.test(pattern);
  return isLiteral ? `/${pattern}/${options}` : `RegExp(${JSON.stringify(pattern)}, ${JSON.stringify(options)})`;
}
