import { embeddedArrays } from '../../design/model/column-fields';
import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { dropsEmpty, unwindPath } from '../mql/pipeline-paths';
import { sameMql } from '../mql/same-mql';
import { documentsOf, replaceStages, type Rule } from './rule';
import { needsValue } from './implied-presence';
import { REASONS } from './reasons';

/** Fewer documents are read faster than they are thought about. */
const WORTH_ROWS = 1000;

/**
 * Entries that a filter lets through lie in documents that have such an entry: asking for those
 * first spares unwinding the others, and is what an index over the array serves.
 */
export const matchBeforeUnwind: Rule = {
  name: 'match-before-unwind',
  apply(pipeline, context) {
    const arrays = embeddedArrays(context.design, context.collection);
    for (let index = 0; index + 1 < pipeline.length; index++) {
      const [unwind, match] = pipeline.slice(index, index + 2);
      if (!unwind || !('$unwind' in unwind) || !dropsEmpty(unwind)) continue;
      if (!match || !('$match' in match)) continue;
      const path = unwindPath(unwind);
      if (path.includes('.') || !arrays.includes(path)) continue;
      const before = pipeline.slice(0, index).filter((stage) => '$match' in stage);
      if (before.length < index) continue;
      const entries = Object.entries(match.$match).filter(
        ([key, value]) => key.startsWith(`${path}.`) && needsValue(value),
      );
      const [[only = '', value] = []] = entries;
      if (
        entries.length === 0 ||
        value === undefined ||
        documentsOf(context.collection, context) < WORTH_ROWS
      )
        continue;
      const inner = Object.fromEntries(
        entries.map(([key, test]) => [key.slice(path.length + 1), test]),
      );
      const filter: MqlDocument =
        entries.length === 1 && isEquality(value)
          ? { [only]: value }
          : { [path]: { $elemMatch: inner } };
      const isKnown = before.some(({ $match: known }) =>
        Object.entries(filter).every(([key, test]) => sameMql(known[key], test)),
      );
      if (isKnown) continue;
      return {
        pipeline: replaceStages(pipeline, index, 0, { $match: filter }),
        reason: REASONS.matchBeforeUnwind(path),
      };
    }
    return undefined;
  },
};

// Of a range over an array each bound may be met by another entry.
const isEquality = (value: Mql): boolean =>
  !isDocument(value) ||
  Object.keys(value).every((operator) => operator === '$eq' || operator === '$in');
