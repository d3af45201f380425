import { logicalDesignOf } from '../../design/document-design';
import { score } from '../../design/cost';
import { outliersOf, type Outliers } from '../../design/outlier-share';
import { columnPath, placementOf } from '../../design/placement';
import { columnProfile, relationshipById } from '../../sqlite/profile/profile';
import { columnFields, type ColumnAt } from '../../design/column-fields';
import { mapPaths } from '../mql/map-paths';
import { fingerprint, isDocument, type Mql, type MqlDocument } from '../mql/mql';
import {
  isUnder,
  makesNewDocuments,
  pathsInMatch,
  pathsReadBy,
  pathsWrittenBy,
  stageName,
} from '../mql/pipeline-paths';
import { keptChildren } from '../plan/outlier-source';
import { documentsOf, type Rewriting, type Rule, type RuleContext } from './rule';
import { simpleJoin } from './lookup-key';
import { REASONS } from './reasons';

/**
 * A join that filters by the other side only, turned round: the pipeline starts from the documents
 * that the filter finds, and looks up those of the other collection that belong to them, by a key
 * that an index serves.
 */
export const lookupDirection: Rule = {
  name: 'lookup-direction',
  apply(pipeline, context) {
    const turned = innerJoin(pipeline) ?? semiJoin(pipeline) ?? keptJoin(pipeline, context);
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
  readonly rest: readonly MqlDocument[];
  /** Set where all partners but those of outliers are in the documents already. */
  readonly kept?: Outliers;
}

/** `$lookup`, `$unwind`, `$match` on nothing but what was joined. */
function innerJoin(pipeline: readonly MqlDocument[]): Turned | undefined {
  const join = simpleJoin(pipeline, 0);
  const match = pipeline[2]?.['$match'];
  if (!join || !isDocument(match) || '$expr' in match) return undefined;
  const paths = [...pathsInMatch(match)];
  if (paths.length === 0 || paths.some((path) => path === join.as || !isUnder(path, join.as)))
    return undefined;
  const filter = mapPaths({ $match: match }, (path) => path.slice(join.as.length + 1))[
    '$match'
  ] as MqlDocument;
  return { kind: 'inner', ...join, filter, rest: pipeline.slice(3) };
}

/**
 * An inner join to children that their parents keep, but for outliers: the flag stands for the key.
 */
function keptJoin(
  pipeline: readonly MqlDocument[],
  { collection, design, profile }: RuleContext,
): Turned | undefined {
  const [lookup, together, ...rest] = pipeline;
  const parts = isDocument(lookup?.['$lookup']) ? lookup['$lookup'] : {};
  const holder = logicalDesignOf(design, collection);
  const parent = holder && placementOf(design, holder.rootTable);
  const rootOf = logicalDesignOf(design, String(parts['from']))?.rootTable;
  const child = rootOf === undefined ? undefined : placementOf(design, rootOf);
  const kept =
    parent && child
      ? keptChildren(child, parent, profile).find(
          ({ flag, childColumn }) =>
            flag === parts['localField'] &&
            columnPath(child, childColumn)?.path === parts['foreignField'],
        )
      : undefined;
  const key = kept && parent && columnPath(parent, kept.parentColumn)?.path;
  const relationship = relationshipById(profile, kept?.field.relationship);
  if (!lookup || !kept || key === undefined || !relationship) return undefined;
  if (
    fingerprint(together ?? {}) !==
    fingerprint({
      $set: {
        [String(parts['as'])]: { $concatArrays: [`$${kept.array}`, `$${String(parts['as'])}`] },
      },
    })
  )
    return undefined;
  const join = innerJoin([{ $lookup: { ...parts, localField: key } }, ...rest]);
  return join && { ...join, kept: outliersOf(relationship, kept.field.limit, profile) };
}

/** `$lookup` of one partner, `$match` that there is one. */
function semiJoin(pipeline: readonly MqlDocument[]): Turned | undefined {
  const lookup = pipeline[0]?.['$lookup'];
  const match = pipeline[1]?.['$match'];
  if (!isDocument(lookup) || !isDocument(match) || lookup['let'] !== undefined) return undefined;
  const { from, localField, foreignField, as, pipeline: inner } = lookup;
  const [first, limit, ...others] = (Array.isArray(inner) ? inner : []) as MqlDocument[];
  const filter = first?.['$match'];
  if (
    typeof from !== 'string' ||
    typeof localField !== 'string' ||
    typeof foreignField !== 'string' ||
    typeof as !== 'string'
  )
    return undefined;
  if (
    !isDocument(filter) ||
    '$expr' in filter ||
    limit?.['$limit'] !== 1 ||
    others.length > 0 ||
    fingerprint(match) !== fingerprint({ [as]: { $ne: [] } })
  )
    return undefined;
  return { kind: 'semi', from, localField, foreignField, as, filter, rest: pipeline.slice(2) };
}

/** Nothing behind the join depends on the order in which its rows come. */
function isIndifferent(rest: readonly MqlDocument[]): boolean {
  for (const stage of rest) {
    const name = stageName(stage);
    if (name === '$sort') return true;
    if (
      name === '$limit' ||
      name === '$skip' ||
      name === '$setWindowFields' ||
      name === '$unionWith'
    )
      return false;
    if (name === '$facet')
      return (
        isDocument(stage['$facet']) &&
        Object.values(stage['$facet']).every(
          (inner) => Array.isArray(inner) && isIndifferent(inner as MqlDocument[]),
        )
      );
    if (name === '$group' && /"\$(first|last|push|addToSet)"/.test(fingerprint(stage)))
      return false;
    if (makesNewDocuments(stage)) return true;
  }
  return false;
}

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
    return ['$lookup', '$set', '$addFields'].includes(stageName(stage))
      ? (pathsWrittenBy(stage) ?? ['*'])
      : [];
  });
  if (
    end < 0 ||
    scope.some(
      (stage) =>
        pathsReadBy(stage).has('*') ||
        (pathsWrittenBy(stage) === undefined && !makesNewDocuments(stage)),
    ) ||
    added.some((name) => name === '*' || name.includes('.') || names.has(name) || name === large)
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
    stage === last && isDocument(stage['$project'])
      ? { $project: explicitPaths(stage['$project']) }
      : stage,
  );
  const grouped: MqlDocument[] = kind === 'semi' ? [{ $group: { _id: `$${foreignField}` } }] : [];
  const join: MqlDocument = {
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
