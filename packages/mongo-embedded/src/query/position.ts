import { Doc } from '../bson/doc';
import { unsupported } from '../errors';
import { compareUtf8 } from '../values/compare';
import type { Value } from '../bson/value';
import type { Filter } from './match';

/**
 * The position that a positional `$` stands for: of the first element with which alone a document
 * still matches. null when none does, and when the elements have no say, because the document
 * matches without any.
 */
export function decidingElement(
  items: readonly Value[],
  matchesWith: (items: Value[]) => boolean,
): number | null {
  if (matchesWith([])) return null;
  const i = items.findIndex((item) => matchesWith([item]));
  return i < 0 ? null : i;
}

/**
 * Where a filter matched in arrays, which is what `$` in an update's path becomes, whatever array
 * it is in. Each condition has its own first element; the server takes the one of the condition
 * that it looks at last, which are sorted by their kinds, then by their paths.
 */
export function matchedPosition(doc: Doc, filter: Filter): number | null {
  const found = foundBy(doc, filter);
  if (found.every((f) => f.at === found[0]?.at)) return found[0]?.at ?? null;
  if (found.some((f) => f.rank === null)) throw ambiguous();
  found.sort((a, b) => (a.rank as number) - (b.rank as number) || compareUtf8(a.path, b.path));
  const [last, other] = [found[found.length - 1], found[found.length - 2]] as [Found, Found];
  if (last.at !== other.at && last.rank === other.rank && last.path === other.path)
    throw ambiguous();
  return last.at;
}
interface Found {
  readonly at: number;
  readonly path: string;
  readonly rank: number | null;
}
const ambiguous = (): Error =>
  unsupported(
    'the positional operator with conditions that different elements satisfy, and of which it is ' +
      'not certain which one decides,',
    2,
  );

type Condition = Filter & { readonly path: string };
/** By each condition that must hold. Negations and expressions match no element. */
function foundBy(doc: Doc, filter: Filter): Found[] {
  if (filter.kind === 'and') return filter.parts.flatMap((part) => foundBy(doc, part));
  if (filter.kind === 'or') return foundByAny(doc, filter.parts);
  if (!('path' in filter) || filter.path === undefined) return [];
  const at = positionIn(doc, filter as Condition);
  return at === null ? [] : [{ at, path: filter.path, rank: rankOf(filter as Condition) }];
}
/** One alternative that holds decides for all; which one, does not matter when they agree. */
function foundByAny(doc: Doc, parts: readonly Filter[]): Found[] {
  const positions = new Set(
    parts.filter((part) => part.test(doc)).map((part) => matchedPosition(doc, part)),
  );
  if (positions.size > 1) throw ambiguous();
  const [at] = positions;
  return typeof at === 'number' ? [{ at, path: '', rank: -1 }] : [];
}

/** MongoDB's order of conditions; null for those that are not distinguished here. */
function rankOf(condition: Condition): number | null {
  if (condition.kind === 'elemMatch') return 0;
  // One value is an equality.
  if (condition.kind === 'in') return condition.values.length === 1 ? 1 : 9;
  return condition.kind === 'compare'
    ? ['$eq', '$lte', '$lt', '$gt', '$gte'].indexOf(condition.operator) + 1
    : null;
}

/** Of the outermost array on a condition's path. */
function positionIn(doc: Doc, condition: Condition): number | null {
  const parts = condition.path.split('.');
  const along: Doc[] = [];
  let value: Value = doc;
  let i = 0;
  for (; i < parts.length && value instanceof Doc; i++) {
    along.push(value);
    value = value.get(parts[i] as string);
  }
  if (!Array.isArray(value)) return null;
  const rebuilt = (items: Value[]): Doc =>
    along.reduceRight<Value>(
      (inner, outer, j) => outer.copy().set(parts[j] as string, inner),
      items,
    ) as Doc;
  if (/^\d+$/.test(parts[i] ?? '')) return numberedPosition(value, condition, rebuilt);
  return decidingElement(value, (only) => condition.test(rebuilt(only)));
}

/**
 * A number after an array is a position that is given, not found, unless it is a name in an
 * element.
 */
function numberedPosition(
  items: readonly Value[],
  condition: Condition,
  rebuilt: (items: Value[]) => Doc,
): number | null {
  if (!items.some((item) => item instanceof Doc && condition.test(rebuilt([item])))) return null;
  throw ambiguous();
}
