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

/** From so many digits on, integers of one length are taken for codes: postcodes, telephone numbers. */
const CODE_DIGITS = 5;
const CODE_NAME =
  /(^|_|\b)(id|ids|code|codes|no|nr|num|number|zip|postal|postcode|phone|tel|fax|isbn|iban|key|ref)(_|\b|$)|(Id|ID|Code|No|Number|Zip|Phone)$/;
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
    return choice('text', `${questions(needing.questionIds)} ${need}`);
  }
  const computing = all.filter(({ use }) => use.kind === 'number');
  const ids = [...new Set(computing.flatMap(({ questionIds }) => questionIds))];
  if (ids.length > 0) return choice('number', `${questions(ids)} computes with it`);
  if (isCode(column, format))
    return choice('text', 'it reads as a code, and no query computes with it');
  return choice('number', 'every text is the text of its number, and no query needs the text');
}

const isCode = (column: string, format: NumberFormat): boolean =>
  format.scale === 0 &&
  isPlain(format) &&
  ((format.width ?? 0) >= CODE_DIGITS || CODE_NAME.test(column));

/** What a use needs the text for; undefined where the number does. */
function textNeed(format: NumberFormat, use: TextUse): string | undefined {
  switch (use.kind) {
    case 'text':
      return `uses the text in ${use.construct}`;
    case 'order': {
      const isAmong = (text: string): boolean => readNumber(format, text) !== undefined;
      return sortsAsText(format) && use.beside.every(isAmong)
        ? undefined
        : 'orders by the text, where numbers sort otherwise';
    }
    case 'same':
      return afterRemovals(format, use.removed) ? undefined : 'uses a part of the text';
    case 'number': {
      const left = afterRemovals(format, use.removed);
      return left && isPlain(left) ? undefined : 'computes with what the text begins with';
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

function questions(ids: readonly string[]): string {
  const named = ids.slice(0, MAX_NAMED).join(', ');
  const more = ids.length > MAX_NAMED ? ` and ${String(ids.length - MAX_NAMED)} more` : '';
  return `query ${named}${more}`;
}
