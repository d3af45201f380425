import { entryPaths, type DocumentDesign } from '../../design/model/document-design';
import {
  attributesOf,
  columnFields,
  copiedFields,
  embeddedArrays,
  outlierFlags,
} from '../../design/model/column-fields';
import { isDocument, type MqlDocument } from '../mql/mql';
import { pathsReadBy } from '../mql/pipeline-paths';
import { readPipeline, type Pipeline } from '../mql/stage';

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
  collect(collection, readPipeline(pipeline) ?? [], known, found);
  return found;
}

function collect(
  collection: string,
  pipeline: Pipeline,
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
    if ('$match' in stage) for (const path of elementPaths(stage.$match)) read(path);
    if ('$lookup' in stage) {
      const { from, as, foreignField, pipeline: inner = [] } = stage.$lookup;
      joined.set(as, from);
      if (foreignField !== undefined) note(from, foreignField);
      collect(from, inner, known, found);
    }
    if ('$unionWith' in stage)
      collect(stage.$unionWith.coll, stage.$unionWith.pipeline ?? [], known, found);
    if ('$facet' in stage)
      for (const inner of Object.values(stage.$facet)) collect(collection, inner, known, found);
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
