import type { Value } from '../values/value';

/**
 * The position that a positional `$` stands for: of the first element with which alone a document still matches. null when
 * none does, and when the elements have no say, because the document matches without any.
 */
export function decidingElement(items: readonly Value[], matchesWith: (items: Value[]) => boolean): number | null {
  if (matchesWith([])) return null;
  const i = items.findIndex((item) => matchesWith([item]));
  return i < 0 ? null : i;
}
