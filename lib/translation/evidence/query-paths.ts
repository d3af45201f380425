import { entryPaths, type DocumentDesign } from '../../design/document-design';
import {
  attributesOf,
  columnFields,
  copiedFields,
  embeddedArrays,
  outlierFlags,
} from '../../design/column-fields';
import { isDocument, type MqlDocument } from '../mql/mql';
import { pathsReadBy, stageName } from '../mql/pipeline-paths';

/** `collection.field` for every field of the design, arrays of embedded rows included. */
export function designPaths(design: DocumentDesign): Set<string> {
  const found = new Set<string>();
  for (const { collection, path } of [...columnFields(design), ...copiedFields(design)]) {
    const parts = path.split('.');
    parts.forEach((_, index) => found.add(`${collection}.${parts.slice(0, index + 1).join('.')}`));
  }
  for (const { collection } of design.logical) {
    const entries = attributesOf(design, collection).flatMap(({ name }) => entryPaths(name));
    for (const path of [
      ...embeddedArrays(design, collection),
      ...outlierFlags(design, collection),
      ...entries,
    ])
      found.add(`${collection}.${path}`);
  }
  return found;
}

/**
 * `collection.field` for every field of the design that the pipeline reads, through joins as well.
 */
export function queryPaths(
  collection: string,
  pipeline: readonly MqlDocument[],
  design: DocumentDesign,
): Set<string> {
  const known = designPaths(design);
  const found = new Set<string>();
  collect(collection, pipeline, known, found);
  return found;
}

function collect(
  collection: string,
  pipeline: readonly MqlDocument[],
  known: ReadonlySet<string>,
  found: Set<string>,
): void {
  // Fields that a join added, and where their documents come from.
  const joined = new Map<string, string>();
  const note = (from: string, path: string): void => {
    const full = `${from}.${path}`;
    if (known.has(full)) found.add(full);
  };
  const read = (path: string): void => {
    const [first = '', ...rest] = path.split('.');
    const from = joined.get(first);
    if (from === undefined) note(collection, path);
    else if (rest.length > 0) note(from, rest.join('.'));
  };
  for (const stage of pipeline) {
    for (const path of pathsReadBy(stage)) read(path);
    const match = stage['$match'];
    if (isDocument(match)) for (const path of elementPaths(match)) read(path);
    const lookup = stage['$lookup'];
    if (stageName(stage) === '$lookup' && isDocument(lookup)) {
      const from = String(lookup['from']);
      joined.set(String(lookup['as']), from);
      if (typeof lookup['foreignField'] === 'string') note(from, lookup['foreignField']);
      if (Array.isArray(lookup['pipeline']))
        collect(from, lookup['pipeline'] as MqlDocument[], known, found);
    }
    const union = stage['$unionWith'];
    if (isDocument(union))
      collect(String(union['coll']), (union['pipeline'] ?? []) as MqlDocument[], known, found);
    const facet = stage['$facet'];
    if (isDocument(facet))
      for (const inner of Object.values(facet))
        collect(collection, inner as MqlDocument[], known, found);
  }
}

/** Paths inside `$elemMatch`. */
function elementPaths(match: MqlDocument, prefix = ''): string[] {
  return Object.entries(match).flatMap(([key, value]): string[] => {
    if (Array.isArray(value))
      return (value as readonly unknown[]).flatMap((part) =>
        isDocument(part) ? elementPaths(part, prefix) : [],
      );
    if (!isDocument(value)) return key.startsWith('$') ? [] : [prefix + key];
    const inner = (value['$elemMatch'] ??
      (isDocument(value['$not']) ? value['$not']['$elemMatch'] : undefined)) as
      MqlDocument | undefined;
    if (inner) return elementPaths(inner, `${prefix}${key}.`);
    return key.startsWith('$') ? [] : [prefix + key];
  });
}
