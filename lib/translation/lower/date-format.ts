import type { ValueFormat } from '../../sqlite/profile/profile';
import type { Lowered } from './environment';
import { literal, overNull } from './conversion';
import { bound, computed } from './computed-value';
import { julianDay, julianText, secondsSinceEpoch, YEARS_A_CYCLE } from './julian-day';
import { asDate, ISO, isNullable, type Moment } from './moment';
import { and, cond, constant, type Mql } from '../mql/mql';
import { Untranslatable } from './untranslated';
import { TEXT, type ValueType } from './value-type';

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
/** What `$dateToString` prints as `strftime` does. */
const PRINTED = new Set(['%Y', '%m', '%d', '%H', '%M', '%S', '%j', '%G', '%V', '%u', '%U', '%%']);
const COMPUTED = new Set(['%w', '%W', '%g', '%e', '%k', '%I', '%l', '%p', '%P', '%s', '%J', '%f']);
const isKnown = (piece: string): boolean =>
  !piece.startsWith('%') || PRINTED.has(piece) || COMPUTED.has(piece);
const SAME_AS: Readonly<Record<string, readonly string[]>> = {
  '%F': ['%Y', '-', '%m', '-', '%d'],
  '%T': ['%H', ':', '%M', ':', '%S'],
  '%R': ['%H', ':', '%M'],
};
const FULL_DATES: Readonly<Record<string, ValueFormat>> = {
  '%Y-%m-%d': 'iso-date',
  '%Y-%m-%d %H:%M:%S': 'iso-datetime',
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
function digitBounds(format: string, cycles: number): Pick<ValueType, 'min' | 'max'> {
  if (cycles > 0) return { min: -1e12, max: 1e12 };
  if (format === '%s') return { min: -1e12, max: 1e12 };
  const counts = [...format.replaceAll('%', '')].map((piece) => DIGIT_COUNTS[piece]);
  const digits = counts.reduce<number>((sum, count) => sum + (count ?? Infinity), 0);
  return { min: 0, max: 10 ** digits };
}

/**
 * What `strftime` makes of the moment: https://www.sqlite.org/lang_datefunc.html. Null for a format
 * that SQLite does not know. `date` and `datetime` write four digits after a minus, `strftime` three.
 */
export function formatted(moment: Moment, format: string, name = 'strftime'): Lowered {
  const pieces = (format.match(/%[^]?|[^%]+/g) ?? []).flatMap((piece) => SAME_AS[piece] ?? [piece]);
  if (!pieces.every(isKnown)) return literal(null);
  const cycles = moment.kind === 'date' ? (moment.cycles ?? 0) : 0;
  const type: ValueType = {
    kinds: TEXT,
    nullable: isNullable(moment),
    missing: false,
    ...(cycles === 0 && FULL_DATES[format] && { formats: [FULL_DATES[format]] }),
    ...(DIGITS.test(format) && { formats: ['integer'] as const, ...digitBounds(format, cycles) }),
  };
  if (moment.kind === 'text') {
    const cut = cutOut(moment, format, pieces);
    if (cut !== undefined) return computed(cut, type);
  }
  if (format === '%J') return julianText(julianDay(moment), { ...type, formats: ['decimal'] });
  if (format === '%s') return computed({ $toString: secondsSinceEpoch(moment) }, type);
  const isPrinted = (piece: string): boolean =>
    !piece.startsWith('%') || (PRINTED.has(piece) && !(cycles > 0 && piece === '%Y'));
  if (pieces.length > 0 && pieces.every(isPrinted))
    return computed(printed(asDate(moment), pieces), type);
  const text = (date: Mql): Mql => {
    const dated: Moment = { kind: 'date', date, nullable: false, cycles };
    const texts = runsOf(pieces, isPrinted).map((run) =>
      isPrinted(run[0] ?? '') ? printed(date, run) : pieceText(run[0] ?? '', dated, name),
    );
    return texts.length === 1 ? (texts[0] ?? '') : { $concat: texts };
  };
  return computed(
    bound(asDate(moment), (date) =>
      isNullable(moment) ? cond({ $gt: [date, null] }, text(date), null) : text(date),
    ),
    type,
  );
}

const printed = (date: Mql, pieces: readonly string[]): Mql => ({
  $dateToString: { date, format: constant(pieces.join('')) },
});

/** Pieces beside each other that `$dateToString` prints together; the others alone. */
function runsOf(
  pieces: readonly string[],
  isPrinted: (piece: string) => boolean,
): readonly string[][] {
  const runs: string[][] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    if (last && isPrinted(piece) && isPrinted(last[0] ?? '')) last.push(piece);
    else runs.push([piece]);
  }
  return runs;
}

const hourOf12 = (date: Mql): Mql => ({
  $add: [{ $mod: [{ $add: [{ $hour: date }, 11] }, 12] }, 1],
});
const twoDigits = (number: Mql): Mql => ({
  $substrCP: [{ $toString: { $add: [100, number] } }, 1, 2],
});
const twoCharacters = (number: Mql): Mql =>
  cond({ $lt: [number, 10] }, { $concat: [' ', { $toString: number }] }, { $toString: number });

/** What `$dateToString` has no letter for. */
function pieceText(piece: string, moment: Moment, name: string): Mql {
  const date = asDate(moment);
  switch (piece) {
    case '%Y':
      return earlyYear(date, moment.kind === 'date' ? (moment.cycles ?? 0) : 0, name);
    case '%w':
      return { $toString: { $subtract: [{ $dayOfWeek: date }, 1] } };
    case '%W': {
      const days: Mql = {
        $subtract: [{ $add: [{ $dayOfYear: date }, 7] }, { $isoDayOfWeek: date }],
      };
      return twoDigits({ $toInt: { $divide: [days, 7] } });
    }
    case '%g':
      return { $substrCP: [{ $dateToString: { date, format: '%G' } }, 2, 2] };
    case '%e':
      return twoCharacters({ $dayOfMonth: date });
    case '%k':
      return twoCharacters({ $hour: date });
    case '%I':
      return twoDigits(hourOf12(date));
    case '%l':
      return twoCharacters(hourOf12(date));
    case '%p':
      return cond({ $lt: [{ $hour: date }, 12] }, 'AM', 'PM');
    case '%P':
      return cond({ $lt: [{ $hour: date }, 12] }, 'am', 'pm');
    case '%s':
      return { $toString: secondsSinceEpoch(moment) };
    default:
      throw new Untranslatable('function', `strftime('${piece}')`);
  }
}

/** A year before 0: SQLite's `%04d`, in which the minus is one of the four. */
function earlyYear(date: Mql, cycles: number, name: string): Mql {
  const before: Mql = { $subtract: [cycles * YEARS_A_CYCLE, { $year: date }] };
  const digits = (count: number): Mql => ({
    $substrCP: [{ $toString: { $add: [10 ** count, before] } }, 1, count],
  });
  if (name !== 'strftime') return { $concat: ['-', digits(4)] };
  const year = cond({ $lt: [before, 1000] }, digits(3), { $toString: before });
  return { $concat: ['-', year] };
}

function cutOut(
  moment: Extract<Moment, { kind: 'text' }>,
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
  if (needsTime && (moment.time || !moment.checked)) return undefined;
  if (run?.[1] === 10 && moment.checked && !moment.time) return moment.text.mql;
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
    moment.checked
      ? cut(text)
      : cond(and({ $regexMatch: { input: text, regex: ISO } }), cut(text), null);
  return overNull(moment.text, guarded);
}
