import { unsupported } from '../errors';

/**
 * What decides where a removed field returns when it is set again. The server keeps the place of a
 * field that it removed from a document it is working on, and an exclusion of a document that still
 * is BSON makes new BSON, without the place: SERVER's `ExclusionNode` against
 * `FastPathEligibleExclusionNode`, and `DocumentStorage`, which marks fields deleted.
 */
export interface Past {
  /**
   * Whether the server has the document as BSON. `maybe` after stages that it runs in either of its
   * two engines.
   */
  readonly bson: 'yes' | 'maybe' | 'no';
  /** All names in their places, those of removed fields too. Absent: none was removed. */
  readonly order?: readonly string[];
  /** Removed fields of which it is not known whether their places are kept. */
  readonly unsure?: ReadonlySet<string>;
  /** Fields that returned to their places, elsewhere than at the end. */
  readonly returned?: ReadonlySet<string>;
}

export const storedPast: Past = { bson: 'yes' };
export const eitherPast: Past = { bson: 'maybe' };

/** After a field was removed whose place is kept. */
export function afterRemoval(
  past: Past | undefined,
  keys: readonly string[],
  names: readonly string[],
  bson: Past['bson'],
): Past {
  const unsure = bson === 'maybe' ? new Set([...(past?.unsure ?? []), ...names]) : past?.unsure;
  return { ...past, bson, order: past?.order ?? [...keys], ...(unsure ? { unsure } : {}) };
}

/**
 * Where a field that a document does not have is to be put among its keys; the end, when it never
 * was there.
 */
export function placeOf(
  past: Past,
  keys: readonly string[],
  name: string,
): { at: number; past: Past } {
  const { order } = past;
  if (!order) return { at: keys.length, past };
  const slot = order.indexOf(name);
  if (slot < 0) return { at: keys.length, past: { ...past, order: [...order, name] } };
  const present = new Set(keys);
  const next = order.slice(slot + 1).find((key) => present.has(key));
  if (next === undefined) return { at: keys.length, past };
  if (past.unsure?.has(name)) {
    throw unsupported(
      `setting '${name}' again, which an earlier stage removed right after $group or $lookup ` +
        '(the server puts it at its old place or at the end, depending on its engine),',
    );
  }
  return {
    at: keys.indexOf(next),
    past: { ...past, returned: new Set([...(past.returned ?? []), name]) },
  };
}

/**
 * An inclusion of a field that came back: the server may never have read it, and then it has no
 * place to return to.
 */
export function checkReturned(past: Past | undefined, named: { has(name: string): boolean }): void {
  for (const name of past?.returned ?? []) {
    if (named.has(name))
      throw unsupported(
        `including '${name}', which earlier stages removed and set again (its place depends on ` +
          'what the server reads),',
      );
  }
}
