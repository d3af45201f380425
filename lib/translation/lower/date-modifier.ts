import { bound } from './computed-value';
import { asDate, isNullable, type Moment } from './moment';
import { Untranslatable } from './untranslated';
import type { Mql } from '../mql/mql';

/** https://www.sqlite.org/lang_datefunc.html#modifiers */
export function shift(moment: Moment, modifier: unknown): Moment {
  if (typeof modifier !== 'string')
    throw new Untranslatable('function', 'a computed date modifier');
  const text = modifier.trim().toLowerCase();
  const date = asDate(moment);
  const result = (mql: Mql): Moment => ({
    kind: 'date',
    date: mql,
    nullable: isNullable(moment),
    ...(moment.kind === 'date' && moment.cycles !== undefined && { cycles: moment.cycles }),
  });
  const amount = /^([+-]?\d+)\s*(second|minute|hour|day|month|year)s?$/.exec(text);
  if (amount && (amount[2] === 'month' || amount[2] === 'year'))
    return result(
      shiftedByMonths(date, moment, Number(amount[1]) * (amount[2] === 'year' ? 12 : 1)),
    );
  if (amount)
    return result({
      $dateAdd: { startDate: date, unit: amount[2] ?? 'day', amount: Number(amount[1]) },
    });
  // The clock is pinned to UTC on both sides.
  if ((text === 'localtime' || text === 'utc') && moment.kind === 'date' && moment.date === '$$NOW')
    return moment;
  const weekday = /^weekday ([0-6])$/.exec(text);
  if (weekday) return result(nextWeekday(date, Number(weekday[1])));
  const truncated = /^start of (day|month|year)$/.exec(text);
  if (truncated) return result({ $dateTrunc: { date, unit: truncated[1] ?? 'day' } });
  throw new Untranslatable('function', `the date modifier '${text}'`);
}

/** The same day, or the next one on which the weekday falls; Sunday is 0. */
const nextWeekday = (date: Mql, weekday: number): Mql =>
  bound(date, (day) => ({
    $dateAdd: {
      startDate: day,
      unit: 'day',
      amount: { $mod: [{ $subtract: [weekday + 8, { $dayOfWeek: day }] }, 7] },
    },
  }));

/**
 * The 31st plus one month overflows into the month after in SQLite, where `$dateAdd` would cut it
 * off; so does a date made of parts that are too large.
 */
function shiftedByMonths(date: Mql, moment: Moment, months: number): Mql {
  const parts = (from: Mql): Mql => ({
    $dateFromParts: {
      year: months % 12 === 0 ? { $add: [{ $year: from }, months / 12] } : { $year: from },
      month: months % 12 === 0 ? { $month: from } : { $add: [{ $month: from }, months] },
      day: { $dayOfMonth: from },
      ...(!(moment.kind === 'text' && !moment.time) && {
        hour: { $hour: from },
        minute: { $minute: from },
        second: { $second: from },
        millisecond: { $millisecond: from },
      }),
    },
  });
  return bound(date, parts);
}
