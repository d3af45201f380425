import { SESSION_FIELDS } from './generic-fields';
import { Doc } from '../bson/doc';
import { badValue, failedToParse, ServerError, typeMismatch, unsupported } from '../errors';
import type { Environment, Scope } from '../expressions/expression';
import { choosePlan, type Examined, type Plan } from '../planner/plan';
import { elementsAt } from '../query/elements';
import { parseFilter, type Filter } from '../query/match';
import { parseProjection } from '../query/projection';
import { drain, parsePipeline, type Next, type Pipeline, type Stage } from '../stages/stage';
import { ValueSet } from '../values/value-map';
import { isNumeric, toDouble, typeName, type Value } from '../bson/value';
import { parseOutput, splitOutput } from './output';
import { resolveView } from './views';
import { checkHint } from './hint';
import {
  docField,
  type Engine,
  numberField,
  reply,
  stringField,
  type QueryControl,
  type Request,
} from './engine';

const findFields = new Set<string>([
  'find',
  'filter',
  'sort',
  'projection',
  'hint',
  'skip',
  'limit',
  'batchSize',
  'singleBatch',
  'maxTimeMS',
  'readConcern',
  'collation',
  'let',
  'allowDiskUse',
  'noCursorTimeout',
  'max',
  'min',
  'returnKey',
  'showRecordId',
  'tailable',
  'awaitData',
  'allowPartialResults',
  'oplogReplay',
  ...SESSION_FIELDS,
]);
const refusedFindFields = ['max', 'min', 'returnKey', 'showRecordId', 'tailable', 'awaitData'];

/** A find as the stages that it consists of. */
function findStages(command: Doc): {
  filter: Doc;
  stages: Value[];
  projection: Doc;
  limit: number;
  skip: number;
  sort: Doc;
} {
  for (const key of command.keys)
    if (!findFields.has(key))
      throw new ServerError(40415, `BSON field 'find.${key}' is an unknown field.`);
  for (const key of refusedFindFields) {
    const v = command.get(key);
    if (v !== undefined && v !== false && !(v instanceof Doc && v.size === 0))
      throw unsupported(`find option '${key}'`);
  }
  const filter = docField(command, 'filter');
  const sort = docField(command, 'sort');
  const skip = numberField(command, 'skip') ?? 0;
  const limit = Math.abs(numberField(command, 'limit') ?? 0);
  if (skip < 0) throw badValue('Skip value must be non-negative, but received: ' + skip);
  const stages: Value[] = [];
  if (filter.size > 0) stages.push(Doc.of({ $match: filter }));
  if (sort.size > 0 && !sort.has('$natural')) stages.push(Doc.of({ $sort: sort }));
  else if (sort.has('$natural') && sort.get('$natural') !== 1)
    throw unsupported('sort by {$natural: -1}');
  if (skip > 0) stages.push(Doc.of({ $skip: BigInt(skip) }));
  if (limit > 0) stages.push(Doc.of({ $limit: BigInt(limit) }));
  return { filter, stages, projection: docField(command, 'projection'), limit, skip, sort };
}

function mapNext(next: Next, map: (doc: Doc) => Doc): Next {
  return () => {
    const doc = next();
    return doc === null ? null : map(doc);
  };
}

interface Prepared {
  readonly pipeline: Pipeline;
  readonly next: Next;
  readonly collectionName: string | null;
  readonly control: QueryControl;
  readonly environment: Environment;
  readonly scope: Scope;
}

export function prepareFind(engine: Engine, request: Request, examined?: Examined): Prepared {
  const { command, database } = request;
  const name = stringField(command, 'find');
  const { stages, projection, filter } = findStages(command);
  checkHint(engine, database, name, command.get('hint'));
  const { environment, scope, control } = engine.environmentOf(request);
  const source = engine.sourceOf(database, environment, examined);
  const pipeline = parsePipeline(stages, {
    scope,
    source,
    collection: name,
    depth: 0,
    inFacet: false,
  });
  const project = parseProjection(projection, scope, {
    filter: filter.size > 0 ? parseFilter(filter, scope) : null,
  });
  const next = pipeline.open();
  return {
    pipeline,
    next: projection.size > 0 ? mapNext(next, project) : next,
    collectionName: name,
    control,
    environment,
    scope,
  };
}

export function find(engine: Engine, request: Request): Buffer {
  const { next, control } = prepareFind(engine, request);
  const { command } = request;
  const limit = numberField(command, 'limit') ?? 0;
  const single = command.get('singleBatch') === true || limit < 0;
  return engine.openCursor(
    next,
    `${request.database}.${stringField(command, 'find')}`,
    numberField(command, 'batchSize'),
    control,
    single,
  );
}

const aggregateFields = new Set<string>([
  'aggregate',
  'pipeline',
  'explain',
  'allowDiskUse',
  'cursor',
  'maxTimeMS',
  'bypassDocumentValidation',
  'readConcern',
  'collation',
  'hint',
  'writeConcern',
  'let',
  ...SESSION_FIELDS,
]);

export function prepareAggregate(
  engine: Engine,
  request: Request,
  pipelineSpec: Value,
  examined?: Examined,
): Prepared {
  const { command, database } = request;
  for (const key of command.keys)
    if (!aggregateFields.has(key))
      throw new ServerError(40415, `BSON field 'aggregate.${key}' is an unknown field.`);
  const target = command.get('aggregate');
  const name = typeof target === 'string' ? target : null;
  if (name === null && !(isNumeric(target) && toDouble(target) === 1))
    throw failedToParse(
      "Invalid command format: the 'aggregate' field must specify a collection name or 1",
    );
  if (name !== null) checkHint(engine, database, name, command.get('hint'));
  const { environment, scope, control } = engine.environmentOf(request);
  const source = engine.sourceOf(database, environment, examined);
  const pipeline = parsePipeline(pipelineSpec, {
    scope,
    source,
    collection: name,
    depth: 0,
    inFacet: false,
  });
  if (name === null && !pipeline.stages[0]?.generates)
    throw new ServerError(
      73,
      '{aggregate: 1} is not valid for an empty pipeline or one that does not start with a stage ' +
        "like '$documents'",
    );
  return { pipeline, next: pipeline.open(), collectionName: name, control, environment, scope };
}

export function aggregate(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  if (command.get('explain') === true)
    return explainAggregate(engine, request, command, 'queryPlanner');
  const cursor = command.get('cursor');
  if (!(cursor instanceof Doc))
    throw failedToParse(
      "The 'cursor' option is required, except for aggregate with the explain argument",
    );
  const output = splitOutput(command.get('pipeline'));
  const prepared = prepareAggregate(engine, request, output.stages);
  const { next, control, collectionName } = prepared;
  if (output.name !== null) {
    const { scope, environment } = prepared;
    parseOutput(output.name, output.spec, {
      store: engine.store,
      database,
      scope,
      environment,
      source: engine.sourceOf(database, environment),
      bypassValidation: command.get('bypassDocumentValidation') === true,
    }).write(next);
    return engine.openCursor(
      () => null,
      `${database}.${collectionName ?? '$cmd.aggregate'}`,
      undefined,
      control,
    );
  }
  return engine.openCursor(
    next,
    `${database}.${collectionName ?? '$cmd.aggregate'}`,
    numberField(cursor, 'batchSize'),
    control,
  );
}

/** All that a filter finds, for commands that need no cursor. */
function filtered(
  engine: Engine,
  request: Request,
  name: string,
  query: Doc,
): { next: Next; environment: Environment } {
  checkHint(engine, request.database, name, request.command.get('hint'));
  const { environment, scope } = engine.environmentOf(request);
  const stages = query.size > 0 ? [Doc.of({ $match: query })] : [];
  const pipeline = parsePipeline(stages, {
    scope,
    source: engine.sourceOf(request.database, environment),
    collection: name,
    depth: 0,
    inFacet: false,
  });
  return { environment, next: pipeline.open() };
}

export function count(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const name = stringField(command, 'count');
  const query = docField(command, 'query');
  const skip = numberField(command, 'skip') ?? 0;
  const limit = Math.abs(numberField(command, 'limit') ?? 0);
  let n = 0;
  const collection = engine.store.find(database, name);
  if (query.size === 0 && !collection?.isView) n = collection?.count() ?? 0;
  else {
    const { next } = filtered(engine, request, name, query);
    while (next() !== null) n++;
  }
  n = Math.max(0, n - skip);
  return reply({ n: limit > 0 ? Math.min(n, limit) : n });
}

export function distinct(engine: Engine, request: Request): Buffer {
  const { command } = request;
  const key = command.get('key');
  if (typeof key !== 'string')
    throw typeMismatch(
      `BSON field 'distinct.key' is the wrong type '${typeName(key)}', expected type 'string'`,
    );
  const { next, environment } = filtered(
    engine,
    request,
    stringField(command, 'distinct'),
    docField(command, 'query'),
  );
  const read = elementsAt(key);
  const seen = new ValueSet(environment.collation);
  let n = 0;
  for (let doc = next(); doc !== null; doc = next()) {
    for (const v of read(doc)) seen.add(v);
    if ((++n & 1023) === 0) environment.checkpoint();
  }
  return reply({ values: seen.values });
}

// ---- explain

function describePlan(plan: Plan, collection: boolean): Doc {
  if (!collection) return Doc.of({ stage: 'EOF' });
  if (plan.kind === 'scan') return Doc.of({ stage: 'COLLSCAN', direction: 'forward' });
  const keyPattern =
    plan.index === '_id_' ? Doc.of({ _id: 1 }) : (plan.index.spec.get('key') as Doc);
  return Doc.of({
    stage: 'FETCH',
    inputStage: Doc.of({
      stage: 'IXSCAN',
      keyPattern,
      indexName: plan.described,
      direction: 'forward',
    }),
  });
}

function explained(
  engine: Engine,
  request: Request,
  prepared: Prepared,
  examined: Examined,
  verbosity: string,
  filter: Filter | null,
): Buffer {
  const named = prepared.collectionName;
  const collectionName =
    (named !== null && resolveView(engine.store, request.database, named)?.on) || named;
  const collection =
    collectionName === null ? null : engine.store.find(request.database, collectionName);
  const plan: Plan = collection
    ? choosePlan(collection, filter, prepared.environment.collation)
    : { kind: 'scan' };
  const fields: Record<string, Value> = {
    explainVersion: '1',
    queryPlanner: Doc.of({
      namespace: `${request.database}.${collectionName ?? '$cmd.aggregate'}`,
      winningPlan: describePlan(plan, collection !== null),
      rejectedPlans: [],
    }),
  };
  if (verbosity !== 'queryPlanner') {
    const started = performance.now();
    const docs = drain(prepared.next, prepared.environment.checkpoint);
    fields.executionStats = Doc.of({
      executionSuccess: true,
      nReturned: docs.length,
      executionTimeMillis: Math.round(performance.now() - started),
      totalKeysExamined: examined.keys,
      totalDocsExamined: examined.docs,
      executionStages: Doc.of({
        stage: examined.index ? 'IXSCAN' : 'COLLSCAN',
        ...(examined.index ? { indexName: examined.index } : {}),
        nReturned: docs.length,
      }),
    });
  }
  fields.stages = prepared.pipeline.stages.map((s: Stage) => Doc.of({ [s.name]: Doc.empty() }));
  fields.serverInfo = Doc.of({ version: '8.0.0' });
  return reply(fields);
}

function explainAggregate(
  engine: Engine,
  request: Request,
  command: Doc,
  verbosity: string,
): Buffer {
  const examined: Examined = { keys: 0, docs: 0, index: null };
  const prepared = prepareAggregate(
    engine,
    { ...request, command },
    command.get('pipeline'),
    examined,
  );
  return explained(
    engine,
    request,
    prepared,
    examined,
    verbosity,
    prepared.pipeline.stages[0]?.filter ?? null,
  );
}

export function explain(engine: Engine, request: Request): Buffer {
  const inner = docField(request.command, 'explain');
  const verbosity = String(request.command.get('verbosity') ?? 'allPlansExecution');
  const examined: Examined = { keys: 0, docs: 0, index: null };
  const asRequest: Request = { ...request, command: inner, name: inner.keys[0] ?? '' };
  switch (inner.keys[0]) {
    case 'find': {
      const prepared = prepareFind(engine, asRequest, examined);
      return explained(
        engine,
        asRequest,
        prepared,
        examined,
        verbosity,
        prepared.pipeline.stages[0]?.filter ?? null,
      );
    }
    case 'aggregate':
      return explainAggregate(engine, asRequest, inner, verbosity);
    case 'count':
    case 'distinct':
    case 'update':
    case 'delete':
    case 'findAndModify': {
      const filter = inner.get('query') ?? Doc.empty();
      const command = Doc.of({
        find: inner.values[0],
        filter: filter instanceof Doc ? filter : Doc.empty(),
      });
      const prepared = prepareFind(engine, { ...asRequest, command }, examined);
      return explained(
        engine,
        asRequest,
        prepared,
        examined,
        verbosity,
        prepared.pipeline.stages[0]?.filter ?? null,
      );
    }
    default:
      throw unsupported(`explain of '${inner.keys[0] ?? ''}'`, 59);
  }
}
