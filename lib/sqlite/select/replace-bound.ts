/** Bound trees are immutable and share their sources: both functions meet each object once. */

/**
 * The tree with some of its nodes replaced; what does not change keeps its identity. Replacements
 * are not looked into.
 */
export function replaceIn<T>(tree: T, replacements: ReadonlyMap<object, unknown>): T {
  const known = new Map<object, unknown>(replacements);
  const walk = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
    if (known.has(value)) return known.get(value);
    const isList = Array.isArray(value);
    const before = isList ? (value as unknown[]) : Object.values(value);
    const after = before.map(walk);
    const result = after.every((inner, index) => inner === before[index])
      ? value
      : isList
        ? after
        : Object.fromEntries(Object.keys(value).map((key, index) => [key, after[index]]));
    known.set(value, result);
    return result;
  };
  return walk(tree) as T;
}

/**
 * Visits every object of a tree, parents before children, but none at or below `skip`, and none
 * below where `visit` says false.
 */
export function walkBound(
  tree: unknown,
  visit: (node: object) => boolean | void,
  skip: ReadonlySet<object> = new Set(),
): void {
  const seen = new Set<object>(skip);
  const walk = (value: unknown): void => {
    if (
      typeof value !== 'object' ||
      value === null ||
      value instanceof Uint8Array ||
      seen.has(value)
    )
      return;
    seen.add(value);
    if (!Array.isArray(value) && visit(value) === false) return;
    for (const inner of Object.values(value)) walk(inner);
  };
  walk(tree);
}
