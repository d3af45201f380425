import type { Document } from 'mongodb';
import type { DocumentDesign, IndexDesign } from '../design/model/document-design';
import { embeddedArrays } from '../design/model/column-fields';
import { isDocument, type Mql, type MqlDocument } from './mql/mql';
import { readPipeline, type Lookup, type Pipeline } from './mql/stage';

/** An index that the design does not have and that final gold would use. */
export interface IndexSuggestion {
  readonly collection: string;
  /** Equality, then sort, then range. */
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly reason: string;
  /** The items whose gold scans the collection without it. */
  readonly questionIds: readonly string[];
  /**
   * Over all of those items; null where only a run with the index could tell, as for the inner side
   * of a `$lookup`.
   */
  readonly documentsExamined: { readonly before: number; readonly after: number } | null;
}

export interface GoldQuery {
  readonly questionId: string;
  readonly collection: string;
  readonly pipeline: readonly Document[];
}

/** Counts the documents of a collection that a filter lets through. */
export type CountDocuments = (collection: string, filter: Document) => Promise<number>;

interface Scan {
  readonly questionId: string;
  readonly collection: string;
  readonly key: readonly (readonly [string, 1 | -1])[];
  readonly why: 'filter' | 'sort' | 'join';
  /** What the index would find; undefined where it is not one filter. */
  readonly found?: { readonly filter: Document; readonly limit?: number };
}

/**
 * For every collection scan of the gold that an index could spare: the index, and the queries that
 * it serves.
 */
export async function suggestIndexes(
  gold: readonly GoldQuery[],
  design: DocumentDesign,
  indexes: IndexDesign,
  count: CountDocuments,
): Promise<IndexSuggestion[]> {
  const scans = gold
    .flatMap(({ questionId, collection, pipeline }) =>
      scansOf(questionId, collection, readPipeline(pipeline) ?? [], design),
    )
    .filter((scan) => !isServed(scan, indexes));
  const groups = new Map<string, Scan[]>();
  // An index serves every query whose key it begins with: longer keys take the shorter ones along.
  for (const scan of [...scans].sort((a, b) => b.key.length - a.key.length)) {
    const known = [...groups.values()].find(
      ([first]) =>
        first &&
        first.collection === scan.collection &&
        scan.key.every(
          ([path, direction], index) =>
            first.key[index]?.[0] === path && first.key[index][1] === direction,
        ),
    );
    if (known) known.push(scan);
    else groups.set(JSON.stringify([scan.collection, scan.key]), [scan]);
  }
  const suggestions = await Promise.all(
    [...groups.values()].map((group) => suggestion(group, count)),
  );
  const saved = ({ documentsExamined }: IndexSuggestion): number =>
    documentsExamined ? documentsExamined.before - documentsExamined.after : 0;
  return suggestions
    .filter(
      ({ documentsExamined }) =>
        !documentsExamined || documentsExamined.after < documentsExamined.before,
    )
    .sort(
      (a, b) =>
        saved(b) - saved(a) ||
        b.questionIds.length - a.questionIds.length ||
        (a.collection < b.collection ? -1 : 1),
    );
}

async function suggestion(group: readonly Scan[], count: CountDocuments): Promise<IndexSuggestion> {
  const [first] = group;
  if (!first) throw new Error('a group of scans has one');
  const questionIds = [...new Set(group.map(({ questionId }) => questionId))].sort();
  const queries = `${String(questionIds.length)} ${questionIds.length === 1 ? 'query' : 'queries'}`;
  const paths = first.key.map(([path]) => path).join(', ');
  const verb = { filter: 'filter by', sort: 'sort by', join: 'join by' }[first.why];
  let examined: { before: number; after: number } | null = { before: 0, after: 0 };
  for (const { collection, found } of group) {
    if (!found || !examined) {
      examined = null;
      break;
    }
    const [all, some] = [await count(collection, {}), await count(collection, found.filter)];
    examined = {
      before: examined.before + all,
      after: examined.after + Math.min(some, found.limit ?? some),
    };
  }
  return {
    collection: first.collection,
    key: Object.fromEntries(first.key),
    reason: `${queries} ${questionIds.length === 1 ? verb.replace(' ', 's ') : verb} ${paths}.`,
    questionIds,
    documentsExamined: examined,
  };
}

function isServed({ collection, key, why }: Scan, indexes: IndexDesign): boolean {
  const own = [{ key: { _id: 1 } }, ...(indexes[collection] ?? [])];
  const paths = key.map(([path]) => path);
  // A filter is served by any index that begins with one of its paths, a sort or a join by one that
  // begins as it does.
  return own.some((index) => {
    const [leading = ''] = Object.keys(index.key);
    return why === 'filter' ? paths.includes(leading) : leading === paths[0];
  });
}

function scansOf(
  questionId: string,
  collection: string,
  pipeline: Pipeline,
  design: DocumentDesign,
): Scan[] {
  const scans: Scan[] = [];
  const front = frontScan(questionId, collection, pipeline, design);
  if (front) scans.push(front);
  for (const stage of pipeline) {
    if ('$lookup' in stage) scans.push(...joinScans(questionId, stage.$lookup, design));
    else if ('$unionWith' in stage)
      scans.push(
        ...scansOf(questionId, stage.$unionWith.coll, stage.$unionWith.pipeline ?? [], design),
      );
    else if ('$facet' in stage && stage === pipeline[0])
      for (const inner of Object.values(stage.$facet))
        scans.push(...scansOf(questionId, collection, inner, design));
  }
  return scans;
}

/** Of a join: by its key, where it has one, then what its own pipeline scans. */
function joinScans(
  questionId: string,
  { from, foreignField, pipeline = [] }: Lookup,
  design: DocumentDesign,
): Scan[] {
  const inner = scansOf(questionId, from, pipeline, design);
  if (foreignField === undefined) return inner;
  const front = frontScan(questionId, from, pipeline, design);
  return [
    { questionId, collection: from, key: [[foreignField, 1]], why: 'join' },
    ...inner.slice(front ? 1 : 0),
  ];
}

/** The filters before any other stage. */
function leadingMatches(pipeline: Pipeline): MqlDocument[] {
  const end = pipeline.findIndex((stage) => !('$match' in stage));
  return pipeline
    .slice(0, end < 0 ? pipeline.length : end)
    .flatMap((stage) => ('$match' in stage ? [stage.$match] : []));
}

const MOST_FIELDS = 4;

/**
 * The scan that the first stages make: `$match` and `$sort` at the front, before anything changes
 * the documents.
 */
function frontScan(
  questionId: string,
  collection: string,
  pipeline: Pipeline,
  design: DocumentDesign,
): Scan | undefined {
  const equal: string[] = [];
  const ranges: string[] = [];
  const filter: Record<string, Mql> = {};
  // Of a condition on one entry of an array the fields are paths, and the whole is the filter.
  const entries: Record<string, Mql> = {};
  const matches = leadingMatches(pipeline);
  for (const match of matches) {
    for (const [path, value] of Object.entries(match)) {
      const inner = isDocument(value) ? value['$elemMatch'] : undefined;
      const named = isDocument(inner)
        ? Object.keys(inner).filter((key) => predicateKind(inner[key] ?? null) === 'equal')
        : [];
      if (named.length > 0 && !Object.hasOwn(entries, path)) {
        equal.push(...named.map((key) => `${path}.${key}`));
        entries[path] = value;
        continue;
      }
      const kind = path.startsWith('$') ? undefined : predicateKind(value);
      if (kind === undefined || Object.hasOwn(filter, path)) continue;
      (kind === 'equal' ? equal : ranges).push(path);
      filter[path] = value;
    }
  }
  const [sort, next] = pipeline.slice(matches.length);
  const limit = next && '$limit' in next ? next.$limit : undefined;
  const sorted = sort && '$sort' in sort ? (Object.entries(sort.$sort) as [string, 1 | -1][]) : [];
  const isSortOnly = equal.length + ranges.length === 0;
  // Sorting everything through an index reads everything all the same.
  if (isSortOnly && (sorted.length === 0 || typeof limit !== 'number' || matches.length > 0))
    return undefined;
  const parts: (readonly [string, 1 | -1])[] = [
    ...equal.map((path) => [path, 1] as const),
    ...sorted,
    ...ranges.map((path) => [path, 1] as const),
  ];
  const key = oneArray(
    parts.filter(([path], index) => parts.findIndex(([other]) => other === path) === index),
    embeddedArrays(design, collection),
  ).slice(0, MOST_FIELDS);
  const [leading] = key;
  if (!leading) return undefined;
  const isFilter = !isSortOnly;
  // Without an equality the sort comes first: then the index orders, and does not filter.
  const filters = {
    ...Object.fromEntries(
      Object.entries(filter).filter(([path]) => key.some(([name]) => name === path)),
    ),
    ...Object.fromEntries(
      Object.entries(entries).filter(([path]) => key.some(([name]) => name.startsWith(`${path}.`))),
    ),
  };
  const limited =
    typeof limit === 'number' && (isSortOnly || (sorted.length > 0 && ranges.length === 0))
      ? { limit }
      : {};
  return {
    questionId,
    collection,
    key,
    why: isFilter ? 'filter' : 'sort',
    found: { filter: filters as Document, ...limited },
  };
}

/** MongoDB indexes one array in a key. */
function oneArray(
  parts: readonly (readonly [string, 1 | -1])[],
  arrays: readonly string[],
): (readonly [string, 1 | -1])[] {
  const arrayOf = (path: string): string | undefined =>
    arrays.find((array) => path === array || path.startsWith(`${array}.`));
  const first = parts.map(([path]) => arrayOf(path)).find((array) => array !== undefined);
  return parts.filter(([path]) => [undefined, first].includes(arrayOf(path)));
}

function predicateKind(value: Mql): 'equal' | 'range' | undefined {
  if (value instanceof RegExp)
    return value.source.startsWith('^') && !value.flags.includes('i') ? 'range' : undefined;
  if (!isDocument(value)) return value === null ? undefined : 'equal';
  const operators = Object.keys(value);
  if (!operators.some((operator) => operator.startsWith('$'))) return undefined;
  if (operators.some((operator) => operator === '$eq' || operator === '$in')) return 'equal';
  return operators.some((operator) => ['$gt', '$gte', '$lt', '$lte'].includes(operator))
    ? 'range'
    : undefined;
}
