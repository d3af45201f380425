/**
 * How a value is written, where that says more than its storage class: each a test of one value.
 */
const tests = {
  'iso-date': (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isRealDate(text),
  'iso-datetime': (text) =>
    /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d+)?Z?$/.test(text) &&
    isRealDate(text.slice(0, 10)),
  /** YYYY-MM-DD HH:MM:SS and nothing else, so that a date gives the very text back. */
  'iso-seconds': (text) =>
    /^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text) &&
    isRealDate(text.slice(0, 10)),
  'us-date': (text) => /^\d{1,2}\/\d{1,2}\/\d{4}$/.test(text),
  /** D.M.YYYY */
  'dotted-date': (text) => /^\d{1,2}\.\d{1,2}\.\d{4}$/.test(text),
  /** YYYY/MM/DD */
  'slashed-date': (text) => /^\d{4}\/\d{1,2}\/\d{1,2}$/.test(text),
  /** YYYY-MM */
  'year-month': (text) => /^\d{4}-(0[1-9]|1[0-2])$/.test(text),
  /** YYYYMM */
  'compact-month': (text) => /^(1[5-9]|20|21)\d{2}(0[1-9]|1[0-2])$/.test(text),
  'time-of-day': (text) => /^([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?$/.test(text),
  boolean: (text) => /^(true|false|t|f|yes|no|y|n)$/i.test(text),
  'boolean-digit': (text) => text === '0' || text === '1',
  integer: (text) => /^-?(0|[1-9]\d{0,17})$/.test(text),
  decimal: (text) => /^-?\d+\.\d+$/.test(text),
  money: (text) => /^-?[$€£]\s?\d{1,3}(,?\d{3})*(\.\d+)?$/.test(text),
  json: (text) => /^\s*[[{]/.test(text) && isJson(text),
  empty: (text) => text === '',
} as const satisfies Record<string, (text: string) => boolean>;

export type ValueFormat = keyof typeof tests;

const names = Object.keys(tests) as ValueFormat[];
const numeric: readonly ValueFormat[] = ['boolean-digit', 'compact-month'];
const LONGEST = 40;

/** The formats of a text. No format but JSON and money is longer than a few dozen characters. */
export function formatsOfText(text: string): ValueFormat[] {
  if (text.length > LONGEST)
    return (['money', 'json'] as const).filter((name) => tests[name](text));
  return names.filter((name) => tests[name](text));
}

/** The formats that an integer can have too. */
export const formatsOfInteger = (value: bigint): ValueFormat[] =>
  value < 0n || value > 999_999n ? [] : numeric.filter((name) => tests[name](String(value)));

const isRealDate = (text: string): boolean => {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
