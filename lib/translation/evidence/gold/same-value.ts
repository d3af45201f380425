import { periodOf } from '../../lower/period-predicate';
import { isDocument, type Mql } from '../../mql/mql';

/** Texts as hints and SQL write the same value: in another case, a number in quotes. */
export const sameText = (a: string, b: string): boolean =>
  a.trim().toLowerCase() === b.trim().toLowerCase() ||
  (a.trim() !== '' && b.trim() !== '' && Number(a) === Number(b));

/** Whether a constant of a pipeline is what a text says; a part of a date may be the date's. */
export function isSameValue(value: Mql, text: string, isPart = false): boolean {
  if (value instanceof Date)
    return value.toISOString().startsWith(text) || isNextOf(value.toISOString(), text);
  if (value instanceof RegExp) return isBegunBy(value.source, text);
  if (isDocument(value) || Array.isArray(value)) return false;
  const own = String(value);
  if (own === text || (typeof value !== 'string' && sameText(own, text))) return true;
  if (typeof value !== 'string') return false;
  if (isNextOf(value, text)) return true;
  return (value.startsWith('^') && isBegunBy(value, text)) || (isPart && isPartOf(value, text));
}

/** `9` of `09`, `2011` of `2011-05`. */
const isPartOf = (value: string, text: string): boolean =>
  sameText(value, text) || value.startsWith(text);

/** After a year, a month or a day is from the next one on: `> '1975'` became `>= '1976'`. */
function isNextOf(value: string, text: string): boolean {
  const end = /^\d{4}/.test(value) ? periodOf(text)?.end.toISOString() : undefined;
  return end !== undefined && (value.startsWith(end) || end.startsWith(value));
}

/** What LIKE with a plain text, or with one at the beginning, became. */
function isBegunBy(pattern: string, text: string): boolean {
  const whole = pattern.endsWith('\\z') || pattern.endsWith('$');
  const plain = pattern.replace(/^\^|(?:\\z|\$)$/g, '').replace(/\\([^\p{L}\p{N}])/gu, '$1');
  const [own, given] = [plain.toLowerCase(), text.toLowerCase()];
  return whole ? own === given : given.startsWith(own) || own.startsWith(given);
}
