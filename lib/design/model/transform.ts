import { Binary } from 'mongodb';
import { fromBson, toBsonValue, type SqliteValue, type Value } from '../../results/value';
import { numberFormat, readNumber, writeNumber } from '../../sqlite/profile/number-format';
import { isValidText } from '../../sqlite/profile/text-encoding';
import { describe, transformSchema, type DateFormat, type Transform } from './transform-kind';

export const identity: Transform = { kind: 'identity' };

/** Two columns with the same transform store equal values equally. */
export const sameTransform = (a: Transform, b: Transform): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** A value that a transform cannot carry; the loss check reports it before a row moves. */
export class TransformError extends Error {}

/**
 * Source value → BSON value. Throws `TransformError` for a value outside the transform's domain.
 */
export function toBson(transform: Transform, value: SqliteValue): unknown {
  if (value === null) return null;
  switch (transform.kind) {
    case 'identity':
      return toBsonValue(value);
    case 'bool':
      if (value === transform.true) return true;
      if (value === transform.false) return false;
      break;
    case 'date': {
      const date = typeof value === 'string' ? exactDate(transform.format, value) : undefined;
      if (date) return date;
      break;
    }
    case 'number': {
      const format = numberFormat(transform.format);
      const number = format && typeof value === 'string' ? readNumber(format, value) : undefined;
      if (number !== undefined) return toBsonValue(number);
      break;
    }
    case 'string':
      if (typeof value === 'bigint') return value.toString();
      break;
    case 'bytes':
      if (value instanceof Uint8Array)
        return isValidText(transform.encoding, value) ? null : new Binary(value);
      break;
  }
  throw new TransformError(`${describe(transform)} cannot carry ${preview(value)}`);
}

/**
 * Source value → the canonical value that its field has; the way in which a retyped column is
 * compared.
 */
export function applyTransform(transform: Transform, value: Value): Value {
  if (value === null || transform.kind === 'identity') return value;
  return fromBson(toBson(transform, value as SqliteValue));
}

/**
 * What a transform reads of a column, as SQL: the column itself, or the bytes of its texts.
 * `column` is quoted.
 */
export const transformInput = ({ kind }: Transform, column: string): string =>
  kind === 'bytes' ? `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) END` : column;

/** Canonical field value → source value: the inverse of `applyTransform`. */
export function invertTransform(transform: Transform, value: Value): Value {
  if (value === null) return null;
  switch (transform.kind) {
    case 'identity':
      return value;
    case 'bool':
      if (typeof value === 'boolean') return value ? transform.true : transform.false;
      break;
    case 'date':
      if (value instanceof Date) return formatDate(transform.format, value);
      break;
    case 'number': {
      const format = numberFormat(transform.format);
      const isNumber = typeof value === 'bigint' || typeof value === 'number';
      const text = format && isNumber ? writeNumber(format, value) : undefined;
      if (text !== undefined) return text;
      break;
    }
    case 'string':
      if (typeof value === 'string') return BigInt(value);
      break;
    case 'bytes':
      if (value instanceof Uint8Array) return value;
      break;
  }
  throw new TransformError(`${describe(transform)} does not yield ${preview(value)}`);
}

/** The inverse of `describe`; throws `TransformError` for a name that no transform has. */
export function parseTransform(text: string): Transform {
  if (text === 'identity') return identity;
  if (text === 'integer→string') return { kind: 'string' };
  const bool = /^bool\((".*"), (".*")\)$/.exec(text);
  if (bool)
    return {
      kind: 'bool',
      true: JSON.parse(bool[1]!) as string,
      false: JSON.parse(bool[2]!) as string,
    };
  const bytes = transformSchema.safeParse({
    kind: 'bytes',
    encoding: /^bytes of what is no valid (\S+)$/.exec(text)?.[1],
  });
  if (bytes.success) return bytes.data;
  const number = transformSchema.safeParse({
    kind: 'number',
    format: /^number\((.+)\)$/.exec(text)?.[1],
  });
  if (number.success) return number.data;
  const date = transformSchema.safeParse({
    kind: 'date',
    format: /^date\((.+)\)$/.exec(text)?.[1],
  });
  if (date.success) return date.data;
  throw new TransformError(
    `there is no transform "${text}"; known are identity, bool("true text", "false text"), ` +
      'date(YYYY-MM-DD), number(#,##0.00), integer→string, bytes of what is no valid UTF-8',
  );
}

/** The date whose text is exactly this one; undefined where the text would not come back. */
function exactDate(format: DateFormat, text: string): Date | undefined {
  if (format === 'YYYY-MM-DD') return text.length === 10 ? isoMoment(text, false) : undefined;
  if (format === 'YYYY-MM-DD HH:MM:SS')
    return text.length === 19 ? isoMoment(text, true) : undefined;
  const date = parseDate(format, text);
  return date && formatDate(format, date) === text ? date : undefined;
}

const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Millions of values pass here: read digit by digit, every field within its bounds, instead of
 * written again and compared.
 */
function isoMoment(text: string, withTime: boolean): Date | undefined {
  const number = (from: number, digits: number): number => {
    let n = 0;
    for (let index = from; index < from + digits; index++) {
      const digit = text.charCodeAt(index) - 48;
      if (digit < 0 || digit > 9) return NaN;
      n = n * 10 + digit;
    }
    return n;
  };
  const [year, month, day] = [number(0, 4), number(5, 2), number(8, 2)];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  // JavaScript takes the years 0 to 99 for 1900 to 1999.
  const isDay =
    text[4] === '-' &&
    text[7] === '-' &&
    year >= 100 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= (month === 2 && !leap ? 28 : MONTH_DAYS[month - 1]!);
  if (!isDay) return undefined;
  if (!withTime) return new Date(Date.UTC(year, month - 1, day));
  const [hours, minutes, seconds] = [number(11, 2), number(14, 2), number(17, 2)];
  const isTime =
    text[10] === ' ' &&
    text[13] === ':' &&
    text[16] === ':' &&
    hours < 24 &&
    minutes < 60 &&
    seconds < 60;
  return isTime ? new Date(Date.UTC(year, month - 1, day, hours, minutes, seconds)) : undefined;
}

export function parseDate(format: DateFormat, text: string): Date | undefined {
  const us = format === 'M/D/YYYY' || format === 'MM/DD/YYYY';
  const match = us
    ? /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)
    : /^(\d{4})-(\d{2})-(\d{2})(?: (\d{2}):(\d{2}):(\d{2}))?$/.exec(text);
  if (!match) return undefined;
  const [year, month, day] = us ? [match[3], match[1], match[2]] : [match[1], match[2], match[3]];
  const date = new Date(
    Date.UTC(
      Number(year),
      Number(month) - 1,
      Number(day),
      Number(match[4] ?? 0),
      Number(match[5] ?? 0),
      Number(match[6] ?? 0),
    ),
  );
  return Number.isNaN(date.getTime()) ? undefined : date;
}

export function formatDate(format: DateFormat, date: Date): string {
  const iso = date.toISOString();
  const [year, month, day] = iso.slice(0, 10).split('-') as [string, string, string];
  switch (format) {
    case 'YYYY-MM-DD':
      return iso.slice(0, 10);
    case 'YYYY-MM-DD HH:MM:SS':
      return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
    case 'MM/DD/YYYY':
      return `${month}/${day}/${year}`;
    case 'M/D/YYYY':
      return `${Number(month)}/${Number(day)}/${year}`;
  }
}

const preview = (value: Value): string => {
  if (typeof value === 'string')
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  return value instanceof Uint8Array ? `a blob of ${value.length} bytes` : String(value);
};
