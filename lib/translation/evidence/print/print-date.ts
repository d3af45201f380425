import { printValue } from '../../../mql/print';
import type { Period } from '../../lower/period-predicate';
import type { Call, Comparison, Formula } from '../formula/formula';

const DATE_PARTS: Readonly<Record<string, string>> = {
  '%Y': 'year',
  '%m': 'month',
  '%d': 'day',
  '%Y-%m': 'year and month',
  '%Y-%m-%d': 'day',
  '%H': 'hour',
};

/** `strftime('%Y', d)`, `YEAR(d)`: the part, and the date that it is of. */
export function datePartOf({
  name,
  args,
}: Call): { readonly part: string; readonly date: Formula } | undefined {
  const [first, second, ...more] = args;
  if (!first || more.length > 0) return undefined;
  if (name === 'strftime') {
    const part = first.kind === 'literal' ? DATE_PARTS[first.value] : undefined;
    return part !== undefined && second ? { part, date: second } : undefined;
  }
  return ['year', 'month', 'day'].includes(name) && !second
    ? { part: name, date: first }
    : undefined;
}

/** What a date function, or the first characters of a date, are taken of. */
export function dateArgument(call: Call): Formula | undefined {
  const [first, second, third] = call.args;
  if (call.name === 'strftime')
    return first?.kind === 'literal' && first.value.startsWith('%Y') ? second : undefined;
  if (call.name === 'year' || isWholeDate(call)) return first;
  const isStart =
    ['substr', 'substring'].includes(call.name) &&
    isNumber(second, 1) &&
    [4, 7, 10].some((length) => isNumber(third, length));
  return isStart ? first : undefined;
}

/** `DATE(d)`, `DATETIME(CURRENT_TIMESTAMP, 'localtime')`: the date itself. */
export const isWholeDate = ({ name, args: [, zone, ...more] }: Call): boolean =>
  ['date', 'datetime'].includes(name) &&
  more.length === 0 &&
  (zone === undefined || zone.kind === 'literal');

/** `NOW()`, `CURDATE()`, `DATETIME()`, `CURRENT_TIMESTAMP`, `'now'`. */
export const isClock = (formula: Formula): boolean =>
  (formula.kind === 'prose' &&
    formula.parts.length === 1 &&
    /^current_(?:timestamp|date|time)$/i.test(String(formula.parts[0]))) ||
  (formula.kind === 'literal' && formula.value.toLowerCase() === 'now') ||
  (formula.kind === 'call' &&
    ['now', 'curdate', 'date', 'datetime'].includes(formula.name) &&
    (formula.args.length === 0 || (isWholeDate(formula) && isClock(formula.args[0]!))));

/** A comparison of a date with a year, a month or a day; undefined where it is no range. */
export function rangeOf(
  path: string,
  operator: Comparison['operator'],
  { start, end }: Period,
): string | undefined {
  const [from, to] = [printConstant(start), printConstant(end)];
  switch (operator) {
    case '=':
      return `${path} >= ${from} and ${path} < ${to}`;
    case '>':
      return `${path} >= ${to}`;
    case '>=':
      return `${path} >= ${from}`;
    case '<':
      return `${path} < ${from}`;
    case '<=':
      return `${path} < ${to}`;
    case '!=':
      return undefined;
  }
}

/** Evidence is prose: a long is its digits there, a day has no midnight. */
export const printConstant = (value: unknown): string =>
  printValue(value)
    .replace(/^NumberLong\("(-?\d+)"\)$/, '$1')
    .replace(/T00:00:00(?:\.000)?Z(?=")/, '');

const isNumber = (formula: Formula | undefined, value: number): boolean =>
  formula?.kind === 'number' && Number(formula.source) === value;
