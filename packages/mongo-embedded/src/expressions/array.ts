import { Doc, sizeOf } from '../bson/doc';
import { badValue, failedToParse, ServerError } from '../errors';
import { checkArray, exceeded, OPERATOR_LIMIT } from '../memory';
import { compareValues, equalValues } from '../values/compare';
import { fieldName } from '../values/path';
import {
  isIntegral,
  isNullish,
  isNumeric,
  isTruthy,
  toDouble,
  typeName,
  type Value,
} from '../bson/value';
import {
  binary,
  checkVariableName,
  constant,
  named,
  namedArguments,
  parseExpression,
  unary,
  variadic,
  type Environment,
  type Family,
  type OperatorBuilder,
} from './expression';
import { parseSortPattern, type SortPattern } from '../values/sort';

function indexOperand(v: Value, code: number, what: string): number {
  if (!isNumeric(v))
    throw new ServerError(code, `${what} must be a numeric value, but is ${typeName(v)}`);
  const n = toDouble(v);
  if (!Number.isInteger(n) || Math.abs(n) > 2147483648)
    throw new ServerError(code + 1, `${what} must be representable as a 32-bit integer: ${n}`);
  return n;
}

const endOf = (which: 'first' | 'last') =>
  unary((v, name) => {
    if (isNullish(v)) return null;
    if (!Array.isArray(v))
      throw new ServerError(28689, `${name}'s argument must be an array, but is ${typeName(v)}`);
    return which === 'first' ? v[0] : v[v.length - 1];
  });

/** `$firstN`, `$lastN`, `$minN`, `$maxN` over an array. */
const several = (pick: (items: Value[], n: number, environment: Environment) => Value[]) =>
  named(['n', 'input'], [], ({ n, input }, _given, name, environment) => {
    if (!isNumeric(n))
      throw new ServerError(
        5787902,
        `Value for 'n' must be of integral type, but found ${typeName(n)}`,
      );
    if (!isIntegral(n))
      throw new ServerError(
        5787903,
        `Value for 'n' must be of integral type, but found ${toDouble(n)}`,
      );
    if (Number(n) <= 0)
      throw new ServerError(5787908, `'n' must be greater than 0, found ${String(n)}`);
    if (!Array.isArray(input))
      throw new ServerError(
        5788200,
        `${name} requires 'input' to be an array, found ${typeName(input)}`,
      );
    return pick(input, Number(n), environment);
  });

/** An operator that binds a variable to each element in turn. */
function eachElement(
  required: readonly string[],
  optional: readonly string[],
  code: number,
  build: (input: Value[], item: (v: Value) => Value, limit: number) => Value,
): OperatorBuilder {
  return (operand, scope, name) => {
    const args = namedArguments(operand, name, required, optional);
    const input = parseExpression(args.get('input'), scope);
    const as = args.get('as') ?? 'this';
    if (typeof as !== 'string') throw failedToParse(`${name} requires 'as' to be a string`);
    checkVariableName(as);
    const inner = scope.with(as);
    const body = parseExpression(args.get(required[1] as string), inner.scope);
    const limit = args.has('limit') ? parseExpression(args.get('limit'), scope) : undefined;
    const { frame, checkpoint } = scope.environment;
    const { slot } = inner;
    return {
      evaluate: (doc) => {
        const items = input.evaluate(doc);
        if (isNullish(items)) return null;
        if (!Array.isArray(items))
          throw new ServerError(code, `input to ${name} must be an array not ${typeName(items)}`);
        let most = Infinity;
        if (limit) {
          const n = limit.evaluate(doc);
          if (!isNullish(n)) {
            if (!isIntegral(n))
              throw new ServerError(
                327391,
                `${name}: limit must be represented as a 32-bit integral value: ${typeName(n)}`,
              );
            if (Number(n) < 1)
              throw new ServerError(327392, `${name}: limit must be greater than 0: ${String(n)}`);
            most = Number(n);
          }
        }
        checkArray(items.length, name);
        const saved = frame[slot];
        let n = 0;
        const result = build(
          items,
          (v) => {
            if ((++n & 1023) === 0) checkpoint();
            frame[slot] = v;
            return body.evaluate(doc);
          },
          most,
        );
        frame[slot] = saved;
        return result;
      },
    };
  };
}

const reduce: OperatorBuilder = (operand, scope, name) => {
  const args = namedArguments(operand, name, ['input', 'initialValue', 'in']);
  const input = parseExpression(args.get('input'), scope);
  const initial = parseExpression(args.get('initialValue'), scope);
  const first = scope.with('this');
  const second = first.scope.with('value');
  const body = parseExpression(args.get('in'), second.scope);
  const { frame, checkpoint } = scope.environment;
  return {
    evaluate: (doc) => {
      const items = input.evaluate(doc);
      if (isNullish(items)) return null;
      if (!Array.isArray(items))
        throw new ServerError(
          40080,
          `$reduce requires that 'input' be an array, found: ${typeName(items)}`,
        );
      let value = initial.evaluate(doc);
      const saved = [frame[first.slot], frame[second.slot]];
      let n = 0;
      for (const item of items) {
        if ((++n & 1023) === 0) checkpoint();
        frame[first.slot] = item;
        frame[second.slot] = value;
        value = body.evaluate(doc);
      }
      [frame[first.slot], frame[second.slot]] = saved;
      return value;
    },
  };
};

const zip: OperatorBuilder = (operand, scope, name) => {
  const args = namedArguments(operand, name, ['inputs'], ['useLongestLength', 'defaults']);
  const list = args.get('inputs');
  if (!Array.isArray(list) || list.length === 0)
    throw new ServerError(
      34461,
      'inputs must be an array of expressions with at least one element',
    );
  const inputs = list.map((item) => parseExpression(item, scope));
  const longest = args.get('useLongestLength') ?? false;
  if (typeof longest !== 'boolean') throw new ServerError(34463, 'useLongestLength must be a bool');
  const defaultList = args.get('defaults') ?? [];
  if (!Array.isArray(defaultList))
    throw new ServerError(34462, 'defaults must be an array of expressions');
  if (defaultList.length > 0 && !longest)
    throw new ServerError(34466, 'cannot specify defaults unless useLongestLength is true');
  if (defaultList.length > 0 && defaultList.length !== inputs.length)
    throw new ServerError(34467, 'defaults and inputs must have the same length');
  const defaults = defaultList.map((item) => parseExpression(item, scope));
  return {
    operands: [...inputs, ...defaults],
    evaluate: (doc) => {
      const arrays: Value[][] = [];
      for (const input of inputs) {
        const value = input.evaluate(doc);
        if (isNullish(value)) return null;
        if (!Array.isArray(value))
          throw new ServerError(
            34468,
            `$zip found a non-array expression in input: ${typeName(value)}`,
          );
        arrays.push(value);
      }
      const lengths = arrays.map((a) => a.length);
      const n = longest ? Math.max(...lengths) : Math.min(...lengths);
      checkArray(n * arrays.length, name);
      const fill = defaults.map((d) => d.evaluate(doc) ?? null);
      return Array.from({ length: n }, (_, i) =>
        arrays.map((a, j) => (i < a.length ? a[i] : fill[j]) ?? null),
      );
    },
  };
};

function toObject(v: Value): Value {
  if (isNullish(v)) return null;
  if (!Array.isArray(v))
    throw new ServerError(40386, `$arrayToObject requires an array input, found: ${typeName(v)}`);
  const out = Doc.empty().copy();
  const pairs = Array.isArray(v[0]);
  for (const item of v) {
    let key: Value;
    let value: Value;
    if (pairs) {
      if (!Array.isArray(item))
        throw new ServerError(
          40396,
          '$arrayToObject requires a consistent input format. Elements must all be arrays or all ' +
            'be objects',
        );
      if (item.length !== 2)
        throw new ServerError(
          40397,
          `$arrayToObject requires an array of size 2 arrays,found array of size: ${item.length}`,
        );
      [key, value] = item;
      if (typeof key !== 'string')
        throw new ServerError(
          40395,
          '$arrayToObject requires an array of key-value pairs, where the key must be of ' +
            'type string',
        );
    } else {
      if (Array.isArray(item))
        throw new ServerError(
          40391,
          '$arrayToObject requires a consistent input format. Elements must all be arrays or all ' +
            'be objects',
        );
      if (!(item instanceof Doc))
        throw new ServerError(
          40398,
          `Unrecognised input type format for $arrayToObject: ${typeName(item)}`,
        );
      if (item.size !== 2)
        throw new ServerError(
          40392,
          `$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of ` +
            `keys:${item.size}`,
        );
      if (!item.has('k') || !item.has('v'))
        throw new ServerError(40393, "$arrayToObject requires an object with keys 'k' and 'v'");
      key = item.get('k');
      value = item.get('v');
      if (typeof key !== 'string')
        throw new ServerError(
          40394,
          "$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must " +
            'be of type string',
        );
    }
    if (key.includes('\0'))
      throw new ServerError(
        pairs ? 4940400 : 4940401,
        'Key field cannot contain an embedded null byte',
      );
    out.set(key, value);
  }
  return out;
}

const slice = variadic(
  (values, _name) => {
    const [array, second, third] = values;
    if (isNullish(array) || isNullish(second)) return null;
    if (!Array.isArray(array))
      throw new ServerError(
        28724,
        `First argument to $slice must be an array, but is of type: ${typeName(array)}`,
      );
    const position = indexOperand(second, 28725, 'Second argument to $slice');
    if (values.length === 2)
      return position < 0
        ? array.slice(Math.max(0, array.length + position))
        : array.slice(0, position);
    // A third operand that is missing is null, not absent.
    if (isNullish(third)) return null;
    const n = indexOperand(third, 28727, 'Third argument to $slice');
    if (n <= 0) throw new ServerError(28729, `Third argument to $slice must be positive: ${n}`);
    const start =
      position < 0 ? Math.max(0, array.length + position) : Math.min(position, array.length);
    return array.slice(start, start + n);
  },
  2,
  3,
);

function sortedArray(operand: Value, environment: Environment): (items: Value[]) => Value[] {
  const { order } = environment.collation;
  if (operand instanceof Doc) {
    const pattern: SortPattern = parseSortPattern(operand, environment.collation);
    return (items) => {
      const keyed = items.map((item) => ({
        item,
        key: pattern.keyOf(item instanceof Doc ? item : Doc.empty(), item),
      }));
      return keyed.sort((a, b) => pattern.compareKeys(a.key, b.key)).map((k) => k.item);
    };
  }
  const direction = operand;
  if (!isNumeric(direction) || Math.abs(toDouble(direction)) !== 1) {
    throw badValue('The $sort element value must be either 1 or -1');
  }
  const sign = toDouble(direction);
  return (items) => [...items].sort((a, b) => sign * compareValues(a, b, order));
}

export const array: Family = {
  $arrayElemAt: binary((a, i) => {
    if (isNullish(a) || isNullish(i)) return null;
    if (!Array.isArray(a))
      throw new ServerError(
        28689,
        `$arrayElemAt's first argument must be an array, but is ${typeName(a)}`,
      );
    const n = indexOperand(i, 28690, "$arrayElemAt's second argument");
    return n < 0 ? a[a.length + n] : a[n];
  }),
  $arrayToObject: unary(toObject),
  $concatArrays: variadic((values) => {
    const out: Value[] = [];
    for (const v of values) {
      if (isNullish(v)) return null;
      if (!Array.isArray(v))
        throw new ServerError(28664, `$concatArrays only supports arrays, not ${typeName(v)}`);
      checkArray(out.length + v.length, '$concatArrays');
      for (const item of v) out.push(item);
    }
    return out;
  }),
  $filter: eachElement(['input', 'cond'], ['as', 'limit'], 28651, (items, test, limit) => {
    const out: Value[] = [];
    for (const item of items) {
      if (isTruthy(test(item))) {
        out.push(item);
        if (out.length >= limit) break;
      }
    }
    return out;
  }),
  $map: eachElement(['input', 'in'], ['as'], 16883, (items, map) => {
    if (items.length < 100) return items.map((item) => map(item) ?? null);
    let bytes = 0;
    return items.map((item) => {
      const value = map(item) ?? null;
      if (typeof value === 'object') bytes += sizeOf(value);
      if (bytes > OPERATOR_LIMIT) throw exceeded('$map');
      return value;
    });
  }),
  $first: endOf('first'),
  $last: endOf('last'),
  $firstN: several((items, n) => items.slice(0, n)),
  $lastN: several((items, n) => items.slice(-n)),
  $minN: several((items, n, { collation }) =>
    items
      .filter((v) => !isNullish(v))
      .sort((a, b) => compareValues(a, b, collation.order))
      .slice(0, n),
  ),
  $maxN: several((items, n, { collation }) =>
    items
      .filter((v) => !isNullish(v))
      .sort((a, b) => compareValues(b, a, collation.order))
      .slice(0, n),
  ),
  $in: binary((value, list, _name, { collation }) => {
    if (!Array.isArray(list))
      throw new ServerError(
        40081,
        `$in requires an array as a second argument, found: ${typeName(list)}`,
      );
    return list.some((item) => equalValues(value, item, collation.order));
  }),
  $indexOfArray: variadic(
    (values, name, { collation }) => {
      const [list, value] = values;
      if (isNullish(list)) return null;
      if (!Array.isArray(list))
        throw new ServerError(
          40090,
          `$indexOfArray requires an array as a first argument, found: ${typeName(list)}`,
        );
      const start = values.length > 2 ? positionOperand(values[2], name) : 0;
      const end =
        values.length > 3 ? Math.min(positionOperand(values[3], name), list.length) : list.length;
      for (let i = start; i < end; i++) if (equalValues(list[i], value, collation.order)) return i;
      return -1;
    },
    2,
    4,
  ),
  $isArray: unary((v) => Array.isArray(v)),
  $range: variadic(
    (values) => {
      const whole = (v: Value, code: number, what: string): number => {
        if (!isNumeric(v))
          throw new ServerError(
            code,
            `$range requires a numeric ${what} value, found value of type: ${typeName(v)}`,
          );
        const n = toDouble(v);
        if (!Number.isInteger(n) || Math.abs(n) > 2147483648)
          throw new ServerError(
            code + 1,
            `$range requires a ${what} value that can be represented as a 32-bit integer, found ` +
              `value: ${n}`,
          );
        return n;
      };
      const start = whole(values[0], 34443, 'starting');
      const end = whole(values[1], 34445, 'ending');
      const step = values.length > 2 ? whole(values[2], 34447, 'step') : 1;
      if (step === 0) throw new ServerError(34449, '$range requires a non-zero step value');
      const count = Math.max(0, Math.ceil((end - start) / step));
      checkArray(count, '$range');
      return Array.from({ length: count }, (_, i) => start + i * step);
    },
    2,
    3,
  ),
  $reduce: reduce,
  $reverseArray: unary((v) => {
    if (isNullish(v)) return null;
    if (!Array.isArray(v))
      throw new ServerError(
        34435,
        `The argument to $reverseArray must be an array, but was of type: ${typeName(v)}`,
      );
    return [...v].reverse();
  }),
  $size: unary((v) => {
    if (!Array.isArray(v))
      throw new ServerError(
        17124,
        `The argument to $size must be an array, but was of type: ${typeName(v)}`,
      );
    return v.length;
  }),
  $slice: slice,
  $sortArray: (operand, scope, name) => {
    const args = namedArguments(operand, name, ['input', 'sortBy']);
    const input = parseExpression(args.get('input'), scope);
    const sort = sortedArray(args.get('sortBy'), scope.environment);
    return {
      operands: [input, constant(null)],
      evaluate: (doc) => {
        const items = input.evaluate(doc);
        if (isNullish(items)) return null;
        if (!Array.isArray(items))
          throw new ServerError(
            2942504,
            'The input argument to $sortArray must be an array, but was of type: ' +
              `${typeName(items)}`,
          );
        return sort(items);
      },
    };
  },
  $zip: zip,
};

function positionOperand(v: Value, name: string): number {
  if (!isIntegral(v))
    throw new ServerError(
      40096,
      `${name} requires an integral starting index, found a value of type: ${typeName(v)}`,
    );
  const n = Number(v);
  if (n < 0)
    throw new ServerError(40097, `${name} requires a nonnegative starting index, found: ${n}`);
  return n;
}

export const object: Family = {
  $objectToArray: unary((v) => {
    if (isNullish(v)) return null;
    if (!(v instanceof Doc))
      throw new ServerError(
        40390,
        `$objectToArray requires a document input, found: ${typeName(v)}`,
      );
    return v.keys.map((k, i) => new Doc(['k', 'v'], [k, v.values[i]]));
  }),
  $mergeObjects: variadic((values) => {
    const items = values.length === 1 && Array.isArray(values[0]) ? values[0] : values;
    return mergeDocuments(items);
  }),
  $getField: (operand, scope, name) => {
    const args =
      operand instanceof Doc && !operand.keys[0]?.startsWith('$')
        ? namedArguments(operand, name, ['field', 'input'])
        : new Map([['field', operand]]);
    const field = parseExpression(args.get('field'), scope);
    // A constant is checked when the query is parsed, a computed value when it is computed.
    const given = args.get('field');
    const literal =
      !(given instanceof Doc) || given.keys[0] === '$literal' || given.keys[0] === '$const';
    if (literal && field.kind === 'constant' && typeof field.value !== 'string')
      throw new ServerError(
        5654602,
        `$getField requires 'field' to evaluate to type String, but got ${typeName(field.value)}`,
      );
    const input = args.has('input')
      ? parseExpression(args.get('input'), scope)
      : parseExpression('$$CURRENT', scope);
    return {
      operands: [field, input],
      evaluate: (doc) => {
        const key = field.evaluate(doc);
        if (typeof key !== 'string')
          throw new ServerError(
            3041704,
            `$getField requires 'field' to evaluate to type String, but got ${typeName(key)}`,
          );
        const from = input.evaluate(doc);
        if (from instanceof Doc) return from.read(fieldName(key));
        return isNullish(from) && from !== undefined ? null : undefined;
      },
    };
  },
  $setField: (operand, scope, name) => setField(operand, scope, name, ['field', 'input', 'value']),
  $unsetField: (operand, scope, name) => setField(operand, scope, name, ['field', 'input']),
};

function setField(
  operand: Value,
  scope: Parameters<OperatorBuilder>[1],
  name: string,
  names: string[],
) {
  const args = namedArguments(operand, name, names);
  const field = parseExpression(args.get('field'), scope);
  if (field.kind !== 'constant' || typeof field.value !== 'string') {
    throw new ServerError(
      4161108,
      `${name} requires 'field' to evaluate to a constant of type String`,
    );
  }
  const key = field.value;
  const input = parseExpression(args.get('input'), scope);
  const value = args.has('value') ? parseExpression(args.get('value'), scope) : constant(undefined);
  return {
    operands: [input, value],
    evaluate: (doc: Doc): Value => {
      const from = input.evaluate(doc);
      if (isNullish(from)) return null;
      if (!(from instanceof Doc))
        throw new ServerError(4161105, `${name} requires 'input' to evaluate to type Object`);
      return from.copy().set(key, value.evaluate(doc));
    },
  };
}

export function mergeDocuments(items: readonly Value[]): Doc {
  const out = Doc.empty().copy();
  for (const item of items) {
    if (isNullish(item)) continue;
    if (!(item instanceof Doc))
      throw new ServerError(
        40400,
        `$mergeObjects requires object inputs, but input is of type ${typeName(item)}`,
      );
    item.keys.forEach((key, i) => out.set(key, item.values[i]));
  }
  return out;
}
