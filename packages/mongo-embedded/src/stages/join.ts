import { Doc, sizeOf } from '../bson/doc';
import { eitherPast } from '../bson/past';
import { OPERATOR_LIMIT } from '../memory';
import { failedToParse, ServerError, unsupported } from '../errors';
import {
  parseExpression,
  RANDOM,
  type Evaluate,
  type Expression,
  type Scope,
} from '../expressions/expression';
import { valuesAt, type Filter } from '../query/match';
import { compareValues } from '../values/compare';
import { pathReader, splitPath } from '../values/path';
import { ValueMap, ValueSet } from '../values/value-map';
import { isNullish, typeName, type Value } from '../bson/value';
import { checkVariableName } from '../expressions/expression';
import { setPath } from './basic';
import {
  drain,
  mapping,
  parsePipeline,
  type Next,
  type Pipeline,
  type Stage,
  type StageBuilder,
  type StageContext,
} from './stage';

/** Where a stage reads from: a collection of the same database. */
function collectionName(v: Value, name: string, context: StageContext): string {
  if (typeof v === 'string') return v;
  if (
    v instanceof Doc &&
    typeof v.get('coll') === 'string' &&
    (v.get('db') === undefined || v.get('db') === context.source.database)
  )
    return v.get('coll') as string;
  if (v instanceof Doc) throw unsupported(`${name} from another database`, 9);
  throw failedToParse(`${name} argument 'from' must be a string, is type ${typeName(v)}`);
}

/** All documents of a collection or view. */
function allOf(from: string, context: StageContext): Next {
  return context.source.view(from)
    ? parsePipeline([], subContext(context, from)).open()
    : context.source.scan(from, null);
}
/** A view's documents are in no index. */
const probeOf = (
  from: string,
  path: string,
  context: StageContext,
): ReturnType<StageContext['source']['probe']> =>
  context.scope.environment.collation.simple && !context.source.view(from)
    ? context.source.probe(from, path)
    : null;

function subContext(
  context: StageContext,
  collection: string | null,
  scope: Scope = context.scope,
): StageContext {
  return { ...context, scope, collection, depth: context.depth + 1, inFacet: false };
}

/** The values at a path: through arrays on the way, and of one at its end the elements. */
function everyValue(path: string): (doc: Doc) => Value[] {
  const parts = splitPath(path);
  const collect = (value: Value, i: number, out: Value[]): void => {
    if (i === parts.length) {
      if (Array.isArray(value)) out.push(...value);
      else if (value !== undefined) out.push(value);
      return;
    }
    const part = parts[i] as string;
    if (value instanceof Doc) collect(value.get(part), i + 1, out);
    else if (Array.isArray(value)) {
      if (/^\d+$/.test(part) && Number(part) < value.length)
        collect(value[Number(part)], i + 1, out);
      for (const item of value) if (item instanceof Doc) collect(item, i, out);
    }
  };
  return (doc) => {
    const out: Value[] = [];
    collect(doc, 0, out);
    return out;
  };
}

/** The values that a document brings to an equality join: nothing counts as null. */
function localValues(path: string): (doc: Doc) => Value[] {
  const values = everyValue(path);
  return (doc) => {
    const out = values(doc);
    return out.length === 0 ? [null] : out;
  };
}

/** Documents by the values at a path, in their natural order. */
class HashIndex {
  private readonly map;
  private readonly docs: Doc[] = [];
  constructor(next: Next, keysOf: (doc: Doc) => Value[], scope: Scope) {
    const { collation, checkpoint } = scope.environment;
    this.map = new ValueMap<number[]>(collation);
    for (let doc = next(); doc !== null; doc = next()) {
      const n = this.docs.push(doc) - 1;
      for (const key of keysOf(doc)) {
        const list = this.map.upsert(key, () => []);
        // One document may reach a key by several elements.
        if (list[list.length - 1] !== n) list.push(n);
      }
      if ((n & 1023) === 0) checkpoint();
    }
  }
  find(values: readonly Value[]): Doc[] {
    if (values.length === 1) return (this.map.get(values[0]) ?? []).map((n) => this.docs[n] as Doc);
    const found = new Set<number>();
    for (const value of values) for (const n of this.map.get(value) ?? []) found.add(n);
    return [...found].sort((a, b) => a - b).map((n) => this.docs[n] as Doc);
  }
}

const nullify = (values: Value[]): Value[] => values.map((v) => (isNullish(v) ? null : v));

/** How the foreign documents of one input document are found by equality of fields. */
function equalityJoin(
  from: string,
  localField: string,
  foreignField: string,
  context: StageContext,
): (doc: Doc) => Doc[] {
  const local = localValues(localField);
  const foreign = valuesAt(foreignField);
  const keysOf = (doc: Doc): Value[] => nullify(foreign(doc));
  const { collation } = context.scope.environment;
  const probe = probeOf(from, foreignField, context);
  if (probe) {
    return (doc) => {
      const values = nullify(local(doc));
      if (values.length === 1)
        return probe(values).filter((d) =>
          keysOf(d).some((k) => compareValues(k, values[0]) === 0),
        );
      const wanted = new ValueSet(collation, values);
      return probe(values).filter((d) => keysOf(d).some((k) => wanted.has(k)));
    };
  }
  let index: HashIndex | undefined;
  return (doc) => {
    index ??= new HashIndex(allOf(from, context), keysOf, context.scope);
    return index.find(nullify(local(doc)));
  };
}

interface Join {
  (doc: Doc): Doc[];
}

/**
 * Finds `$expr: {$eq: ["$field", <something of the outer document>]}` at the head of a
 * sub-pipeline.
 */
function correlatedEquality(
  filter: Filter | undefined,
  outer: ReadonlySet<number>,
): { path: readonly string[]; value: Evaluate } | null {
  if (!filter) return null;
  if (filter.kind === 'and') {
    for (const part of filter.parts) {
      const found = correlatedEquality(part, outer);
      if (found) return found;
    }
    return null;
  }
  return filter.kind === 'expression' ? equalityIn(filter.operand, outer) : null;
}
function equalityIn(
  e: Expression,
  outer: ReadonlySet<number>,
): { path: readonly string[]; value: Evaluate } | null {
  if (e.operator === '$and') {
    for (const operand of e.operands ?? []) {
      const found = equalityIn(operand, outer);
      if (found) return found;
    }
  }
  if (e.operator !== '$eq' || e.operands?.length !== 2) return null;
  const [a, b] = e.operands as [Expression, Expression];
  const isOuter = (x: Expression): boolean =>
    x.kind === 'variable' && x.slot !== undefined && outer.has(x.slot);
  if (a.kind === 'field' && isOuter(b))
    return { path: a.path as readonly string[], value: b.evaluate };
  if (b.kind === 'field' && isOuter(a))
    return { path: b.path as readonly string[], value: a.evaluate };
  return null;
}

/**
 * The result of the first stages of a sub-pipeline that do not depend on the outer document. It is
 * read lazily, and only once while it fits the memory limit of one operator.
 */
class SharedHead {
  private docs: Doc[] = [];
  private source: Next | undefined;
  private bytes = 0;
  private complete = false;
  constructor(private readonly openSource: () => Next) {}

  open(): Next {
    let i = 0;
    if (this.bytes > OPERATOR_LIMIT) return this.openSource();
    const source = (this.source ??= this.openSource());
    return () => {
      if (i < this.docs.length) return this.docs[i++] as Doc;
      if (this.complete) return null;
      const doc = source();
      if (doc === null) this.complete = this.bytes <= OPERATOR_LIMIT;
      else if (this.bytes <= OPERATOR_LIMIT) {
        this.bytes += sizeOf(doc);
        if (this.bytes > OPERATOR_LIMIT) this.docs = [];
        else i = this.docs.push(doc);
      }
      return doc;
    };
  }
  /** All of it, once it has been read to its end. */
  get all(): readonly Doc[] | null {
    return this.complete ? this.docs : null;
  }
}

/**
 * The first stages cannot differ from document to document: they run once, and a key finds what the
 * next one keeps of them.
 */
function headedJoin(
  pipeline: Pipeline,
  at: number,
  bind: (doc: Doc) => void,
  outer: ReadonlySet<number>,
  scope: Scope,
): Join {
  const { checkpoint } = scope.environment;
  const { head, tail } = pipeline.split(at);
  const shared = new SharedHead(head);
  const key = correlatedEquality(pipeline.stages[at]?.filter, outer);
  let index: HashIndex | undefined;
  return (doc) => {
    bind(doc);
    if (key && shared.all) {
      const read = pathReader(key.path);
      index ??= new HashIndex(listNext(shared.all), (d) => [read(d)], scope);
      return drain(tail(listNext(index.find([key.value(doc)]))), checkpoint);
    }
    return drain(tail(shared.open()), checkpoint);
  };
}

/** Runs a sub-pipeline for each document; once only when it does not depend on it. */
function pipelineJoin(
  from: string | null,
  pipeline: Pipeline,
  bind: (doc: Doc) => void,
  correlated: boolean,
  outer: ReadonlySet<number>,
  context: StageContext,
  equality: ((doc: Doc) => Doc[]) | null,
): Join {
  const { checkpoint } = context.scope.environment;
  if (equality) {
    return (doc) => {
      bind(doc);
      return drain(pipeline.open(listNext(equality(doc))), checkpoint);
    };
  }
  if (!correlated) {
    let result: Doc[] | undefined;
    return () => (result ??= drain(pipeline.open(), checkpoint));
  }
  const dependent = pipeline.stages.findIndex((s) =>
    [...(s.uses ?? [])].some((slot) => outer.has(slot)),
  );
  if (dependent > 0) return headedJoin(pipeline, dependent, bind, outer, context.scope);
  const first = pipeline.stages[0]?.filter;
  const key = from === null ? null : correlatedEquality(first, outer);
  if (!key || from === null) {
    return (doc) => {
      bind(doc);
      return drain(pipeline.open(), checkpoint);
    };
  }
  const read = pathReader(key.path);
  const probe = probeOf(from, key.path.join('.'), context);
  let index: HashIndex | undefined;
  return (doc) => {
    bind(doc);
    if (probe) {
      const value = key.value(doc);
      // An array may be put together from several documents of an array, which an index does not
      // hold.
      if (!Array.isArray(value))
        return drain(pipeline.open(listNext(probe([value ?? null]))), checkpoint);
    }
    // The whole value decides in `$expr`: no arrays are entered, and missing is not null. The
    // stages check again.
    index ??= new HashIndex(allOf(from, context), (d) => [read(d)], context.scope);
    return drain(pipeline.open(listNext(index.find([key.value(doc)]))), checkpoint);
  };
}

function listNext(docs: readonly Doc[]): Next {
  let i = 0;
  return () => docs[i++] ?? null;
}

const lookup: StageBuilder = (operand, context, name) => {
  if (!(operand instanceof Doc)) throw failedToParse('the $lookup specification must be an Object');
  for (const key of operand.keys) {
    if (
      !['from', 'as', 'localField', 'foreignField', 'let', 'pipeline', '_internalUnwind'].includes(
        key,
      )
    )
      throw failedToParse(`unknown argument to $lookup: ${key}`);
  }
  const as = operand.get('as');
  if (typeof as !== 'string') throw failedToParse("must specify 'as' field for a $lookup");
  const target = splitPath(as);
  const join = parseJoin(operand, context, name);
  const plain = !operand.has('pipeline');
  return mapping(name, (doc) => {
    const found = join(doc);
    limitSize(
      found,
      () =>
        new ServerError(
          4568,
          `Total size of documents in ${String(operand.get('from'))} matching pipeline's $lookup ` +
            `stage exceeds ${OPERATOR_LIMIT} bytes`,
        ),
    );
    const out = setPath(doc, target, found);
    return plain ? out.from(eitherPast) : out;
  });
};

/**
 * Few documents are within any limit: they are not counted. An error costs its stack: it is made
 * when it is thrown.
 */
function limitSize(docs: readonly Doc[], error: () => ServerError): void {
  if (docs.length < 8) return;
  let bytes = 0;
  for (const doc of docs) {
    bytes += sizeOf(doc);
    if (bytes > OPERATOR_LIMIT) throw error();
  }
}

function parseJoin(operand: Doc, context: StageContext, name: string): Join {
  const spec = operand.get('pipeline');
  const localField = operand.get('localField');
  const foreignField = operand.get('foreignField');
  const fields = localField !== undefined || foreignField !== undefined;
  let from: string | null = null;
  if (operand.has('from')) from = collectionName(operand.get('from'), name, context);
  else if (!startsWithDocuments(spec))
    throw failedToParse("must specify 'from' field for a $lookup");
  if (fields && (typeof localField !== 'string' || typeof foreignField !== 'string'))
    throw failedToParse(
      '$lookup requires both or neither of localField and foreignField to be specified',
    );
  if (!fields && spec === undefined)
    throw failedToParse(
      "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    );
  const equality = fields
    ? equalityJoin(from ?? '', localField as string, foreignField as string, context)
    : null;
  if (spec === undefined) {
    if (operand.has('let')) throw failedToParse("$lookup with a 'let' requires 'pipeline'");
    return equality as Join;
  }
  const { environment } = context.scope;
  const letSpec = operand.get('let') ?? Doc.empty();
  if (!(letSpec instanceof Doc)) throw failedToParse("$lookup argument 'let' must be an object");
  let scope = context.scope;
  const outerCount = environment.frame.length;
  const bindings = letSpec.keys.map((key, i) => {
    checkVariableName(key);
    const bound = scope.with(key);
    scope = bound.scope;
    return {
      slot: bound.slot,
      evaluate: parseExpression(letSpec.values[i], context.scope).evaluate,
    };
  });
  const outer = new Set<number>([RANDOM, ...bindings.map((b) => b.slot)]);
  for (let i = 0; i < outerCount; i++) outer.add(i);
  const { result: pipeline, used } = environment.tracking(() =>
    parsePipeline(spec, subContext(context, equality ? null : from, scope)),
  );
  const correlated = [...used].some((slot) => outer.has(slot));
  const { frame } = environment;
  const bind = (doc: Doc): void => {
    const values = bindings.map((b) => b.evaluate(doc));
    bindings.forEach((b, i) => (frame[b.slot] = values[i]));
  };
  // A view's own stages come before those that could be answered by a key.
  const keyed = from !== null && context.source.view(from) ? null : from;
  return pipelineJoin(keyed, pipeline, bind, correlated, outer, context, equality);
}

const startsWithDocuments = (spec: Value): boolean =>
  Array.isArray(spec) && spec[0] instanceof Doc && spec[0].keys[0] === '$documents';

const unionWith: StageBuilder = (operand, context, name) => {
  let collection: string | null = null;
  let spec: Value = [];
  if (typeof operand === 'string') collection = operand;
  else if (operand instanceof Doc) {
    for (const key of operand.keys)
      if (key !== 'coll' && key !== 'pipeline')
        throw failedToParse(`BSON field '$unionWith.${key}' is an unknown field.`);
    spec = operand.get('pipeline') ?? [];
    if (operand.has('coll')) {
      const coll = operand.get('coll');
      if (typeof coll !== 'string')
        throw failedToParse("BSON field '$unionWith.coll' is the wrong type");
      collection = coll;
    } else if (!startsWithDocuments(spec))
      throw failedToParse(
        '$unionWith stage without explicit collection must have a pipeline with $documents as ' +
          'first stage',
      );
  } else
    throw failedToParse(
      'the $unionWith stage specification must be an object or string, but found ' +
        `${typeName(operand)}`,
    );
  const pipeline = parsePipeline(spec, subContext(context, collection));
  return {
    name,
    open: (input) => {
      let second: Next | undefined;
      return () => {
        if (second) return second();
        const doc = input();
        if (doc !== null) return doc;
        second = pipeline.open();
        return second();
      };
    },
  };
};

const forbiddenInFacet = new Set([
  '$facet',
  '$out',
  '$merge',
  '$geoNear',
  '$search',
  '$indexStats',
  '$collStats',
  '$documents',
]);

const facet: StageBuilder = (operand, context, name) => {
  if (!(operand instanceof Doc) || operand.size === 0)
    throw new ServerError(40169, 'the $facet specification must be a non-empty object');
  const parts = operand.keys.map((key, i) => {
    if (key.startsWith('$') || key.includes('.'))
      throw new ServerError(
        16410,
        `FieldPath field names may not start with '$' or contain '.': ${key}`,
      );
    const spec = operand.values[i];
    if (!Array.isArray(spec))
      throw new ServerError(
        40170,
        `arguments to $facet must be arrays, ${key} is of type ${typeName(spec)}`,
      );
    for (const stage of spec) {
      const stageName = stage instanceof Doc ? stage.keys[0] : undefined;
      if (stageName && forbiddenInFacet.has(stageName))
        throw new ServerError(
          40600,
          `${stageName} is not allowed to be used within a $facet stage`,
        );
    }
    return {
      key,
      pipeline: parsePipeline(spec, { ...context, depth: context.depth + 1, inFacet: true }),
    };
  });
  const { checkpoint } = context.scope.environment;
  const stage: Stage = {
    name,
    open: (input) => {
      let done = false;
      return () => {
        if (done) return null;
        done = true;
        const docs = drain(input, checkpoint);
        const results = parts.map((p) => drain(p.pipeline.open(listNext(docs)), checkpoint));
        limitSize(
          results.flat(),
          () =>
            new ServerError(
              4031700,
              `document constructed by $facet exceeds the limit of ${OPERATOR_LIMIT} bytes`,
            ),
        );
        return new Doc(
          parts.map((p) => p.key),
          results,
        );
      };
    },
  };
  return stage;
};

const graphLookup: StageBuilder = (operand, context, name) => {
  if (!(operand instanceof Doc))
    throw failedToParse('the $graphLookup stage specification must be an object');
  const known = [
    'from',
    'startWith',
    'connectFromField',
    'connectToField',
    'as',
    'maxDepth',
    'depthField',
    'restrictSearchWithMatch',
  ];
  for (const key of operand.keys)
    if (!known.includes(key))
      throw new ServerError(40104, `unknown argument to $graphLookup: ${key}`);
  for (const key of ['from', 'startWith', 'connectFromField', 'connectToField', 'as']) {
    if (!operand.has(key))
      throw new ServerError(
        40105,
        `$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and ` +
          `'connectToField' to be specified.`,
      );
  }
  const text = (key: string): string => {
    const v = operand.get(key);
    if (typeof v !== 'string')
      throw new ServerError(40103, `expected string as argument for ${key}, found: ${typeName(v)}`);
    return v;
  };
  const from = collectionName(operand.get('from'), name, context);
  const start = parseExpression(operand.get('startWith'), context.scope).evaluate;
  const as = splitPath(text('as'));
  const depthField = operand.has('depthField') ? splitPath(text('depthField')) : null;
  const maxDepth = operand.has('maxDepth') ? Number(operand.get('maxDepth')) : Infinity;
  if (operand.has('maxDepth') && !(Number.isInteger(maxDepth) && maxDepth >= 0))
    throw new ServerError(40101, 'maxDepth requires a nonnegative argument');
  const restrict = operand.get('restrictSearchWithMatch');
  const restriction =
    restrict === undefined
      ? null
      : parsePipeline([Doc.of({ $match: restrict })], subContext(context, null)).stages[0]?.filter;
  // What is missing leads nowhere, and nothing leads to it.
  const follow = everyValue(text('connectFromField'));
  const target = valuesAt(text('connectToField'));
  const keysOf = (doc: Doc): Value[] => {
    const values = target(doc);
    return values.every((v) => v === undefined) ? [] : nullify(values);
  };
  const { collation } = context.scope.environment;
  let index: HashIndex | undefined;
  return mapping(name, (doc) => {
    index ??= new HashIndex(allOf(from, context), keysOf, context.scope);
    const first = start(doc);
    let frontier: Value[] = first === undefined ? [] : [first].flat();
    const visited = new ValueMap<true>(collation);
    const seen = new Set<Doc>();
    const found: Doc[] = [];
    let bytes = 0;
    for (let depth = 0; depth <= maxDepth && frontier.length > 0; depth++) {
      const fresh: Value[] = [];
      for (const v of nullify(frontier)) {
        if (!visited.has(v)) {
          visited.upsert(v, () => true);
          fresh.push(v);
        }
      }
      frontier = [];
      for (const d of fresh.length === 0 ? [] : index.find(fresh)) {
        if (seen.has(d) || (restriction && !restriction.test(d))) continue;
        seen.add(d);
        bytes += sizeOf(d);
        if (bytes > OPERATOR_LIMIT)
          throw new ServerError(40099, '$graphLookup reached maximum memory consumption');
        found.push(depthField ? setPath(d, depthField, BigInt(depth)) : d);
        frontier.push(...follow(d));
      }
    }
    return setPath(doc, as, found);
  });
};
export const joinStages: Record<string, StageBuilder> = {
  $lookup: lookup,
  $unionWith: unionWith,
  $facet: facet,
  $graphLookup: graphLookup,
};
