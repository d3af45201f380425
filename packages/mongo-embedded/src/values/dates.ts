import { failedToParse, ServerError } from '../errors';

/**
 * Calendar arithmetic on the proleptic Gregorian calendar, with time zones. Times are milliseconds
 * since 1970.
 */

export const DAY = 86_400_000;

/** Days since 1970-01-01 of a date whose month may lie outside 1…12. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const m = month - 1;
  const y = year + Math.floor(m / 12);
  const mm = ((m % 12) + 12) % 12;
  const shifted = mm < 2 ? y - 1 : y;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((mm + 10) % 12) + 2) / 5) + day - 1;
  return (
    era * 146097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719468
  );
}

export interface Civil {
  year: number;
  month: number;
  day: number;
}
export function civilFromDays(days: number): Civil {
  const z = days + 719468;
  const era = Math.floor(z / 146097);
  const doe = z - era * 146097;
  const yoe = Math.floor(
    (doe - Math.floor(doe / 1460) + Math.floor(doe / 36524) - Math.floor(doe / 146096)) / 365,
  );
  const doy = doe - (365 * yoe + Math.floor(yoe / 4) - Math.floor(yoe / 100));
  const mp = Math.floor((5 * doy + 2) / 153);
  const month = mp < 10 ? mp + 3 : mp - 9;
  return {
    year: yoe + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: doy - Math.floor((153 * mp + 2) / 5) + 1,
  };
}

export const isLeap = (year: number): boolean =>
  (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

export interface Parts extends Civil {
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  /** Days since 1970 of the local date. */
  days: number;
}

/** A time zone: UTC, a fixed offset, or a name of the Olson database. */
export interface Zone {
  /** Milliseconds to add to UTC for local time. */
  offsetAt(ms: number): number;
}
const fixed = (offset: number): Zone => ({ offsetAt: () => offset });
export const utc: Zone = fixed(0);

const zones = new Map<string, Zone>();
export function parseZone(text: string): Zone {
  const offset = /^([+-])(\d{2}):?(\d{2})?$/.exec(text);
  if (offset) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3] ?? 0);
    return minutes === 0 ? utc : fixed((offset[1] === '-' ? -1 : 1) * minutes * 60_000);
  }
  if (text === 'UTC' || text === 'GMT' || text === 'Z') return utc;
  let zone = zones.get(text);
  if (!zone) {
    zone = new NamedZone(text);
    zones.set(text, zone);
  }
  return zone;
}

class NamedZone implements Zone {
  private readonly format: Intl.DateTimeFormat;
  // Offsets change at most a few times a year and always on the quarter hour.
  private readonly cache = new Map<number, number>();
  constructor(name: string) {
    try {
      if (!/^[A-Za-z]/.test(name)) throw new RangeError();
      this.format = new Intl.DateTimeFormat('en-US-u-ca-gregory', {
        timeZone: name,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
        era: 'short',
      });
    } catch {
      throw new ServerError(40485, `unrecognized time zone identifier: "${name}"`);
    }
  }
  offsetAt(ms: number): number {
    const slot = Math.floor(ms / 900_000);
    let offset = this.cache.get(slot);
    if (offset === undefined) {
      offset = this.compute(slot * 900_000);
      if (this.cache.size > 100_000) this.cache.clear();
      this.cache.set(slot, offset);
    }
    return offset;
  }
  private compute(ms: number): number {
    const parts: Record<string, string> = {};
    for (const { type, value } of this.format.formatToParts(ms)) parts[type] = value;
    const year = parts.era === 'BC' ? 1 - Number(parts.year) : Number(parts.year);
    const local =
      daysFromCivil(year, Number(parts.month), Number(parts.day)) * DAY +
      Number(parts.hour) * 3_600_000 +
      Number(parts.minute) * 60_000 +
      Number(parts.second) * 1000;
    return local - ms;
  }
}

export function partsOf(ms: number, zone: Zone = utc): Parts {
  const local = ms + zone.offsetAt(ms);
  const days = Math.floor(local / DAY);
  const rest = local - days * DAY;
  return {
    ...civilFromDays(days),
    hour: Math.floor(rest / 3_600_000),
    minute: Math.floor(rest / 60_000) % 60,
    second: Math.floor(rest / 1000) % 60,
    millisecond: rest % 1000,
    days,
  };
}

/**
 * UTC of a local time. In a gap the earlier offset applies, in an overlap the first of the two
 * instants.
 */
export function fromLocal(local: number, zone: Zone): number {
  const before = zone.offsetAt(local - DAY);
  const after = zone.offsetAt(local + DAY);
  const first = local - before;
  if (zone.offsetAt(first) === before) return first;
  const second = local - after;
  return zone.offsetAt(second) === after ? second : first;
}

/** 0 = Sunday. */
export const weekday = (days: number): number => (((days + 4) % 7) + 7) % 7;
export const dayOfYear = (p: Parts): number => p.days - daysFromCivil(p.year, 1, 1) + 1;
/** Weeks begin on Sunday; the days before the first Sunday are week 0. */
export const weekOfYear = (p: Parts): number =>
  Math.floor((dayOfYear(p) - 1 + 7 - weekday(p.days)) / 7);

export function isoWeekOf(days: number): { year: number; week: number } {
  const thursday = days - ((weekday(days) + 6) % 7) + 3;
  const { year } = civilFromDays(thursday);
  return { year, week: Math.floor((thursday - daysFromCivil(year, 1, 1)) / 7) + 1 };
}
export function daysFromIsoWeek(year: number, week: number, day: number): number {
  const fourth = daysFromCivil(year, 1, 4);
  return fourth - ((weekday(fourth) + 6) % 7) + (week - 1) * 7 + day - 1;
}

export const pad = (n: number, width: number): string => String(n).padStart(width, '0');

/** Minutes from UTC as `+hhmm`. */
export function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60), 2)}${pad(size % 60, 2)}`;
}

export function isoString(ms: number, zone: Zone = utc, suffix = 'Z'): string {
  const p = partsOf(ms, zone);
  const date = `${pad(p.year, 4)}-${pad(p.month, 2)}-${pad(p.day, 2)}`;
  const time = `${pad(p.hour, 2)}:${pad(p.minute, 2)}:${pad(p.second, 2)}`;
  return `${date}T${time}.${pad(p.millisecond, 3)}${suffix}`;
}

export const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** `$dateToString`. */
export function formatDate(ms: number, format: string, zone: Zone): string {
  const p = partsOf(ms, zone);
  if (p.year < 0 || p.year > 9999)
    throw new ServerError(
      18537,
      'Could not convert date to string: date component was outside the supported range of ' +
        `0-9999: ${p.year}`,
    );
  let out = '';
  for (let i = 0; i < format.length; i++) {
    const c = format[i] as string;
    if (c !== '%') {
      out += c;
      continue;
    }
    const d = format[++i];
    if (d === undefined) throw new ServerError(18535, "Unmatched '%' at end of format string");
    out += directive(d, p, ms, zone);
  }
  return out;
}

function directive(d: string, p: Parts, ms: number, zone: Zone): string {
  switch (d) {
    case '%':
      return '%';
    case 'Y':
      return pad(p.year, 4);
    case 'm':
      return pad(p.month, 2);
    case 'd':
      return pad(p.day, 2);
    case 'H':
      return pad(p.hour, 2);
    case 'M':
      return pad(p.minute, 2);
    case 'S':
      return pad(p.second, 2);
    case 'L':
      return pad(p.millisecond, 3);
    case 'j':
      return pad(dayOfYear(p), 3);
    case 'w':
      return String(weekday(p.days) + 1);
    case 'u':
      return String(((weekday(p.days) + 6) % 7) + 1);
    case 'U':
      return pad(weekOfYear(p), 2);
    case 'V':
      return pad(isoWeekOf(p.days).week, 2);
    case 'G':
      return pad(isoWeekOf(p.days).year, 4);
    case 'b':
      return (months[p.month - 1] as string).slice(0, 3);
    case 'B':
      return months[p.month - 1] as string;
    case 'z':
      return offsetText(Math.trunc(zone.offsetAt(ms) / 60_000));
    case 'Z':
      return String(Math.trunc(zone.offsetAt(ms) / 60_000));
    default:
      throw new ServerError(18536, `Invalid format character '%${d}' in format string`);
  }
}

export const units = [
  'year',
  'quarter',
  'month',
  'week',
  'day',
  'hour',
  'minute',
  'second',
  'millisecond',
] as const;
export type Unit = (typeof units)[number];
export function parseUnit(text: string, name: string): Unit {
  if (!(units as readonly string[]).includes(text))
    throw failedToParse(`${name}: unknown time unit value: ${text}`);
  return text as Unit;
}
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
export function parseWeekday(text: string, name: string): number {
  const lower = text.toLowerCase();
  const i = weekdays.findIndex((day) => day === lower || day.slice(0, 3) === lower);
  if (i < 0) throw new ServerError(5439016, `${name}: unknown day of week value: ${text}`);
  return i;
}

const unitLength: Partial<Record<Unit, number>> = {
  week: 7 * DAY,
  day: DAY,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};
const unitMonths: Partial<Record<Unit, number>> = { year: 12, quarter: 3, month: 1 };

/** Adds calendar units in local time; a day past the month's end becomes its last. */
export function addUnits(ms: number, unit: Unit, amount: number, zone: Zone): number {
  const monthCount = unitMonths[unit];
  if (monthCount !== undefined) {
    const p = partsOf(ms, zone);
    const total = p.year * 12 + p.month - 1 + amount * monthCount;
    const year = Math.floor(total / 12);
    const month = total - year * 12 + 1;
    const day = Math.min(p.day, daysInMonth(year, month));
    const timeOfDay = p.hour * 3_600_000 + p.minute * 60_000 + p.second * 1000 + p.millisecond;
    return fromLocal(daysFromCivil(year, month, day) * DAY + timeOfDay, zone);
  }
  const length = unitLength[unit] as number;
  if (length < DAY) return ms + amount * length;
  return fromLocal(ms + zone.offsetAt(ms) + amount * length, zone);
}

/** How many boundaries of the unit lie between two instants. */
export function differenceIn(
  start: number,
  end: number,
  unit: Unit,
  zone: Zone,
  startOfWeek: number,
): bigint {
  const a = partsOf(start, zone);
  const b = partsOf(end, zone);
  switch (unit) {
    case 'year':
      return BigInt(b.year - a.year);
    case 'quarter':
      return BigInt(
        (b.year - a.year) * 4 + Math.floor((b.month - 1) / 3) - Math.floor((a.month - 1) / 3),
      );
    case 'month':
      return BigInt((b.year - a.year) * 12 + b.month - a.month);
    case 'week':
      return BigInt(
        Math.floor((b.days + 4 - startOfWeek) / 7) - Math.floor((a.days + 4 - startOfWeek) / 7),
      );
    case 'day':
      return BigInt(b.days - a.days);
    case 'millisecond':
      return BigInt(end) - BigInt(start);
    default: {
      const length = unitLength[unit] as number;
      // Hours count by the zone's clock, whose offset may not be whole hours.
      const shift = (ms: number): number => (unit === 'second' ? ms : ms + zone.offsetAt(ms));
      const base = unit === 'hour' || unit === 'minute' ? shift : (ms: number) => ms;
      const offsetChange = unit === 'second' ? 0 : zone.offsetAt(end) - zone.offsetAt(start);
      return BigInt(
        Math.floor((base(end) - offsetChange) / length) - Math.floor(base(start) / length),
      );
    }
  }
}

/** The start of the bin of `binSize` units, counted from 2000-01-01, that holds the instant. */
export function truncate(
  ms: number,
  unit: Unit,
  binSize: number,
  zone: Zone,
  startOfWeek: number,
): number {
  const floorTo = (n: number, size: number): number => Math.floor(n / size) * size;
  const p = partsOf(ms, zone);
  const monthCount = unitMonths[unit];
  if (monthCount !== undefined) {
    const month = floorTo((p.year - 2000) * 12 + p.month - 1, monthCount * binSize);
    return fromLocal(daysFromCivil(2000, 1 + month, 1) * DAY, zone);
  }
  const reference = daysFromCivil(2000, 1, 1);
  if (unit === 'day')
    return fromLocal((reference + floorTo(p.days - reference, binSize)) * DAY, zone);
  if (unit === 'week') {
    const first = reference + ((startOfWeek - weekday(reference) + 7) % 7);
    return fromLocal((first + floorTo(p.days - first, 7 * binSize)) * DAY, zone);
  }
  const length = (unitLength[unit] as number) * binSize;
  // Bins of hours and less are counted in real time from the reference's local midnight.
  const origin = fromLocal(reference * DAY, zone);
  if (unit === 'hour' || unit === 'minute') {
    const shift = zone.offsetAt(ms) - zone.offsetAt(origin);
    return origin + floorTo(ms + shift - origin, length) - shift;
  }
  return origin + floorTo(ms - origin, length);
}
