/**
 * Pipelines as they come over HTTP (relaxed Extended JSON) in shell style: unquoted keys where they are plain words,
 * ISODate(…) and the like for typed values. What fits a line stays on one.
 */
export function mqlText(mql: { readonly collection: string; readonly pipeline: readonly unknown[] }): string {
  const stages = mql.pipeline.map((stage) => `  ${format(stage, 1)}`);
  const name = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(mql.collection) ? `db.${mql.collection}` : `db.getCollection(${JSON.stringify(mql.collection)})`;
  return stages.length === 0 ? `${name}.aggregate([])` : `${name}.aggregate([\n${stages.join(',\n')}\n])`;
}

/** One document or value in the same style. */
export const documentText = (value: unknown): string => format(value, 0);

const WIDTH = 96;

function format(value: unknown, depth: number): string {
  const flat = inline(value);
  if (flat.length + depth * 2 <= WIDTH) return flat;
  const pad = '  '.repeat(depth + 1);
  const close = '  '.repeat(depth);
  if (Array.isArray(value)) return `[\n${value.map((inner) => pad + format(inner, depth + 1)).join(',\n')}\n${close}]`;
  if (isPlainObject(value) && typed(value) === undefined) {
    return `{\n${Object.entries(value).map(([key, inner]) => `${pad}${keyText(key)}: ${format(inner, depth + 1)}`).join(',\n')}\n${close}}`;
  }
  return flat;
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (!isPlainObject(value)) return JSON.stringify(value) ?? 'undefined';
  const special = typed(value);
  if (special !== undefined) return special;
  const entries = Object.entries(value);
  return entries.length === 0 ? '{}' : `{ ${entries.map(([key, inner]) => `${keyText(key)}: ${inline(inner)}`).join(', ')} }`;
}

const keyText = (key: string): string => (/^[$\p{L}_][\p{L}\p{N}_]*$/u.test(key) ? key : JSON.stringify(key));

const isPlainObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Extended JSON's wrappers as the shell writes them. */
function typed(value: Record<string, unknown>): string | undefined {
  const [key, ...more] = Object.keys(value);
  if (key === undefined || more.length > 0) return undefined;
  const inner = value[key];
  switch (key) {
    case '$numberInt':
      return String(inner);
    case '$numberLong':
      return `NumberLong(${JSON.stringify(inner)})`;
    case '$numberDouble':
      return /^-?\d+$/.test(String(inner)) ? `Double(${String(inner)})` : String(inner);
    case '$numberDecimal':
      return `NumberDecimal(${JSON.stringify(inner)})`;
    case '$oid':
      return `ObjectId(${JSON.stringify(inner)})`;
    case '$date':
      return `ISODate(${JSON.stringify(typeof inner === 'string' ? inner : new Date(Number((inner as { $numberLong: string }).$numberLong)).toISOString())})`;
    case '$regularExpression': {
      const { pattern, options } = inner as { pattern: string; options: string };
      return `/${pattern.replaceAll('/', '\\/')}/${options}`;
    }
    case '$binary': {
      const { base64, subType } = inner as { base64: string; subType: string };
      return `BinData(${Number.parseInt(subType, 16)}, ${JSON.stringify(base64)})`;
    }
    default:
      return undefined;
  }
}
