import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { shapeAfterAll, shapeOf } from '../mql/shape';
import { replaceExpression, sharedExpressions } from '../mql/shared-expressions';
import type { Pipeline, Stage } from '../mql/stage';
import { replaceStages, type Rule, type RuleContext } from './rule';
import { REASONS } from './reasons';

/** Shorter than this, an expression is read faster than the name of a field. */
const LEAST_SAVED = 100;

/**
 * An expression that a stage writes several times is computed once, by a `$set` before it. Only
 * before stages after which the field is gone.
 */
export const setOnce: Rule = {
  name: 'set-once',
  apply(pipeline, context) {
    for (const [index, stage] of pipeline.entries()) {
      if (!isReshapedAfter(pipeline, index)) continue;
      const found = sharedExpressions(expressionsOf(stage)).find(
        ({ times, size }) => (times - 1) * size >= LEAST_SAVED,
      );
      if (!found) continue;
      const name = freeName(found.expression, pipeline, index, context);
      const rewritten = withPath(stage, found.expression, `$${name}`);
      const joined = joinedSet(pipeline[index - 1], name, found.expression);
      if (joined)
        return {
          pipeline: replaceStages(pipeline, index - 1, 2, joined, rewritten),
          reason: REASONS.setOnce(name, found.times),
        };
      return {
        pipeline: replaceStages(
          pipeline,
          index,
          1,
          { $set: { [name]: found.expression } },
          rewritten,
        ),
        reason: REASONS.setOnce(name, found.times),
      };
    }
    return undefined;
  },
};

/** A `$set` before the stage takes the field, unless the expression reads what it sets. */
function joinedSet(before: Stage | undefined, name: string, expression: Mql): Stage | undefined {
  if (!before || !('$set' in before)) return undefined;
  const reads = Object.keys(before.$set).some((path) => mentions(expression, path.split('.')[0]!));
  return reads ? undefined : { $set: { ...before.$set, [name]: expression } };
}

/** From here on some stage lets through named fields alone. */
const isReshapedAfter = (pipeline: Pipeline, index: number): boolean =>
  pipeline
    .slice(index)
    .some((stage) => '$group' in stage || ('$project' in stage && isInclusion(stage.$project)));

const isInclusion = (project: MqlDocument): boolean =>
  Object.entries(project).some(([name, value]) => name !== '_id' && value !== 0 && value !== false);

/** The expressions that a stage evaluates on every document. */
function expressionsOf(stage: Stage): Mql[] {
  if ('$project' in stage && isInclusion(stage.$project)) return Object.values(stage.$project);
  if ('$set' in stage) return Object.values(stage.$set);
  if (!('$group' in stage)) return [];
  const { _id, ...accumulators } = stage.$group;
  return [_id, ...Object.values(accumulators).flatMap(operandOf)];
}

/** Of `{ $sum: … }`; those that sort as well are left alone. */
function operandOf(accumulator: Mql): Mql[] {
  if (!isDocument(accumulator)) return [];
  const [operand = null] = Object.values(accumulator);
  return isDocument(operand) && 'sortBy' in operand ? [] : [operand];
}

function withPath(stage: Stage, expression: Mql, path: string): Stage {
  const replaced = (fields: MqlDocument): MqlDocument =>
    replaceExpression(fields, expression, path) as MqlDocument;
  if ('$project' in stage) return { $project: replaced(stage.$project) };
  if ('$set' in stage) return { $set: replaced(stage.$set) };
  if (!('$group' in stage)) return stage;
  const { _id, ...accumulators } = stage.$group;
  return {
    $group: { _id: replaceExpression(_id, expression, path), ...replaced(accumulators) },
  };
}

/** A name that neither the documents have nor the pipeline writes. */
function freeName(
  expression: Mql,
  pipeline: Pipeline,
  index: number,
  { collection, design }: RuleContext,
): string {
  const shape = shapeOf(collection, design);
  const here = shape && shapeAfterAll(pipeline.slice(0, index), shape, design);
  const isTaken = (name: string): boolean =>
    pipeline.some((stage) => mentions(stage, name)) || (here instanceof Map && here.has(name));
  const wanted = nameOf(expression);
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}_${String(number)}`;
    if (!isTaken(name)) return name;
  }
}

const mentions = (value: unknown, name: string): boolean => {
  if (typeof value === 'string') return value.split(/[.$]/).includes(name);
  if (Array.isArray(value)) return value.some((inner) => mentions(inner, name));
  if (!isDocument(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) => key.split('.').includes(name) || mentions(inner, name),
  );
};

const MAX_FIELDS = 2;

/** After the fields that it reads. */
function nameOf(expression: Mql): string {
  const fields = new Set<string>();
  const visit = (value: Mql): void => {
    if (typeof value === 'string' && /^\$[^$]/.test(value))
      fields.add(value.slice(1).split('.').at(-1) ?? '');
    else if (Array.isArray(value)) for (const inner of value as readonly Mql[]) visit(inner);
    else if (isDocument(value) && !('$literal' in value)) Object.values(value).forEach(visit);
  };
  visit(expression);
  const named = [...fields]
    .slice(0, MAX_FIELDS)
    .map((field) => field.replace(/[^\p{L}\p{N}]+/gu, '_'));
  return [...named, 'value'].join('_');
}
