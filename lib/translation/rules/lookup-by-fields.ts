import { columnProfile } from '../../sqlite/profile/profile';
import { columnFields } from '../../design/model/column-fields';
import { isDocument, type Mql } from '../mql/mql';
import { isUnder, pathsInMatch, unwindPath } from '../mql/pipeline-paths';
import { isOneOf, type Pipeline } from '../mql/stage';
import { readsVariable } from '../mql/variables';
import type { Join, JoinKey, PlanNodes } from '../plan/plan';
import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import { replaceNode, type Rule, type RuleContext } from './rule';
import { REASONS } from './reasons';

/**
 * A `$lookup` that compares one `let` variable with one field → `localField` and `foreignField`,
 * which an index serves. What is unwound before the comparison stays as it is only where the lookup
 * asks for nothing but a first partner.
 */
export const lookupByFields: Rule = {
  name: 'lookup-by-fields',
  apply(pipeline, context) {
    const plan = readPlan(pipeline);
    for (const [index, node] of plan.entries()) {
      if (node.kind !== 'join' || node.key) continue;
      const keyed = byFields(node, writePlan(plan.slice(0, index)), context);
      if (!keyed) continue;
      return {
        pipeline: replaceNode(plan, index, keyed),
        reason: REASONS.lookupByFields(keyed.key.foreignField),
      };
    }
    return undefined;
  },
};

function byFields(
  join: Join,
  before: Pipeline,
  context: RuleContext,
): (Join & { readonly key: JoinKey }) | undefined {
  const compared = comparison(join);
  if (!compared || !isReordered(compared.before)) return undefined;
  const { local, foreign } = compared;
  const unwound = writePlan(compared.before);
  if (
    !isPlainKey(local, context.collection, before, context) ||
    !isPlainKey(foreign, join.scan, unwound, context)
  )
    return undefined;
  const array = compared.before.find(
    (node) => node.kind === 'unwind' && foreign.startsWith(`${node.path}.`),
  );
  // The fields form finds documents, not entries: enough for whether there is one, if nothing else
  // is asked of the entry.
  const nodes = array ? existenceOf(compared.rest) : compared.rest;
  return (
    nodes && {
      ...join,
      key: { localField: local, foreignField: foreign },
      variables: {},
      nodes,
    }
  );
}

interface Comparison {
  /** The paths that are equal, of the row and of its partners. */
  readonly local: string;
  readonly foreign: string;
  /** What happens to the partners before they are compared, and all that happens but for that. */
  readonly before: PlanNodes;
  readonly rest: PlanNodes;
}

/** The first `$expr` of a join with one variable compares it with a field, and nothing else does. */
function comparison({ variables, nodes }: Join): Comparison | undefined {
  const [[name, value] = ['', null], ...more] = Object.entries(variables);
  const where = nodes.findIndex((node) => node.kind === 'filter' && '$expr' in node.where);
  const filter = nodes[where];
  if (more.length > 0 || typeof value !== 'string' || filter?.kind !== 'filter') return undefined;
  const { $expr, ...others } = filter.where;
  const foreign = comparedWith($expr ?? null, `$$${name}`);
  const before = nodes.slice(0, where);
  const rest: PlanNodes = [
    ...before,
    ...(Object.keys(others).length > 0 ? [{ kind: 'filter', where: others } as const] : []),
    ...nodes.slice(where + 1),
  ];
  return foreign === undefined || readsVariable(writePlan(rest), name)
    ? undefined
    : { local: value.slice(1), foreign, before, rest };
}

/** The same without the one `$unwind`, where all that is asked is whether a document is found. */
function existenceOf(nodes: PlanNodes): PlanNodes | undefined {
  const [array, ...others] = nodes.filter((node) => node.kind === 'unwind');
  const plain = nodes.filter((node) => node.kind !== 'unwind');
  const filters = plain.slice(0, -1);
  const isExistence =
    array !== undefined &&
    others.length === 0 &&
    plain.at(-1)?.kind === 'limit' &&
    filters.every(
      (node) =>
        node.kind === 'filter' &&
        [...pathsInMatch(node.where)].every((path) => path !== '*' && !isUnder(path, array.path)),
    );
  return isExistence ? plain : undefined;
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

/** What the equality may come before. */
const isReordered = (nodes: PlanNodes): boolean =>
  nodes.every((node) => node.kind === 'filter' || (node.kind === 'unwind' && !node.keepsEmpty));

/**
 * A field of the design that is never null, so that the two forms agree: by fields, null and
 * missing are equal. Arrays on the way must be unwound.
 */
function isPlainKey(
  path: string,
  collection: string,
  before: Pipeline,
  { design, profile }: RuleContext,
): boolean {
  if (!before.every((stage) => isOneOf(stage, ['$match', '$unwind', '$sort']))) return false;
  const field = columnFields(design).find(
    (candidate) => candidate.collection === collection && candidate.path === path,
  );
  const column = field && columnProfile(profile, field.table, field.column);
  if (!field || column?.stored.null !== 0) return false;
  const unwound = new Set(
    before.flatMap((stage) => ('$unwind' in stage ? [unwindPath(stage)] : [])),
  );
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
