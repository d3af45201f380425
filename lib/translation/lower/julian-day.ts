import type { Lowered } from './environment';
import { isPresent } from './conversion';
import { computed } from './computed-value';
import { asDate, type Moment, type PossibleMoment } from './moment';
import { cond, constant, type Mql } from '../mql/mql';
import { INTEGER, onlyKinds, REAL, type ValueType } from './value-type';

const MILLISECONDS_A_DAY = 86_400_000;
/**
 * Of 1970-01-01T00:00Z, in milliseconds since Julian day 0: SQLite counts them as an integer and
 * divides once.
 */
const JULIAN_EPOCH = 210_866_760_000_000n;
const EPOCH_DAY = 2_440_587.5;
/** The calendar repeats itself after 400 years, weekdays included. */
export const YEARS_A_CYCLE = 400;
const DAYS_A_CYCLE = 146_097;
/** What brings Julian day 0, in the year -4713, to a year that MongoDB prints. */
const CYCLES_OF_EARLY_DAYS = 12;

/** 0000-01-01T00:00Z. */
const YEAR_ZERO = 1_721_059.5;
/** 10000-01-01T00:00Z. */
const YEAR_10000 = 5_373_484.5;

/** Days that SQLite takes as dates; beyond them it makes null. */
const ERAS = [
  { from: 0, until: YEAR_ZERO, cycles: CYCLES_OF_EARLY_DAYS },
  { from: YEAR_ZERO, until: YEAR_10000, cycles: 0 },
] as const;

/**
 * A number as a Julian day (`setRawDateNumber` of SQLite's date.c): 20130101 is beyond the year
 * 9999, of which SQLite makes null; 1990 is a day of the year -4707.
 */
export function momentsOfJulianDay(day: Lowered): PossibleMoment[] {
  const { min = -Infinity, max = Infinity } = day.type;
  return ERAS.filter(({ from, until }) => max >= from && min < until).map((era) => {
    const bounds: Mql[] = [
      ...(min >= era.from ? [] : [{ $gte: [day.mql, era.from] }]),
      ...(max < era.until ? [] : [{ $lt: [day.mql, era.until] }]),
    ];
    // Null is less than any number, so that a lower bound keeps it out.
    const present = day.type.nullable && min >= era.from ? [isPresent(day)] : [];
    const conditions = [...present, ...bounds];
    const moment: Moment = {
      kind: 'date',
      date: dateOfJulianDay(day, era.cycles),
      nullable: false,
      ...(era.cycles > 0 && { cycles: era.cycles }),
    };
    if (conditions.length === 0) return { moment };
    return { when: conditions.length === 1 ? conditions[0]! : { $and: conditions }, moment };
  });
}

function dateOfJulianDay({ mql, type }: Lowered, cycles: number): Mql {
  const first = EPOCH_DAY - cycles * DAYS_A_CYCLE;
  if (onlyKinds(type, INTEGER))
    return { $toDate: { $multiply: [{ $subtract: [mql, first] }, MILLISECONDS_A_DAY] } };
  // SQLite rounds the product, before the epoch is taken off.
  const milliseconds: Mql = { $toLong: { $add: [{ $multiply: [mql, MILLISECONDS_A_DAY] }, 0.5] } };
  return { $toDate: { $subtract: [milliseconds, first * MILLISECONDS_A_DAY] } };
}

/** Milliseconds from Julian day 0 to 1970, in the calendar of the moment's date. */
const epochOf = (moment: Moment): bigint => {
  const cycles = moment.kind === 'date' ? (moment.cycles ?? 0) : 0;
  return JULIAN_EPOCH - BigInt(cycles * DAYS_A_CYCLE * MILLISECONDS_A_DAY);
};

export const julianDay = (moment: Moment): Mql => ({
  $divide: [{ $add: [{ $toLong: asDate(moment) }, constant(epochOf(moment))] }, MILLISECONDS_A_DAY],
});

/** Whole seconds since 1970. */
export function secondsSinceEpoch(moment: Moment): Mql {
  const cycles = moment.kind === 'date' ? (moment.cycles ?? 0) : 0;
  const seconds: Mql = { $toLong: { $divide: [{ $toLong: asDate(moment) }, 1000] } };
  const later = BigInt(cycles * DAYS_A_CYCLE) * BigInt(MILLISECONDS_A_DAY / 1000);
  return cycles === 0 ? seconds : { $subtract: [seconds, constant(later)] };
}

/**
 * Sixteen digits, seven of them before the point; `$toString` of a double depends on the version of
 * MongoDB.
 */
export function julianText(day: Mql, type: ValueType): Lowered {
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
  return {
    ...computed(text, type),
    number: computed({ $round: [day, 9] }, { ...type, kinds: REAL }),
  };
}
