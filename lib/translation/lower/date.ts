import type { BoundCall, BoundExpression } from '../../sqlite/select/bound';
import type { ExpressionLowering, Lowered } from './environment';
import { allFormats, decode, literal, overNull, toText } from './conversion';
import { bound, computed } from './computed-value';
import { and, cond, constant, type Mql } from '../mql/mql';
import { Untranslatable } from './untranslated';
import { NUMBER, onlyKinds, REAL, INTEGER, TEXT, type ValueType } from './value-type';

/** A point in time: as text of known layout (cut out of it), or as a date of MongoDB. */
type Moment =
  | {
      readonly kind: 'text';
      readonly text: Lowered;
      readonly time: boolean;
      readonly checked: boolean;
    }
  | { readonly kind: 'date'; readonly date: Mql; readonly nullable: boolean };

// What SQLite reads as a date: `2012-05-01`, with a time of day behind a space or T.
const ISO =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])([ ' +
  'T]([01]\\d|2[0-4]):[0-5]\\d(:[0-5]\\d(\\.\\d+)?)?)?$';
// Further forms that SQLite reads: Julian days, times of day, time zones.
const OTHER_DATES = /^\s*(?:[+-]?\d+(?:\.\d*)?\s*$|\d{2}:\d{2}|\d{4}-\d{2}-\d{2})/;
const MILLISECONDS_A_DAY = 86_400_000;
/**
 * Of 1970-01-01T00:00Z, in milliseconds since Julian day 0: SQLite counts them as an integer and
 * divides once.
 */
const JULIAN_EPOCH = 210_866_760_000_000n;
/** 10000-01-01T00:00Z. */
const LAST_JULIAN_DAY = 5373484.5;

/**
 * strftime, date, time, datetime, julianday, unixepoch: https://www.sqlite.org/lang_datefunc.html
 */
export function lowerDateCall(call: BoundCall, lowering: ExpressionLowering): Lowered {
  const args = call.args.map((arg) => arg);
  const format =
    call.name === 'strftime'
      ? lowering.value(args.shift() ?? { kind: 'literal', value: null }).constant?.value
      : undefined;
  if (call.name === 'strftime' && typeof format !== 'string')
    throw new Untranslatable('function', 'strftime() with a computed format');
  const [first, ...given] = args;
  const seconds =
    first && isUnixEpoch(given[0]) ? secondsSince1970(lowering.stored(first)) : undefined;
  const modifiers = seconds ? given.slice(1) : given;
  const start =
    seconds ??
    (first === undefined || first.kind === 'clock'
      ? now(lowering)
      : moment(lowering.stored(first), lowering));
  if (!start) return literal(null);
  const shifted = modifiers.reduce<Moment>(
    (at, modifier) => shift(at, lowering.value(modifier).constant?.value),
    start,
  );
  switch (call.name) {
    case 'julianday':
      return computed(julianDay(shifted), {
        kinds: REAL,
        nullable: isNullable(shifted),
        missing: false,
      });
    case 'unixepoch':
      return computed(
        { $toLong: { $divide: [{ $toLong: asDate(shifted) }, 1000] } },
        { kinds: INTEGER, nullable: isNullable(shifted), missing: false },
      );
    case 'date':
      return formatted(shifted, '%Y-%m-%d');
    case 'time':
      return formatted(shifted, '%H:%M:%S');
    case 'datetime':
      return formatted(shifted, '%Y-%m-%d %H:%M:%S');
    default:
      return formatted(shifted, format as string);
  }
}

const now = (lowering: ExpressionLowering): Moment => {
  lowering.env.timeDependent();
  return { kind: 'date', date: '$$NOW', nullable: false };
};

function moment(value: Lowered, lowering: ExpressionLowering): Moment | undefined {
  if (value.transform.kind === 'date' && value.transform.format.startsWith('YYYY'))
    return { kind: 'date', date: value.mql, nullable: value.type.nullable };
  const source = decode(value);
  if (source.constant) {
    if (source.constant.value === null) return undefined;
    if (typeof source.constant.value === 'string' && source.constant.value.toLowerCase() === 'now')
      return now(lowering);
    if (typeof source.constant.value === 'string' && new RegExp(ISO).test(source.constant.value)) {
      return { kind: 'text', text: source, time: source.constant.value.length > 10, checked: true };
    }
    if (typeof source.constant.value === 'string' && !OTHER_DATES.test(source.constant.value))
      return undefined;
    throw new Untranslatable(
      'function',
      'a date given as a number, as a time of day or with a time zone',
    );
  }
  if (source.type.kinds === 0) return undefined;
  // 20130101 is a Julian day beyond the year 9999, of which SQLite makes null.
  if (
    onlyKinds(source.type, NUMBER) &&
    source.type.min !== undefined &&
    source.type.min >= LAST_JULIAN_DAY
  )
    return undefined;
  if (!onlyKinds(source.type, TEXT))
    throw new Untranslatable(
      'types',
      'a date function over numbers, which SQLite takes for Julian days',
    );
  if (allFormats(source.type, ['us-date'])) return undefined;
  const time = !allFormats(source.type, ['iso-date']);
  return {
    kind: 'text',
    text: toText(source),
    time,
    checked: allFormats(source.type, ['iso-date', 'iso-datetime']),
  };
}

const isUnixEpoch = (modifier: BoundExpression | undefined): boolean =>
  modifier?.kind === 'literal' &&
  typeof modifier.value === 'string' &&
  modifier.value.trim().toLowerCase() === 'unixepoch';

function secondsSince1970(value: Lowered): Moment {
  const source = decode(value);
  if (!onlyKinds(source.type, NUMBER))
    throw new Untranslatable('types', "'unixepoch' over what is no number");
  return {
    kind: 'date',
    date: { $toDate: { $toLong: { $multiply: [source.mql, 1000] } } },
    nullable: source.type.nullable,
  };
}

const julianDay = (at: Moment): Mql => ({
  $divide: [{ $add: [{ $toLong: asDate(at) }, constant(JULIAN_EPOCH)] }, MILLISECONDS_A_DAY],
});

/**
 * Sixteen digits, seven of them before the point; `$toString` of a double depends on the version of
 * MongoDB.
 */
function julianText(day: Mql, type: ValueType): Lowered {
  const billion = 1_000_000_000;
  const digits: Mql = {
    $toLong: { $round: { $multiply: [{ $subtract: ['$$day', '$$whole'] }, billion] } },
  };
  const decimals: Mql = { $substrCP: [{ $toString: { $add: [billion, '$$digits'] } }, 1, 9] };
  const fraction = cond({ $eq: ['$$digits', 0] }, '', {
    $concat: ['.', { $rtrim: { input: decimals, chars: '0' } }],
  });
  const text: Mql = {
    $let: {
      vars: { day },
      in: {
        $let: {
          vars: { whole: { $trunc: '$$day' } },
          in: {
            $let: {
              vars: { digits },
              in: { $concat: [{ $toString: { $toLong: '$$whole' } }, fraction] },
            },
          },
        },
      },
    },
  };
  return { ...computed(text, type), number: { $round: [day, 9] } };
}

const isNullable = (at: Moment): boolean =>
  at.kind === 'date' ? at.nullable : at.text.type.nullable || !at.checked;

function asDate(at: Moment): Mql {
  if (at.kind === 'date') return at.date;
  return {
    $dateFromString: {
      dateString: at.text.mql,
      onNull: null,
      ...(!at.checked && { onError: null }),
    },
  };
}

function shift(at: Moment, modifier: unknown): Moment {
  if (typeof modifier !== 'string')
    throw new Untranslatable('function', 'a computed date modifier');
  const text = modifier.trim().toLowerCase();
  const date = asDate(at);
  const result = (mql: Mql): Moment => ({ kind: 'date', date: mql, nullable: isNullable(at) });
  const amount = /^([+-]?\d+)\s*(second|minute|hour|day|month|year)s?$/.exec(text);
  if (amount && (amount[2] === 'month' || amount[2] === 'year'))
    return result(shiftedByMonths(date, at, Number(amount[1]) * (amount[2] === 'year' ? 12 : 1)));
  if (amount)
    return result({
      $dateAdd: { startDate: date, unit: amount[2] ?? 'day', amount: Number(amount[1]) },
    });
  // The clock is pinned to UTC on both sides.
  if ((text === 'localtime' || text === 'utc') && at.kind === 'date' && at.date === '$$NOW')
    return at;
  const truncated = /^start of (day|month|year)$/.exec(text);
  if (truncated) return result({ $dateTrunc: { date, unit: truncated[1] ?? 'day' } });
  throw new Untranslatable('function', `the date modifier '${text}'`);
}

/**
 * The 31st plus one month overflows into the month after in SQLite, where `$dateAdd` would cut it
 * off; so does a date made of parts that are too large.
 */
function shiftedByMonths(date: Mql, at: Moment, months: number): Mql {
  const parts = (from: Mql): Mql => ({
    $dateFromParts: {
      year: months % 12 === 0 ? { $add: [{ $year: from }, months / 12] } : { $year: from },
      month: months % 12 === 0 ? { $month: from } : { $add: [{ $month: from }, months] },
      day: { $dayOfMonth: from },
      ...(!(at.kind === 'text' && !at.time) && {
        hour: { $hour: from },
        minute: { $minute: from },
        second: { $second: from },
        millisecond: { $millisecond: from },
      }),
    },
  });
  return bound(date, parts);
}

interface Piece {
  readonly at: number;
  readonly size: number;
  readonly time: boolean;
}
const TEXT_PIECES: Readonly<Record<string, Piece>> = {
  Y: { at: 0, size: 4, time: false },
  m: { at: 5, size: 2, time: false },
  d: { at: 8, size: 2, time: false },
  H: { at: 11, size: 2, time: true },
  M: { at: 14, size: 2, time: true },
  S: { at: 17, size: 2, time: true },
};
/** Runs that lie in the text as they are wanted. */
const RUNS: Readonly<Record<string, readonly [number, number, boolean]>> = {
  '%Y-%m-%d %H:%M:%S': [0, 19, true],
  '%Y-%m-%d %H:%M': [0, 16, true],
  '%Y-%m-%d': [0, 10, false],
  '%Y-%m': [0, 7, false],
  '%m-%d': [5, 5, false],
  '%H:%M:%S': [11, 8, true],
  '%H:%M': [11, 5, true],
};
const DIGITS = /^(%[YmdHMSjws])+$/;
const DIGIT_COUNTS: Readonly<Record<string, number>> = {
  Y: 4,
  m: 2,
  d: 2,
  H: 2,
  M: 2,
  S: 2,
  j: 3,
  w: 1,
};

/** Of a text of digits as a number; seconds since 1970 have twelve of them and a sign. */
function digitBounds(format: string): Pick<ValueType, 'min' | 'max'> {
  if (format === '%s') return { min: -1e12, max: 1e12 };
  const counts = [...format.replaceAll('%', '')].map((piece) => DIGIT_COUNTS[piece]);
  const digits = counts.reduce<number>((sum, count) => sum + (count ?? Infinity), 0);
  return { min: 0, max: 10 ** digits };
}

function formatted(at: Moment, format: string): Lowered {
  const type: ValueType = {
    kinds: TEXT,
    nullable: isNullable(at),
    missing: false,
    ...(DIGITS.test(format) && { formats: ['integer'] as const, ...digitBounds(format) }),
  };
  const pieces = format.match(/%.|[^%]+/g) ?? [];
  if (at.kind === 'text') {
    const cut = cutOut(at, format, pieces);
    if (cut) return computed(cut, type);
  }
  if (pieces.every((piece) => !piece.startsWith('%') || /^%[YmdHMSj%]$/.test(piece))) {
    return computed({ $dateToString: { date: asDate(at), format: constant(format) } }, type);
  }
  if (format === '%w')
    return computed(
      bound(asDate(at), (date) =>
        cond(
          isNullable(at) ? { $gt: [date, null] } : true,
          { $toString: { $subtract: [{ $dayOfWeek: date }, 1] } },
          null,
        ),
      ),
      type,
    );
  if (format === '%s')
    return computed({ $toString: { $toLong: { $divide: [{ $toLong: asDate(at) }, 1000] } } }, type);
  if (format === '%J') return julianText(julianDay(at), { ...type, formats: ['decimal'] });
  throw new Untranslatable('function', `strftime('${format}')`);
}

function cutOut(
  at: Extract<Moment, { kind: 'text' }>,
  format: string,
  pieces: readonly string[],
): Mql | undefined {
  const run = RUNS[format];
  const simple = pieces.every((piece) => !piece.startsWith('%') || TEXT_PIECES[piece[1] ?? '']);
  if (!run && !simple) return undefined;
  const needsTime = run
    ? run[2]
    : pieces.some((piece) => TEXT_PIECES[piece[1] ?? '']?.time && piece.startsWith('%'));
  // Without a time of day SQLite takes midnight; seconds may be left out.
  if (needsTime && (at.time || !at.checked)) return undefined;
  if (run?.[1] === 10 && at.checked && !at.time) return at.text.mql;
  const cut = (text: Mql): Mql => {
    const slice = (from: number, size: number): Mql => ({ $substrCP: [text, from, size] });
    if (run && !needsTime) return slice(run[0], run[1]);
    const parts = pieces.map((piece): Mql => {
      const found = piece.startsWith('%') ? TEXT_PIECES[piece[1] ?? ''] : undefined;
      if (found) {
        return found.time ? '00' : slice(found.at, found.size);
      }
      return constant(piece);
    });
    return parts.length === 1 ? (parts[0] ?? '') : { $concat: parts };
  };
  const guarded = (text: Mql): Mql =>
    at.checked
      ? cut(text)
      : cond(and({ $regexMatch: { input: text, regex: ISO } }), cut(text), null);
  return overNull(at.text, guarded);
}
