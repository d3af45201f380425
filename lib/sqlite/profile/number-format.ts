/**
 * How a column writes its numbers as text, in the letters of Unicode's number patterns
 * (https://unicode.org/reports/tr35/tr35-numbers.html#Number_Format_Patterns): `0` integers, `0000`
 * integers of four digits, `0.00` two decimals, `0.#` as many decimals as there are, `0.0#` at least
 * one, `#,##0` groups of thousands, with a currency sign or a percent sign around them; `;-…` where
 * some are negative. Two texts of one format are never the same number.
 */
export interface NumberFormat {
  readonly prefix: string;
  readonly suffix: string;
  readonly grouped: boolean;
  /** Digits of every integer; undefined where they vary. */
  readonly width?: number;
  /**
   * Decimals of every number; `real`: as many as there are, at least one, as SQLite prints a real;
   * `shortest`: none for an integer.
   */
  readonly scale: number | 'real' | 'shortest';
  readonly negative: boolean;
}

/** A column all of whose texts are numbers in one format: each is the very text of its number. */
export interface NumberTexts {
  /** The pattern of a `NumberFormat`. */
  readonly format: string;
  readonly min: number;
  readonly max: number;
}

const SIGN = String.raw`(?:[A-Z]{0,3}\p{Sc}|USD|EUR|GBP|JPY|CHF|CNY|INR) ?`;
const PATTERN = /^([^0#]*)(#,##0|0+)(\.#|\.0#|\.0+)?([^0#;]*)(;-.*)?$/;
const TEXT = new RegExp(
  `^(-?)(${SIGN})?(\\d+|\\d{1,3}(?:,\\d{3})+)(\\.\\d+)?( ?%| ?\\p{Sc})?$`,
  'u',
);
/** What a double and a long carry for certain. */
const DOUBLE_DIGITS = 15;
const LONG_DIGITS = 18;
const LONGEST = 40;

export function patternOf(format: NumberFormat): string {
  const { prefix, suffix, grouped, width = 1, scale, negative } = format;
  const integer = grouped ? '#,##0' : '0'.repeat(width);
  const positive = `${prefix}${integer}${decimalsOf(scale)}${suffix}`;
  return negative ? `${positive};-${positive}` : positive;
}

function decimalsOf(scale: NumberFormat['scale']): string {
  if (scale === 'shortest') return '.#';
  if (scale === 'real') return '.0#';
  return scale === 0 ? '' : `.${'0'.repeat(scale)}`;
}

const known = new Map<string, NumberFormat | undefined>();

/** The format of a pattern; undefined for what is none of the patterns above. */
export function numberFormat(pattern: string): NumberFormat | undefined {
  if (known.has(pattern)) return known.get(pattern);
  const [, prefix = '', integer = '', decimals = '', suffix = '', negative] =
    PATTERN.exec(pattern) ?? [];
  const format: NumberFormat = {
    prefix,
    suffix,
    grouped: integer.startsWith('#'),
    ...(integer.length > 1 && !integer.startsWith('#') && { width: integer.length }),
    scale: scaleOf(decimals),
    negative: negative !== undefined,
  };
  const isOne = integer !== '' && patternOf(format) === pattern && isSensible(format);
  known.set(pattern, isOne ? format : undefined);
  return isOne ? format : undefined;
}

function scaleOf(decimals: string): NumberFormat['scale'] {
  if (decimals === '.#') return 'shortest';
  return decimals === '.0#' ? 'real' : Math.max(0, decimals.length - 1);
}

/** Digits, signs and points around the number would be read as its own. */
function isSensible({ prefix, suffix, width, scale, negative }: NumberFormat): boolean {
  const affix = /^[^\d.,;+-]{0,6}$/u;
  const fixed = width === undefined || (scale === 0 && !negative && width <= LONG_DIGITS);
  return affix.test(prefix) && affix.test(suffix) && fixed;
}

/** The number of a text; undefined where `writeNumber` would not give the very text back. */
export function readNumber(format: NumberFormat, text: string): bigint | number | undefined {
  const negative = text.startsWith('-');
  const { prefix, suffix } = format;
  const unsigned = negative ? text.slice(1) : text;
  if (!unsigned.startsWith(prefix) || !unsigned.endsWith(suffix)) return undefined;
  const digits = unsigned.slice(prefix.length, unsigned.length - suffix.length);
  const plain = format.grouped ? digits.replaceAll(',', '') : digits;
  if (!/^\d+(\.\d+)?$/.test(plain) || (negative && !format.negative)) return undefined;
  const most = plain.includes('.') ? DOUBLE_DIGITS + 1 : LONG_DIGITS;
  if (plain.length > most) return undefined;
  const size = plain.includes('.') ? Number(plain) : BigInt(plain);
  const number = negative ? -size : size;
  return writeNumber(format, number) === text ? number : undefined;
}

/** The text of a number in this format. Undefined for a number that the format does not write. */
export function writeNumber(format: NumberFormat, number: bigint | number): string | undefined {
  const { prefix, suffix, grouped, width = 1, scale } = format;
  const isInteger = typeof number === 'bigint';
  const wantsInteger = scale === 'shortest' ? Number.isInteger(Number(number)) : scale === 0;
  if (isInteger !== wantsInteger) return undefined;
  const negative = number < 0;
  const digits = digitsOf(negative ? -number : number, scale);
  const [whole = '', decimals] = digits.split('.');
  if (format.width !== undefined && whole.length > width) return undefined;
  const padded = whole.padStart(width, '0');
  const integer = grouped ? padded.replace(/\B(?=(\d{3})+$)/g, ',') : padded;
  const rest = decimals === undefined ? '' : `.${decimals}`;
  return `${negative ? '-' : ''}${prefix}${integer}${rest}${suffix}`;
}

function digitsOf(size: bigint | number, scale: NumberFormat['scale']): string {
  if (typeof size === 'bigint') return size.toString();
  if (typeof scale === 'number') return size.toFixed(scale);
  return Number.isInteger(size) ? `${String(size)}.0` : String(size);
}

/** Without what a text function has taken away: the signs, the commas. */
export const isPlain = ({ prefix, suffix, grouped }: NumberFormat): boolean =>
  prefix === '' && suffix === '' && !grouped;

/** Do the texts sort as their numbers do? */
export const sortsAsText = ({ width, negative }: NumberFormat): boolean =>
  width !== undefined && !negative;

/** Finds the one format of a column's texts, text by text. */
export class NumberTextFinder {
  #prefix: string | undefined;
  #suffix = '';
  #fails = false;
  #grouped = false;
  #ungrouped = false;
  #negative = false;
  #shortest = true;
  #real = true;
  #decimals = { least: Infinity, most: 0 };
  #digits = { least: Infinity, most: 0 };
  #min = Infinity;
  #max = -Infinity;

  add(text: string): void {
    if (this.#fails) return;
    const match = text.length > LONGEST ? null : TEXT.exec(text);
    if (!match) {
      this.#fails = true;
      return;
    }
    const [, minus, prefix = '', digits = '', fraction = '', suffix = ''] = match;
    if (this.#prefix === undefined) [this.#prefix, this.#suffix] = [prefix, suffix];
    this.#fails = prefix !== this.#prefix || suffix !== this.#suffix;
    this.#addDigits(minus === '-', digits, fraction);
  }

  #addDigits(negative: boolean, digits: string, fraction: string): void {
    const whole = digits.replaceAll(',', '');
    const decimals = Math.max(0, fraction.length - 1);
    const isZero = /^0*$/.test(whole) && /^\.?0*$/.test(fraction);
    // A leading zero is part of a code and not of a number; so is a minus before nothing.
    if ((whole.length > 1 && whole.startsWith('0')) || (negative && isZero)) this.#fails = true;
    if (whole.length + decimals > (decimals > 0 ? DOUBLE_DIGITS : LONG_DIGITS)) this.#fails = true;
    this.#grouped ||= digits.includes(',');
    this.#ungrouped ||= whole.length > 3 && !digits.includes(',');
    this.#negative ||= negative;
    this.#decimals = widened(this.#decimals, decimals);
    this.#digits = widened(this.#digits, whole.length);
    const size = Number(`${whole}${fraction}`);
    const isReal = fraction !== '' && digitsOf(size, 'real') === `${whole}${fraction}`;
    this.#real &&= isReal;
    this.#shortest &&= fraction === '' || (isReal && fraction !== '.0');
    const number = negative ? -size : size;
    this.#min = Math.min(this.#min, number);
    this.#max = Math.max(this.#max, number);
  }

  /** Undefined without a text, and where the texts have no format in common. */
  found(): NumberTexts | undefined {
    const isFixed = this.#decimals.least === this.#decimals.most;
    const isOne = isFixed || this.#shortest || this.#real;
    if (this.#prefix === undefined || this.#fails || !isOne) return undefined;
    if (this.#grouped && this.#ungrouped) return undefined;
    const integers = isFixed && this.#decimals.most === 0;
    const sameWidth = integers && this.#digits.least === this.#digits.most;
    const format = patternOf({
      prefix: this.#prefix,
      suffix: this.#suffix,
      grouped: this.#grouped,
      ...(sameWidth && !this.#grouped && !this.#negative && this.#digits.most > 1
        ? { width: this.#digits.most }
        : {}),
      scale: isFixed ? this.#decimals.most : this.#variableScale(),
      negative: this.#negative,
    });
    return numberFormat(format) ? { format, min: this.#min, max: this.#max } : undefined;
  }

  #variableScale(): NumberFormat['scale'] {
    return this.#real ? 'real' : 'shortest';
  }
}

const widened = (
  range: { readonly least: number; readonly most: number },
  value: number,
): { least: number; most: number } => ({
  least: Math.min(range.least, value),
  most: Math.max(range.most, value),
});
