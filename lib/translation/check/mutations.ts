import { Double, Int32, Long, type Document } from 'mongodb';
import type { DocumentDesign } from '../../design/model/document-design';
import { columnFields, copiedFields } from '../../design/model/column-fields';
import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import {
  isOneOf,
  readPipeline,
  stageName,
  type Pipeline,
  type Stage,
  type StageName,
} from '../mql/stage';

/**
 * One change of a pipeline. If the rows stay the same, the data cannot tell this pipeline from a
 * wrong one.
 */
export interface Mutation {
  readonly kind: 'constant' | 'operator' | 'path' | 'direction';
  /**
   * The predicate that was changed: its place in the pipeline. Undefined for what is no predicate.
   */
  readonly predicate?: string;
  readonly pipeline: readonly Document[];
}

export interface MutationInput {
  readonly collection: string;
  readonly pipeline: readonly Document[];
  readonly design: Pick<DocumentDesign, 'logical'>;
  /** The order of the rows counts, so that the direction of a sort does. */
  readonly ordered: boolean;
}

/**
 * Every single change of a constant, an operator, a path, and of a direction where the order
 * matters.
 */
export function mutationsOf(input: MutationInput): Mutation[] {
  const walk = new MutationWalk(input);
  walk.pipeline(
    readPipeline(input.pipeline) ?? [],
    [],
    new Map([['', input.collection]]),
    input.ordered,
  );
  return walk.found;
}

/**
 * The predicates none of whose mutations changes the rows. `digest` gives equal texts for equal
 * results; a mutation that does not run counts as a change, since nobody would take it for the
 * right pipeline.
 */
export async function weakPredicates(
  mutations: readonly Mutation[],
  original: string,
  digest: (pipeline: readonly Document[]) => Promise<string>,
): Promise<string[]> {
  const byPredicate = new Map<string, Mutation[]>();
  for (const mutation of mutations)
    if (mutation.predicate !== undefined)
      byPredicate.set(mutation.predicate, [
        ...(byPredicate.get(mutation.predicate) ?? []),
        mutation,
      ]);
  const weak: string[] = [];
  for (const [predicate, own] of byPredicate) {
    let changes = false;
    for (const { pipeline } of cheapestFirst(own)) {
      changes = (await digest(pipeline)) !== original;
      if (changes) break;
    }
    if (!changes) weak.push(predicate);
  }
  return weak;
}

/**
 * A near miss of a constant finds little, the other operator often much, another column anything:
 * the first change found ends the search.
 */
const cheapestFirst = (mutations: readonly Mutation[]): Mutation[] =>
  [...mutations].sort((a, b) => BY_COST.indexOf(a.kind) - BY_COST.indexOf(b.kind));
const BY_COST: readonly Mutation['kind'][] = ['constant', 'operator', 'direction', 'path'];

type Place = readonly (string | number)[];
/**
 * Collections by the field under which their documents lie; the current one under the empty name.
 */
type Sources = ReadonlyMap<string, string>;

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  $gt: ['$gte', '$lt'],
  $gte: ['$gt', '$lte'],
  $lt: ['$lte', '$gt'],
  $lte: ['$lt', '$gte'],
  $eq: ['$ne'],
  $ne: ['$eq'],
  $in: ['$nin'],
  $nin: ['$in'],
  $and: ['$or'],
  $or: ['$and'],
  $add: ['$subtract'],
  $subtract: ['$add'],
  $multiply: ['$divide'],
  $divide: ['$multiply'],
  $min: ['$max'],
  $max: ['$min'],
  $avg: ['$sum'],
  $sum: ['$avg'],
};
/**
 * Fields of a window's sort or of a document stand here as well, and one of them can be called
 * `toString`.
 */
const othersFor = (operator: string): readonly string[] =>
  Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator]! : [];

/** Behind these, no field is known by the collection that it came from. */
const MAKE_DOCUMENTS: readonly StageName[] = [
  '$group',
  '$project',
  '$replaceWith',
  '$replaceRoot',
  '$facet',
  '$count',
];

/** The expressions of a stage by the names under which they stand in its operand. */
function expressionsOf(stage: Stage): MqlDocument {
  if ('$project' in stage)
    return Object.fromEntries(
      Object.entries(stage.$project).filter(([, value]) => value !== 0 && value !== 1),
    );
  if ('$group' in stage) return stage.$group;
  if ('$set' in stage) return stage.$set;
  if ('$addFields' in stage) return stage.$addFields;
  if ('$setWindowFields' in stage) return stage.$setWindowFields;
  if ('$replaceRoot' in stage) return stage.$replaceRoot;
  return '$replaceWith' in stage && isDocument(stage.$replaceWith) ? stage.$replaceWith : {};
}

class MutationWalk {
  readonly found: Mutation[] = [];
  private readonly fields: ReadonlyMap<string, readonly string[]>;

  constructor(private readonly input: MutationInput) {
    const fields = new Map<string, string[]>();
    for (const { collection, path } of [
      ...columnFields(input.design),
      ...copiedFields(input.design),
    ])
      fields.set(collection, [...(fields.get(collection) ?? []), path]);
    this.fields = fields;
  }

  pipeline(stages: Pipeline, at: Place, sources: Sources, ordered: boolean): void {
    const known = new Map(sources);
    for (const [position, stage] of stages.entries()) {
      const isCut = stages.slice(position + 1).some((later) => isOneOf(later, ['$limit', '$skip']));
      this.stage(stage, [...at, position, stageName(stage)], known, ordered || isCut);
      if (isOneOf(stage, MAKE_DOCUMENTS)) known.clear();
    }
  }

  private stage(
    stage: Stage,
    place: Place,
    known: Map<string, string>,
    orderCounts: boolean,
  ): void {
    if ('$match' in stage) this.match(stage.$match, place, known);
    else if ('$sort' in stage) {
      if (orderCounts)
        for (const [path, direction] of Object.entries(stage.$sort))
          this.change('direction', [...place, path], direction === 1 ? -1 : 1);
    } else if ('$limit' in stage) {
      if (typeof stage.$limit === 'number') this.change('constant', place, stage.$limit + 1);
    } else if ('$lookup' in stage) {
      const { from, as, pipeline = [] } = stage.$lookup;
      this.pipeline(pipeline, [...place, 'pipeline'], new Map([['', from]]), false);
      known.set(as, from);
    } else if ('$unionWith' in stage) {
      const { coll, pipeline = [] } = stage.$unionWith;
      this.pipeline(pipeline, [...place, 'pipeline'], new Map([['', coll]]), false);
    } else if ('$facet' in stage)
      for (const [key, inner] of Object.entries(stage.$facet))
        this.pipeline(inner, [...place, key], known, false);
    else
      for (const [key, value] of Object.entries(expressionsOf(stage)))
        this.expression(value, [...place, key], known, undefined);
  }

  private match(document: MqlDocument, at: Place, sources: Sources): void {
    for (const [key, value] of Object.entries(document)) {
      const place = [...at, key];
      if (key === '$expr') this.expression(value, place, sources, place.join('/'));
      else if (Array.isArray(value) && ['$and', '$or', '$nor'].includes(key)) {
        (value as readonly MqlDocument[]).forEach((part, index) =>
          this.match(part, [...place, index], sources),
        );
        if (value.length > 1 && key !== '$nor')
          this.rename(at, key, key === '$and' ? '$or' : '$and', undefined);
      } else if (!key.startsWith('$')) this.predicate(key, value, at, sources);
    }
  }

  private predicate(path: string, value: Mql, at: Place, sources: Sources): void {
    const place = [...at, path];
    const predicate = place.join('/');
    const other = this.sibling(path, sources);
    if (other !== undefined) this.rename(at, path, other, predicate);
    if (
      isDocument(value) &&
      Object.keys(value).every((key) => key.startsWith('$')) &&
      Object.keys(value).length > 0
    )
      this.operators(value, place, predicate, sources);
    else {
      this.constant(value, place, predicate);
      this.change('operator', place, { $ne: value instanceof RegExp ? null : value }, predicate);
    }
  }

  private operators(document: MqlDocument, at: Place, predicate: string, sources: Sources): void {
    for (const [operator, operand] of Object.entries(document)) {
      const place = [...at, operator];
      for (const other of othersFor(operator)) this.rename(at, operator, other, predicate);
      if (operator === '$elemMatch' && isDocument(operand)) {
        if (Object.keys(operand)[0]?.startsWith('$'))
          this.operators(operand, place, predicate, sources);
        else this.match(operand, place, new Map());
      } else if (operator === '$not' && isDocument(operand))
        this.operators(operand, place, predicate, sources);
      else if (Array.isArray(operand))
        (operand as readonly Mql[]).forEach((item, index) =>
          this.constant(item, [...place, index], predicate),
        );
      else if (operator !== '$options') this.constant(operand, place, predicate);
    }
  }

  private expression(value: Mql, at: Place, sources: Sources, predicate: string | undefined): void {
    if (typeof value === 'string') {
      if (!value.startsWith('$')) this.constant(value, at, predicate);
      else if (!value.startsWith('$$')) {
        const other = this.sibling(value.slice(1), sources);
        if (other !== undefined) this.change('path', at, `$${other}`, predicate);
      }
      return;
    }
    if (Array.isArray(value)) {
      (value as readonly Mql[]).forEach((item, index) =>
        this.expression(item, [...at, index], sources, predicate),
      );
      return;
    }
    if (!isDocument(value)) {
      this.constant(value, at, predicate);
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      for (const other of othersFor(key))
        if (!(key === '$sum' && inner === 1)) this.rename(at, key, other, predicate);
      if (key === '$sum' && inner === 1) continue;
      if (key === 'sortBy' && isDocument(inner))
        for (const [path, direction] of Object.entries(inner))
          this.change('direction', [...at, key, path], direction === 1 ? -1 : 1, predicate);
      // Conversions name types, regular expressions and formats: another one would be another
      // language, not a near miss.
      else if (!['regex', 'options', 'format', 'to', 'as', 'vars', 'unit'].includes(key))
        this.expression(inner, [...at, key], sources, predicate);
    }
  }

  private constant(value: Mql, at: Place, predicate: string | undefined): void {
    for (const other of nearMisses(value)) this.change('constant', at, other, predicate);
  }

  /** Another column beside this one. */
  private sibling(path: string, sources: Sources): string | undefined {
    const first = path.split('.')[0] ?? '';
    const [prefix, collection] =
      sources.has(first) && first !== ''
        ? [`${first}.`, sources.get(first)]
        : ['', sources.get('')];
    const own = path.slice(prefix.length);
    const level = own.slice(0, own.lastIndexOf('.') + 1);
    const beside = (this.fields.get(collection ?? '') ?? []).filter(
      (field) => field.slice(0, field.lastIndexOf('.') + 1) === level,
    );
    const index = beside.indexOf(own);
    return index < 0 || beside.length < 2
      ? undefined
      : prefix + (beside[(index + 1) % beside.length] ?? '');
  }

  private change(kind: Mutation['kind'], at: Place, value: Mql, predicate?: string): void {
    this.found.push({
      kind,
      ...(predicate !== undefined && { predicate }),
      pipeline: replaced(
        this.input.pipeline as readonly Mql[],
        at,
        () => value,
      ) as unknown as Document[],
    });
  }

  private rename(at: Place, key: string, other: string, predicate: string | undefined): void {
    const rename = (value: Mql): Mql =>
      isDocument(value)
        ? Object.fromEntries(
            Object.entries(value).map(([name, inner]) => [name === key ? other : name, inner]),
          )
        : value;
    this.found.push({
      kind: key.startsWith('$') ? 'operator' : 'path',
      ...(predicate !== undefined && { predicate }),
      pipeline: replaced(
        this.input.pipeline as readonly Mql[],
        at,
        rename,
      ) as unknown as Document[],
    });
  }
}

/** The value next to a constant, on both sides where it has two. */
function nearMisses(value: Mql | Int32): Mql[] {
  if (typeof value === 'number') return [value + 1, value - 1];
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'string') return value === '' ? ['~'] : [`${value}~`, value.slice(0, -1)];
  if (value instanceof Date)
    return [1, -1].map((days) => new Date(value.getTime() + days * 86_400_000));
  if (value instanceof RegExp) return [new RegExp(`${value.source}~`, value.flags)];
  if (value instanceof Double) return [new Double(value.value + 1), new Double(value.value - 1)];
  if (value instanceof Int32) return nearMisses(value.value);
  if (value instanceof Long) return [value.add(1), value.subtract(1)];
  return [];
}

function replaced(value: Mql, [first, ...rest]: Place, change: (value: Mql) => Mql): Mql {
  if (first === undefined) return change(value);
  if (Array.isArray(value))
    return (value as readonly Mql[]).map((item, index) =>
      index === first ? replaced(item, rest, change) : item,
    );
  if (!isDocument(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === first ? replaced(inner, rest, change) : inner,
    ]),
  );
}
