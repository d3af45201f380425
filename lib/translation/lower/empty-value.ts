import type { BoundExpression } from '../../sqlite/select/bound';
import type { Scalar } from '../mql/mql';
import { integerOrReal } from './exact-integer';
import { castToInteger, castToReal, literal, numberText } from './conversion';

/** A constant, wrapped so that null and "not known" differ. */
export interface KnownValue {
  readonly value: Exclude<Scalar, Date | boolean>;
}

const NULL: KnownValue = { value: null };

/**
 * The value of a result column of an aggregate query over no rows at all: COUNT is 0, every other
 * aggregate and every bare column is null. Undefined when it depends on more than constants.
 */
export function valueOverNoRows(expression: BoundExpression): KnownValue | undefined {
  switch (expression.kind) {
    case 'literal':
      return { value: expression.value };
    case 'column':
    case 'rowid':
      return NULL;
    case 'aggregate':
      if (expression.name === 'count') return { value: 0n };
      return { value: expression.name === 'total' ? 0 : null };
    case 'collate':
      return valueOverNoRows(expression.operand);
    case 'negate':
      return withNumbers([expression.operand], ([a]) =>
        expression.operator === '-' ? -(a as number) : a,
      );
    case 'arithmetic':
      return arithmetic(expression);
    case 'cast':
      return cast(expression.to, valueOverNoRows(expression.operand));
    case 'concat': {
      const parts = [valueOverNoRows(expression.left), valueOverNoRows(expression.right)];
      return parts.some((part) => part?.value === null) ? NULL : undefined;
    }
    case 'call':
      return call(expression.name, expression.args.map(valueOverNoRows));
    case 'nullTest': {
      const operand = valueOverNoRows(expression.operand);
      return operand && { value: (operand.value === null) !== expression.negated ? 1n : 0n };
    }
    case 'compare': {
      const sides = [valueOverNoRows(expression.left), valueOverNoRows(expression.right)];
      if (!expression.nullSafe && sides.some((side) => side?.value === null)) return NULL;
      const [a, b] = sides;
      if (!a || !b || !isNumber(a.value) || !isNumber(b.value)) return undefined;
      const difference = Number(a.value) - Number(b.value);
      const truth = {
        '=': difference === 0,
        '<>': difference !== 0,
        '<': difference < 0,
        '<=': difference <= 0,
        '>': difference > 0,
        '>=': difference >= 0,
      }[expression.operator];
      return { value: truth ? 1n : 0n };
    }
    case 'case': {
      for (const { when, then } of expression.branches) {
        const test = valueOverNoRows(when);
        if (!test) return undefined;
        if (test.value !== null && isNumber(test.value) && Number(test.value) !== 0)
          return valueOverNoRows(then);
      }
      return valueOverNoRows(expression.otherwise);
    }
    default:
      return undefined;
  }
}

const isNumber = (value: KnownValue['value']): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';

function withNumbers(
  operands: readonly BoundExpression[],
  compute: (values: readonly (bigint | number)[]) => bigint | number | null | undefined,
): KnownValue | undefined {
  const values = operands.map(valueOverNoRows);
  if (values.some((value) => value?.value === null)) return NULL;
  const numbers = values.map((value) => value?.value);
  if (!numbers.every((value) => value !== undefined && isNumber(value))) return undefined;
  const result = compute(numbers as (bigint | number)[]);
  return result === undefined ? undefined : { value: result };
}

function arithmetic({
  operator,
  left,
  right,
}: Extract<BoundExpression, { kind: 'arithmetic' }>): KnownValue | undefined {
  return withNumbers([left, right], ([a, b]) => {
    if (a === undefined || b === undefined) return undefined;
    if ((operator === '/' || operator === '%') && Number(b) === 0) return null;
    if (typeof a === 'bigint' && typeof b === 'bigint') {
      const exact = {
        '+': a + b,
        '-': a - b,
        '*': a * b,
        '/': b === 0n ? null : a / b,
        '%': b === 0n ? null : a % b,
      }[operator as '+'];
      return typeof exact === 'bigint' ? integerOrReal(exact) : exact;
    }
    const [x, y] = [Number(a), Number(b)];
    return { '+': x + y, '-': x - y, '*': x * y, '/': x / y }[operator as '+'];
  });
}

function cast(to: string, operand: KnownValue | undefined): KnownValue | undefined {
  if (!operand || operand.value === null) return operand;
  if (to === 'REAL') return castToReal(literal(operand.value)).constant as KnownValue;
  if (to === 'INTEGER') return castToInteger(literal(operand.value)).constant as KnownValue;
  if (to === 'TEXT' && isNumber(operand.value)) return { value: numberText(operand.value) };
  return to === 'NUMERIC' && isNumber(operand.value) ? operand : undefined;
}

function call(name: string, args: readonly (KnownValue | undefined)[]): KnownValue | undefined {
  switch (name) {
    case 'coalesce':
    case 'ifnull':
      for (const arg of args) if (!arg || arg.value !== null) return arg;
      return NULL;
    case 'iif': {
      const [test, yes, no = NULL] = args;
      if (!test || (test.value !== null && !isNumber(test.value))) return undefined;
      return test.value !== null && Number(test.value) !== 0 ? yes : no;
    }
    case 'round':
    case 'abs': {
      const [first] = args;
      if (first?.value === null) return NULL;
      return first && isNumber(first.value) && Number(first.value) === 0
        ? { value: name === 'round' ? 0 : first.value }
        : undefined;
    }
    default:
      return args.some((arg) => arg?.value === null) &&
        name !== 'concat' &&
        name !== 'typeof' &&
        name !== 'nullif'
        ? NULL
        : undefined;
  }
}
