import { columnProfile } from '../../sqlite/profile/profile';
import { columnFields } from '../../design/column-fields';
import { fingerprint, isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { dropsEmpty, stageName, unwindPath } from '../mql/pipeline-paths';
import { replaceStages, type Rule, type RuleContext } from './rule';
import { REASONS } from './reasons';

/**
 * A `$lookup` that compares one `let` variable with one field → `localField` and `foreignField`,
 * which an index serves. What is unwound before the comparison stays as it is only where the lookup
 * asks for nothing but a first partner.
 */
export const lookupByFields: Rule = {
  name: 'lookup-by-fields',
  apply(pipeline, context) {
    for (const [index, stage] of pipeline.entries()) {
      const lookup = stage['$lookup'];
      if (!isDocument(lookup) || !isDocument(lookup['let']) || lookup['localField'] !== undefined)
        continue;
      const found = byFields(lookup, pipeline.slice(0, index), context);
      if (!found) continue;
      return {
        pipeline: replaceStages(pipeline, index, 1, { $lookup: found }),
        reason: REASONS.lookupByFields(String(found['foreignField'])),
      };
    }
    return undefined;
  },
};

function byFields(
  lookup: MqlDocument,
  before: readonly MqlDocument[],
  context: RuleContext,
): MqlDocument | undefined {
  const { from, let: variables, pipeline: inner, as } = lookup;
  if (
    typeof from !== 'string' ||
    typeof as !== 'string' ||
    !isDocument(variables) ||
    !Array.isArray(inner)
  )
    return undefined;
  const [[name, value] = ['', null], ...more] = Object.entries(variables);
  const stages = inner as readonly MqlDocument[];
  const where = stages.findIndex(
    (stage) => isDocument(stage['$match']) && '$expr' in stage['$match'],
  );
  const match = stages[where]?.['$match'];
  if (more.length > 0 || typeof value !== 'string' || !isDocument(match)) return undefined;
  const foreign = comparedWith(match['$expr'] ?? null, `$$${name}`);
  const { $expr: _, ...others } = match;
  const rest = [
    ...stages.slice(0, where),
    ...(Object.keys(others).length > 0 ? [{ $match: others }] : []),
    ...stages.slice(where + 1),
  ];
  if (
    foreign === undefined ||
    fingerprint(rest).includes(`$$${name}`) ||
    !isReordered(stages.slice(0, where))
  )
    return undefined;
  const local = value.slice(1);
  if (
    !isPlainKey(local, context.collection, before, context) ||
    !isPlainKey(foreign, from, stages.slice(0, where), context)
  )
    return undefined;
  const unwinds = stages
    .slice(0, where)
    .some((stage) => '$unwind' in stage && foreign.startsWith(`${unwindPath(stage) ?? ''}.`));
  if (!unwinds)
    return {
      from,
      localField: local,
      foreignField: foreign,
      ...(rest.length > 0 ? { pipeline: rest } : {}),
      as,
    };
  // The fields form finds documents, not entries: enough for whether there is one, if nothing else
  // is asked of the entry.
  const array = unwindPath(stages.slice(0, where).find((stage) => '$unwind' in stage) ?? {}) ?? '';
  const plain = rest.filter((stage) => !('$unwind' in stage));
  const isExistence =
    plain.length === rest.length - 1 &&
    stageName(plain.at(-1) ?? {}) === '$limit' &&
    plain.slice(0, -1).every((stage) => '$match' in stage) &&
    !fingerprint(plain).includes(`"${array}`);
  return isExistence
    ? { from, localField: local, foreignField: foreign, pipeline: plain, as }
    : undefined;
}

/** `{$eq: ['$field', variable]}`, either way round. */
function comparedWith(expression: Mql, variable: string): string | undefined {
  const operands =
    isDocument(expression) && Object.keys(expression).length === 1 ? expression['$eq'] : undefined;
  if (!Array.isArray(operands) || operands.length !== 2 || !operands.includes(variable))
    return undefined;
  const other: unknown = operands.find((operand) => operand !== variable);
  return typeof other === 'string' && /^\$[^$]/.test(other) ? other.slice(1) : undefined;
}

/** Stages that the equality may come before. */
const isReordered = (stages: readonly MqlDocument[]): boolean =>
  stages.every((stage) => '$match' in stage || ('$unwind' in stage && dropsEmpty(stage)));

/**
 * A field of the design that is never null, so that the two forms agree: by fields, null and
 * missing are equal. Arrays on the way must be unwound.
 */
function isPlainKey(
  path: string,
  collection: string,
  before: readonly MqlDocument[],
  { design, profile }: RuleContext,
): boolean {
  if (!before.every((stage) => ['$match', '$unwind', '$sort'].includes(stageName(stage))))
    return false;
  const field = columnFields(design).find(
    (candidate) => candidate.collection === collection && candidate.path === path,
  );
  const column = field && columnProfile(profile, field.table, field.column);
  if (!field || column?.stored.null !== 0) return false;
  const unwound = new Set(before.flatMap((stage) => unwindPath(stage) ?? []));
  // Below an embedded document that may be absent the field may be missing too.
  const parts = path
    .split('.')
    .slice(0, -1)
    .map((_, index, all) => all.slice(0, index + 1).join('.'));
  return (
    parts.every((part) => field.arrays.includes(part)) &&
    field.arrays.every((array) => unwound.has(array))
  );
}
