import type { Catalog } from '../../sqlite/catalog';
import { relationshipById, tableProfile, type Profile } from '../../sqlite/profile/profile';
import { joinsOn, type BlockColumn, type QueryBlock } from '../../sqlite/select/query-blocks';
import { score } from '../model/score';
import { CostModel } from './cost-model';
import {
  entryPaths,
  type AttributeField,
  type DocumentDesign,
  type Index,
  type IndexDesign,
  logicalDesignOf,
} from '../model/document-design';
import { columnPath, copiesOf, placementOf, type Placement } from '../model/placement';
import type { Workload } from '../model/workload';

/** More would cost writes and memory; MongoDB's own limit is 64 a collection. */
const MAX_INDEXES = 16;
/** A key longer than this serves no other query than its own. */
const MAX_KEY = 3;
/** An index has to save this share of the workload's cost, or it is one that nobody would miss. */
const MIN_SAVING = 0.0005;

interface Candidate {
  readonly collection: string;
  readonly paths: readonly string[];
  /** What the first path of the key can serve, with how often it is asked. */
  readonly blocks: readonly { readonly block: QueryBlock; readonly times: number }[];
}

/**
 * Indexes of a design (guidebook, section 6): declared keys, unique where the data keeps them; then
 * one over the names and values that documents hold; then what saves the workload most, equality
 * before sort before range; then the referring side of every reference.
 */
export function proposeIndexes(
  design: DocumentDesign,
  catalog: Catalog,
  profile: Profile,
  workload: Workload,
): IndexDesign {
  const list = new IndexList(design);
  for (const { placement, paths, reason, unique } of declaredKeys(design, catalog, profile))
    list.add(placement.collection, paths, reason, unique);
  for (const { name, rootTable, attributes } of design.conceptual.collections) {
    const field = attributeOf(design, rootTable);
    if (field)
      list.add(
        name,
        entryPaths(field.name),
        `serves ${attributes?.queries ?? 0} queries by any of ` +
          `${field.fields.map((own) => own.name).join(', ')}, in place of an index for each`,
      );
  }
  addBySaving(list, candidates(design, profile, workload), design, profile, workload);
  for (const choice of design.conceptual.relationships) {
    const relationship = relationshipById(profile, choice.relationship);
    if (!relationship || choice.choice === 'embed') continue;
    for (const [table, columns] of [
      [relationship.childTable, relationship.childColumns],
      [relationship.parentTable, relationship.parentColumns],
    ] as const) {
      const placement = placementOf(design, table);
      const paths = pathsOf(design, table, columns);
      if (placement && paths)
        list.add(placement.collection, paths, `serves the reference ${relationship.id}`);
    }
  }
  return list.indexes;
}

class IndexList {
  readonly indexes: Record<string, Index[]> = {};

  constructor(design: DocumentDesign) {
    for (const { collection } of design.logical) this.indexes[collection] = [];
  }

  /** False where an index that is there serves as well, or the collection has enough of them. */
  add(collection: string, paths: readonly string[], reason: string, unique = false): boolean {
    const list = (this.indexes[collection] ??= []);
    // `_id` has its index already, and a key that contains it selects one document at most.
    if (paths.length === 0 || paths.includes('_id')) return false;
    if (list.some(({ key }) => paths.every((path, index) => Object.keys(key)[index] === path)))
      return false;
    const index: Index = {
      key: Object.fromEntries(paths.map((path) => [path, 1 as const])),
      ...(unique ? { unique } : {}),
      reason,
    };
    // A longer key serves what its beginning did.
    const shorter = list.findIndex(
      ({ key, unique: alone }) =>
        !alone && Object.keys(key).every((path, index) => path === paths[index]),
    );
    if (shorter >= 0) list[shorter] = { ...index, reason: `${list[shorter]!.reason}; ${reason}` };
    else if (list.length >= MAX_INDEXES) return false;
    else list.push(index);
    return true;
  }
}

function declaredKeys(
  design: DocumentDesign,
  catalog: Catalog,
  profile: Profile,
): { placement: Placement; paths: string[]; reason: string; unique: boolean }[] {
  return catalog.tables.flatMap((table) => {
    const placement = placementOf(design, table.name);
    if (!placement || placement.steps.length > 0) return [];
    const holds = (key: readonly string[]): boolean =>
      tableProfile(profile, table.name)?.keys.some(
        (known) => known.length === key.length && known.every((column) => key.includes(column)),
      ) ?? false;
    return [table.primaryKey, ...table.uniqueKeys].flatMap((key) => {
      const paths = pathsOf(design, table.name, key);
      return key.length > 0 && paths
        ? [{ placement, paths, reason: `declared key of ${table.name}`, unique: holds(key) }]
        : [];
    });
  });
}

/**
 * Takes, again and again, the candidate that saves the workload most; what others took over saves
 * less, and falls back.
 */
function addBySaving(
  list: IndexList,
  candidates: readonly Candidate[],
  design: DocumentDesign,
  profile: Profile,
  workload: Workload,
): void {
  let model = new CostModel(design, list.indexes, profile);
  const whole = score(model.workload(workload));
  const saving = ({ collection, paths, blocks }: Candidate): { saved: number; served: number } => {
    const after = model.withIndexes({
      ...list.indexes,
      [collection]: [
        ...(list.indexes[collection] ?? []),
        { key: Object.fromEntries(paths.map((path) => [path, 1])), reason: '' },
      ],
    });
    return blocks.reduce(
      ({ saved, served }, { block, times }) => {
        const less = score(model.block(block)) - score(after.block(block));
        return { saved: saved + less * times, served: served + (less > 0 ? times : 0) };
      },
      { saved: 0, served: 0 },
    );
  };
  // A saving only shrinks as indexes are added: whoever is still first after a fresh look is the
  // best.
  const queue = candidates.map((candidate) => ({ candidate, ...saving(candidate) }));
  for (;;) {
    queue.sort(
      (a, b) =>
        b.saved - a.saved ||
        a.candidate.paths.length - b.candidate.paths.length ||
        (a.candidate.paths.join() < b.candidate.paths.join() ? -1 : 1),
    );
    const first = queue[0];
    if (!first || first.saved <= whole * MIN_SAVING) return;
    const fresh = saving(first.candidate);
    if (fresh.saved < first.saved) {
      queue[0] = { candidate: first.candidate, ...fresh };
      continue;
    }
    queue.shift();
    const { collection, paths } = first.candidate;
    list.add(
      collection,
      paths,
      `serves ${fresh.served} ${fresh.served === 1 ? 'query' : 'queries'} by ` +
        `${paths.join(', ')}, saving ${share(fresh.saved / whole)} of the workload's ` +
        'estimated cost',
    );
    model = model.withIndexes(list.indexes);
  }
}

const share = (part: number): string =>
  part >= 0.01 ? `${Math.round(part * 100)} %` : `${(part * 100).toFixed(1)} %`;

/**
 * Keys that a block of the workload could use, by collection: of its filters and sort, and of each
 * of its joins.
 */
function candidates(design: DocumentDesign, profile: Profile, workload: Workload): Candidate[] {
  const found = new Map<string, { collection: string; paths: string[] }>();
  const served = new Map<string, Map<QueryBlock, number>>();
  for (const { blocks, questionIds } of workload.patterns.flatMap(({ variants }) => variants)) {
    for (const block of blocks) {
      for (const { collection, paths } of keysFor(block, design, profile)) {
        for (let length = 1; length <= Math.min(paths.length, MAX_KEY); length++) {
          const key = paths.slice(0, length);
          found.set(JSON.stringify([collection, key]), { collection, paths: key });
        }
        for (const path of paths) {
          const at = JSON.stringify([collection, path]);
          served.set(
            at,
            (served.get(at) ?? new Map<QueryBlock, number>()).set(block, questionIds.length),
          );
        }
      }
    }
  }
  return [...found.values()].map(({ collection, paths }) => ({
    collection,
    paths,
    blocks: [...served.get(JSON.stringify([collection, paths[0]]))!].map(([block, times]) => ({
      block,
      times,
    })),
  }));
}

function keysFor(
  block: QueryBlock,
  design: DocumentDesign,
  profile: Profile,
): { collection: string; paths: string[] }[] {
  const places = new Map<string, { equality: string[]; sort: string[]; range: string[] }>();
  const keys: { collection: string; paths: string[] }[] = [];
  const each = (
    at: number,
    column: string,
    take: (collection: string, path: string) => void,
  ): void => {
    for (const { collection, path } of pathsFor(block, { source: at, column }, design, profile))
      take(collection, path);
  };
  const place = (collection: string) => {
    const known = places.get(collection) ?? { equality: [], sort: [], range: [] };
    places.set(collection, known);
    return known;
  };
  block.sources.forEach(({ table, equality, range, notLiteral = [] }, index) => {
    // One index over their names and values serves them already.
    const served = attributeOf(design, table)?.fields.map((own) => own.column) ?? [];
    for (const column of equality)
      if (!served.includes(column) || notLiteral.includes(column))
        each(index, column, (collection, path) => place(collection).equality.push(path));
    for (const column of range)
      each(index, column, (collection, path) => place(collection).range.push(path));
  });
  for (const { source, column } of block.sorted)
    each(source, column, (collection, path) => place(collection).sort.push(path));
  for (const { left, right } of block.joins)
    for (const side of [left, right])
      each(side.source, side.column, (collection, path) =>
        keys.push({ collection, paths: [path] }),
      );
  for (const [collection, { equality, sort, range }] of places)
    keys.push({
      collection,
      paths: oneArray([...new Set([...equality, ...sort, ...range])], collection, design),
    });
  return keys.filter(({ paths }) => paths.length > 0 && paths[0] !== '_id');
}

const attributeOf = (design: DocumentDesign, table: string): AttributeField | undefined =>
  design.logical
    .find(({ rootTable }) => rootTable === table)
    ?.fields.find((field) => field.kind === 'attribute');

/**
 * MongoDB indexes one array a compound key: of paths through several arrays the first array's are
 * kept.
 */
function oneArray(paths: readonly string[], collection: string, design: DocumentDesign): string[] {
  const logical = logicalDesignOf(design, collection);
  const arrays =
    logical?.fields.filter(({ kind }) => kind === 'embedMany').map(({ name }) => name) ?? [];
  const arrayOf = (path: string): string | undefined =>
    arrays.find((array) => path.startsWith(`${array}.`));
  const first = paths.map(arrayOf).find((array) => array !== undefined);
  return paths.filter((path) => arrayOf(path) === undefined || arrayOf(path) === first);
}

/**
 * Where a column's values are: with its own rows, and where a copy repeats them beside rows that
 * the block joins.
 */
function pathsFor(
  block: QueryBlock,
  { source, column }: BlockColumn,
  design: DocumentDesign,
  profile: Profile,
): { collection: string; path: string }[] {
  const { table } = block.sources[source]!;
  const own = placementOf(design, table);
  const path = own && columnPath(own, column)?.path;
  const copied = profile.relationships.flatMap((relationship) => {
    const joined =
      relationship.parentTable === table &&
      block.sources.some(
        (other, index) =>
          other.table === relationship.childTable &&
          joinsOn(
            block,
            { source: index, columns: relationship.childColumns },
            { source, columns: relationship.parentColumns },
          ),
      );
    const holder = joined ? placementOf(design, relationship.childTable) : undefined;
    if (!holder) return [];
    return copiesOf(holder).flatMap(({ path: at, field }) => {
      const held =
        field.kind === 'extendedReference' && field.relationship === relationship.id
          ? field.fields.find((candidate) => candidate.column === column)
          : undefined;
      return held ? [{ collection: holder.collection, path: `${at}.${held.name}` }] : [];
    });
  });
  return [...(own && path !== undefined ? [{ collection: own.collection, path }] : []), ...copied];
}

function pathsOf(
  design: DocumentDesign,
  table: string,
  columns: readonly string[],
): string[] | undefined {
  const placement = placementOf(design, table);
  const paths = columns.map((column) => placement && columnPath(placement, column)?.path);
  return paths.every((path): path is string => typeof path === 'string')
    ? [...new Set(paths)]
    : undefined;
}
