import { logicalDesignOf } from '../../design/model/document-design';
import { score } from '../../design/model/score';
import { outliersOf, type Outliers } from '../../design/model/outlier-share';
import { columnPath, placementOf, type Placement } from '../../design/model/placement';
import { columnProfile, relationshipById } from '../../sqlite/profile/profile';
import { columnFields, type ColumnAt } from '../../design/model/column-fields';
import { mapMatch, mapPaths } from '../mql/map-paths';
import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import {
  isUnder,
  makesNewDocuments,
  pathsInMatch,
  pathsReadBy,
  pathsWrittenBy,
} from '../mql/pipeline-paths';
import { isOneOf, type Pipeline, type Stage } from '../mql/stage';
import { keptChildren } from '../plan/outlier-source';
import { isByKeyAlone, type Join, type PlanNodes } from '../plan/plan';
import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import { documentsOf, type Rewriting, type Rule, type RuleContext } from './rule';
import { REASONS } from './reasons';

/**
 * A join that filters by the other side only, turned round: the pipeline starts from the documents
 * that the filter finds, and looks up those of the other collection that belong to them, by a key
 * that an index serves.
 */
export const lookupDirection: Rule = {
  name: 'lookup-direction',
  apply(pipeline, context) {
    const turned = filteringJoin(readPlan(pipeline), context);
    if (!turned || !isIndifferent(turned.rest)) return undefined;
    const { from, localField, foreignField, as, filter } = turned;
    const columns = columnFields(context.design);
    const local = columns.find(
      (field) =>
        field.collection === context.collection &&
        field.path === localField &&
        field.arrays.length === 0,
    );
    const foreign = columns.find(
      (field) =>
        field.collection === from && field.path === foreignField && field.arrays.length === 0,
    );
    const columnsOf = (path: string): ColumnAt | undefined =>
      columns.find((field) => field.collection === from && field.path === path);
    if (!local || !foreign || from === context.collection || !isIndexed(local, context))
      return undefined;
    const [here, there] = [documentsOf(context.collection, context), documentsOf(from, context)];
    const filters = Object.entries(filter).map(([path, value]) => ({
      column: columnsOf(path),
      found: there * selectivity(columnsOf(path), value, context),
    }));
    const found = Math.min(...filters.map((entry) => entry.found));
    const read = Math.min(
      there,
      ...filters
        .filter(({ column }) => column && startsIndex(column, context))
        .map((entry) => entry.found),
    );
    // Everything here, each with its partners, of which the filter leaves few, against what the
    // filter finds there, each with its own.
    const asIs = turned.kept
      ? keptCost(here, there, turned.kept)
      : joinCost(here, here, there / distinct(foreign, context));
    const turnedRound = joinCost(read, found, here / distinct(local, context));
    if (!(turnedRound + (there > here ? WORTH_A_LARGER_SIDE : 0) < asIs)) return undefined;
    const rewritten = turn(turned, as, context);
    return (
      rewritten && {
        ...rewritten,
        collection: from,
        reason: REASONS.lookupDirection(from, context.collection, localField),
      }
    );
  },
};

/**
 * To start from the larger side is worth it in thousands of documents; in a few the natural order
 * reads better.
 */
const WORTH_A_LARGER_SIDE = 1000;

/** Of reading so many documents and looking up the partners of some of them. */
const joinCost = (read: number, lookups: number, partners: number): number =>
  score({
    documents: read + lookups * Math.max(1, partners),
    lookups,
    entries: lookups * Math.max(1, partners),
    bytes: 0,
  });

/**
 * Of a join by which only the children of outliers have to be found; those of all others are taken
 * out of arrays.
 */
const keptCost = (read: number, children: number, { parents, children: found }: Outliers): number =>
  score({ documents: read + found, lookups: parents, entries: children, bytes: 0 });

interface Turned {
  readonly kind: 'inner' | 'semi';
  readonly from: string;
  readonly localField: string;
  readonly foreignField: string;
  readonly as: string;
  /** Over the documents of the other side. */
  readonly filter: MqlDocument;
  readonly rest: Pipeline;
  /** Set where all partners but those of outliers are in the documents already. */
  readonly kept?: Outliers;
}

/** A join that begins the plan, and a filter by nothing but what it joined. */
function filteringJoin([join, ...behind]: PlanNodes, context: RuleContext): Turned | undefined {
  if (join?.kind !== 'join') return undefined;
  if (join.join === 'semi') return semiJoin(join, behind);
  const kept = join.kept === undefined ? undefined : keptChildrenOf(join, context);
  const localField = join.kept === undefined ? join.key?.localField : kept?.localField;
  if (join.join !== 'inner' || !isByKeyAlone(join) || localField === undefined) return undefined;
  const [where, ...rest] = behind;
  const filter = where?.kind === 'filter' ? filterOfPartners(where.where, join.as) : undefined;
  return (
    filter && {
      kind: 'inner',
      from: join.scan,
      localField,
      foreignField: join.key.foreignField,
      as: join.as,
      filter,
      rest: writePlan(rest),
      ...(kept && { kept: kept.outliers }),
    }
  );
}

/** The filter as the partners' own documents meet it; undefined where it reads anything else. */
function filterOfPartners(filter: MqlDocument, as: string): MqlDocument | undefined {
  const paths = [...pathsInMatch(filter)];
  if (paths.length === 0 || '$expr' in filter) return undefined;
  return paths.every((path) => path !== as && isUnder(path, as))
    ? mapMatch(filter, (path) => path.slice(as.length + 1))
    : undefined;
}

/** The key of the parents that keep their children but for outliers: their flag stands for it. */
function keptChildrenOf(
  { scan, key, kept }: Join,
  { collection, design, profile }: RuleContext,
): { readonly localField: string; readonly outliers: Outliers } | undefined {
  const placementAt = (of: string): Placement | undefined => {
    const logical = logicalDesignOf(design, of);
    return logical && placementOf(design, logical.rootTable);
  };
  const [parent, child] = [placementAt(collection), placementAt(scan)];
  if (!parent || !child) return undefined;
  const found = keptChildren(child, parent, profile).find(
    ({ array, flag, childColumn }) =>
      array === kept &&
      flag === key?.localField &&
      columnPath(child, childColumn)?.path === key.foreignField,
  );
  const localField = found && columnPath(parent, found.parentColumn)?.path;
  const relationship = relationshipById(profile, found?.field.relationship);
  return found && relationship && localField !== undefined
    ? { localField, outliers: outliersOf(relationship, found.field.limit, profile) }
    : undefined;
}

/** One partner that the filter lets through is enough. */
function semiJoin({ scan, key, variables, nodes, as }: Join, rest: PlanNodes): Turned | undefined {
  const [filter, limit, ...others] = nodes;
  if (!key || Object.keys(variables).length > 0 || others.length > 0) return undefined;
  if (limit?.kind !== 'limit' || limit.rows !== 1) return undefined;
  return filter?.kind === 'filter' && !('$expr' in filter.where)
    ? { kind: 'semi', from: scan, ...key, as, filter: filter.where, rest: writePlan(rest) }
    : undefined;
}

/** Nothing behind the join depends on the order in which its rows come. */
function isIndifferent(rest: Pipeline): boolean {
  for (const stage of rest) {
    if ('$sort' in stage) return true;
    if (isOneOf(stage, ['$limit', '$skip', '$setWindowFields', '$unionWith'])) return false;
    if ('$facet' in stage) return Object.values(stage.$facet).every(isIndifferent);
    if ('$group' in stage && Object.values(stage.$group).some(dependsOnOrder)) return false;
    if (makesNewDocuments(stage)) return true;
  }
  return false;
}

const BY_ORDER = ['$first', '$firstN', '$last', '$lastN', '$push', '$addToSet', '$mergeObjects'];
const dependsOnOrder = (accumulator: Mql): boolean =>
  isDocument(accumulator) &&
  Object.keys(accumulator).some((operator) => BY_ORDER.includes(operator));

function turn(
  { kind, from, localField, foreignField, filter, rest }: Turned,
  as: string,
  { collection, design }: RuleContext,
): Pick<Rewriting, 'pipeline'> | undefined {
  const end = rest.findIndex(makesNewDocuments);
  const scope = rest.slice(0, end + 1);
  const names = new Set(logicalDesignOf(design, from)?.fields.map(({ name }) => name));
  const large = names.has(collection) || collection === '_id' ? `${collection}_doc` : collection;
  const added = scope.flatMap((stage) => {
    if (makesNewDocuments(stage)) return [];
    return isOneOf(stage, ['$lookup', '$set', '$addFields']) ? (pathsWrittenBy(stage) ?? []) : [];
  });
  if (
    end < 0 ||
    scope.some(
      (stage) =>
        pathsReadBy(stage).has('*') ||
        (pathsWrittenBy(stage) === undefined && !makesNewDocuments(stage)),
    ) ||
    added.some((name) => name.includes('.') || names.has(name) || name === large)
  )
    return undefined;
  const map = (path: string): string => {
    if (added.some((name) => isUnder(path, name))) return path;
    if (isUnder(path, as))
      return kind === 'inner' && path !== as ? path.slice(as.length + 1) : path;
    return `${large}.${path}`;
  };
  if (
    scope.some((stage) =>
      [...pathsReadBy(stage)].some((path) => isUnder(path, as) && (kind === 'semi' || path === as)),
    )
  )
    return undefined;
  const [last] = scope.slice(-1);
  // `{name: 1}` keeps a field under its own path, which is another one now.
  const explicit = scope.map((stage) =>
    stage === last && '$project' in stage ? { $project: explicitPaths(stage.$project) } : stage,
  );
  const grouped: Pipeline = kind === 'semi' ? [{ $group: { _id: `$${foreignField}` } }] : [];
  const join: Stage = {
    $lookup: {
      from: collection,
      localField: kind === 'semi' ? '_id' : foreignField,
      foreignField: localField,
      as: large,
    },
  };
  return {
    pipeline: [
      { $match: filter },
      ...grouped,
      join,
      { $unwind: `$${large}` },
      ...explicit.map((stage) => mapPaths(stage, map)),
      ...rest.slice(end + 1),
    ],
  };
}

const explicitPaths = (project: MqlDocument): MqlDocument =>
  Object.fromEntries(
    Object.entries(project).map(([name, value]) => [
      name,
      (value === 1 || value === true) && name !== '_id' ? `$${name}` : value,
    ]),
  );

const startsIndex = ({ collection, path }: ColumnAt, { indexes }: RuleContext): boolean =>
  path === '_id' || (indexes?.[collection] ?? []).some(({ key }) => Object.keys(key)[0] === path);

/** `_id`, what an index of the design begins with, or the side of a reference. */
const isIndexed = (field: ColumnAt, context: RuleContext): boolean =>
  startsIndex(field, context) || isReference(field, context);
const isReference = ({ table, column }: ColumnAt, { profile }: RuleContext): boolean =>
  profile.relationships.some(
    (reference) =>
      (reference.childTable === table && reference.childColumns[0] === column) ||
      (reference.parentTable === table && reference.parentColumns[0] === column),
  );

const distinct = ({ table, column }: ColumnAt, { profile }: RuleContext): number =>
  Math.max(1, columnProfile(profile, table, column)?.distinct ?? 1);

function selectivity(field: ColumnAt | undefined, value: Mql, context: RuleContext): number {
  if (!field) return 1;
  if (!isDocument(value)) return value instanceof RegExp ? 0.3 : 1 / distinct(field, context);
  const list = value['$in'];
  if (Array.isArray(list)) return Math.min(1, list.length / distinct(field, context));
  return '$ne' in value || '$nin' in value || '$not' in value ? 1 : 0.3;
}
