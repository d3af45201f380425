import { ServerError, typeMismatch } from '../errors';
import {
  addAll,
  addNumbers,
  divideNumbers,
  moduloNumbers,
  multiplyNumbers,
  shiftDate,
  subtractNumbers,
  toDecimal,
} from '../values/arithmetic';
import { Decimal } from '../bson/decimal';
import {
  atan2 as decimalAtan2,
  decimalFunctions,
  lnOf,
  log10Of,
  logarithm,
  power as decimalPower,
} from '../values/decimal-functions';
import * as elementary from '../values/elementary';
import {
  DateTime,
  Double,
  double,
  isNullish,
  isNumeric,
  toDouble,
  typeName,
  type Numeric,
  type Value,
} from '../bson/value';
import {
  binary,
  parseExpression,
  unary,
  variadic,
  type Evaluate,
  type Family,
  type OperatorBuilder,
} from './expression';

/** An operator on one number; null stays null. */
function numeric(compute: (n: Numeric, name: string) => Value) {
  return unary((v, name) => {
    if (isNullish(v)) return null;
    if (!isNumeric(v))
      throw new ServerError(28765, `${name} only supports numeric types, not ${typeName(v)}`);
    return compute(v, name);
  });
}

/** `$add` and `$multiply` mostly have two numbers: those are combined without a list in between. */
function chained(
  pair: (a: Numeric, b: Numeric) => Numeric,
  general: (values: Value[]) => Value,
): OperatorBuilder {
  const any = variadic(general);
  return (operand, scope, name) => {
    if (!Array.isArray(operand) || operand.length !== 2) return any(operand, scope, name);
    const operands = operand.map((item) => parseExpression(item, scope));
    const [a, b] = operands.map((o) => o.evaluate) as [Evaluate, Evaluate];
    return {
      operands,
      evaluate: (doc) => {
        const x = a(doc);
        const y = b(doc);
        return isNumeric(x) && isNumeric(y) ? pair(x, y) : general([x, y]);
      },
    };
  };
}

const isInteger = (n: Numeric): n is number | bigint =>
  typeof n === 'bigint' || (typeof n === 'number' && (n | 0) === n);
function signOf(n: Numeric): number {
  if (!(n instanceof Decimal)) return Math.sign(toDouble(n));
  return n.isNaN ? NaN : n.sign;
}

function abs(n: Numeric): Numeric {
  if (n instanceof Decimal) return n.abs();
  if (n instanceof Double) return new Double(Math.abs(n.value));
  if (typeof n === 'bigint') {
    if (n === -(2n ** 63n)) throw new ServerError(28680, "can't take $abs of long long min");
    return n < 0n ? -n : n;
  }
  return n === -2147483648 ? 2147483648n : Math.abs(n);
}

function toWhole(mode: 'floor' | 'ceil') {
  return numeric((n) => {
    if (isInteger(n)) return n;
    if (n instanceof Decimal) return n.quantize(0, mode);
    return double(mode === 'floor' ? Math.floor(toDouble(n)) : Math.ceil(toDouble(n)));
  });
}

/**
 * `$round` and `$trunc`: doubles go through their exact decimal value, so that ties are real ties.
 */
function roundTo(mode: 'half-even' | 'trunc') {
  return variadic(
    (values, name) => {
      const [n, place = 0] = values;
      if (isNullish(n)) return null;
      if (!isNumeric(n))
        throw new ServerError(51081, `${name} only supports numeric types, not ${typeName(n)}`);
      if (values.length === 2 && isNullish(values[1])) return null;
      return roundNumber(n, placeOf(place, name), mode);
    },
    1,
    2,
  );
}

function placeOf(place: Value, name: string): number {
  if (!isNumeric(place) || !Number.isInteger(toDouble(place))) {
    throw new ServerError(51082, `precision argument to ${name} must be a integral value`);
  }
  const n = toDouble(place);
  if (n < -20 || n > 100)
    throw new ServerError(
      51083,
      `cannot apply ${name} with precision value ${n} value must be in [-20, 100]`,
    );
  return n;
}

function roundNumber(n: Numeric, place: number, mode: 'half-even' | 'trunc'): Numeric {
  if (n instanceof Decimal) return n.isFinite ? n.quantize(-place, mode) : n;
  if (isInteger(n)) {
    if (place >= 0) return n;
    const rounded = Decimal.fromBigInt(BigInt(n)).quantize(-place, mode).toBigInt();
    if (typeof n === 'number' && rounded >= -2147483648n && rounded <= 2147483647n)
      return Number(rounded);
    if (rounded > 2n ** 63n - 1n || rounded < -(2n ** 63n))
      throw new ServerError(51080, 'invalid conversion from Decimal128 result in $round: overflow');
    return rounded;
  }
  const d = toDouble(n);
  if (!Number.isFinite(d) || d === 0) return double(d);
  const decimal = Decimal.fromDoubleExact(d);
  const rounded = decimal.quantize(-place, mode).toNumber();
  return double(rounded === 0 && d < 0 ? -0 : rounded);
}

function power(base: Numeric, exponent: Numeric): Numeric {
  if (signOf(base) === 0 && signOf(exponent) < 0)
    throw new ServerError(28764, '$pow cannot take a base of 0 and a negative exponent');
  if (base instanceof Decimal || exponent instanceof Decimal)
    return decimalPower(toDecimal(base), toDecimal(exponent));
  if (!isInteger(base) || !isInteger(exponent))
    return double(elementary.pow(toDouble(base), toDouble(exponent)));
  const b = BigInt(base);
  const e = BigInt(exponent);
  const long = typeof base === 'bigint' || typeof exponent === 'bigint';
  const whole = (n: bigint): Numeric =>
    !long && n >= -2147483648n && n <= 2147483647n ? Number(n) : n;
  if (b === 0n) return whole(e === 0n ? 1n : 0n);
  if (b === 1n) return whole(1n);
  if (b === -1n) return whole(e % 2n === 0n ? 1n : -1n);
  if (e < 0n || e > 63n) return double(elementary.pow(Number(b), Number(e)));
  const result = b ** e;
  return result >= -(2n ** 63n) && result < 2n ** 63n
    ? whole(result)
    : double(elementary.pow(Number(b), Number(e)));
}

function positive(name: string, code: number, n: Numeric): void {
  const s = signOf(n);
  if (!(s > 0) && !Number.isNaN(toDouble(n))) {
    throw new ServerError(
      code,
      `${name}'s argument must be a positive number, but is ${String(toDouble(n))}`,
    );
  }
}

function bits(name: string, start: number, join: (a: bigint, b: bigint) => bigint) {
  return variadic((values) => {
    let total = BigInt(start);
    let long = false;
    let missing = false;
    for (const v of values) {
      if (isNullish(v)) missing = true;
      else if (typeof v === 'bigint') {
        total = join(total, v);
        long = true;
      } else if (typeof v === 'number' && (v | 0) === v) total = join(total, BigInt(v));
      else throw typeMismatch(`${name} only supports int and long operands.`);
    }
    if (missing) return null;
    return long ? BigInt.asIntN(64, total) : Number(BigInt.asIntN(32, total));
  });
}

export const arithmetic: Family = {
  $abs: numeric(abs),
  $add: chained(addNumbers, addAll),
  $ceil: toWhole('ceil'),
  $floor: toWhole('floor'),
  $divide: binary((a, b) => {
    if (isNumeric(a) && isNumeric(b)) return divideNumbers(a, b);
    if (isNullish(a) || isNullish(b)) return null;
    throw typeMismatch(
      `$divide only supports numeric types, not ${typeName(a)} and ${typeName(b)}`,
    );
  }),
  $exp: numeric((n) =>
    n instanceof Decimal ? decimalFunctions.exp(n) : double(elementary.exp(toDouble(n))),
  ),
  $ln: numeric((n, name) => {
    positive(name, 28766, n);
    return n instanceof Decimal ? lnOf(n) : double(elementary.log(toDouble(n)));
  }),
  $log: binary((n, base, name) => {
    if (isNullish(n) || isNullish(base)) return null;
    if (!isNumeric(n))
      throw new ServerError(28756, `$log's argument must be numeric, not ${typeName(n)}`);
    if (!isNumeric(base))
      throw new ServerError(28757, `$log's base must be numeric, not ${typeName(base)}`);
    positive(name, 28758, n);
    if (!(toDouble(base) > 0) || toDouble(base) === 1)
      throw new ServerError(
        28759,
        `$log's base must be a positive number not equal to 1, but is ${toDouble(base)}`,
      );
    if (n instanceof Decimal || base instanceof Decimal)
      return logarithm(toDecimal(n), toDecimal(base));
    return double(elementary.log(toDouble(n)) / elementary.log(toDouble(base)));
  }),
  $log10: numeric((n, name) => {
    positive(name, 28761, n);
    return n instanceof Decimal ? log10Of(n) : double(elementary.log10(toDouble(n)));
  }),
  $mod: binary((a, b) => {
    if (isNumeric(a) && isNumeric(b)) return moduloNumbers(a, b);
    if (isNullish(a) || isNullish(b)) return null;
    throw new ServerError(
      16611,
      `$mod only supports numeric types, not ${typeName(a)} and ${typeName(b)}`,
    );
  }),
  $multiply: chained(multiplyNumbers, (values) => {
    let total: Numeric = 1;
    for (const v of values) {
      if (isNumeric(v)) total = multiplyNumbers(total, v);
      else if (isNullish(v)) return null;
      else throw typeMismatch(`$multiply only supports numeric types, not ${typeName(v)}`);
    }
    return total;
  }),
  $pow: binary((a, b) => {
    if (isNullish(a) || isNullish(b)) return null;
    if (!isNumeric(a))
      throw new ServerError(28762, `$pow's base must be numeric, not ${typeName(a)}`);
    if (!isNumeric(b))
      throw new ServerError(28763, `$pow's exponent must be numeric, not ${typeName(b)}`);
    return power(a, b);
  }),
  $round: roundTo('half-even'),
  $trunc: roundTo('trunc'),
  $sqrt: numeric((n) => {
    if (signOf(n) < 0)
      throw new ServerError(28714, "$sqrt's argument must be greater than or equal to 0");
    return n instanceof Decimal ? n.sqrt() : double(Math.sqrt(toDouble(n)));
  }),
  $subtract: binary((a, b) => {
    if (isNumeric(a) && isNumeric(b)) return subtractNumbers(a, b);
    if (isNullish(a) || isNullish(b)) return null;
    if (a instanceof DateTime && b instanceof DateTime) return BigInt(a.ms) - BigInt(b.ms);
    if (a instanceof DateTime && isNumeric(b)) return shiftDate(a, subtractNumbers(0, b));
    throw typeMismatch(`can't $subtract ${typeName(b)} from ${typeName(a)}`);
  }),
  $bitAnd: bits('$bitAnd', -1, (a, b) => a & b),
  $bitOr: bits('$bitOr', 0, (a, b) => a | b),
  $bitXor: bits('$bitXor', 0, (a, b) => a ^ b),
  $bitNot: unary((v) => {
    if (isNullish(v)) return null;
    if (typeof v === 'bigint') return ~v;
    if (typeof v === 'number' && (v | 0) === v) return ~v;
    throw typeMismatch(`$bitNot only supports int and long, not ${typeName(v)}.`);
  }),
};

const RADIAN = Math.PI / 180;

type OfDouble = (n: number) => number;
type OfDecimal = (n: Decimal) => Decimal;
function trigonometric(compute: OfDouble, decimal: OfDecimal, low = -Infinity, high = Infinity) {
  return numeric((n, name) => {
    const outside =
      n instanceof Decimal
        ? !n.isNaN && (n.compareDouble(low) < 0 || n.compareDouble(high) > 0)
        : toDouble(n) < low || toDouble(n) > high;
    if (outside)
      throw new ServerError(
        50989,
        `cannot apply ${name} to ${toDouble(n)}, value must be in [${low},${high}]`,
      );
    return n instanceof Decimal ? decimal(n) : double(compute(toDouble(n)));
  });
}
/** Angles must be finite. */
function angle(compute: OfDouble, decimal: OfDecimal) {
  return numeric((n, name) => {
    const d = toDouble(n);
    const endless = n instanceof Decimal ? !n.isFinite && !n.isNaN : Math.abs(d) === Infinity;
    if (endless)
      throw new ServerError(50989, `cannot apply ${name} to ${d}, value must be in (-inf,inf)`);
    return n instanceof Decimal ? decimal(n) : double(compute(d));
  });
}

export const trigonometry: Family = {
  $sin: angle(elementary.sin, decimalFunctions.sin),
  $cos: angle(elementary.cos, decimalFunctions.cos),
  $tan: angle(elementary.tan, decimalFunctions.tan),
  $asin: trigonometric(elementary.asin, decimalFunctions.asin, -1, 1),
  $acos: trigonometric(elementary.acos, decimalFunctions.acos, -1, 1),
  $atan: trigonometric(elementary.atan, decimalFunctions.atan),
  $atan2: binary((a, b, name) => {
    if (isNullish(a) || isNullish(b)) return null;
    if (!isNumeric(a))
      throw new ServerError(51044, `${name} only supports numeric types, not ${typeName(a)}`);
    if (!isNumeric(b))
      throw new ServerError(51045, `${name} only supports numeric types, not ${typeName(b)}`);
    if (a instanceof Decimal || b instanceof Decimal)
      return decimalAtan2(toDecimal(a), toDecimal(b));
    return double(elementary.atan2(toDouble(a), toDouble(b)));
  }),
  $sinh: trigonometric(Math.sinh, decimalFunctions.sinh),
  $cosh: trigonometric(Math.cosh, decimalFunctions.cosh),
  $tanh: trigonometric(Math.tanh, decimalFunctions.tanh),
  $asinh: trigonometric(Math.asinh, decimalFunctions.asinh),
  $acosh: trigonometric(Math.acosh, decimalFunctions.acosh, 1, Infinity),
  $atanh: trigonometric(Math.atanh, decimalFunctions.atanh, -1, 1),
  $degreesToRadians: trigonometric((n) => n * RADIAN, decimalFunctions.degreesToRadians),
  $radiansToDegrees: trigonometric((n) => n * (180 / Math.PI), decimalFunctions.radiansToDegrees),
};
