import { Doc } from '../bson/doc';
import { ServerError, typeMismatch, unsupported } from '../errors';
import type { Scope } from '../expressions/expression';
import type { Filter } from '../query/match';
import type { SortPattern } from '../values/sort';
import type { Value } from '../bson/value';

/** Gives the next document, or null at the end. */
export type Next = () => Doc | null;

/** What a stage needs of the world. */
export interface StageContext {
  readonly scope: Scope;
  /** Reads other collections of the same database. */
  readonly source: Source;
  /** Where the pipeline starts, for error messages and sub-pipelines. */
  readonly collection: string | null;
  /** How deep in sub-pipelines this is. */
  readonly depth: number;
  readonly inFacet: boolean;
}

/** The collections that a pipeline can read. */
export interface Source {
  readonly database: string;
  /** Documents that may pass the filter (a superset), through an index where one helps. */
  scan(collection: string, filter: Filter | null): Next;
  /**
   * Documents in sort order (equal ones in order of insertion), read through an index as far as
   * they are asked for. null when no index has this order, or another plan is better.
   */
  sorted(collection: string, filter: Filter | null, sort: SortPattern, bound: number): Next | null;
  /**
   * Looks up by equality of a path with any of the values through an index: candidates, each once,
   * to be checked again.
   */
  probe(collection: string, path: string): ((values: readonly Value[]) => Doc[]) | null;
  /** The definition of a view; null when the name is a collection or does not exist. */
  view(name: string): ViewDefinition | null;
  /**
   * How many documents a collection has and what they occupy, sizes divided by `scale`; null when
   * there is none.
   */
  statistics(collection: string, scale: Value): Readonly<Record<string, Value>> | null;
  /** One document for each index of a collection, as `$indexStats` has them. */
  indexes(collection: string): Doc[];
}

/** A view, down to the collection under it. */
export interface ViewDefinition {
  readonly on: string;
  readonly pipeline: readonly Value[];
}

/** A parsed stage, ready to be opened over its input. */
export interface Stage {
  readonly name: string;
  open(input: Next): Next;
  /** What the planner may use. */
  readonly filter?: Filter;
  readonly sort?: SortPattern;
  readonly limit?: number;
  readonly skip?: number;
  /**
   * Ignores its input and starts anew, from nothing (`$documents`) or from its collection's
   * description (`$collStats`).
   */
  readonly generates?: 'alone' | 'collection';
  /** The variables that it reads, by their slots. */
  readonly uses?: ReadonlySet<number>;
}
export type StageBuilder = (operand: Value, context: StageContext, name: string) => Stage | Stage[];

const builders = new Map<string, StageBuilder>();
export function registerStages(stages: Readonly<Record<string, StageBuilder>>): void {
  for (const [name, build] of Object.entries(stages)) builders.set(name, build);
}
export const stageNames = (): string[] => [...builders.keys()].sort();

export const MAX_STAGES = 1000;
export const MAX_DEPTH = 20;

/** A parsed pipeline. */
export interface Pipeline {
  readonly stages: readonly Stage[];
  /** Runs it over an input; without one, over its collection. */
  open(input?: Next): Next;
  /** Its first stages over its collection, and the others over an input. */
  split(at: number): { head(): Next; tail(input: Next): Next };
}

export function parsePipeline(spec: Value, context: StageContext): Pipeline {
  if (!Array.isArray(spec)) throw typeMismatch("'pipeline' option must be specified as an array");
  if (spec.length > MAX_STAGES)
    throw new ServerError(7749501, `Pipeline length must be no longer than ${MAX_STAGES} stages.`);
  if (context.depth > MAX_DEPTH)
    throw new ServerError(
      15,
      `Maximum number of nested sub-pipelines exceeded. Limit is ${MAX_DEPTH}`,
    );
  const view =
    context.collection === null || context.inFacet ? null : context.source.view(context.collection);
  if (view) {
    // What describes a collection says nothing of a view.
    if (spec[0] instanceof Doc && describing.has(spec[0].keys[0] ?? ''))
      throw new ServerError(
        166,
        `Namespace ${context.source.database}.${context.collection ?? ''} is a view, not a ` +
          'collection',
      );
    return parsePipeline([...view.pipeline, ...(spec as Value[])], {
      ...context,
      collection: view.on,
    });
  }
  const stages = spec.flatMap((item, position) => {
    const { result, used } = context.scope.environment.tracking(() =>
      parseStage(item, context, position),
    );
    return ([] as Stage[]).concat(result).map((stage) => ({ ...stage, uses: used }));
  });
  return planPipeline(stages, context);
}

const describing = new Set(['$collStats', '$indexStats']);

/** The command takes the last stage when it writes: elsewhere it is a mistake. */
function misplacedOutput(name: string, { depth, inFacet }: StageContext): ServerError {
  if (inFacet)
    return new ServerError(40600, `${name} is not allowed to be used within a $facet stage`);
  return depth > 0
    ? new ServerError(51047, `${name} is not allowed within a $lookup's sub-pipeline`)
    : new ServerError(40601, `${name} can only be the final stage in the pipeline`);
}

function parseStage(item: Value, context: StageContext, position: number): Stage | Stage[] {
  if (!(item instanceof Doc))
    throw typeMismatch("Each element of the 'pipeline' array must be an object");
  if (item.size !== 1)
    throw new ServerError(
      40323,
      'A pipeline stage specification object must contain exactly one field.',
    );
  const name = item.keys[0] as string;
  const build = builders.get(name);
  if (!build && (name === '$out' || name === '$merge')) throw misplacedOutput(name, context);
  if (!build) throw unsupported(`Unrecognized pipeline stage name: '${name}'. It`, 40324);
  const built = build(item.values[0], context, name);
  const first = Array.isArray(built) ? built[0] : built;
  if (first?.generates) {
    if (position > 0)
      throw new ServerError(40602, `${name} is only valid as the first stage in a pipeline.`);
    if (context.inFacet)
      throw new ServerError(40600, `${name} is not allowed to be used within a $facet stage`);
    if (first.generates === 'collection' && context.collection === null)
      throw new ServerError(73, `${name} is only valid on a collection`);
    if (first.generates === 'alone' && context.depth === 0 && context.collection !== null)
      throw new ServerError(73, `'${name}' can only be run with {aggregate: 1}`);
  }
  return built;
}

/** Joins what runs better together: `$match` with the scan, `$sort` with the `$limit` after it. */
function planPipeline(parsed: Stage[], context: StageContext): Pipeline {
  const stages = [...parsed];
  for (let i = 0; i + 1 < stages.length; i++) {
    const stage = stages[i] as Stage;
    const bounded = stage.sort ? boundOf(stages, i + 1) : undefined;
    if (bounded !== undefined && 'openBounded' in stage) {
      const { openBounded } = stage as Stage & { openBounded(input: Next, n: number): Next };
      stages[i] = { ...stage, open: (input) => openBounded(input, bounded) };
    }
  }
  return {
    stages,
    open: (input) => {
      if (!input) return openFromCollection(stages, parsed, context);
      return through(stages, input);
    },
    split: (at) => ({
      head: () => openFromCollection(stages.slice(0, at), parsed.slice(0, at), context),
      tail: (input) => through(stages.slice(at), input),
    }),
  };
}

const through = (stages: readonly Stage[], input: Next): Next =>
  stages.reduce((next, stage) => stage.open(next), input);

function openFromCollection(
  stages: readonly Stage[],
  parsed: readonly Stage[],
  context: StageContext,
): Next {
  const at = stages[0]?.filter ? 1 : 0;
  const sort = parsed[at]?.sort;
  const bound = sort ? boundOf(parsed, at + 1) : undefined;
  if (sort && bound !== undefined && context.collection !== null) {
    const sorted = context.source.sorted(
      context.collection,
      stages[0]?.filter ?? null,
      sort,
      bound,
    );
    if (sorted)
      return through(
        stages.filter((_, i) => i !== at),
        sorted,
      );
  }
  return through(stages, startOf(stages, context));
}

/** The most documents that the stages after a sort can read from it. */
function boundOf(stages: readonly Stage[], from: number): number | undefined {
  let skipped = 0;
  for (let i = from; i < stages.length; i++) {
    const { limit, skip } = stages[i] as Stage;
    if (limit !== undefined) return limit + skipped;
    if (skip === undefined) return undefined;
    skipped += skip;
  }
  return undefined;
}

function startOf(stages: readonly Stage[], context: StageContext): Next {
  const first = stages[0];
  if (first?.generates || context.collection === null) return () => null;
  return context.source.scan(context.collection, first?.filter ?? null);
}

/** A stage that turns every document into one other, or none. */
export const mapping = (name: string, map: (doc: Doc) => Doc | null): Stage => ({
  name,
  open: (input) => () => {
    for (;;) {
      const doc = input();
      if (doc === null) return null;
      const out = map(doc);
      if (out !== null) return out;
    }
  },
});

/** A stage that must see everything before it can give anything. */
export const blocking = (name: string, work: (input: Next) => Next): Stage => ({
  name,
  open: (input) => {
    let output: Next | undefined;
    return () => (output ??= work(input))();
  },
});

export function fromArray(docs: readonly Doc[]): Next {
  let i = 0;
  return () => docs[i++] ?? null;
}

export function drain(next: Next, checkpoint: () => void): Doc[] {
  const out: Doc[] = [];
  for (let doc = next(); doc !== null; doc = next()) {
    out.push(doc);
    if ((out.length & 1023) === 0) checkpoint();
  }
  return out;
}
