import type { Profile } from '../sqlite/profile';
import type { Catalog } from '../sqlite/catalog';
import type { DocumentDesign, Index, IndexDesign } from './document-design';
import { columnPath, copiesOf, placementOf } from './placement';
import type { AccessPattern, Workload } from './workload';

/** More would cost writes and memory without serving a query of the workload. */
const MAX_INDEXES = 8;

/**
 * Indexes of a design: declared keys (unique where the data keeps them), the referencing side of every reference, and
 * for the access patterns equality, then sort.
 */
export function proposeIndexes(design: DocumentDesign, catalog: Catalog, profile: Profile, workload: Workload): IndexDesign {
  const out: Record<string, Index[]> = {};
  const add = (collection: string, paths: readonly string[], reason: string, unique = false): void => {
    const list = (out[collection] ??= []);
    // `_id` has its index already, and a key that contains it selects one document at most.
    if (paths.length === 0 || paths.includes('_id')) return;
    const served = list.some((index) => paths.every((path, at) => Object.keys(index.key)[at] === path));
    if (served || list.length >= MAX_INDEXES) return;
    list.push({ key: Object.fromEntries(paths.map((path) => [path, 1 as const])), ...(unique ? { unique } : {}), reason });
  };
  for (const logical of design.logical) out[logical.collection] = [];
  for (const table of catalog.tables) {
    const placement = placementOf(design, table.name);
    if (!placement || placement.steps.length > 0) continue;
    const holds = (key: readonly string[]): boolean => profile.tables.find((p) => p.table === table.name)?.keys.some((k) => k.length === key.length && k.every((c) => key.includes(c))) ?? false;
    for (const key of [table.primaryKey, ...table.uniqueKeys]) {
      const paths = pathsOf(design, table.name, key);
      if (key.length > 0 && paths) add(placement.collection, paths, `declared key of ${table.name}`, holds(key));
    }
  }
  for (const choice of design.conceptual.relationships) {
    const relationship = profile.relationships.find((candidate) => candidate.id === choice.relationship);
    if (!relationship || choice.choice === 'embed') continue;
    for (const [table, columns] of [[relationship.childTable, relationship.childColumns], [relationship.parentTable, relationship.parentColumns]] as const) {
      const placement = placementOf(design, table);
      const paths = pathsOf(design, table, columns);
      // MongoDB indexes one array a compound key; paths of one placement share their array.
      if (placement && paths) add(placement.collection, paths, `serves the reference ${relationship.id}`);
    }
  }
  for (const pattern of workload.patterns) {
    for (const table of pattern.tables) {
      const placement = placementOf(design, table);
      const columns = equalityThenSort(pattern, table);
      const paths = pathsOf(design, table, columns);
      if (placement && placement.steps.length === 0 && paths) add(placement.collection, paths.slice(0, 3), `serves ${pattern.frequency} ${pattern.frequency === 1 ? 'query' : 'queries'} on ${table} by ${columns.slice(0, 3).join(', ')}`);
    }
  }
  for (const { pattern, collection, paths } of copiedFilters(design, profile, workload)) {
    add(collection, paths.slice(0, 3), `serves ${pattern.frequency} ${pattern.frequency === 1 ? 'query' : 'queries'} by what the copy repeats: ${paths.slice(0, 3).join(', ')}`);
  }
  return out;
}

/** Filters on the parent of a reference that its copy can answer. */
function copiedFilters(design: DocumentDesign, profile: Profile, workload: Workload): { pattern: AccessPattern; collection: string; paths: string[] }[] {
  return workload.patterns.flatMap((pattern) =>
    pattern.relationships.flatMap((id) => {
      const relationship = profile.relationships.find((candidate) => candidate.id === id);
      const placement = relationship && placementOf(design, relationship.childTable);
      if (!relationship || !placement) return [];
      return copiesOf(placement).flatMap(({ path, field }) => {
        if (field.kind !== 'extendedReference' || field.relationship !== id) return [];
        const filtered = new Set(pattern.filtered.filter(({ table }) => table === relationship.parentTable).map(({ column }) => column));
        const paths = field.fields.filter(({ column }) => filtered.has(column)).map(({ name }) => `${path}.${name}`);
        return paths.length > 0 ? [{ pattern, collection: placement.collection, paths }] : [];
      });
    }),
  );
}

/** Join columns are served by the indexes of their references. */
const equalityThenSort = (pattern: AccessPattern, table: string): string[] => [
  ...new Set([...pattern.filtered, ...pattern.sorted].filter((use) => use.table === table).map((use) => use.column)),
];

function pathsOf(design: DocumentDesign, table: string, columns: readonly string[]): string[] | undefined {
  const placement = placementOf(design, table);
  const paths = columns.map((column) => placement && columnPath(placement, column)?.path);
  return paths.every((path): path is string => typeof path === 'string') ? [...new Set(paths)] : undefined;
}
