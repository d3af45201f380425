import { Doc, sizeOf } from '../bson/doc';
import { failedToParse, ServerError, unsupported } from '../errors';
import { mergeDocuments } from '../expressions/array';
import {
  namedArguments,
  parseExpression,
  variadic,
  type Environment,
  type Evaluate,
  type Family,
  type Scope,
} from '../expressions/expression';
import { exceeded, OPERATOR_LIMIT } from '../memory';
import { parseSortPattern, TopItems } from '../values/sort';
import { Sum } from '../values/arithmetic';
import { compareValues } from '../values/compare';
import { discretePercentiles, GroupPercentiles } from '../values/digest';
import { ValueSet } from '../values/value-map';
import {
  isIntegral,
  double,
  isNullish,
  isNumeric,
  toDouble,
  typeName,
  type Value,
} from '../bson/value';

/** The state of one accumulator over one group or window. */
export interface Accumulator {
  add(doc: Doc): void;
  result(): Value;
}
/** A parsed accumulator: makes one state for each group. */
export interface AccumulatorFactory {
  /** @param key of the group, on which the `n` of some accumulators depends. */
  create(key?: Value): Accumulator;
}
export type AccumulatorBuilder = (operand: Value, scope: Scope, name: string) => AccumulatorFactory;

/** Collects plain values, whatever expression or field they come from. */
interface Collector {
  push(v: Value): void;
  result(): Value;
}
type MakeCollector = (environment: Environment) => Collector;

class SumCollector extends Sum implements Collector {
  result(): Value {
    return this.sum;
  }
}
class AverageCollector extends Sum implements Collector {
  result(): Value {
    return this.average;
  }
}
/** Like a `SumCollector` that evaluates its own operand: one object a group instead of two. */
class SumAccumulator extends Sum implements Accumulator {
  constructor(private readonly evaluate: Evaluate) {
    super();
  }
  add(doc: Doc): void {
    this.push(this.evaluate(doc));
  }
  result(): Value {
    return this.sum;
  }
}
class ExtremeCollector implements Collector {
  private best: Value;
  constructor(
    private readonly sign: 1 | -1,
    private readonly environment: Environment,
  ) {}
  push(v: Value): void {
    if (isNullish(v)) return;
    const { best } = this;
    if (best === undefined) this.best = v;
    else if (typeof v === 'number' && typeof best === 'number' && v === v && best === best) {
      if (this.sign > 0 ? v > best : v < best) this.best = v;
    } else if (compareValues(v, best, this.environment.collation.order) * this.sign > 0)
      this.best = v;
  }
  result(): Value {
    return this.best === undefined ? null : this.best;
  }
}
class DeviationCollector implements Collector {
  private readonly values: number[] = [];
  constructor(private readonly sample: boolean) {}
  push(v: Value): void {
    if (isNumeric(v)) this.values.push(toDouble(v));
  }
  result(): Value {
    const { values } = this;
    const n = values.length;
    if (n === 0 || (this.sample && n === 1)) return null;
    // Welford: one pass, as stable as the server's own.
    let mean = 0;
    let m2 = 0;
    values.forEach((x, i) => {
      const delta = x - mean;
      mean += delta / (i + 1);
      m2 += delta * (x - mean);
    });
    return double(Math.sqrt(m2 / (this.sample ? n - 1 : n)));
  }
}
class EdgeCollector implements Collector {
  private value: Value;
  private seen = false;
  constructor(private readonly last: boolean) {}
  push(v: Value): void {
    if (this.seen && !this.last) return;
    this.seen = true;
    this.value = v;
  }
  result(): Value {
    return this.value === undefined ? null : this.value;
  }
}
/** Counts what an accumulator keeps: it has a limit of its own, because it cannot use the disk. */
class Kept {
  private bytes = 0;
  constructor(private readonly name: string) {}
  add(v: Value): void {
    this.bytes += sizeOf(v);
    if (this.bytes > OPERATOR_LIMIT) throw exceeded(this.name);
  }
}
class PushCollector implements Collector {
  private readonly values: Value[] = [];
  private readonly kept = new Kept('$push');
  push(v: Value): void {
    if (v === undefined) return;
    this.kept.add(v);
    this.values.push(v);
  }
  result(): Value {
    return this.values;
  }
}
class SetCollector implements Collector {
  private readonly set: ValueSet;
  private readonly kept = new Kept('$addToSet');
  constructor({ collation }: Environment) {
    this.set = new ValueSet(collation);
  }
  push(v: Value): void {
    if (v !== undefined && this.set.add(v)) this.kept.add(v);
  }
  result(): Value {
    return [...this.set.values];
  }
}
class MergeCollector implements Collector {
  private readonly docs: Value[] = [];
  push(v: Value): void {
    if (!isNullish(v) && !(v instanceof Doc))
      throw new ServerError(
        40400,
        `$mergeObjects requires object inputs, but input ${typeName(v)} is of type ${typeName(v)}`,
      );
    this.docs.push(v);
  }
  result(): Value {
    return mergeDocuments(this.docs);
  }
}

function of(make: MakeCollector): AccumulatorBuilder {
  return (operand, scope, name) => {
    if (Array.isArray(operand))
      throw new ServerError(40237, `The ${name} accumulator is a unary operator`);
    const { evaluate } = parseExpression(operand, scope);
    return collecting(evaluate, scope.environment, make);
  };
}
function collecting(
  evaluate: Evaluate,
  environment: Environment,
  make: MakeCollector,
): AccumulatorFactory {
  return { create: () => new Collecting(evaluate, make(environment)) };
}
class Collecting implements Accumulator {
  constructor(
    private readonly evaluate: Evaluate,
    private readonly collector: Collector,
  ) {}
  add(doc: Doc): void {
    this.collector.push(this.evaluate(doc));
  }
  result(): Value {
    return this.collector.result();
  }
}

const constantCount = (v: Value, name: string): number => {
  if (isNumeric(v) && !isIntegral(v))
    throw new ServerError(
      5787903,
      `Value for 'n' must be of integral type, but found ${toDouble(v)} (in ${name})`,
    );
  if (!isIntegral(v))
    throw new ServerError(
      5787902,
      `Value for 'n' must be of integral type, but found ${typeName(v)} (in ${name})`,
    );
  if (Number(v) <= 0)
    throw new ServerError(5787908, `'n' must be greater than 0, found ${String(v)} (in ${name})`);
  return Number(v);
};

/** How many are to be kept: a constant, or an expression over the group's key. */
function readN(operand: Value, scope: Scope, name: string): (key: Value) => number {
  const n = parseExpression(operand, scope);
  if (n.kind !== 'constant')
    return (key) => constantCount(n.evaluate(key instanceof Doc ? key : Doc.empty()), name);
  const fixed = constantCount(n.value, name);
  return () => fixed;
}

/** `$firstN`, `$lastN`, `$minN`, `$maxN`: `{input, n}`. */
function severalOf(make: (n: number, environment: Environment) => Collector): AccumulatorBuilder {
  return (operand, scope, name) => {
    const args = namedArguments(operand, name, ['input', 'n']);
    const n = readN(args.get('n'), scope, name);
    const { evaluate } = parseExpression(args.get('input'), scope);
    return { create: (key) => new Collecting(evaluate, make(n(key), scope.environment)) };
  };
}
class FirstN implements Collector {
  private readonly values: Value[] = [];
  constructor(private readonly n: number) {}
  push(v: Value): void {
    if (this.values.length < this.n) this.values.push(v === undefined ? null : v);
  }
  result(): Value {
    return this.values;
  }
}
class LastN implements Collector {
  private readonly values: Value[] = [];
  constructor(private readonly n: number) {}
  push(v: Value): void {
    this.values.push(v === undefined ? null : v);
    if (this.values.length > this.n) this.values.shift();
  }
  result(): Value {
    return [...this.values];
  }
}
class ExtremeN implements Collector {
  private readonly values: Value[] = [];
  constructor(
    private readonly n: number,
    private readonly sign: 1 | -1,
    private readonly environment: Environment,
  ) {}
  push(v: Value): void {
    if (!isNullish(v)) this.values.push(v);
  }
  result(): Value {
    const { order } = this.environment.collation;
    return [...this.values]
      .sort((a, b) => -this.sign * compareValues(a, b, order))
      .slice(0, this.n);
  }
}

/** `$top`, `$bottom`, `$topN`, `$bottomN`: `{sortBy, output, n}`. */
function ranked(bottom: boolean, several: boolean): AccumulatorBuilder {
  return (operand, scope, name) => {
    const args = namedArguments(
      operand,
      name,
      several ? ['n', 'sortBy', 'output'] : ['sortBy', 'output'],
    );
    const n = several ? readN(args.get('n'), scope, name) : () => 1;
    if (!(args.get('sortBy') instanceof Doc))
      throw new ServerError(10065, 'invalid parameter: expected an object (sortBy)');
    const pattern = parseSortPattern(args.get('sortBy'), scope.environment.collation);
    const output = parseExpression(args.get('output'), scope).evaluate;
    if (bottom) return lastRanked(n, several, pattern, output);
    return {
      create: (key) => {
        const top = new TopItems<Value>(n(key), pattern);
        return {
          add: (doc) => {
            top.add(output(doc), pattern.keyOf(doc));
          },
          result: () => {
            const items = top.items().map((v) => (v === undefined ? null : v));
            return several ? items : (items[0] ?? null);
          },
        };
      },
    };
  };
}
function lastRanked(
  n: (key: Value) => number,
  several: boolean,
  pattern: ReturnType<typeof parseSortPattern>,
  output: Evaluate,
): AccumulatorFactory {
  return {
    create: (key) => {
      const most = n(key);
      const all: { key: Value[]; value: Value }[] = [];
      return {
        add: (doc) => {
          all.push({ key: pattern.keyOf(doc), value: output(doc) });
        },
        result: () => {
          const items = [...all]
            .sort((a, b) => pattern.compareKeys(a.key, b.key))
            .slice(-most)
            .map((e) => (e.value === undefined ? null : e.value));
          return several ? items : (items[items.length - 1] ?? null);
        },
      };
    },
  };
}

export function percentileArguments(
  operand: Value,
  scope: Scope,
  name: string,
): { input: Evaluate; p: number[]; median: boolean } {
  const median = name === '$median';
  const args = namedArguments(
    operand,
    name,
    median ? ['input', 'method'] : ['input', 'p', 'method'],
  );
  if (args.get('method') !== 'approximate')
    throw new ServerError(2, "Currently only 'approximate' can be used as a percentile 'method'.");
  const list = median ? [0.5] : parseExpression(args.get('p'), scope).value;
  if (
    !Array.isArray(list) ||
    list.length === 0 ||
    !list.every((q) => isNumeric(q) && toDouble(q) >= 0 && toDouble(q) <= 1)
  ) {
    throw new ServerError(
      7750301,
      "The $percentile 'p' field must be an array of numbers from [0.0, 1.0] range",
    );
  }
  return {
    input: parseExpression(args.get('input'), scope).evaluate,
    p: list.map((q) => toDouble(q as number)),
    median,
  };
}
/**
 * What the operators give: one value, or one for each percentile; nothing to choose from is null.
 */
const chosen = (
  found: readonly number[] | null,
  { p, median }: { p: readonly number[]; median: boolean },
): Value => {
  const values = p.map((_, i) => (found ? double(found[i] as number) : null));
  return median ? (values[0] as Value) : values;
};
const unanswerable = (name: string): ServerError =>
  unsupported(
    `${name} where versions of the server differ (among thousands of values, or at the end of ` +
      'values of which none is greater than zero or finite)',
  );

const percentile: AccumulatorBuilder = (operand, scope, name) => {
  const { input, p, median } = percentileArguments(operand, scope, name);
  return {
    create: () => {
      const digest = new GroupPercentiles();
      return {
        add: (doc) => {
          const v = input(doc);
          if (isNumeric(v)) digest.add(toDouble(v));
        },
        result: () =>
          chosen(
            digest.percentiles(p, () => unanswerable(name)),
            { p, median },
          ),
      };
    },
  };
};
/** Over a window whose start moves, where the server keeps all values. */
export const slidingPercentile: AccumulatorBuilder = (operand, scope, name) => {
  const { input, p, median } = percentileArguments(operand, scope, name);
  return {
    create: () => {
      const values: number[] = [];
      return {
        add: (doc) => {
          const v = input(doc);
          if (!isNumeric(v)) return;
          if (Number.isNaN(toDouble(v)))
            throw unsupported(`${name} over a sliding window with NaN`);
          values.push(toDouble(v));
        },
        result: () => chosen(discretePercentiles(values, p), { p, median }),
      };
    },
  };
};

const counter: AccumulatorBuilder = (operand, _scope, name) => {
  if (!(operand instanceof Doc) || operand.size > 0)
    throw failedToParse(`${name} takes no arguments, i.e. $count:{}`);
  return { create: () => new Counter() };
};
class Counter implements Accumulator {
  private n = 0;
  add(): void {
    this.n++;
  }
  result(): Value {
    return this.n > 2147483647 ? BigInt(this.n) : this.n;
  }
}

const sum: AccumulatorBuilder = (operand, scope, name) => {
  // `$sum: 1` is frequent: it counts without evaluating anything.
  if (operand === 1) return counter(Doc.empty(), scope, name);
  if (Array.isArray(operand))
    throw new ServerError(40237, `The ${name} accumulator is a unary operator`);
  const { evaluate } = parseExpression(operand, scope);
  return { create: () => new SumAccumulator(evaluate) };
};

const builders: Record<string, AccumulatorBuilder> = {
  $sum: sum,
  $avg: of(() => new AverageCollector()),
  $min: of((e) => new ExtremeCollector(-1, e)),
  $max: of((e) => new ExtremeCollector(1, e)),
  $first: of(() => new EdgeCollector(false)),
  $last: of(() => new EdgeCollector(true)),
  $push: of(() => new PushCollector()),
  $addToSet: of((e) => new SetCollector(e)),
  $mergeObjects: of(() => new MergeCollector()),
  $stdDevPop: of(() => new DeviationCollector(false)),
  $stdDevSamp: of(() => new DeviationCollector(true)),
  $count: counter,
  $top: ranked(false, false),
  $topN: ranked(false, true),
  $bottom: ranked(true, false),
  $bottomN: ranked(true, true),
  $firstN: severalOf((n) => new FirstN(n)),
  $lastN: severalOf((n) => new LastN(n)),
  $minN: severalOf((n, e) => new ExtremeN(n, -1, e)),
  $maxN: severalOf((n, e) => new ExtremeN(n, 1, e)),
  $percentile: percentile,
  $median: percentile,
};
export const accumulatorNames = Object.keys(builders);

export function parseAccumulator(name: string, operand: Value, scope: Scope): AccumulatorFactory {
  const build = Object.hasOwn(builders, name) ? builders[name] : undefined;
  if (!build) throw unsupported(`unknown group operator '${name}': it`, 15952);
  return build(operand, scope, name);
}

/** `{field: {$accumulator: operand}}`, as in `$group`. */
export function parseAccumulatorField(
  field: string,
  spec: Value,
  scope: Scope,
): AccumulatorFactory {
  if (field.includes('.'))
    throw new ServerError(40235, `The field name '${field}' cannot contain '.'`);
  if (field.startsWith('$'))
    throw new ServerError(40236, `The field name '${field}' cannot be an operator name`);
  if (!(spec instanceof Doc))
    throw new ServerError(40234, `The field '${field}' must be an accumulator object`);
  if (spec.size !== 1)
    throw new ServerError(40238, `The field '${field}' must specify one accumulator`);
  return parseAccumulator(spec.keys[0] as string, spec.values[0], scope);
}

// ---- as expressions: over the elements of one array, or over several operands

function asExpression(make: MakeCollector) {
  return variadic((values, _name, environment) => {
    const collector = make(environment);
    const items = values.length === 1 && Array.isArray(values[0]) ? values[0] : values;
    for (const v of items) collector.push(v);
    return collector.result();
  });
}

const percentileExpression: Family[string] = (operand, scope, name) => {
  const { input, p, median } = percentileArguments(operand, scope, name);
  return {
    evaluate: (doc) => {
      const v = input(doc);
      // Of one number that is every percentile, even of NaN.
      if (isNumeric(v))
        return chosen(
          p.map(() => toDouble(v)),
          { p, median },
        );
      return chosen(
        discretePercentiles(Array.isArray(v) ? v.filter(isNumeric).map(toDouble) : [], p),
        { p, median },
      );
    },
  };
};

export const accumulatorExpressions: Family = {
  $sum: asExpression(() => new SumCollector()),
  $avg: asExpression(() => new AverageCollector()),
  $min: asExpression((e) => new ExtremeCollector(-1, e)),
  $max: asExpression((e) => new ExtremeCollector(1, e)),
  $stdDevPop: asExpression(() => new DeviationCollector(false)),
  $stdDevSamp: asExpression(() => new DeviationCollector(true)),
  $percentile: percentileExpression,
  $median: percentileExpression,
};
