import type { BoundCall, BoundExpression } from '../../sqlite/select/bound';
import type { ExpressionLowering, Lowered } from './environment';
import { allFormats, decode, literal, overNull, toText } from './conversion';
import { computed, isPlain } from './computed-value';
import { formatted } from './date-format';
import { shift } from './date-modifier';
import { momentsOf } from './date-source';
import { julianDay, secondsSinceEpoch } from './julian-day';
import { isNullable, type Moment, now, type PossibleMoment } from './moment';
import { cond, type Mql } from '../mql/mql';
import { Untranslatable } from './untranslated';
import { INTEGER, NUMBER, onlyKinds, REAL, TEXT, unionType } from './value-type';

/**
 * strftime, date, time, datetime, julianday, unixepoch: https://www.sqlite.org/lang_datefunc.html
 */
export function lowerDateCall(call: BoundCall, lowering: ExpressionLowering): Lowered {
  const [format, args] = formatAndRest(call, lowering);
  if (typeof format !== 'string') return format;
  const [first, ...given] = args;
  const isSeconds = first !== undefined && isUnixEpoch(given[0]);
  const modifiers = isSeconds ? given.slice(1) : given;
  const shifts = modifiers.map((modifier) => lowering.value(modifier).constant?.value);
  const result = (start: Moment): Lowered =>
    shown(call.name, shifts.reduce<Moment>(shift, start), format);
  if (first === undefined || first.kind === 'clock') return result(now(lowering));
  const value = lowering.stored(first);
  if (isSeconds) return result(secondsSince1970(value));
  const source = value.transform.kind === 'date' ? value : decode(value);
  const moments = momentsOf(source, lowering);
  if (isPlain(source.mql) || moments.every(({ when }) => when === undefined))
    return anyOf(moments, result);
  const variable = { ...source, mql: '$$day' };
  const { mql, type } = anyOf(momentsOf(variable, lowering), result);
  return computed({ $let: { vars: { day: source.mql }, in: mql } }, type);
}

/** The format of `strftime`, or what it makes of a format that is computed. */
function formatAndRest(
  { name, args }: BoundCall,
  lowering: ExpressionLowering,
): readonly [string | Lowered, readonly BoundExpression[]] {
  if (name !== 'strftime') return ['', args];
  const [first, ...rest] = args;
  const format = lowering.value(first ?? { kind: 'literal', value: null });
  if (format.constant) {
    const { value } = toText(format).constant ?? { value: null };
    return [typeof value === 'string' ? value : literal(null), rest];
  }
  if (rest.length > 0) throw new Untranslatable('function', 'strftime() with a computed format');
  return [withoutLetters(format), rest];
}

/**
 * `STRFTIME(day)`, its format forgotten: the day is the format, and comes out as it is. Of a text
 * with a `%`, SQLite makes null or a part of the time of the query.
 */
function withoutLetters(format: Lowered): Lowered {
  const text = toText(format);
  const hasNoLetters =
    onlyKinds(format.type, NUMBER) ||
    allFormats(format.type, ['iso-date', 'iso-datetime', 'us-date', 'integer', 'decimal']);
  if (hasNoLetters) return text;
  const type = { kinds: TEXT, nullable: true, missing: false };
  return computed(
    overNull(text, (mql) => cond({ $gte: [{ $indexOfCP: [mql, '%'] }, 0] }, null, mql)),
    type,
  );
}

function shown(name: string, moment: Moment, format: string): Lowered {
  const type = { nullable: isNullable(moment), missing: false };
  switch (name) {
    case 'julianday':
      return computed(julianDay(moment), { kinds: REAL, ...type });
    case 'unixepoch':
      return computed(secondsSinceEpoch(moment), { kinds: INTEGER, ...type });
    case 'date':
      return formatted(moment, '%Y-%m-%d', name);
    case 'time':
      return formatted(moment, '%H:%M:%S');
    case 'datetime':
      return formatted(moment, '%Y-%m-%d %H:%M:%S', name);
    default:
      return formatted(moment, format);
  }
}

/** The result of the moment whose condition holds; null where none does. */
function anyOf(moments: readonly PossibleMoment[], result: (moment: Moment) => Lowered): Lowered {
  const results = moments.map(({ when, moment }) => ({ when, value: result(moment) }));
  const [only] = results;
  if (!only) return literal(null);
  if (only.when === undefined) return only.value;
  const mql = results.reduceRight<Mql>(
    (otherwise, { when, value }) =>
      when === undefined ? value.mql : cond(when, value.mql, otherwise),
    null,
  );
  const type = results.map(({ value }) => value.type).reduce(unionType);
  const { formats } = only.value.type;
  return computed(mql, {
    ...type,
    nullable: true,
    ...(results.length === 1 && formats && { formats }),
  });
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
