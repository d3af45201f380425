/**
 * The one printer of MQL: pipelines in shell style, as the paper prints its examples (quoted keys,
 * one level a line where it does not fit). It prints Extended JSON, canonical or relaxed, so that
 * the screens, which receive that over HTTP, and the bundle print the same text. `parseMql` reads
 * it back to the same values.
 */
export function printExtendedMql({ collection, pipeline }: ExtendedMql): string {
  const name = /^[A-Za-z_]\w*$/.test(collection)
    ? `db.${collection}`
    : `db.getCollection(${JSON.stringify(collection)})`;
  return `${name}.aggregate(${printPipeline(pipeline)})`;
}

export interface ExtendedMql {
  readonly collection: string;
  readonly pipeline: readonly unknown[];
}

const WIDTH = 100;

/** One document or value in the same style. */
export const printExtendedValue = (value: unknown): string => print(value, 0);

/** Stages are on lines of their own, however short they are. */
const printPipeline = (stages: readonly unknown[]): string =>
  stages.length === 0
    ? '[]'
    : onLines(
        '[',
        stages.map((stage) => print(stage, 1)),
        ']',
        0,
      );

function print(value: unknown, depth: number): string {
  const flat = inline(value);
  if (depth * 2 + flat.length <= WIDTH) return flat;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => print(item, depth + 1));
    return items.length === 0 ? '[]' : onLines('[', items, ']', depth);
  }
  if (!isObject(value) || wrapped(value) !== undefined) return flat;
  const members = Object.entries(value).map(([key, inner]) => {
    return `${JSON.stringify(key)}: ${print(inner, depth + 1)}`;
  });
  return onLines('{', members, '}', depth);
}

function onLines(open: string, lines: readonly string[], close: string, depth: number): string {
  const pad = '  '.repeat(depth + 1);
  return `${open}\n${lines.map((line) => pad + line).join(',\n')}\n${'  '.repeat(depth)}${close}`;
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (!isObject(value)) return primitive(value);
  const text = wrapped(value);
  if (text !== undefined) return text;
  const members = Object.entries(value).map(([key, inner]) => {
    return `${JSON.stringify(key)}: ${inline(inner)}`;
  });
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function primitive(value: unknown): string {
  if (typeof value === 'number') return Object.is(value, -0) ? 'Double("-0")' : String(value);
  return JSON.stringify(value) ?? 'null';
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Extended JSON's wrappers as the shell writes them; undefined for an ordinary document. */
function wrapped(value: Record<string, unknown>): string | undefined {
  const [key, ...more] = Object.keys(value);
  const wrapper = key !== undefined && Object.hasOwn(WRAPPERS, key) ? WRAPPERS[key] : undefined;
  return wrapper && more.length === 0 ? wrapper(value[key!]) : undefined;
}

const quoted =
  (name: string) =>
  (inner: unknown): string | undefined =>
    typeof inner === 'string' ? `${name}(${JSON.stringify(inner)})` : undefined;

const WRAPPERS: Readonly<Record<string, (inner: unknown) => string | undefined>> = {
  $numberInt: (inner) => (typeof inner === 'string' ? inner : undefined),
  $numberLong: quoted('NumberLong'),
  $numberDouble: (inner) => (typeof inner === 'string' ? double(inner) : undefined),
  $numberDecimal: quoted('NumberDecimal'),
  $oid: quoted('ObjectId'),
  $date: date,
  $regularExpression: regularExpression,
  $binary: binary,
  $timestamp: timestamp,
  $minKey: () => 'MinKey()',
  $maxKey: () => 'MaxKey()',
};

/** The shell reads a number as an int where it is one of 32 bits, and as a double otherwise. */
function double(text: string): string {
  const value = Number(text);
  if (Object.is(value, -0)) return 'Double("-0")';
  return (value | 0) === value ? `Double("${value}")` : String(value);
}

function date(inner: unknown): string | undefined {
  const milliseconds = isObject(inner) ? Number(inner.$numberLong) : NaN;
  const moment = new Date(typeof inner === 'string' ? inner : milliseconds);
  return Number.isNaN(moment.getTime()) ? undefined : `ISODate("${moment.toISOString()}")`;
}

function regularExpression(inner: unknown): string | undefined {
  if (!isObject(inner)) return undefined;
  const { pattern, options } = inner;
  if (typeof pattern !== 'string' || typeof options !== 'string') return undefined;
  // Whatever the literal cannot hold as it is, such as a bare slash, goes to the constructor.
  const isLiteral =
    /^(?!\*)(?:[^/\\[\n\r\u2028\u2029]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+$/.test(pattern);
  if (isLiteral) return `/${pattern}/${options}`;
  return `RegExp(${JSON.stringify(pattern)}, ${JSON.stringify(options)})`;
}

function binary(inner: unknown): string | undefined {
  if (!isObject(inner) || typeof inner.base64 !== 'string') return undefined;
  return `BinData(${Number.parseInt(String(inner.subType), 16)}, ${JSON.stringify(inner.base64)})`;
}

function timestamp(inner: unknown): string | undefined {
  return isObject(inner) ? `Timestamp(${Number(inner.t)}, ${Number(inner.i)})` : undefined;
}
