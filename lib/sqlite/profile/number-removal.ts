import { numberFormat, patternOf, type NumberFormat } from './number-format';

/** What a text function takes away from a text: `REPLACE(x, ',', '')`, `SUBSTR(x, 2)`, `TRIM(x)`. */
export type Removal =
  | { readonly kind: 'all'; readonly text: string }
  /** The characters before this position, which counts from 1. */
  | { readonly kind: 'before'; readonly position: number }
  | { readonly kind: 'ends'; readonly left: boolean; readonly right: boolean; readonly of: string };

/**
 * The format of the texts after the removal; undefined where they are no longer the numbers that
 * they were.
 */
export function withoutRemoved(format: NumberFormat, removal: Removal): NumberFormat | undefined {
  const left = remaining(format, removal);
  return left && numberFormat(patternOf(left));
}

function remaining(format: NumberFormat, removal: Removal): NumberFormat | undefined {
  const { prefix, suffix, negative } = format;
  switch (removal.kind) {
    case 'all':
      return withoutText(format, removal.text);
    case 'before':
      return !negative && [...prefix].length === removal.position - 1
        ? { ...format, prefix: '' }
        : undefined;
    case 'ends': {
      if (/[\d.,-]/.test(removal.of)) return undefined;
      const taken = new Set(removal.of);
      const [start, end] = [[...prefix], [...suffix]];
      // Before a minus nothing of the prefix is at the left end.
      if (removal.left && negative && start.some((character) => taken.has(character)))
        return undefined;
      if (removal.left) while (start.length > 0 && taken.has(start[0]!)) start.shift();
      if (removal.right) while (end.length > 0 && taken.has(end.at(-1)!)) end.pop();
      return { ...format, prefix: start.join(''), suffix: end.join('') };
    }
  }
}

function withoutText(format: NumberFormat, text: string): NumberFormat | undefined {
  const { prefix, suffix, grouped, negative } = format;
  if (text === '') return format;
  if (text === ',') return { ...format, grouped: false };
  // Nothing of the number itself, and nothing that begins in it.
  if (/[\d.,]/.test(text) || (negative && text.includes('-'))) return undefined;
  return {
    ...format,
    grouped,
    prefix: prefix.replaceAll(text, ''),
    suffix: suffix.replaceAll(text, ''),
  };
}
