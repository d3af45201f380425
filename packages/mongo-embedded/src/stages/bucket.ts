import { Doc } from '../bson/doc';
import { ServerError } from '../errors';
import {
  namedArguments,
  parseExpression,
  type Evaluate,
  type Expression,
} from '../expressions/expression';
import { compareValues, rankOf } from '../values/compare';
import { isNumeric, toDouble, typeName, type Numeric, type Value } from '../bson/value';
import { checkRoundable, parseGranularity, type Granularity } from './granularity';
import { groupBy, outputFields, type Fields } from './group';
import { blocking, drain, fromArray, type StageBuilder, type StageContext } from './stage';

const bucket: StageBuilder = (operand, context, name) => {
  const args = namedArguments(operand, name, ['groupBy', 'boundaries'], ['default', 'output']);
  const by = args.get('groupBy');
  if (!(by instanceof Doc) && !(typeof by === 'string' && by.startsWith('$')))
    throw new ServerError(
      40202,
      "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression",
    );
  const evaluate = parseExpression(by, context.scope).evaluate;
  const list = args.get('boundaries');
  if (!Array.isArray(list))
    throw new ServerError(40200, "The $bucket 'boundaries' field must be an array");
  if (list.length < 2)
    throw new ServerError(40192, "The $bucket 'boundaries' field must have at least 2 values");
  const { order } = context.scope.environment.collation;
  const boundaries = list.map((item) => {
    const expression = parseExpression(item, context.scope);
    if (expression.kind !== 'constant')
      throw new ServerError(
        40191,
        "The $bucket 'boundaries' field must be an array of constant values",
      );
    return expression.value;
  });
  boundaries.forEach((b, i) => {
    const next = boundaries[i + 1];
    if (i + 1 >= boundaries.length) return;
    if (rankOf(b) !== rankOf(next))
      throw new ServerError(
        40193,
        "All values in the the 'boundaries' option to $bucket must have the same type",
      );
    if (compareValues(b, next, order) >= 0)
      throw new ServerError(
        40194,
        "The 'boundaries' option to $bucket must be sorted in ascending order",
      );
  });
  const fallback = args.has('default')
    ? parseExpression(args.get('default'), context.scope)
    : undefined;
  if (fallback && fallback.kind !== 'constant')
    throw new ServerError(40195, "The $bucket 'default' field must be a constant");
  if (
    fallback &&
    compareValues(fallback.value, boundaries[0], order) >= 0 &&
    compareValues(fallback.value, boundaries[boundaries.length - 1], order) < 0
  ) {
    throw new ServerError(
      40199,
      "The $bucket 'default' field must be less than the lowest boundary or greater than or " +
        'equal to the highest boundary',
    );
  }
  const id: Evaluate = (doc) => {
    const v = evaluate(doc) ?? null;
    for (let i = 0; i + 1 < boundaries.length; i++) {
      if (
        compareValues(v, boundaries[i], order) >= 0 &&
        compareValues(v, boundaries[i + 1], order) < 0
      )
        return boundaries[i];
    }
    if (!fallback)
      throw new ServerError(
        40066,
        '$switch could not find a matching branch for an input, and no default was specified.',
      );
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

function groupExpression(spec: Value, context: StageContext): Expression {
  const isExpression =
    spec instanceof Doc
      ? spec.keys[0]?.startsWith('$') === true
      : typeof spec === 'string' && spec.length > 1 && spec.startsWith('$');
  if (!isExpression)
    throw new ServerError(
      40239,
      "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an " +
        'expression object',
    );
  return parseExpression(spec, context.scope);
}

function bucketCount(v: Value): number {
  if (!isNumeric(v))
    throw new ServerError(
      40241,
      `The $bucketAuto 'buckets' field must be a numeric value, but found type: ${typeName(v)}`,
    );
  const n = toDouble(v);
  if (!Number.isInteger(n) || Math.abs(n) > 2147483647)
    throw new ServerError(
      40242,
      `The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found ${n}`,
    );
  if (n <= 0)
    throw new ServerError(
      40243,
      `The $bucketAuto 'buckets' field must be greater than 0, but found: ${n}`,
    );
  return n;
}

interface Entry {
  readonly key: Value;
  readonly doc: Doc;
}
interface Bucket {
  readonly min: Value;
  readonly max: Value;
  readonly entries: readonly Entry[];
}

/** Buckets of about equal size over sorted entries; equal values never straddle a boundary. */
function fillBuckets(
  entries: readonly Entry[],
  count: number,
  granularity: Granularity | null,
  compare: (a: Value, b: Value) => number,
): Bucket[] {
  const size = Math.max(1, Math.round(entries.length / count));
  const buckets: Bucket[] = [];
  const keyAt = (i: number): Value => entries[i]?.key;
  for (let at = 0; at < entries.length && buckets.length < count;) {
    let end = buckets.length === count - 1 ? entries.length : Math.min(entries.length, at + size);
    const boundary = granularity?.up(keyAt(end - 1) as Numeric);
    while (
      end < entries.length &&
      (compare(keyAt(end), keyAt(end - 1)) === 0 ||
        (boundary !== undefined && compare(boundary, keyAt(end)) > 0))
    )
      end++;
    const before = buckets[buckets.length - 1];
    const start = keyAt(at);
    const min = granularity ? (before?.max ?? granularity.down(start as Numeric)) : start;
    let max: Value = end < entries.length ? keyAt(end) : keyAt(end - 1);
    if (granularity && boundary !== undefined) {
      // Zero rounds to itself: then the next bucket's least value, rounded down, is the boundary.
      max =
        toDouble(boundary) === 0 && end < entries.length
          ? granularity.down(keyAt(end) as Numeric)
          : boundary;
    }
    buckets.push({ min, max, entries: entries.slice(at, end) });
    at = end;
  }
  return buckets;
}

const asDocument = ({ min, max, entries }: Bucket, fields: Fields): Doc => {
  const states = fields.map(([, f]) => f.create());
  for (const { doc } of entries) for (const state of states) state.add(doc);
  return new Doc(
    ['_id', ...fields.map(([n]) => n)],
    [Doc.of({ min, max }), ...states.map((s) => s.result())],
  );
};

const bucketAuto: StageBuilder = (operand, context, name) => {
  const args = namedArguments(operand, name, ['groupBy', 'buckets'], ['output', 'granularity']);
  const { evaluate } = groupExpression(args.get('groupBy'), context);
  const count = bucketCount(args.get('buckets'));
  const granularity = args.has('granularity') ? parseGranularity(args.get('granularity')) : null;
  const output = args.get('output');
  if (args.has('output') && !(output instanceof Doc))
    throw new ServerError(
      40244,
      `The $bucketAuto 'output' field must be an object, but found type: ${typeName(output)}`,
    );
  const fields = outputFields(output, context);
  const { collation, checkpoint } = context.scope.environment;
  const compare = (a: Value, b: Value): number => compareValues(a, b, collation.order);
  return blocking(name, (input) => {
    const entries = drain(input, checkpoint).map((doc): Entry => {
      const key = evaluate(doc);
      if (granularity) checkRoundable(key, isNumeric(key), typeName(key));
      return { key: key ?? null, doc };
    });
    entries.sort((a, b) => compare(a.key, b.key));
    return fromArray(
      fillBuckets(entries, count, granularity, compare).map((b) => asDocument(b, fields)),
    );
  });
};

export const bucketStages: Record<string, StageBuilder> = {
  $bucket: bucket,
  $bucketAuto: bucketAuto,
};
