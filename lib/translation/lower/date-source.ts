import type { ExpressionLowering, Lowered } from './environment';
import { allFormats, decode, literal, numberOrText, toNumber, toText } from './conversion';
import { momentsOfJulianDay } from './julian-day';
import { ISO, type Moment, now, type PossibleMoment } from './moment';
import type { Mql } from '../mql/mql';
import { Untranslatable } from './untranslated';
import { mayBe, NUMBER, onlyKinds, TEXT, typeOf } from './value-type';

const TIME_OF_DAY = /^([01]\d|2[0-4]):[0-5]\d(:[0-5]\d(\.\d+)?)?$/;
// Further forms that SQLite reads: those with time zones.
const OTHER_DATES = /^\s*(?:\d{2}:\d{2}|\d{4}-\d{2}-\d{2})/;

/**
 * What a value can be as a point in time, each with the condition that it is so; none where it is
 * null always. Numbers are Julian days, as SQLite has them.
 */
export function momentsOf(value: Lowered, lowering: ExpressionLowering): PossibleMoment[] {
  if (value.transform.kind === 'date' && value.transform.format.startsWith('YYYY'))
    return [{ moment: { kind: 'date', date: value.mql, nullable: value.type.nullable } }];
  const source = decode(value);
  if (source.constant) return momentsOfConstant(source, lowering);
  if (source.type.kinds === 0) return [];
  if (onlyKinds(source.type, NUMBER)) return momentsOfJulianDay(source);
  if (onlyKinds(source.type, TEXT)) {
    if (allFormats(source.type, ['integer', 'decimal']))
      return momentsOfJulianDay(toNumber(source));
    const moment = textMoment(source);
    return moment ? [{ moment }] : [];
  }
  if (!onlyKinds(source.type, NUMBER | TEXT))
    throw new Untranslatable('types', 'a date function over blobs');
  return momentsOfMixed(source);
}

function momentsOfMixed(source: Lowered): PossibleMoment[] {
  const isNumber: Mql = { $isNumber: source.mql };
  const number: Lowered = { ...source, type: typeOf(source.type.kinds & NUMBER) };
  const numbers = momentsOfJulianDay(number).map(({ when, moment }) => ({
    when: when === undefined ? isNumber : { $and: [isNumber, when] },
    moment,
  }));
  if (!mayBe(source.type, TEXT)) return numbers;
  const text: Lowered = { ...source, type: typeOf(TEXT) };
  const moment: Moment = { kind: 'text', text, time: true, checked: false };
  return [...numbers, { when: { $eq: [{ $type: source.mql }, 'string'] }, moment }];
}

function momentsOfConstant(source: Lowered, lowering: ExpressionLowering): PossibleMoment[] {
  const value = source.constant?.value;
  if (typeof value === 'bigint' || typeof value === 'number') return momentsOfJulianDay(source);
  if (typeof value !== 'string') return [];
  if (value.toLowerCase() === 'now') return [{ moment: now(lowering) }];
  const known = (text: Lowered, time: boolean): PossibleMoment[] => [
    { moment: { kind: 'text', text, time, checked: true } },
  ];
  if (new RegExp(ISO).test(value)) return known(source, value.length > 10);
  // A time of day alone is one of this day: https://www.sqlite.org/lang_datefunc.html#tmval
  if (TIME_OF_DAY.test(value)) return known(literal(`2000-01-01 ${value}`), true);
  const number = numberOrText(value);
  if (typeof number !== 'string') return momentsOfJulianDay(literal(number));
  if (!OTHER_DATES.test(value)) return [];
  throw new Untranslatable('function', 'a date with a time zone');
}

function textMoment(source: Lowered): Moment | undefined {
  if (allFormats(source.type, ['us-date'])) return undefined;
  return {
    kind: 'text',
    text: toText(source),
    time: !allFormats(source.type, ['iso-date']),
    checked: allFormats(source.type, ['iso-date', 'iso-datetime']),
  };
}
