import { MIRRORED, NEGATED } from '../../sqlite/select/compare-operators';
import type { BoundComparison, BoundExpression, CompareOperator } from '../../sqlite/select/bound';
import type { Lowered } from './environment';
import { allFormats } from './conversion';
import type { Lowering } from './expression';
import type { MqlDocument } from '../mql/mql';
import { onlyKinds, TEXT } from './value-type';

/**
 * Comparisons with a year, a month or a day as predicates over the date itself: `strftime('%Y-%m',
 * d) = '2008-08'`, `substr(d, 1, 4) < '2010'`, `d LIKE '2008-08%'`, `d > '2008'`. A range of dates
 * is what a MongoDB developer asks for, and what an index serves. Columns are dates by retyping, or
 * text in ISO form throughout, whose order is that of the dates.
 */
export function periodPredicate(
  { left, right, operator, collation, nullSafe }: BoundComparison,
  polarity: boolean,
  lowering: Lowering,
): MqlDocument | undefined {
  if (collation !== 'BINARY' || nullSafe) return undefined;
  const swapped = left.kind === 'literal';
  const [subject, literal] = swapped ? [right, left] : [left, right];
  if (literal.kind !== 'literal') return undefined;
  const wanted = swapped ? MIRRORED[operator] : operator;
  const cut = cutOf(subject, lowering);
  if (!cut) return undefined;
  const isText = typeof literal.value === 'string';
  const isNumber = cut.isNumber && typeof literal.value === 'bigint';
  const text = isText || isNumber ? String(literal.value) : undefined;
  const period =
    text === undefined || (cut.isNumber && typeof literal.value === 'string')
      ? undefined
      : periodOf(text);
  return period && compareWith(cut, period, polarity ? wanted : NEGATED[wanted]);
}

/** `d LIKE '2008-08%'` over a date. */
export function periodLike(
  operand: BoundExpression,
  pattern: BoundExpression,
  negated: boolean,
  lowering: Lowering,
): MqlDocument | undefined {
  const cut = operand.kind === 'column' ? cutOf(operand, lowering) : undefined;
  const text =
    pattern.kind === 'literal' && typeof pattern.value === 'string'
      ? /^(\d{4}(?:-\d{2}){0,2})-?%$/.exec(pattern.value)?.[1]
      : undefined;
  const period = text === undefined ? undefined : periodOf(text);
  if (!cut?.isDate || !period || period.length > cut.length) return undefined;
  return compareWith({ ...cut, length: period.length }, period, negated ? '<>' : '=');
}

/** The first characters of a date's text: 4 are its year, 7 its month, 10 its day, 19 all of it. */
interface Cut {
  readonly column: Lowered & { readonly path: string };
  readonly length: number;
  readonly isDate: boolean;
  /** The year as a number: `CAST(strftime('%Y', d) AS INTEGER)`. */
  readonly isNumber: boolean;
}

const FORMATS: Readonly<Record<string, number>> = { '%Y': 4, '%Y-%m': 7, '%Y-%m-%d': 10 };

function cutOf(subject: BoundExpression, lowering: Lowering): Cut | undefined {
  if (lowering.env.computed(subject)) return undefined;
  if (subject.kind === 'cast') {
    const inner =
      subject.to === 'INTEGER' && subject.operand.kind === 'call'
        ? cutOf(subject.operand, lowering)
        : undefined;
    return inner?.length === 4 && !inner.isNumber ? { ...inner, isNumber: true } : undefined;
  }
  if (subject.kind === 'column') {
    const column = dated(subject, lowering);
    // Text is compared as it stands.
    return column?.isDate ? { ...column, isNumber: false } : undefined;
  }
  if (subject.kind !== 'call') return undefined;
  const [first, second, third] = subject.args;
  const number = (expression: BoundExpression | undefined): bigint | undefined =>
    expression?.kind === 'literal' && typeof expression.value === 'bigint'
      ? expression.value
      : undefined;
  const cut = (of: BoundExpression | undefined, length: number | undefined): Cut | undefined => {
    const column = of && length !== undefined ? dated(of, lowering) : undefined;
    return column && length !== undefined && length <= column.length
      ? { ...column, length, isNumber: false }
      : undefined;
  };
  switch (subject.name) {
    case 'strftime':
      return subject.args.length === 2 && first?.kind === 'literal'
        ? cut(second, FORMATS[String(first.value as string)])
        : undefined;
    case 'date':
      return subject.args.length === 1 ? cut(first, 10) : undefined;
    case 'substr':
    case 'substring':
      return number(second) === 1n && [4n, 7n, 10n].includes(number(third) ?? 0n)
        ? cut(first, Number(number(third)))
        : undefined;
    default:
      return undefined;
  }
}

function dated(expression: BoundExpression, lowering: Lowering): Omit<Cut, 'isNumber'> | undefined {
  if (expression.kind !== 'column') return undefined;
  const column = lowering.stored(expression);
  const { path, transform, type } = column;
  if (path === undefined) return undefined;
  const located = { ...column, path };
  if (transform.kind === 'date' && transform.format === 'YYYY-MM-DD')
    return { column: located, length: 10, isDate: true };
  if (transform.kind === 'date' && transform.format === 'YYYY-MM-DD HH:MM:SS')
    return { column: located, length: 19, isDate: true };
  if (
    transform.kind !== 'identity' ||
    !onlyKinds(type, TEXT) ||
    !allFormats(type, ['iso-date', 'iso-datetime'])
  )
    return undefined;
  return { column: located, length: 10, isDate: false };
}

export interface Period {
  readonly text: string;
  readonly length: number;
  readonly start: Date;
  readonly end: Date;
}

/** The year, month, day or second that a text in ISO form names. */
export function periodOf(text: string): Period | undefined {
  const match = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?: (\d{2}):(\d{2}):(\d{2}))?)?)?$/.exec(text);
  if (!match || match[1] === '0000') return undefined;
  const [year, month, day, hour, minute, second] = match
    .slice(1)
    .map((part) => ((part as string | undefined) === undefined ? undefined : Number(part)));
  const at = (y: number, m: number, d: number, s = 0): Date =>
    new Date(Date.UTC(y, m, d, hour ?? 0, minute ?? 0, (second ?? 0) + s));
  const [y, m, d] = [year ?? 0, (month ?? 1) - 1, day ?? 1];
  const start = at(y, m, d);
  // What is no date would be another one.
  const written = start.toISOString().replace('T', ' ').slice(0, text.length);
  if (written !== text || y < 100) return undefined;
  const endOf = (): Date => {
    if (second !== undefined) return at(y, m, d, 1);
    if (day !== undefined) return at(y, m, d + 1);
    return month !== undefined ? at(y, m + 1, 1) : at(y + 1, 0, 1);
  };
  const end = endOf();
  return { text, length: text.length, start, end };
}

function compareWith(
  { column, length, isDate }: Cut,
  period: Period,
  operator: CompareOperator,
): MqlDocument | undefined {
  const { path } = column;
  const value = (date: Date): Date | string =>
    isDate ? date : date.toISOString().replace('T', ' ').slice(0, period.length);
  const absent = column.type.nullable ? { $ne: null } : {};
  const known: MqlDocument = column.type.nullable ? { [path]: { $ne: null } } : {};
  if (period.length === length) {
    const [from, to] = [value(period.start), value(period.end)];
    // A whole date is a value and no period.
    if (isDate && (length === 19 || (length === 10 && isMidnight(column))))
      return exact(path, from as Date, operator, absent);
    switch (operator) {
      case '=':
        return { [path]: { $gte: from, $lt: to } };
      case '<>':
        return { [path]: { $not: { $gte: from, $lt: to }, ...absent } };
      case '<':
        return { [path]: { $lt: from } };
      case '<=':
        return { [path]: { $lt: to } };
      case '>':
        return { [path]: { $gte: to } };
      case '>=':
        return { [path]: { $gte: from } };
    }
  }
  // As texts, a part of a date is less than what it begins.
  if (period.length < length && operator !== '=' && operator !== '<>')
    return {
      [path]: operator.startsWith('<')
        ? { $lt: value(period.start) }
        : { $gte: value(period.start) },
    };
  if (period.length < length) return operator === '=' ? { [path]: { $in: [] } } : known;
  if (!isDate || length !== 10) return undefined;
  const day = new Date(Math.floor(period.start.getTime() / 86_400_000) * 86_400_000);
  if (operator === '=' || operator === '<>')
    return operator === '=' ? { [path]: { $in: [] } } : known;
  return { [path]: operator.startsWith('<') ? { $lte: day } : { $gt: day } };
}

const isMidnight = ({ transform }: Lowered): boolean =>
  transform.kind === 'date' && transform.format === 'YYYY-MM-DD';

function exact(
  path: string,
  date: Date,
  operator: CompareOperator,
  absent: MqlDocument,
): MqlDocument {
  switch (operator) {
    case '=':
      return { [path]: date };
    case '<>':
      return { [path]: '$ne' in absent ? { $nin: [date, null] } : { $ne: date } };
    default:
      return {
        [path]: {
          [({ '<': '$lt', '<=': '$lte', '>': '$gt', '>=': '$gte' } as const)[operator]]: date,
        },
      };
  }
}
