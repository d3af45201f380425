import { isPlain, numberFormat, readNumber, sortsAsText } from '../../sqlite/profile/number-format';
import type { NumberFormat, NumberTexts } from '../../sqlite/profile/number-format';
import { withoutRemoved, type Removal } from '../../sqlite/profile/number-removal';
import type { TextUse } from '../../sqlite/select/text-uses';
import type { ColumnTextUses } from '../model/workload';

/** Whether a column of numbers written as text is stored as numbers, and why. */
export interface NumberChoice {
  /** The pattern of the texts. */
  readonly format: string;
  readonly stored: 'number' | 'text';
  readonly reason: string;
}

/** What is counted or measured, as columns are called; other plain integers may be codes. */
const QUANTITIES = new Set(
  (
    'age amount area average budget capacity cost count day days distance duration earnings fee ' +
    'goals grade growth height hours income length level likes losses mean minutes month ' +
    'percent percentage points population price profit quantity qty rank rate rating ratio ' +
    'revenue reviews salary sales score seconds share size speed staff stars sum temperature ' +
    'times total usd value views volume votes weight width wins year years'
  ).split(' '),
);
/** Behind a quantity these make a code of it: `year_code`. */
const CODES = new Set(
  'code codes id ids key login name no nr number phone postcode ref section tel type zip'.split(
    ' ',
  ),
);
const MAX_NAMED = 3;

/**
 * Numbers written as text become numbers where no query of the workload asks for the text: for its
 * order, which is another than that of the numbers, or for its characters. What looks like a code
 * stays text, unless a query computes with it.
 */
export function chooseNumber(
  column: string,
  { format: pattern }: NumberTexts,
  uses: ColumnTextUses | undefined,
): NumberChoice {
  const format = numberFormat(pattern);
  const all = uses?.uses ?? [];
  const choice = (stored: NumberChoice['stored'], reason: string): NumberChoice => ({
    format: pattern,
    stored,
    reason,
  });
  if (!format) return choice('text', 'its format is not known');
  const needing = all.find(({ use }) => textNeed(format, use) !== undefined);
  if (needing) {
    const need = textNeed(format, needing.use) ?? '';
    return choice('text', `${need} by ${queries(needing.questionIds)}`);
  }
  const computing = all.filter(({ use }) => use.kind === 'number');
  const ids = [...new Set(computing.flatMap(({ questionIds }) => questionIds))];
  if (ids.length > 0) return choice('number', `computed with by ${queries(ids)}`);
  if (mayBeCode(column, format))
    return choice('text', 'plain integers that no query computes with may be codes');
  return choice('number', 'every text is the text of its number, and no query needs the text');
}

/** Plain integers that nothing calls a quantity: telephone extensions, flags, class sections. */
function mayBeCode(column: string, format: NumberFormat): boolean {
  if (format.scale !== 0 || !isPlain(format)) return false;
  const words = column
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u);
  const counts = words.some((word, index) => word === 'of' && /^num/.test(words[index - 1] ?? ''));
  if (counts) return false;
  return words.some((word) => CODES.has(word)) || !words.some((word) => QUANTITIES.has(word));
}

/** What a use needs the text for; undefined where the number does. */
function textNeed(format: NumberFormat, use: TextUse): string | undefined {
  switch (use.kind) {
    case 'text':
      return `the text is used in ${use.construct}`;
    case 'order': {
      const isAmong = (text: string): boolean => readNumber(format, text) !== undefined;
      return sortsAsText(format) && use.beside.every(isAmong)
        ? undefined
        : 'the order of the texts, which is not that of the numbers, is used';
    }
    case 'same':
      return afterRemovals(format, use.removed) ? undefined : 'a part of the text is used';
    case 'number': {
      const left = afterRemovals(format, use.removed);
      return left && isPlain(left) ? undefined : 'what the text begins with is computed with';
    }
  }
}

const afterRemovals = (
  format: NumberFormat,
  removals: readonly Removal[],
): NumberFormat | undefined =>
  removals.reduce<NumberFormat | undefined>(
    (left, removal) => left && withoutRemoved(left, removal),
    format,
  );

function queries(ids: readonly string[]): string {
  const named = ids.slice(0, MAX_NAMED).join(', ');
  const more = ids.length > MAX_NAMED ? ` and ${String(ids.length - MAX_NAMED)} more` : '';
  return `${ids.length === 1 ? 'query' : 'queries'} ${named}${more}`;
}
