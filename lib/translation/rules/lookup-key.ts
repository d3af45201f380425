import { renamePath } from '../mql/map-paths';
import type { MqlDocument } from '../mql/mql';
import { isDocument } from '../mql/mql';
import {
  makesNewDocuments,
  pathsReadByAll,
  unwindPath,
  dropsEmpty,
  pathsWrittenBy,
  overlaps,
  stageName,
} from '../mql/pipeline-paths';
import { columnProfile } from '../../sqlite/profile/profile';
import { columnFields } from '../../design/column-fields';
import { columnType, INTEGER, REAL, TEXT } from '../lower/value-type';
import type { Rule, RuleContext } from './rule';
import { REASONS } from './reasons';

/**
 * Behind `$lookup` and `$unwind` the foreign key field equals the local one: reading the local
 * field instead can make the join unnecessary.
 */
export const lookupKey: Rule = {
  name: 'lookup-key',
  apply(pipeline, context) {
    for (const at of pipeline.keys()) {
      const join = simpleJoin(pipeline, at);
      if (!join || !isSameKind(join, pipeline.slice(0, at), context)) continue;
      const foreign = `${join.as}.${join.foreignField}`;
      let end = at + 2;
      while (end < pipeline.length) {
        const next = pipeline[end];
        if (
          !next ||
          (pathsWrittenBy(next) ?? []).some(
            (path) => overlaps(path, foreign) || overlaps(path, join.localField),
          )
        )
          break;
        end++;
        if (makesNewDocuments(next)) break;
      }
      const scope = pipeline.slice(at + 2, end);
      const read = new Set(scope.flatMap((inner) => [...pathsReadByAll([inner])]));
      if (!read.has(foreign)) continue;
      const replaced = scope.map((inner) => renamePath(inner, foreign, join.localField));
      return {
        pipeline: [...pipeline.slice(0, at + 2), ...replaced, ...pipeline.slice(end)],
        reason: REASONS.lookupKey(foreign, join.localField),
      };
    }
    return undefined;
  },
};

/**
 * Equal values of one storage class are the same value in every expression, and an expression that
 * moves in front of the join meets nothing there that it could fail on.
 */
function isSameKind(
  { from, localField, foreignField }: SimpleJoin,
  before: readonly MqlDocument[],
  { collection, design, profile }: RuleContext,
): boolean {
  if (
    !before.every((stage) =>
      ['$match', '$unwind', '$lookup', '$sort', '$limit', '$skip', '$set'].includes(
        stageName(stage),
      ),
    )
  )
    return false;
  const joined = new Map(
    before.flatMap((stage) =>
      isDocument(stage['$lookup'])
        ? [[String(stage['$lookup']['as']), String(stage['$lookup']['from'])] as const]
        : [],
    ),
  );
  const [first = '', ...rest] = localField.split('.');
  const owner = joined.get(first);
  const kinds = (of: string, path: string): number => {
    const field = columnFields(design).find(
      (candidate) => candidate.collection === of && candidate.path === path,
    );
    return field?.transform.kind === 'identity'
      ? columnType(columnProfile(profile, field.table, field.column)).kinds
      : 0;
  };
  const local = owner === undefined ? kinds(collection, localField) : kinds(owner, rest.join('.'));
  return local === kinds(from, foreignField) && [INTEGER, REAL, TEXT].includes(local);
}

export interface SimpleJoin {
  readonly as: string;
  readonly from: string;
  readonly localField: string;
  readonly foreignField: string;
}

/** `$lookup` by one equality and nothing else, and the `$unwind` that makes it an inner join. */
export function simpleJoin(pipeline: readonly MqlDocument[], at: number): SimpleJoin | undefined {
  const lookup = pipeline[at]?.['$lookup'];
  const unwind = pipeline[at + 1];
  if (!isDocument(lookup) || !unwind || !('$unwind' in unwind) || !dropsEmpty(unwind))
    return undefined;
  const { as, from, localField, foreignField, pipeline: inner } = lookup;
  if (
    typeof as !== 'string' ||
    typeof from !== 'string' ||
    typeof localField !== 'string' ||
    typeof foreignField !== 'string' ||
    inner !== undefined
  )
    return undefined;
  return unwindPath(unwind) === as ? { as, from, localField, foreignField } : undefined;
}
