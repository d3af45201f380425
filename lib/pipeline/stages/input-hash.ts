import { isNested, type Field, type LogicalDesign } from '../../design/model/document-design';
import { contentHash } from '../../results/hash';
import type { ArtefactInput } from './stage';

/**
 * Hash of an input as it is now: of the whole artefact, or of the part that `part` names. Compared
 * with the hash that a version recorded, it tells whether that version is stale.
 *
 * `part` is `source` (the source file, whose hash never changes) or `fields:` and a JSON list of
 * field paths.
 */
export function inputHash(input: ArtefactInput, content: unknown): string {
  if (input.part === undefined) return contentHash(content);
  if (input.part === 'source') return input.hash;
  if (input.part.startsWith(FIELDS))
    return contentHash(
      fieldsOf(content as LogicalDesign, JSON.parse(input.part.slice(FIELDS.length)) as string[]),
    );
  throw new Error(`unknown part of ${input.kind}: ${input.part}`);
}

const FIELDS = 'fields:';

/** The input of a query that reads these fields of a collection: other fields may come and go. */
export function fieldsInput(
  key: string,
  design: LogicalDesign,
  paths: readonly string[],
): ArtefactInput {
  const sorted = [...new Set(paths)].sort();
  return {
    kind: 'logical_design',
    key,
    part: FIELDS + JSON.stringify(sorted),
    hash: contentHash(fieldsOf(design, sorted)),
  };
}

/**
 * What each path is, with the embeddings above it; a path that the design does not have is null.
 */
function fieldsOf(design: LogicalDesign, paths: readonly string[]): unknown {
  return [
    design.rootTable,
    ...paths.map((path) => [
      path,
      path === '_id' ? design.id : chainOf(design.fields, path.split('.')),
    ]),
  ];
}

function chainOf(fields: readonly Field[], [name, ...rest]: readonly string[]): unknown {
  const field = fields.find((candidate) => candidate.name === name);
  if (!field) return null;
  if (!isNested(field)) return [field];
  const { fields: inner, ...own } = field;
  return [own, ...(rest.length > 0 ? [chainOf(inner, rest)] : [])];
}
