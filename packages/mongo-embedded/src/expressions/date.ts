import { Doc } from '../bson/doc';
import { ServerError } from '../errors';
import { parseDate, parseDateAs } from '../values/date-text';
import {
  addUnits,
  DAY,
  dayOfYear,
  daysFromCivil,
  daysFromIsoWeek,
  differenceIn,
  formatDate,
  fromLocal,
  isoString,
  isoWeekOf,
  parseUnit,
  parseWeekday,
  parseZone,
  partsOf,
  truncate,
  utc,
  weekday,
  weekOfYear,
  type Parts,
  type Unit,
  type Zone,
} from '../values/dates';
import {
  isIntegral,
  DateTime,
  isNullish,
  isNumeric,
  ObjectId,
  Timestamp,
  toDouble,
  typeName,
  type Value,
} from '../bson/value';
import {
  named,
  namedArguments,
  parseExpression,
  type Expression,
  type Family,
  type OperatorBuilder,
} from './expression';

/** Milliseconds of a date, ObjectId or timestamp. */
function instant(v: Value): number {
  if (v instanceof DateTime) return v.ms;
  if (v instanceof ObjectId) return Buffer.from(v.bytes).readUInt32BE(0) * 1000;
  if (v instanceof Timestamp) return v.seconds * 1000;
  throw new ServerError(16006, `can't convert from BSON type ${typeName(v)} to Date`);
}

/** undefined: no time zone was given; null: its expression evaluated to null. */
function zoneOf(v: Value, given: boolean, name: string): Zone | null | undefined {
  if (!given) return undefined;
  if (isNullish(v)) return null;
  if (typeof v !== 'string')
    throw new ServerError(
      40517,
      `timezone must evaluate to a string, found ${typeName(v)} (in ${name})`,
    );
  return parseZone(v);
}

/** `$year` and its kin: a date, or `{date, timezone}`. */
function part(read: (p: Parts, ms: number) => Value): OperatorBuilder {
  return (operand, scope, name) => {
    let source = operand;
    let zone: Expression | undefined;
    if (operand instanceof Doc && !operand.keys[0]?.startsWith('$')) {
      const args = namedArguments(operand, name, ['date'], ['timezone']);
      source = args.get('date');
      if (args.has('timezone')) zone = parseExpression(args.get('timezone'), scope);
    } else if (Array.isArray(operand)) {
      if (operand.length !== 1)
        throw new ServerError(
          40536,
          `${name} accepts exactly one argument if given an array, but was given ${operand.length}`,
        );
      source = operand[0];
    }
    const date = parseExpression(source, scope);
    return {
      operands: zone ? [date, zone] : [date],
      evaluate: (doc) => {
        const v = date.evaluate(doc);
        const z = zone ? zoneOf(zone.evaluate(doc), true, name) : utc;
        if (isNullish(v) || !z) return null;
        const ms = instant(v);
        return read(partsOf(ms, z), ms);
      },
    };
  };
}

function unitOf(v: Value, name: string): Unit | null {
  if (isNullish(v)) return null;
  if (typeof v !== 'string')
    throw new ServerError(
      5439013,
      `${name} requires 'unit' to be a string, but got ${typeName(v)}`,
    );
  return parseUnit(v, name);
}

function startOfWeekOf(v: Value, given: boolean, unit: Unit, name: string): number | null {
  if (!given || unit !== 'week') return 0;
  if (isNullish(v)) return null;
  if (typeof v !== 'string')
    throw new ServerError(
      5439015,
      `${name} requires 'startOfWeek' to be a string, but got ${typeName(v)}`,
    );
  return parseWeekday(v, name);
}

/** A date of `$dateDiff` and `$dateTrunc`. */
function dateOf(v: Value, key: string, name: string): number {
  if (!(v instanceof DateTime || v instanceof ObjectId || v instanceof Timestamp))
    throw new ServerError(
      5166307,
      `${name} requires '${key}' to be a date, but got ${typeName(v)}`,
    );
  return instant(v);
}

/**
 * Constants are read before the first document comes, and their mistakes are errors even where null
 * decides; other operands are looked at one after another, and the first null ends it.
 */
const constantsFirst =
  (build: OperatorBuilder): OperatorBuilder =>
  (operand, scope, name) => {
    const built = build(operand, scope, name);
    const constant = (key: string): Value => {
      const e =
        operand instanceof Doc && operand.has(key)
          ? parseExpression(operand.get(key), scope)
          : undefined;
      return e?.kind === 'constant' ? e.value : undefined;
    };
    unitOf(constant('unit'), name);
    zoneOf(constant('timezone'), true, name);
    if (!isNullish(constant('binSize'))) binSizeOf(constant('binSize'), name);
    return built;
  };

function binSizeOf(v: Value, name: string): number {
  if (!isIntegral(v))
    throw new ServerError(5439017, `${name} requires 'binSize' to be a 64-bit integer`);
  if (Number(v) <= 0)
    throw new ServerError(5439018, `${name} requires 'binSize' to be greater than 0`);
  return Number(v);
}

const shifting = (sign: 1 | -1) =>
  constantsFirst(
    named(
      ['startDate', 'unit', 'amount'],
      ['timezone'],
      ({ startDate, unit, amount, timezone }, given, name) => {
        if (isNullish(startDate)) return null;
        const u = unitOf(unit, name);
        if (u === null || isNullish(amount)) return null;
        const zone = given.has('timezone') ? zoneOf(timezone, true, name) : utc;
        if (!zone) return null;
        if (!(
          startDate instanceof DateTime ||
          startDate instanceof ObjectId ||
          startDate instanceof Timestamp
        )) {
          throw new ServerError(5166403, `${name} requires startDate to be convertible to a date`);
        }
        if (!isIntegral(amount))
          throw new ServerError(5166405, `${name} expects integer amount of time units`);
        const ms = addUnits(instant(startDate), u, sign * Number(amount), zone);
        if (!(Math.abs(ms) < 9.2e18)) throw new ServerError(5166406, `${name} overflowed`);
        return new DateTime(ms);
      },
    ),
  );

function whole(
  v: Value,
  key: string,
  name: string,
  low: number,
  high: number,
  code = 31034,
): number {
  if (!isNumeric(v) || !Number.isInteger(toDouble(v)))
    throw new ServerError(
      40515,
      `'${key}' must evaluate to an integer, found ${typeName(v)} (in ${name})`,
    );
  const n = toDouble(v);
  if (n < low || n > high)
    throw new ServerError(
      code,
      `'${key}' must evaluate to a value in the range [${low}, ${high}], found ${n}`,
    );
  return n;
}

const dateParts = [
  'year',
  'month',
  'day',
  'isoWeekYear',
  'isoWeek',
  'isoDayOfWeek',
  'hour',
  'minute',
  'second',
  'millisecond',
  'timezone',
] as const;
const fromParts = named([], dateParts, (read, given, name) => {
  const iso = given.has('isoWeekYear');
  if (iso && (given.has('year') || given.has('month') || given.has('day')))
    throw new ServerError(
      40489,
      '$dateFromParts does not allow mixing natural dates with ISO dates',
    );
  if (!iso && !given.has('year'))
    throw new ServerError(
      40516,
      "$dateFromParts requires either 'year' or 'isoWeekYear' to be present",
    );
  if (!iso && (given.has('isoWeek') || given.has('isoDayOfWeek')))
    throw new ServerError(
      40525,
      '$dateFromParts does not allow mixing natural dates with ISO dates',
    );
  const zone = given.has('timezone') ? zoneOf(read.timezone, true, name) : utc;
  if (!zone) return null;
  for (const key of given) if (isNullish(read[key as (typeof dateParts)[number]])) return null;
  const field = (key: (typeof dateParts)[number], fallback: number): number =>
    given.has(key) ? whole(read[key], key, name, -32768, 32767) : fallback;
  const wide = (key: (typeof dateParts)[number], fallback: number): number =>
    given.has(key)
      ? whole(read[key], key, name, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
      : fallback;
  const days = iso
    ? daysFromIsoWeek(
        whole(read.isoWeekYear, 'isoWeekYear', name, 1, 9999, 31095),
        field('isoWeek', 1),
        field('isoDayOfWeek', 1),
      )
    : daysFromCivil(whole(read.year, 'year', name, 1, 9999, 40523), field('month', 1), 1) +
      field('day', 1) -
      1;
  const time =
    field('hour', 0) * 3_600_000 +
    field('minute', 0) * 60_000 +
    wide('second', 0) * 1000 +
    wide('millisecond', 0);
  return new DateTime(fromLocal(days * DAY + time, zone));
});

/** `onNull` and `onError` are evaluated only when they are needed. */
const fromString: OperatorBuilder = (operand, scope, name) => {
  const args = namedArguments(
    operand,
    name,
    ['dateString'],
    ['format', 'timezone', 'onError', 'onNull'],
  );
  const read = (key: string): Expression | undefined =>
    args.has(key) ? parseExpression(args.get(key), scope) : undefined;
  const text = read('dateString') as Expression;
  const [format, timezone, onError, onNull] = [
    read('format'),
    read('timezone'),
    read('onError'),
    read('onNull'),
  ];
  return {
    operands: [text, format, timezone, onError, onNull].filter((o) => o !== undefined),
    evaluate: (doc) => {
      const v = text.evaluate(doc);
      const z = timezone ? zoneOf(timezone.evaluate(doc), true, name) : undefined;
      const f = format?.evaluate(doc);
      if (isNullish(v)) return onNull ? onNull.evaluate(doc) : null;
      if (z === null || (format && isNullish(f))) return null;
      if (format && typeof f !== 'string')
        throw new ServerError(
          40684,
          `$dateFromString requires that 'format' be a string, found: ${typeName(f)}`,
        );
      try {
        if (typeof v !== 'string')
          throw new ServerError(
            241,
            `$dateFromString requires that 'dateString' be a string, found: ${typeName(v)}`,
          );
        return new DateTime(typeof f === 'string' ? parseDateAs(v, f, z) : parseDate(v, z));
      } catch (error) {
        if (onError && error instanceof ServerError && error.code === 241)
          return onError.evaluate(doc);
        throw error;
      }
    },
  };
};

const toText: OperatorBuilder = (operand, scope, name) => {
  const args = namedArguments(operand, name, ['date'], ['format', 'timezone', 'onNull']);
  const read = (key: string): Expression | undefined =>
    args.has(key) ? parseExpression(args.get(key), scope) : undefined;
  const date = read('date') as Expression;
  const [format, timezone, onNull] = [read('format'), read('timezone'), read('onNull')];
  return {
    operands: [date, format, timezone, onNull].filter((o) => o !== undefined),
    evaluate: (doc) => {
      const v = date.evaluate(doc);
      const z = timezone ? zoneOf(timezone.evaluate(doc), true, name) : utc;
      const f = format?.evaluate(doc);
      if (isNullish(v)) return onNull ? onNull.evaluate(doc) : null;
      if (!z || (format && isNullish(f))) return null;
      if (format && typeof f !== 'string')
        throw new ServerError(
          18533,
          `$dateToString requires that 'format' be a string, found: ${typeName(f)}`,
        );
      const ms = instant(v);
      if (typeof f === 'string') return formatDate(ms, f, z);
      const isUtc = z === utc || (!timezone && z.offsetAt(ms) === 0);
      return isoString(ms, z, isUtc ? 'Z' : '');
    },
  };
};

export const date: Family = {
  $year: part((p) => p.year),
  $month: part((p) => p.month),
  $dayOfMonth: part((p) => p.day),
  $hour: part((p) => p.hour),
  $minute: part((p) => p.minute),
  $second: part((p) => p.second),
  $millisecond: part((p) => p.millisecond),
  $dayOfYear: part((p) => dayOfYear(p)),
  $dayOfWeek: part((p) => weekday(p.days) + 1),
  $week: part((p) => weekOfYear(p)),
  $isoDayOfWeek: part((p) => ((weekday(p.days) + 6) % 7) + 1),
  $isoWeek: part((p) => isoWeekOf(p.days).week),
  $isoWeekYear: part((p) => BigInt(isoWeekOf(p.days).year)),
  $dateAdd: shifting(1),
  $dateSubtract: shifting(-1),
  $dateDiff: constantsFirst(
    named(
      ['startDate', 'endDate', 'unit'],
      ['timezone', 'startOfWeek'],
      ({ startDate, endDate, unit, timezone, startOfWeek }, given, name) => {
        if (isNullish(startDate) || isNullish(endDate)) return null;
        const u = unitOf(unit, name);
        if (u === null) return null;
        const first = startOfWeekOf(startOfWeek, given.has('startOfWeek'), u, name);
        if (first === null) return null;
        const zone = given.has('timezone') ? zoneOf(timezone, true, name) : utc;
        if (!zone) return null;
        return differenceIn(
          dateOf(startDate, 'startDate', name),
          dateOf(endDate, 'endDate', name),
          u,
          zone,
          first,
        );
      },
    ),
  ),
  $dateTrunc: constantsFirst(
    named(
      ['date', 'unit'],
      ['binSize', 'timezone', 'startOfWeek'],
      ({ date: v, unit, binSize, timezone, startOfWeek }, given, name) => {
        if (isNullish(v) || (given.has('binSize') && isNullish(binSize))) return null;
        const size = given.has('binSize') ? binSizeOf(binSize, name) : 1;
        const u = unitOf(unit, name);
        if (u === null) return null;
        const first = startOfWeekOf(startOfWeek, given.has('startOfWeek'), u, name);
        if (first === null) return null;
        const zone = given.has('timezone') ? zoneOf(timezone, true, name) : utc;
        if (!zone) return null;
        return new DateTime(truncate(dateOf(v, 'date', name), u, size, zone, first));
      },
    ),
  ),
  $dateFromParts: fromParts,
  $dateFromString: fromString,
  $dateToParts: named(
    ['date'],
    ['timezone', 'iso8601'],
    ({ date: v, timezone, iso8601 }, given, name) => {
      const zone = given.has('timezone') ? zoneOf(timezone, true, name) : utc;
      if (given.has('iso8601') && !isNullish(iso8601) && typeof iso8601 !== 'boolean')
        throw new ServerError(40521, `iso8601 must evaluate to a bool, found ${typeName(iso8601)}`);
      if (isNullish(v) || !zone || (given.has('iso8601') && isNullish(iso8601))) return null;
      const p = partsOf(instant(v), zone);
      const day: Record<string, Value> = iso8601
        ? {
            isoWeekYear: isoWeekOf(p.days).year,
            isoWeek: isoWeekOf(p.days).week,
            isoDayOfWeek: ((weekday(p.days) + 6) % 7) + 1,
          }
        : { year: p.year, month: p.month, day: p.day };
      return Doc.of({
        ...day,
        hour: p.hour,
        minute: p.minute,
        second: p.second,
        millisecond: p.millisecond,
      });
    },
  ),
  $dateToString: toText,
};
