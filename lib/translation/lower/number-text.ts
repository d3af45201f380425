import { isPlain, type NumberFormat, numberFormat } from '../../sqlite/profile/number-format';
import { patternOf } from '../../sqlite/profile/number-format';
import { type Removal, withoutRemoved } from '../../sqlite/profile/number-removal';
import { computed, IDENTITY } from './computed-value';
import type { Lowered } from './environment';
import { cond, constant, type Mql } from '../mql/mql';
import { INTEGER, NUMBER, onlyKinds, REAL, TEXT, type ValueType } from './value-type';

/** The format of a column whose texts are stored as numbers. */
const formatOf = ({ transform }: Lowered): NumberFormat | undefined =>
  transform.kind === 'number' ? numberFormat(transform.format) : undefined;

/** The number that a retyped text is in SQLite's arithmetic; undefined for `$5`, which counts as 0. */
export function numberOfText(value: Lowered): Lowered | undefined {
  const format = formatOf(value);
  if (!format || !isPlain(format)) return undefined;
  const { nullable, missing, numbers } = value.type;
  return {
    mql: value.mql,
    type: { kinds: kindsOf(format), nullable, missing, ...numbers },
    transform: IDENTITY,
    ...(value.path !== undefined && { path: value.path }),
    ...(value.presence !== undefined && { presence: value.presence }),
  };
}

function kindsOf({ scale }: NumberFormat): number {
  if (scale === 'shortest') return NUMBER;
  return scale === 0 ? INTEGER : REAL;
}

/** The same stored number as a text from which something has been taken away. */
export function withoutText(value: Lowered, removal: Removal): Lowered | undefined {
  const format = formatOf(value);
  const left = format && withoutRemoved(format, removal);
  return left && { ...value, transform: { kind: 'number', format: patternOf(left) } };
}

/**
 * The text of a stored number, which is not null. Long: a design retypes a column only where no
 * query of the workload asks for it.
 */
export function textOfNumber(number: Mql, format: NumberFormat): Mql {
  const { prefix, suffix, negative } = format;
  const size: Mql = negative ? { $abs: number } : number;
  const digits = digitsOf(size, format);
  const sign = negative ? [cond({ $lt: [number, 0] }, '-', '')] : [];
  const parts = [...sign, ...affix(prefix), digits, ...affix(suffix)];
  return parts.length === 1 ? digits : { $concat: parts };
}

const affix = (text: string): Mql[] => (text === '' ? [] : [constant(text)]);

function digitsOf(size: Mql, { grouped, width = 1, scale }: NumberFormat): Mql {
  if (scale === 'real') return realDigits(size, grouped);
  if (scale === 'shortest') {
    const whole: Mql = { $toString: { $toLong: size } };
    const integer = grouped ? inThousands(whole) : whole;
    return cond({ $eq: [{ $type: size }, 'double'] }, realDigits(size, grouped), integer);
  }
  if (scale === 0 && width > 1) return lastDigits(size, width);
  if (scale === 0) return grouped ? inThousands({ $toString: size }) : { $toString: size };
  // The decimals by way of the integer that the number is in its last digit.
  const units = 10 ** scale;
  const whole: Mql = { $toString: { $toLong: { $floor: { $divide: ['$$units', units] } } } };
  const decimals = lastDigits({ $mod: ['$$units', units] }, scale);
  return {
    $let: {
      vars: { units: { $toLong: { $round: { $multiply: [size, units] } } } },
      in: { $concat: [grouped ? inThousands(whole) : whole, '.', decimals] },
    },
  };
}

const lastDigits = (number: Mql, count: number): Mql => ({
  $substrCP: [
    { $toString: { $add: [{ $toLong: number }, constant(10n ** BigInt(count))] } },
    1,
    count,
  ],
});

/** A real with its point: 15 digits, as many as a decimal made of a double has. */
function realDigits(size: Mql, grouped: boolean): Mql {
  const whole: Mql = { $toString: { $toLong: { $trunc: size } } };
  const integer = grouped ? inThousands(whole) : whole;
  const fraction: Mql = {
    $rtrim: { input: { $toString: { $toDecimal: { $mod: [size, 1] } } }, chars: '0' },
  };
  return cond(
    { $eq: [size, { $trunc: size }] },
    { $concat: [integer, '.0'] },
    grouped
      ? { $concat: [integer, { $substrCP: [fraction, 1, { $strLenCP: fraction }] }] }
      : { $rtrim: { input: { $toString: { $toDecimal: size } }, chars: '0' } },
  );
}

/** A comma before every three digits, counted from the end. */
const inThousands = (digits: Mql): Mql => ({
  $let: {
    vars: { digits },
    in: {
      $let: {
        vars: {
          first: { $add: [{ $mod: [{ $subtract: [{ $strLenCP: '$$digits' }, 1] }, 3] }, 1] },
        },
        in: {
          $reduce: {
            input: { $range: ['$$first', { $strLenCP: '$$digits' }, 3] },
            initialValue: { $substrCP: ['$$digits', 0, '$$first'] },
            in: { $concat: ['$$value', ',', { $substrCP: ['$$digits', '$$this', 3] }] },
          },
        },
      },
    },
  },
});

/** The type of the text: its formats, where they are ones that arithmetic knows. */
function textType(value: Lowered): ValueType {
  const { nullable } = value.type;
  const format = formatOf(value);
  const formats =
    format && isPlain(format) && format.scale !== 'shortest'
      ? { formats: [format.scale === 0 ? ('integer' as const) : ('decimal' as const)] }
      : {};
  return { kinds: TEXT, nullable, missing: false, ...formats };
}

export const computedText = (value: Lowered, mql: Mql): Lowered => {
  const number = numberOfText(value);
  return { ...computed(mql, textType(value)), ...(number && { number }) };
};

/**
 * One of several values, as `choose` writes it. Where each is a number, or the text of a stored one,
 * arithmetic chooses among the numbers.
 */
export function oneOf(
  values: readonly Lowered[],
  choose: (values: readonly Mql[]) => Mql,
  type: ValueType,
): Lowered {
  const result = computed(choose(values.map(({ mql }) => mql)), type);
  if (values.every(({ number }) => number === undefined)) return result;
  const numbers = values.flatMap((value) => {
    if (value.number) return [value.number];
    return onlyKinds(value.type, NUMBER) ? [value] : [];
  });
  if (numbers.length < values.length) return result;
  const kinds = numbers.reduce((bits, number) => bits | number.type.kinds, 0);
  const number = computed(choose(numbers.map(({ mql }) => mql)), {
    kinds,
    nullable: type.nullable,
    missing: type.missing,
  });
  return { ...result, number };
}
