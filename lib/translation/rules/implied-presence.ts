import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/**
 * `{a: {$ne: null}, 'a.b': 4}` → `{'a.b': 4}`: what lies in a field is there only where the field
 * is.
 */
export const impliedPresence: Rule = {
  name: 'implied-presence',
  apply(pipeline) {
    for (const [index, stage] of pipeline.entries()) {
      if (!('$match' in stage)) continue;
      const entries = Object.entries(stage.$match);
      const implied = entries.find(
        ([path, value]) =>
          isPresenceTest(value) &&
          entries.some(([other, test]) => other.startsWith(`${path}.`) && needsValue(test)),
      );
      if (!implied) continue;
      const rest = Object.fromEntries(entries.filter((entry) => entry !== implied));
      return {
        pipeline: replaceStages(pipeline, index, 1, { $match: rest }),
        reason: REASONS.impliedPresence(implied[0]),
      };
    }
    return undefined;
  },
};

const isPresenceTest = (value: Mql): boolean =>
  isDocument(value) && Object.keys(value).length === 1 && value['$ne'] === null;

/** A predicate that an absent value fails. */
export function needsValue(value: Mql): boolean {
  if (!isDocument(value)) return value !== null;
  const operators = Object.entries(value as MqlDocument);
  return (
    operators.length > 0 &&
    operators.every(([operator, operand]) =>
      ['$eq', '$gt', '$gte', '$lt', '$lte', '$regex', '$options'].includes(operator)
        ? operand !== null
        : operator === '$in' && !(operand as readonly Mql[]).includes(null),
    )
  );
}
