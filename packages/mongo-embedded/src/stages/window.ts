import {
  accumulatorNames,
  parseAccumulator,
  slidingPercentile,
  type Accumulator,
  type AccumulatorFactory,
} from '../accumulators/accumulator';
import { Doc } from '../bson/doc';
import { failedToParse, ServerError, typeMismatch, unsupported } from '../errors';
import { namedArguments, parseExpression, type Evaluate } from '../expressions/expression';
import { parseSortPattern, type SortPattern } from '../values/sort';
import {
  addNumbers,
  divideNumbers,
  multiplyNumbers,
  subtractNumbers,
  Sum,
  toDecimal,
} from '../values/arithmetic';
import { compareValues } from '../values/compare';
import { addUnits, parseUnit, utc, type Unit } from '../values/dates';
import { Decimal } from '../bson/decimal';
import { splitPath } from '../values/path';
import {
  isIntegral,
  DateTime,
  double,
  isNullish,
  isNumeric,
  toDouble,
  typeName,
  type Numeric,
  type Value,
} from '../bson/value';
import { setPath } from './basic';
import { MovingCovariance, MovingDeviation, type Removable } from './moving';
import { blocking, drain, fromArray, type StageBuilder, type StageContext } from './stage';

/** One partition in sort order, as window functions see it. */
interface Partition {
  readonly docs: readonly Doc[];
  readonly keys: readonly (readonly Value[])[];
}
/** Computes one output field for every document of a partition. */
type WindowFunction = (partition: Partition) => Value[];

type Bound = 'unbounded' | 'current' | Value;
interface Window {
  readonly kind: 'documents' | 'range';
  readonly low: Bound;
  readonly high: Bound;
  readonly unit?: Unit;
}

const setWindowFields: StageBuilder = (operand, context, name) => {
  if (!(operand instanceof Doc))
    throw failedToParse('the $setWindowFields stage specification must be an object');
  for (const key of operand.keys)
    if (!['output', 'partitionBy', 'sortBy'].includes(key))
      throw new ServerError(40415, `BSON field '${name}.${key}' is an unknown field.`);
  for (const key of ['sortBy', 'output']) {
    const v = operand.get(key);
    if (v !== undefined && !(v instanceof Doc))
      throw typeMismatch(
        `BSON field '${name}.${key}' is the wrong type '${typeName(v)}', expected type 'object'`,
      );
  }
  if (!operand.has('output'))
    throw new ServerError(40414, `BSON field '${name}.output' is missing but a required field`);
  const args = namedArguments(operand, name, ['output'], ['partitionBy', 'sortBy']);
  const { environment } = context.scope;
  const { order } = environment.collation;
  const partitionBy = args.has('partitionBy')
    ? parseExpression(args.get('partitionBy'), context.scope).evaluate
    : null;
  const pattern = args.has('sortBy')
    ? parseSortPattern(args.get('sortBy'), environment.collation)
    : null;
  const output = args.get('output') as Doc;
  checkConflicts(output.keys);
  const fields = output.keys.map((key, i) => ({
    path: splitPath(key),
    compute: parseFunction(output.values[i], pattern, context),
  }));
  return blocking(name, (input) => {
    const docs = drain(input, environment.checkpoint);
    const entries = docs.map((doc) => {
      const partition = partitionBy ? partitionBy(doc) : null;
      if (Array.isArray(partition))
        throw new ServerError(
          14,
          'An expression used to partition cannot evaluate to value of type array',
        );
      return {
        doc,
        partition: partition === undefined ? null : partition,
        key: pattern ? pattern.keyOf(doc) : [],
      };
    });
    if (partitionBy || pattern)
      entries.sort(
        (a, b) =>
          compareValues(a.partition, b.partition, order) ||
          (pattern ? pattern.compareKeys(a.key, b.key) : 0),
      );
    const out: Doc[] = [];
    for (let start = 0; start < entries.length;) {
      let end = start + 1;
      while (
        end < entries.length &&
        compareValues(entries[start]?.partition, entries[end]?.partition, order) === 0
      )
        end++;
      const part = entries.slice(start, end);
      const partition: Partition = { docs: part.map((e) => e.doc), keys: part.map((e) => e.key) };
      const columns = fields.map((f) => f.compute(partition));
      partition.docs.forEach((doc, i) => {
        out.push(fields.reduce((d, f, j) => setPath(d, f.path, columns[j]?.[i]), doc));
      });
      environment.checkpoint();
      start = end;
    }
    return fromArray(out);
  });
};

/** Two outputs may not be at one path, nor one inside the other. */
function checkConflicts(paths: readonly string[]): void {
  for (const path of paths) {
    if (paths.some((other) => other !== path && other.startsWith(`${path}.`)))
      throw new ServerError(
        6307900,
        `$setWindowFields 'output' specification contains two conflicting paths: ${path}`,
      );
  }
}

function parseFunction(
  spec: Value,
  pattern: SortPattern | null,
  context: StageContext,
): WindowFunction {
  if (!(spec instanceof Doc))
    throw failedToParse('The field must be an object with one window function');
  const window = spec.has('window') ? parseWindow(spec.get('window'), pattern, context) : null;
  const names = spec.keys.filter((key) => key !== 'window');
  const name = names[0];
  if (!name?.startsWith('$'))
    throw failedToParse(`Expected a $-prefixed window function, ${name ?? ''}`);
  if (names.length !== 1)
    throw failedToParse('Expected exactly one window function and at most one window');
  const operand = spec.get(name);
  const rankFunction = Object.hasOwn(ranking, name) ? ranking[name] : undefined;
  if (rankFunction) {
    if (window)
      throw new ServerError(5371601, `Rank style window functions take no other arguments`);
    if (!(operand instanceof Doc) || operand.size > 0)
      throw new ServerError(5371603, `${name} must be specified with '{}' as the value`);
    if (!pattern)
      throw new ServerError(
        5371602,
        `${name} must be specified with a top level sortBy expression`,
      );
    if (name !== '$documentNumber' && pattern.parts.length !== 1)
      throw new ServerError(
        5371602,
        `${name} must be specified with a top level sortBy expression with exactly one element`,
      );
    return rankFunction(pattern);
  }
  const special = Object.hasOwn(specials, name) ? specials[name] : undefined;
  if (special) return special(operand, pattern, window, context, name);
  if (!accumulatorNames.includes(name) || name === '$mergeObjects')
    throw unsupported(`Unrecognized window function, ${name}. It`, 9);
  const whole: Window = { kind: 'documents', low: 'unbounded', high: 'unbounded' };
  const chosen = window ?? whole;
  const sliding = chosen.low !== 'unbounded' && (name === '$percentile' || name === '$median');
  const factory = sliding
    ? slidingPercentile(operand, context.scope, name)
    : parseAccumulator(name, operand, context.scope);
  const bounds = boundsOf(chosen, pattern);
  const removable = removableFor(name, operand, context);
  return (partition) => overWindows(partition, chosen, bounds, factory, removable);
}

/** A bound that is not a keyword may be any expression without fields. */
function parseBound(b: Value, context: StageContext): Bound {
  if (b === 'unbounded' || b === 'current' || isNumeric(b)) return b;
  const expression = parseExpression(b, context.scope);
  if (expression.kind !== 'constant' || !isNumeric(expression.value))
    throw failedToParse("Window bounds must be 'unbounded', 'current', or a number.");
  return expression.value;
}

function parseWindow(spec: Value, pattern: SortPattern | null, context: StageContext): Window {
  if (!(spec instanceof Doc)) throw failedToParse("'window' field must be an object");
  const kind = (['documents', 'range'] as const).find((name) => spec.has(name));
  for (const key of spec.keys)
    if (key !== 'documents' && key !== 'range' && key !== 'unit')
      throw failedToParse(`'window' field has an unknown option: ${key}`);
  if (!kind) return { kind: 'documents', low: 'unbounded', high: 'unbounded' };
  if (spec.has('documents') && spec.has('range'))
    throw failedToParse('Window bounds can specify either documents or range, not both.');
  const bounds = spec.get(kind);
  if (!Array.isArray(bounds) || bounds.length !== 2)
    throw failedToParse(`Window bounds must be a 2-element array`);
  const [low, high] = bounds.map((b) => parseBound(b, context)) as [Bound, Bound];
  for (const b of [low, high]) {
    if (isNumeric(b) && kind === 'documents' && !isIntegral(b))
      throw failedToParse('Numeric document-based bounds must be an integer');
  }
  const offset = (b: Bound): number => {
    if (b === 'current') return 0;
    return isNumeric(b) ? toDouble(b) : NaN;
  };
  if (offset(low) > offset(high))
    throw new ServerError(5339900, 'Lower bound must not exceed upper bound');
  if (kind === 'documents' && (low !== 'unbounded' || high !== 'unbounded') && !pattern)
    throw new ServerError(5339901, 'Document-based bounds require a sortBy');
  if (kind === 'range') {
    if (pattern?.parts.length !== 1)
      throw new ServerError(5339902, 'Range-based bounds require sortBy a single field');
    if (pattern.parts[0]?.direction !== 1 && (isNumeric(low) || isNumeric(high)))
      throw new ServerError(8947401, 'Range-based bounds require a non-descending sortBy');
  }
  const unit = spec.get('unit');
  if (unit !== undefined) {
    if (kind === 'documents' || typeof unit !== 'string')
      throw failedToParse("Window bounds can only specify 'unit' with range-based bounds.");
    return { kind, low, high, unit: parseUnit(unit, '$setWindowFields') };
  }
  return { kind, low, high };
}

/** First and last index (inclusive) of a document's window; empty when first > last. */
type Bounds = (partition: Partition, i: number) => readonly [number, number];

function boundsOf(window: Window, pattern: SortPattern | null): Bounds {
  if (window.kind === 'documents') {
    const offset =
      (b: Bound, unbounded: (n: number) => number) =>
      (i: number, n: number): number => {
        if (b === 'unbounded') return unbounded(n);
        return b === 'current' ? i : i + Number(b);
      };
    const low = offset(window.low, () => 0);
    const high = offset(window.high, (n) => n - 1);
    return ({ docs }, i) => [
      Math.max(0, low(i, docs.length)),
      Math.min(docs.length - 1, high(i, docs.length)),
    ];
  }
  if (window.low === 'unbounded' && window.high === 'unbounded')
    return ({ docs }) => [0, docs.length - 1];
  if (!pattern)
    throw new ServerError(5339902, 'Range-based bounds require sortBy a single ascending field');
  return ({ keys }, i) => {
    const at = (j: number): Value => keys[j]?.[0];
    const current = at(i);
    const limit = (b: Bound): Value => {
      if (b === 'current') return current;
      if (window.unit) {
        if (!(current instanceof DateTime))
          throw new ServerError(
            5429513,
            'Invalid range: Expected the sortBy field to be a Date, but it was ' +
              `${typeName(current)}`,
          );
        return new DateTime(addUnits(current.ms, window.unit, Number(b), utc));
      }
      if (!isNumeric(current))
        throw new ServerError(
          5429414,
          'Invalid range: Expected the sortBy field to be a number, but it was ' +
            `${typeName(current)}`,
        );
      return addNumbers(current, b as Numeric);
    };
    let first = 0;
    let last = keys.length - 1;
    if (window.low !== 'unbounded') {
      const v = limit(window.low);
      first = bisect(keys.length, (j) => compareValues(at(j), v) >= 0);
    }
    if (window.high !== 'unbounded') {
      const v = limit(window.high);
      last = bisect(keys.length, (j) => compareValues(at(j), v) > 0) - 1;
    }
    return [first, last];
  };
}
/** The first index for which the test holds; it holds for all after it. */
function bisect(n: number, holds: (i: number) => boolean): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function removableFor(
  name: string,
  operand: Value,
  context: StageContext,
): (() => Removable) | null {
  if (name === '$count') return () => new RemovableCount();
  if (name === '$stdDevPop' || name === '$stdDevSamp') {
    const { evaluate } = parseExpression(operand, context.scope);
    return () => new MovingDeviation(evaluate, name === '$stdDevSamp');
  }
  if (name !== '$sum' && name !== '$avg') return null;
  const { evaluate } = parseExpression(operand, context.scope);
  return () => new RemovableSum(evaluate, name === '$avg');
}
class RemovableCount implements Removable {
  private n = 0;
  add(): void {
    this.n++;
  }
  remove(): void {
    this.n--;
  }
  result(): Value {
    return this.n;
  }
}
/**
 * Exact for integers; anything else is summed afresh, because taking a double away again is not
 * exact.
 */
class RemovableSum implements Removable {
  private total = 0n;
  private longs = 0;
  private count = 0;
  private readonly inexact = new Map<Doc, Value>();
  constructor(
    private readonly evaluate: Evaluate,
    private readonly average: boolean,
  ) {}
  private apply(doc: Doc, sign: 1 | -1): void {
    const v = this.evaluate(doc);
    if (typeof v === 'bigint' || (typeof v === 'number' && (v | 0) === v)) {
      this.total += BigInt(v) * BigInt(sign);
      if (typeof v === 'bigint') this.longs += sign;
      this.count += sign;
    } else if (isNumeric(v)) {
      if (sign > 0) this.inexact.set(doc, v);
      else this.inexact.delete(doc);
    }
  }
  add(doc: Doc): void {
    this.apply(doc, 1);
  }
  remove(doc: Doc): void {
    this.apply(doc, -1);
  }
  result(): Value {
    const sum = new Sum();
    const small = this.total >= -2147483648n && this.total <= 2147483647n;
    sum.push(this.longs > 0 || !small ? this.total : Number(this.total));
    for (const v of this.inexact.values()) sum.push(v);
    if (!this.average) return sum.sum;
    const n = this.count + this.inexact.size;
    if (n === 0) return null;
    const total = sum.sum;
    return total instanceof Decimal
      ? total.divide(Decimal.fromBigInt(BigInt(n)))
      : double(toDouble(total) / n);
  }
}

function overWindows(
  partition: Partition,
  window: Window,
  bounds: Bounds,
  factory: AccumulatorFactory,
  removable: (() => Removable) | null,
): Value[] {
  const { docs } = partition;
  if (window.low === 'unbounded') return growing(partition, window, bounds, factory);
  if (removable) return sliding(partition, bounds, removable());
  return docs.map((_, i) => {
    const [first, last] = bounds(partition, i);
    const state = factory.create();
    for (let j = first; j <= last; j++) state.add(docs[j] as Doc);
    return state.result();
  });
}

/** From the start up to somewhere: each document is added once. */
function growing(
  partition: Partition,
  window: Window,
  bounds: Bounds,
  factory: AccumulatorFactory,
): Value[] {
  const { docs } = partition;
  const state: Accumulator = factory.create();
  let added = 0;
  let result: Value;
  return docs.map((_, i) => {
    const [, last] = bounds(partition, i);
    if (i === 0 || added <= last) {
      while (added <= last) state.add(docs[added++] as Doc);
      result = state.result();
    }
    // Arrays grow in place: each document gets what the window held when it was computed.
    return Array.isArray(result) && window.high !== 'unbounded' ? [...result] : result;
  });
}

function sliding(partition: Partition, bounds: Bounds, state: Removable): Value[] {
  const { docs } = partition;
  let from = 0;
  let to = 0;
  return docs.map((_, i) => {
    const [first, last] = bounds(partition, i);
    // Documents before the first window were never added.
    if (from === to && to < first) from = to = Math.min(first, docs.length);
    while (to <= last) state.add(docs[to++] as Doc);
    while (from < first && from < to) state.remove(docs[from++] as Doc);
    from = Math.max(from, Math.min(first, to));
    return state.result();
  });
}

const ranking: Record<string, (pattern: SortPattern) => WindowFunction> = {
  $documentNumber:
    () =>
    ({ docs }) =>
      docs.map((_, i) => i + 1),
  $rank:
    (pattern) =>
    ({ keys }) => {
      let rank = 1;
      return keys.map((key, i) =>
        i > 0 && pattern.compareKeys(keys[i - 1] as Value[], key) === 0 ? rank : (rank = i + 1),
      );
    },
  $denseRank:
    (pattern) =>
    ({ keys }) => {
      let rank = 0;
      return keys.map((key, i) =>
        i > 0 && pattern.compareKeys(keys[i - 1] as Value[], key) === 0 ? rank : ++rank,
      );
    },
};

type Special = (
  operand: Value,
  pattern: SortPattern | null,
  window: Window | null,
  context: StageContext,
  name: string,
) => WindowFunction;

const shift: Special = (operand, pattern, window, context, name) => {
  if (window) throw failedToParse(`$shift does not accept a 'window' field`);
  if (!pattern) throw failedToParse("'$shift' requires a sortBy");
  const args = namedArguments(operand, name, ['output', 'by'], ['default']);
  const output = parseExpression(args.get('output'), context.scope).evaluate;
  const by = args.get('by');
  if (!isIntegral(by))
    throw failedToParse(`'$shift:by' field must be an integer, but found by: ${typeName(by)}`);
  const fallback = args.has('default')
    ? parseExpression(args.get('default'), context.scope)
    : undefined;
  if (fallback && fallback.kind !== 'constant')
    throw failedToParse("'$shift:default' expression must yield a constant value.");
  const n = Number(by);
  return ({ docs }) =>
    docs.map((_, i) => {
      const doc = docs[i + n];
      if (!doc) return fallback ? fallback.value : null;
      return output(doc) ?? null;
    });
};

const MS_PER_UNIT: Partial<Record<Unit, number>> = {
  week: 604_800_000,
  day: 86_400_000,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

/** MongoDB's numbers for a sort key that does not go with `unit`. */
interface AxisErrors {
  readonly notDate: number;
  readonly date: number;
  readonly other: number;
}

/** The sort key as a number: milliseconds when a unit is given. */
function positions(
  partition: Partition,
  unit: Unit | undefined,
  name: string,
  errors: AxisErrors,
): Numeric[] {
  return partition.keys.map(([v]) => {
    if (unit) {
      if (!(v instanceof DateTime))
        throw new ServerError(
          errors.notDate,
          `${name} with 'unit' expects the sortBy field to be a Date`,
        );
      return BigInt(v.ms);
    }
    if (v instanceof DateTime)
      throw new ServerError(errors.date, `${name} where the sortBy is a Date requires an 'unit'`);
    if (!isNumeric(v))
      throw new ServerError(
        errors.other,
        `${name} (with no 'unit') expects the sortBy field to be numeric`,
      );
    return v;
  });
}

type Along = (x: readonly Numeric[], y: readonly Value[], msPerUnit: number | undefined) => Value;

function overAxis(errors: AxisErrors, compute: Along): Special {
  return (operand, pattern, window, context, name) => {
    if (!pattern || pattern.parts.length !== 1)
      throw failedToParse(`${name} requires a sortBy with exactly one element`);
    if (name === '$derivative' && !window)
      throw failedToParse(`${name} requires explicit window bounds`);
    const args = namedArguments(operand, name, ['input'], ['unit']);
    const input = parseExpression(args.get('input'), context.scope).evaluate;
    const unitText = args.get('unit');
    if (unitText !== undefined && typeof unitText !== 'string')
      throw failedToParse(`${name} 'unit' must be a string, but got ${typeName(unitText)}`);
    const unit = typeof unitText === 'string' ? parseUnit(unitText, name) : undefined;
    const msPerUnit = unit && MS_PER_UNIT[unit];
    if (unit && msPerUnit === undefined)
      throw new ServerError(5490710, "unit must be 'week' or smaller");
    const bounds = boundsOf(
      window ?? { kind: 'documents', low: 'unbounded', high: 'unbounded' },
      pattern,
    );
    return (partition) => {
      const x = positions(partition, unit, name, errors);
      const y = partition.docs.map(input);
      return x.map((_, i) => {
        const [first, last] = bounds(partition, i);
        return first > last
          ? null
          : compute(x.slice(first, last + 1), y.slice(first, last + 1), msPerUnit);
      });
    };
  };
}

const derivative = overAxis(
  { notDate: 5624900, date: 5624901, other: 5624902 },
  (x, y, msPerUnit) => {
    const [a, b] = [y[0], y[y.length - 1]];
    if (isNullish(a) || isNullish(b))
      throw new ServerError(5624903, '$derivative input must not be null or missing');
    if (!isNumeric(a) || !isNumeric(b))
      throw typeMismatch(`can't $subtract ${typeName(a)} from ${typeName(b)}`);
    const run = subtractNumbers(x[x.length - 1] as Numeric, x[0] as Numeric);
    if (isZero(run)) return null;
    const slope = divideNumbers(subtractNumbers(b, a), run);
    return msPerUnit === undefined ? slope : multiplyNumbers(slope, msPerUnit);
  },
);
const isZero = (n: Numeric): boolean => (n instanceof Decimal ? n.isZero : toDouble(n) === 0);

/** The area under the line through the points: `$integral`. */
const integral = overAxis(
  { notDate: 5423901, date: 5423902, other: 5423902 },
  (x, y, msPerUnit) => {
    const sum = new Sum();
    let undefinedArea = false;
    y.forEach((b, i) => {
      if (!isNumeric(b))
        throw new ServerError(
          5423900,
          'The input value of $integral window function must be numeric',
        );
      const at = x[i] as Numeric;
      if (Number.isNaN(toDouble(b)) || Number.isNaN(toDouble(at))) undefinedArea = true;
      else if (i > 0)
        sum.push(
          divideNumbers(
            multiplyNumbers(
              addNumbers(b, y[i - 1] as Numeric),
              subtractNumbers(at, x[i - 1] as Numeric),
            ),
            double(2),
          ),
        );
    });
    if (undefinedArea) return double(NaN);
    return msPerUnit === undefined ? sum.sum : divideNumbers(sum.sum, msPerUnit);
  },
);

/** Computed with decimals, also of doubles, as on the server. */
const expMovingAvg: Special = (operand, pattern, window, context, name) => {
  if (window) throw failedToParse("$expMovingAvg does not accept a 'window' field");
  if (!pattern) throw failedToParse('$expMovingAvg requires a sortBy');
  const args = namedArguments(operand, name, ['input'], ['N', 'alpha']);
  const input = parseExpression(args.get('input'), context.scope).evaluate;
  if (args.has('N') === args.has('alpha'))
    throw failedToParse("$expMovingAvg must have exactly one of the fields 'N' and 'alpha'");
  const n = args.get('N');
  const a = args.get('alpha');
  if (args.has('N') && !(isIntegral(n) && Number(n) > 0))
    throw failedToParse("'N' field must be an integer greater than zero");
  if (args.has('alpha') && !(isNumeric(a) && toDouble(a) > 0 && toDouble(a) < 1))
    throw failedToParse("'alpha' must be between 0 and 1 (exclusive)");
  const whole = (k: number): Decimal => Decimal.fromBigInt(BigInt(k));
  const alpha = args.has('N') ? whole(2).divide(whole(Number(n) + 1)) : toDecimal(a as Numeric);
  const rest = Decimal.one.subtract(alpha);
  return ({ docs }) => {
    let average: Decimal | undefined;
    let decimal = false;
    return docs.map((doc) => {
      const v = input(doc);
      if (isNumeric(v)) {
        decimal ||= v instanceof Decimal;
        const exact = toDecimal(v);
        average = average === undefined ? exact : exact.multiply(alpha).add(average.multiply(rest));
      }
      if (average === undefined) return null;
      return decimal ? average : double(average.toNumber());
    });
  };
};

const covariance =
  (sample: boolean): Special =>
  (operand, pattern, window, context, name) => {
    if (!Array.isArray(operand) || operand.length !== 2)
      throw new ServerError(16020, `Expression ${name} takes exactly 2 arguments.`);
    const [fx, fy] = operand.map((o) => parseExpression(o, context.scope).evaluate) as [
      Evaluate,
      Evaluate,
    ];
    const chosen = window ?? ({ kind: 'documents', low: 'unbounded', high: 'unbounded' } as const);
    const bounds = boundsOf(chosen, pattern);
    return (partition) => sliding(partition, bounds, new MovingCovariance(fx, fy, sample, name));
  };

const locf: Special = (operand, pattern, window, context) => {
  if (window) throw failedToParse("$locf does not accept a 'window' field");
  const input = parseExpression(operand, context.scope).evaluate;
  return ({ docs }) => {
    let last: Value = null;
    return docs.map((doc) => {
      const v = input(doc);
      if (!isNullish(v)) last = v;
      return last;
    });
  };
};

const linearFill: Special = (operand, pattern, window, context, name) => {
  if (window) throw failedToParse("$linearFill does not accept a 'window' field");
  if (!pattern || pattern.parts.length !== 1)
    throw new ServerError(
      605001,
      '$linearFill must be specified with a top level sortBy expression with exactly one element',
    );
  const input = parseExpression(operand, context.scope).evaluate;
  return (partition) => {
    const dates = partition.keys[0]?.[0] instanceof DateTime;
    const x = positions(partition, dates ? 'millisecond' : undefined, name, {
      notDate: 14,
      date: 14,
      other: 14,
    });
    const y = partition.docs.map((doc) => input(doc) ?? null);
    x.forEach((position, i) => {
      if (i > 0 && compareValues(position, x[i - 1]) === 0)
        throw new ServerError(6050106, 'There can be no repeated values in the sort field');
    });
    let before = -1;
    for (let i = 0; i < y.length; i++) {
      const v = y[i];
      if (isNullish(v)) continue;
      if (!isNumeric(v))
        throw typeMismatch(
          `Value to be filled must be numeric or nullish, but found ${typeName(v)}`,
        );
      if (before >= 0 && i - before > 1) fillBetween(x, y, before, i);
      before = i;
    }
    return y;
  };
};
/** With the operators' own arithmetic, so that decimals stay decimals. */
function fillBetween(x: readonly Numeric[], y: Value[], a: number, b: number): void {
  const [ya, yb] = [y[a] as Numeric, y[b] as Numeric];
  const [xa, xb] = [x[a] as Numeric, x[b] as Numeric];
  const slope = divideNumbers(subtractNumbers(yb, ya), subtractNumbers(xb, xa));
  for (let i = a + 1; i < b; i++)
    y[i] = addNumbers(ya, multiplyNumbers(subtractNumbers(x[i] as Numeric, xa), slope));
}

const specials: Record<string, Special> = {
  $shift: shift,
  $derivative: derivative,
  $integral: integral,
  $expMovingAvg: expMovingAvg,
  $covariancePop: covariance(false),
  $covarianceSamp: covariance(true),
  $locf: locf,
  $linearFill: linearFill,
};

/** Functions that only windows have; accumulators run over windows as well. */
export const windowFunctionNames = [...Object.keys(ranking), ...Object.keys(specials)];

export const windowStages: Record<string, StageBuilder> = { $setWindowFields: setWindowFields };
