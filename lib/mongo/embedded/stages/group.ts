import { parseAccumulatorField, type Accumulator, type AccumulatorFactory } from '../accumulators/accumulator';
import { Doc } from '../bson/doc';
import { ServerError, unsupported } from '../errors';
import { namedArguments, parseExpression, type Evaluate } from '../expressions/expression';
import { compareValues, rankOf } from '../values/compare';
import { ValueMap } from '../values/value-map';
import { isNumeric, toDouble, type Value } from '../values/value';
import { blocking, fromArray, type Next, type StageBuilder, type StageContext } from './stage';

type Fields = readonly (readonly [string, AccumulatorFactory])[];

/** Streams documents into groups and gives one document for each, in the order in which the groups appeared. */
function groupBy(id: Evaluate, fields: Fields, { scope }: StageContext): (input: Next) => Next {
  const { checkpoint, collation } = scope.environment;
  const names = ['_id', ...fields.map(([name]) => name)];
  const factories = fields.map(([, factory]) => factory);
  return (input) => {
    const groups = new ValueMap<Accumulator[]>(collation);
    const make = (): Accumulator[] => factories.map((f) => f.create());
    let n = 0;
    for (let doc = input(); doc !== null; doc = input()) {
      const key = id(doc);
      const states = groups.upsert(key === undefined ? null : key, make);
      for (let i = 0; i < states.length; i++) (states[i] as Accumulator).add(doc);
      if ((++n & 1023) === 0) checkpoint();
    }
    let at = 0;
    return () => {
      if (at >= groups.size) return null;
      const states = groups.items[at] as Accumulator[];
      const values: Value[] = [groups.keys[at++]];
      for (const state of states) values.push(state.result());
      return new Doc(names, values);
    };
  };
}

const group: StageBuilder = (operand, context, name) => {
  if (!(operand instanceof Doc)) throw new ServerError(15947, "a group's fields must be specified in an object");
  if (!operand.has('_id')) throw new ServerError(15955, 'a group specification must include an _id');
  const id = parseExpression(operand.get('_id'), context.scope).evaluate;
  const fields: [string, AccumulatorFactory][] = [];
  operand.keys.forEach((key, i) => {
    if (key !== '_id') fields.push([key, parseAccumulatorField(key, operand.values[i], context.scope)]);
  });
  return blocking(name, groupBy(id, fields, context));
};

const countField = (context: StageContext): Fields => [['count', parseAccumulatorField('count', Doc.of({ $sum: 1 }), context.scope)]];

function outputFields(output: Value, context: StageContext): Fields {
  if (output === undefined) return countField(context);
  if (!(output instanceof Doc)) throw new ServerError(40196, "The 'output' field must be an object");
  return output.keys.map((key, i) => [key, parseAccumulatorField(key, output.values[i], context.scope)] as const);
}

const sortByCount: StageBuilder = (operand, context, name) => {
  const valid = operand instanceof Doc ? operand.keys[0]?.startsWith('$') === true : typeof operand === 'string' && operand.startsWith('$');
  if (!valid) throw new ServerError(operand instanceof Doc ? 40147 : 40148, 'the sortByCount field must be defined as a $-prefixed path or an expression inside an object');
  const grouped = groupBy(parseExpression(operand, context.scope).evaluate, countField(context), context);
  return blocking(name, (input) => {
    const next = grouped(input);
    const docs: Doc[] = [];
    for (let doc = next(); doc !== null; doc = next()) docs.push(doc);
    return fromArray(docs.sort((a, b) => compareValues(b.get('count'), a.get('count'))));
  });
};

const bucket: StageBuilder = (operand, context, name) => {
  const args = namedArguments(operand, name, ['groupBy', 'boundaries'], ['default', 'output']);
  const by = args.get('groupBy');
  if (!(by instanceof Doc) && !(typeof by === 'string' && by.startsWith('$'))) throw new ServerError(40202, "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression");
  const evaluate = parseExpression(by, context.scope).evaluate;
  const list = args.get('boundaries');
  if (!Array.isArray(list)) throw new ServerError(40200, "The $bucket 'boundaries' field must be an array");
  if (list.length < 2) throw new ServerError(40192, "The $bucket 'boundaries' field must have at least 2 values");
  const { order } = context.scope.environment.collation;
  const boundaries = list.map((item) => {
    const expression = parseExpression(item, context.scope);
    if (expression.kind !== 'constant') throw new ServerError(40191, "The $bucket 'boundaries' field must be an array of constant values");
    return expression.value;
  });
  boundaries.forEach((b, i) => {
    const next = boundaries[i + 1];
    if (i + 1 >= boundaries.length) return;
    if (rankOf(b) !== rankOf(next)) throw new ServerError(40193, "All values in the the 'boundaries' option to $bucket must have the same type");
    if (compareValues(b, next, order) >= 0) throw new ServerError(40194, "The 'boundaries' option to $bucket must be sorted in ascending order");
  });
  const fallback = args.has('default') ? parseExpression(args.get('default'), context.scope) : undefined;
  if (fallback && fallback.kind !== 'constant') throw new ServerError(40195, "The $bucket 'default' field must be a constant");
  if (fallback && compareValues(fallback.value, boundaries[0], order) >= 0 && compareValues(fallback.value, boundaries[boundaries.length - 1], order) < 0) {
    throw new ServerError(40199, "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary");
  }
  const id: Evaluate = (doc) => {
    const v = evaluate(doc) ?? null;
    for (let i = 0; i + 1 < boundaries.length; i++) {
      if (compareValues(v, boundaries[i], order) >= 0 && compareValues(v, boundaries[i + 1], order) < 0) return boundaries[i];
    }
    if (!fallback) throw new ServerError(40066, '$switch could not find a matching branch for an input, and no default was specified.');
    return fallback.value;
  };
  const grouped = groupBy(id, outputFields(args.get('output'), context), context);
  return blocking(name, (input) => {
    const next = grouped(input);
    const docs: Doc[] = [];
    for (let doc = next(); doc !== null; doc = next()) docs.push(doc);
    return fromArray(docs.sort((a, b) => compareValues(a.get('_id'), b.get('_id'), order)));
  });
};

const bucketAuto: StageBuilder = (operand, context, name) => {
  const args = namedArguments(operand, name, ['groupBy', 'buckets'], ['output', 'granularity']);
  if (args.has('granularity')) throw unsupported("$bucketAuto's 'granularity'");
  const evaluate = parseExpression(args.get('groupBy'), context.scope).evaluate;
  const buckets = args.get('buckets');
  if (!isNumeric(buckets) || !Number.isInteger(toDouble(buckets))) throw new ServerError(40241, "The $bucketAuto 'buckets' field must be representable as a 32-bit integer");
  const count = toDouble(buckets);
  if (count <= 0) throw new ServerError(40243, "The $bucketAuto 'buckets' field must be greater than 0");
  const fields = outputFields(args.get('output'), context);
  const { order } = context.scope.environment.collation;
  return blocking(name, (input) => {
    const entries: { key: Value; doc: Doc }[] = [];
    for (let doc = input(); doc !== null; doc = input()) entries.push({ key: evaluate(doc) ?? null, doc });
    entries.sort((a, b) => compareValues(a.key, b.key, order));
    const size = Math.max(1, Math.round(entries.length / count));
    const out: Doc[] = [];
    let at = 0;
    while (at < entries.length) {
      let end = out.length === count - 1 ? entries.length : Math.min(entries.length, at + size);
      // Equal values never straddle a boundary.
      while (end < entries.length && compareValues(entries[end]?.key, entries[end - 1]?.key, order) === 0) end++;
      const states = fields.map(([, f]) => f.create());
      for (const { doc } of entries.slice(at, end)) for (const state of states) state.add(doc);
      const max = end < entries.length ? entries[end]?.key : entries[end - 1]?.key;
      out.push(new Doc(['_id', ...fields.map(([n]) => n)], [Doc.of({ min: entries[at]?.key, max }), ...states.map((s) => s.result())]));
      at = end;
    }
    return fromArray(out);
  });
};

export const groupStages: Record<string, StageBuilder> = { $group: group, $sortByCount: sortByCount, $bucket: bucket, $bucketAuto: bucketAuto };

