/** Maps by list and key; a list that nobody holds any more takes its maps with it. */
const maps = new WeakMap<object, Map<(entry: never) => string, ReadonlyMap<string, unknown>>>();

/**
 * The first entry of an immutable list whose key is `value`. The first question to a list builds a
 * map, so that designs and catalogs of many tables are not searched from the start every time.
 * `keyOf` must be the same function each time: a constant of its module.
 */
export function firstBy<Entry>(
  list: readonly Entry[],
  keyOf: (entry: Entry) => string,
  value: string | undefined,
): Entry | undefined {
  if (value === undefined) return undefined;
  const known = maps.get(list) ?? new Map<(entry: never) => string, ReadonlyMap<string, unknown>>();
  maps.set(list, known);
  const map = known.get(keyOf) ?? new Map(list.toReversed().map((entry) => [keyOf(entry), entry]));
  known.set(keyOf, map);
  return map.get(value) as Entry | undefined;
}
