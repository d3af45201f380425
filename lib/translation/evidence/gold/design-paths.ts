import { entryPaths, type DocumentDesign } from '../../../design/model/document-design';
import {
  attributesOf,
  columnFields,
  copiedFields,
  embeddedArrays,
  outlierFlags,
} from '../../../design/model/column-fields';

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
