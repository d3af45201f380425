import type { Document } from 'mongodb';
import { isEmbed, type DocumentDesign, type Field } from '../design/document-design';

/** A `collection.field` path that a hint mentions, checked against the design and the gold query. */
export interface EvidencePath {
  readonly path: string;
  readonly inDesign: boolean;
  readonly inQuery: boolean;
}

const PATH = /[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)+/gu;

/** The paths in a text whose first word is a collection of the design, in the order in which they occur. */
export function evidencePaths(text: string, design: DocumentDesign, collection: string, pipeline: readonly Document[]): EvidencePath[] {
  const mentioned = [...new Set([...text.matchAll(PATH)].map(([path]) => path))];
  const query = JSON.stringify(pipeline);
  return mentioned.flatMap((path) => {
    const [name, ...fields] = path.split('.');
    const logical = design.logical.find((candidate) => candidate.collection === name);
    if (!logical) return [];
    const inDesign = (fields.length === 1 && fields[0] === '_id') || hasPath(logical.fields, fields);
    const reads = name === collection || query.includes(JSON.stringify(name));
    // A query names the last field of a path, below whatever it unwound or looked up.
    return [{ path, inDesign, inQuery: inDesign && reads && new RegExp(`[".$]${escape(fields.at(-1)!)}[".]`, 'u').test(query) }];
  });
}

function hasPath(fields: readonly Field[], [name, ...rest]: readonly string[]): boolean {
  const field = fields.find((candidate) => candidate.name === name);
  if (!field) return false;
  return rest.length === 0 || ((isEmbed(field) || field.kind === 'extendedReference') && hasPath(field.fields, rest));
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
