import { Doc } from '../bson/doc';
import { compareValues } from '../values/compare';
import type { Value } from '../bson/value';

/**
 * What `distinct` sees at a path of one document: the elements of arrays at its end, through arrays
 * on the way. A number after an array is a position there and nothing else. As on the server, one
 * document's values come sorted.
 */
export function elementsAt(path: string): (doc: Doc) => Value[] {
  const parts = path.split('.');
  const collect = (value: Value, i: number, out: Value[]): void => {
    if (value === undefined) return;
    if (i === parts.length) {
      if (Array.isArray(value)) out.push(...value);
      else out.push(value);
      return;
    }
    const part = parts[i] as string;
    if (value instanceof Doc) collect(value.get(part), i + 1, out);
    else if (Array.isArray(value)) {
      if (/^\d+$/.test(part)) collect(value[Number(part)], i + 1, out);
      else for (const item of value) if (item instanceof Doc) collect(item, i, out);
    }
  };
  return (doc) => {
    const out: Value[] = [];
    collect(doc, 0, out);
    return out.length > 1 ? out.sort((a, b) => compareValues(a, b)) : out;
  };
}
