import { ServerError, unsupported } from '../errors';
import {
  DAY,
  daysFromCivil,
  daysFromIsoWeek,
  daysInMonth,
  fromLocal,
  months,
  offsetText,
  parseZone,
  utc,
  weekday,
  type Zone,
} from './dates';

/** Dates as text: what `$dateFromString` reads, in the usual layouts or by a format. */

const parseError = (text: string): ServerError =>
  new ServerError(241, `Error parsing date string '${text}'`);
const incomplete = (text: string): ServerError =>
  new ServerError(
    241,
    `an incomplete date/time string has been found, with elements missing: "${text}"`,
  );

/** Minutes that a zone's abbreviation is ahead of UTC. */
const abbreviations: Readonly<Record<string, number>> = {
  z: 0,
  utc: 0,
  gmt: 0,
  wet: 0,
  west: 60,
  bst: 60,
  cet: 60,
  cest: 120,
  eet: 120,
  eest: 180,
  msk: 180,
  jst: 540,
  est: -300,
  edt: -240,
  cst: -360,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
  akst: -540,
  akdt: -480,
  hst: -600,
};
const LETTERS = 'abcdefghiklmnopqrstuvwxy';

/**
 * Such as `Z`, `CEST`, `GMT+02:00`, `+0330` or a military letter, as minutes ahead of UTC;
 * undefined: no zone.
 */
function zoneMinutes(text: string): number | undefined {
  const lower = text.toLowerCase();
  const numeric = /^(?:gmt|utc)?([+-])(\d{1,2}):?(\d{2})?$/.exec(lower);
  if (numeric)
    return (numeric[1] === '-' ? -1 : 1) * (Number(numeric[2]) * 60 + Number(numeric[3] ?? 0));
  if (Object.hasOwn(abbreviations, lower)) return abbreviations[lower];
  const letter = lower.length === 1 ? LETTERS.indexOf(lower) : -1;
  if (letter < 0) return undefined;
  return (letter < 12 ? letter + 1 : 11 - letter) * 60;
}

const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|' +
  'aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const monthNumber = (name: string): number =>
  months.findIndex((m) => m.slice(0, 3).toLowerCase() === name.slice(0, 3)) + 1;
const DAY_OF_MONTH = '(\\d{1,2})(?:st|nd|rd|th)?';

/** Layouts of a date, and where in each its year, month and day are. */
const layouts: readonly {
  readonly pattern: RegExp;
  readonly order: readonly [number, number, number];
}[] = [
  { pattern: /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?$/, order: [1, 2, 3] },
  { pattern: /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/, order: [1, 2, 3] },
  { pattern: /^(\d{4})(\d{2})(\d{2})$/, order: [1, 2, 3] },
  // Slashes with the year last are American; dots and hyphens are not.
  { pattern: /^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})$/, order: [3, 1, 2] },
  { pattern: /^(\d{1,2})[.-](\d{1,2})[.-](\d{4})$/, order: [3, 2, 1] },
  { pattern: new RegExp(`^${MONTH}[ .-]*${DAY_OF_MONTH}[ .-]+(\\d{4})$`), order: [3, 1, 2] },
  { pattern: new RegExp(`^${DAY_OF_MONTH}[ .-]*${MONTH}[ .-]*(\\d{4}|\\d{2})$`), order: [3, 2, 1] },
  { pattern: new RegExp(`^(\\d{4})[ .-]*${MONTH}[ .-]*(\\d{1,2})$`), order: [1, 2, 3] },
  { pattern: new RegExp(`^${MONTH}[ .-]*(\\d{4})$`), order: [2, 1, 3] },
];
const noYear = new RegExp(`^(?:${MONTH}[ .-]*${DAY_OF_MONTH}|${DAY_OF_MONTH}[ .-]*${MONTH})?$`);
const RELATIVE_WORDS = 'now|today|tomorrow|yesterday|next|last|previous|this|ago|first';
const UNITS = 'sec|min|hour|day|week|fortnight|month|year';
const relative = new RegExp(`(?:^|\\s)(?:@-?\\d|${RELATIVE_WORDS}|[+-]?\\d+ (?:${UNITS}))`);
const WEEKDAY =
  /(?:^|\s)(sun|mon|tue|wed|thu|fri|sat)(?:day|sday|nesday|rsday|urday|s|rs|r)?\.?(?=\s|$)/;
const TIME =
  /(?:^|[\st])(\d{1,2}):(\d{2})(?:[:.](\d{2})(?:[.,:](\d{1,9}))?)?(?: ?([ap])\.?m\.?(?=\s|$))?/;
const COMPACT = /^(\d{8})t?(\d{2}):?(\d{2}):?(\d{2})?(?:[.,](\d{1,9}))?/;
const HOUR = /(?:^|\s)(\d{1,2}) ?([ap])\.?m\.?(?=\s|$)/;
const ZONE = /^\s*((?:gmt|utc)?[+-]\d{1,2}(?::?\d{2})?|[a-z]{1,4})(?=\s|$)/;

interface Clock {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly ms: number;
}
const MIDNIGHT: Clock = { hour: 0, minute: 0, second: 0, ms: 0 };

const clockOf = (
  hour: string,
  minute = '0',
  second = '0',
  fraction = '',
  half?: string,
): Clock => ({
  hour: half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'p' ? 12 : 0),
  minute: Number(minute),
  second: Number(second),
  ms: Number(fraction.slice(0, 3).padEnd(3, '0')),
});

/** Takes the time and the zone behind it out of a text; what is left should be a date. */
function takeTime(text: string): { clock: Clock | null; zone: string | undefined; rest: string } {
  const compact = COMPACT.exec(text);
  if (compact)
    return withZone(
      clockOf(...(compact.slice(2) as [string])),
      compact[1] as string,
      text.slice(compact[0].length),
    );
  const match = TIME.exec(text);
  if (match)
    return withZone(
      clockOf(...(match.slice(1) as [string])),
      text.slice(0, match.index),
      text.slice(match.index + match[0].length),
    );
  const hour = HOUR.exec(text);
  if (hour)
    return withZone(
      clockOf(hour[1] as string, '0', '0', '', hour[2]),
      text.slice(0, hour.index),
      text.slice(hour.index + hour[0].length),
    );
  const word = /(?:^|\s)(noon|midnight)(?=\s|$)/.exec(text);
  if (word)
    return {
      clock: clockOf(word[1] === 'noon' ? '12' : '0'),
      zone: undefined,
      rest: text.replace(word[0], ' '),
    };
  const zone = /\s(z|utc|gmt)$/.exec(text);
  return { clock: null, zone: zone?.[1], rest: zone ? text.slice(0, zone.index) : text };
}
function withZone(
  clock: Clock,
  before: string,
  after: string,
): { clock: Clock; zone: string | undefined; rest: string } {
  const zone = ZONE.exec(after);
  if (!zone || zoneMinutes(zone[1] as string) === undefined)
    return { clock, zone: undefined, rest: `${before} ${after}` };
  return { clock, zone: zone[1], rest: `${before} ${after.slice(zone[0].length)}` };
}

/**
 * `$dateFromString` without a format: ISO 8601, its usual relaxations, and dates with a month's
 * name.
 */
export function parseDate(text: string, zone: Zone | undefined): number {
  const lower = text.toLowerCase().replace(/,/g, ' ').trim();
  if (relative.test(lower)) throw unsupported(`the date text "${text}"`);
  const { clock, zone: own, rest } = takeTime(lower);
  const named = WEEKDAY.exec(rest);
  const date = (named ? rest.replace(named[0], ' ') : rest).replace(/\s+/g, ' ').trim();
  for (const { pattern, order } of layouts) {
    const match = pattern.exec(date);
    if (!match) continue;
    const [y, m, d] = order.map((i) => match[i] ?? '1') as [string, string, string];
    const year = y.length > 2 ? Number(y) : Number(y) + (Number(y) < 70 ? 2000 : 1900);
    const month = /^\d/.test(m) ? Number(m) : monthNumber(m);
    // Another weekday than the date's moves the date in ways of its own.
    if (
      named &&
      weekday(daysFromCivil(year, month, Number(d))) !==
        'sunmontuewedthufrisat'.indexOf(named[1] as string) / 3
    )
      throw unsupported(`the date text "${text}"`);
    return assemble(
      text,
      [year, month, Number(d)],
      clock ?? MIDNIGHT,
      own === undefined ? undefined : zoneMinutes(own),
      zone,
    );
  }
  if (/^\d{1,2}[.-]\d{1,2}[.-]\d{2}$/.test(date)) throw unsupported(`the date text "${text}"`);
  throw noYear.test(date) ? incomplete(text) : parseError(text);
}

function assemble(
  text: string,
  [year, month, day]: readonly [number, number, number],
  clock: Clock,
  offset: number | undefined,
  zone: Zone | undefined,
): number {
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) throw parseError(text);
  return resolve(text, daysFromCivil(year, month, day), clock, offset, zone);
}
function resolve(
  text: string,
  days: number,
  { hour, minute, second, ms }: Clock,
  offset: number | undefined,
  zone: Zone | undefined,
): number {
  if (hour > 24 || minute > 59 || second > 59) throw parseError(text);
  if (offset !== undefined && zone)
    throw new ServerError(
      241,
      `you cannot pass in a date/time string with GMT offset together with a timezone argument`,
    );
  const local = days * DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 + ms;
  if (offset === undefined) return fromLocal(local, zone ?? utc);
  return fromLocal(local, offset === 0 ? utc : parseZone(offsetText(offset)));
}

/** `$dateFromString` with a format. */
export function parseDateAs(text: string, format: string, zone: Zone | undefined): number {
  const reader = new FormatReader(text);
  for (let i = 0; i < format.length; i++) {
    if (format[i] !== '%') reader.literal(format[i] as string);
    else {
      const d = format[++i];
      if (d === undefined) throw new ServerError(18535, "Unmatched '%' at end of format string");
      reader.directive(d);
    }
  }
  return reader.finish(zone);
}

const widths: Readonly<Record<string, RegExp>> = {
  Y: /^\d{4}/,
  G: /^\d{1,4}/,
  m: /^\d{1,2}/,
  d: /^\d{1,2}/,
  H: /^\d{1,2}/,
  M: /^\d{1,2}/,
  S: /^\d{1,2}/,
  L: /^\d{1,3}/,
  j: /^\d{3}/,
  V: /^\d{1,2}/,
  u: /^\d/,
};

class FormatReader {
  private at = 0;
  private readonly f: Record<string, number> = {};
  private offset: number | undefined;
  constructor(private readonly text: string) {}
  private take(pattern: RegExp): string {
    const match = pattern.exec(this.text.slice(this.at));
    if (!match) throw parseError(this.text);
    this.at += match[0].length;
    return match[0];
  }
  literal(c: string): void {
    if (this.text[this.at] !== c) throw parseError(this.text);
    this.at++;
  }
  directive(d: string): void {
    const width = Object.hasOwn(widths, d) ? widths[d] : undefined;
    if (width) {
      const digits = this.take(width);
      this.f[d] = d === 'L' ? Number(digits.padEnd(3, '0')) : Number(digits);
    } else if (d === '%') this.literal('%');
    else if (d === 'b' || d === 'B') {
      const name = this.take(d === 'b' ? /^[A-Za-z]{3}/ : /^[A-Za-z]+/).toLowerCase();
      const i = months.findIndex((m) => (d === 'b' ? m.slice(0, 3) : m).toLowerCase() === name);
      if (i < 0) throw parseError(this.text);
      this.f.m = i + 1;
    } else if (d === 'z') {
      this.offset = zoneMinutes(
        this.take(/^\s*(?:(?:GMT|UTC)?[+-]\d{1,2}(?::?\d{2})?|[A-Za-z]{1,4})/i).trim(),
      );
      if (this.offset === undefined) throw parseError(this.text);
    } else if (d === 'Z') this.offset = Number(this.take(/^[+-]?\d+/));
    else throw new ServerError(18536, `Invalid format character '%${d}' in format string`);
  }
  finish(zone: Zone | undefined): number {
    const { text, f } = this;
    if (this.at !== text.length) throw parseError(text);
    const clock: Clock = { hour: f.H ?? 0, minute: f.M ?? 0, second: f.S ?? 0, ms: f.L ?? 0 };
    if (f.G !== undefined || f.V !== undefined || f.u !== undefined) {
      // ISO weeks do not go with months and days, and need their year.
      if (f.Y !== undefined || f.m !== undefined || f.d !== undefined || f.G === undefined)
        throw parseError(text);
      return resolve(text, daysFromIsoWeek(f.G, f.V ?? 1, f.u ?? 1), clock, this.offset, zone);
    }
    if (f.Y === undefined) throw incomplete(text);
    if (f.j !== undefined)
      return resolve(text, daysFromCivil(f.Y, 1, 1) + f.j - 1, clock, this.offset, zone);
    if (f.m === undefined || f.d === undefined) throw incomplete(text);
    return assemble(text, [f.Y, f.m, f.d], clock, this.offset, zone);
  }
}
