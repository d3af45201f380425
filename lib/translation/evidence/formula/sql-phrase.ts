import type { Token } from './tokens';

/** Words of SQL that stand outside of formulas. */
const PHRASES: readonly (readonly [readonly string[], string])[] = [
  [['PARTITION', 'BY'], 'grouped by'],
  [['GROUP', 'BY'], 'grouped by'],
  [['ORDER', 'BY'], 'sorted by'],
  [['WHERE'], 'where'],
  [['HAVING'], 'having'],
  [['DESC'], 'in descending order'],
  [['ASC'], 'in ascending order'],
  [['LIMIT'], 'limited to'],
];

/** A word of SQL at a token, in words; in capitals, since "order by" can be prose. */
export function phraseAt(
  tokens: readonly Token[],
  index: number,
): { readonly text: string; readonly end: number } | undefined {
  for (const [words, text] of PHRASES) {
    let position = index;
    const isHere = words.every((word, nth) => {
      if (nth > 0 && tokens[position]?.kind === 'space') position++;
      return tokens[position++]?.source === word;
    });
    if (isHere) return { text, end: position };
  }
  return undefined;
}
