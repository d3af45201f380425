import type { Lowered } from './environment';
import { castToInteger, toNumber, toText } from './conversion';
import { bound, computed } from './computed-value';
import { cond, constant, type Mql } from '../mql/mql';
import { Untranslatable } from './untranslated';
import { INTEGER, isNeverNegative, onlyKinds, TEXT, typeOf } from './value-type';

const PIECES = /%%|%(?:\.(\d+))?([dsf])|[^%]+|%/g;

/**
 * `%d`, `%s`, `%.2f` and `%%` of https://www.sqlite.org/printf.html; widths and flags have no short
 * counterpart.
 */
export function lowerPrintf(
  format: Lowered,
  args: readonly Lowered[],
  round: (value: Lowered, digits: number) => Lowered,
): Lowered {
  const text = format.constant?.value;
  if (typeof text !== 'string')
    throw new Untranslatable('function', 'printf() with a computed format');
  const rest = [...args];
  const parts: Mql[] = [...text.matchAll(PIECES)].map(([piece, digits, kind]) => {
    if (piece === '%%') return '%';
    if (kind === undefined) {
      if (piece.startsWith('%')) throw new Untranslatable('function', `printf('${text}')`);
      return constant(piece);
    }
    const value = rest.shift();
    if (!value) throw new Untranslatable('function', 'printf() with too few arguments');
    if (kind === 's')
      return digits === undefined
        ? orEmpty(toText(value), '')
        : { $substrCP: [orEmpty(toText(value), ''), 0, Number(digits)] };
    if (kind === 'd')
      return orEmpty(
        computed(
          { $toString: castToInteger(toNumber(value)).mql },
          { ...typeOf(TEXT), nullable: value.type.nullable },
        ),
        '0',
      );
    return fixed(toNumber(value), Number(digits ?? 6), round);
  });
  const merged = parts.length === 1 && isText(parts[0]) ? (parts[0] ?? '') : { $concat: parts };
  return computed(merged, typeOf(TEXT));
}

const isText = (part: Mql | undefined): boolean => typeof part === 'object' && part !== null;
const orEmpty = ({ mql, type }: Lowered, otherwise: string): Mql =>
  type.nullable ? { $ifNull: [mql, otherwise] } : mql;

/**
 * A number with a fixed number of decimals: its whole part, a point, and what is left with leading
 * zeros.
 */
function fixed(
  value: Lowered,
  digits: number,
  round: (value: Lowered, digits: number) => Lowered,
): Mql {
  if (digits > 15)
    throw new Untranslatable('function', 'printf() with more digits than a number has');
  const unit = 10 ** digits;
  const known: Lowered = value.type.nullable
    ? computed({ $ifNull: [value.mql, 0] }, { ...value.type, nullable: false, missing: false })
    : value;
  const text = (number: Mql): Mql => {
    const rounded = onlyKinds(known.type, INTEGER)
      ? number
      : round(computed(number, known.type), digits).mql;
    const scaled: Mql = {
      $toLong: {
        $round: [
          { $multiply: [isNeverNegative(known.type) ? rounded : { $abs: rounded }, unit] },
          0,
        ],
      },
    };
    const sign: Mql[] = isNeverNegative(known.type) ? [] : [cond({ $lt: [number, 0] }, '-', '')];
    const whole = (of: Mql): Mql => ({
      $toString: { $toLong: { $floor: { $divide: [of, unit] } } },
    });
    if (digits === 0) return { $concat: [...sign, { $toString: scaled }] };
    return {
      $let: {
        vars: { scaled },
        in: {
          $concat: [
            ...sign,
            whole('$$scaled'),
            '.',
            {
              $substrCP: [{ $toString: { $add: [unit, { $mod: ['$$scaled', unit] }] } }, 1, digits],
            },
          ],
        },
      },
    };
  };
  return bound(known.mql, text);
}
