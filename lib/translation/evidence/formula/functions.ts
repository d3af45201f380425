import { isNear, LEAST_LETTERS } from './near-name';

const FUNCTIONS = new Set([
  ...['count', 'sum', 'avg', 'average', 'max', 'min', 'total', 'distinct'],
  ...['divide', 'multiply', 'subtract', 'add', 'percentage', 'ratio'],
  ...['year', 'month', 'day', 'date', 'datetime', 'strftime', 'substr', 'substring', 'instr'],
  ...['length', 'cast', 'abs', 'round', 'upper', 'lower', 'trim', 'replace', 'iif', 'if', 'ifnull'],
  ...['coalesce', 'nullif', 'julianday', 'now', 'curdate', 'rank'],
]);

/** The function that a word names, in lower case; in capitals one letter may be wrong: `DIVDE`. */
export function functionNamed(word: string): string | undefined {
  const written = word.toLowerCase();
  if (FUNCTIONS.has(written)) return written;
  if (word.length < LEAST_LETTERS || word !== word.toUpperCase()) return undefined;
  return [...FUNCTIONS].find((name) => name.length >= LEAST_LETTERS && isNear(name, written));
}
