import { isDocument, type MqlDocument } from '../mql/mql';
import { replaceStages, type Rewriting, type Rule, type RuleContext } from './rule';

/**
 * Applies a rule inside `$lookup` and `$unionWith`; their pipelines start from a collection of
 * their own.
 */
export function inSubPipelines(rule: Rule): Rule {
  return {
    name: rule.name,
    apply(pipeline, context) {
      for (const [index, stage] of pipeline.entries()) {
        const inner = subPipeline(stage);
        if (!inner) continue;
        const { joinedBy: _, ...outer } = context;
        const own: RuleContext = {
          ...outer,
          collection: inner.collection,
          ...(inner.joinedBy !== undefined && { joinedBy: inner.joinedBy }),
        };
        const found: Rewriting | undefined =
          rule.apply(inner.stages, own) ?? inSubPipelines(rule).apply(inner.stages, own);
        if (found)
          return {
            pipeline: replaceStages(pipeline, index, 1, inner.put(found.pipeline)),
            reason: found.reason,
          };
      }
      return undefined;
    },
  };
}

function subPipeline(stage: MqlDocument):
  | {
      collection: string;
      joinedBy?: string;
      stages: readonly MqlDocument[];
      put: (stages: readonly MqlDocument[]) => MqlDocument;
    }
  | undefined {
  const lookup = stage['$lookup'];
  const union = stage['$unionWith'];
  if (isDocument(lookup) && Array.isArray(lookup['pipeline'])) {
    return {
      collection: String(lookup['from']),
      ...(typeof lookup['foreignField'] === 'string' && { joinedBy: lookup['foreignField'] }),
      stages: lookup['pipeline'] as MqlDocument[],
      put: (stages) => ({ $lookup: { ...lookup, pipeline: stages } }),
    };
  }
  if (isDocument(union) && Array.isArray(union['pipeline'])) {
    return {
      collection: String(union['coll']),
      stages: union['pipeline'] as MqlDocument[],
      put: (stages) => ({ $unionWith: { ...union, pipeline: stages } }),
    };
  }
  return undefined;
}
