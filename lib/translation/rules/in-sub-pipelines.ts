import type { Pipeline, Stage } from '../mql/stage';
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

interface SubPipeline {
  readonly collection: string;
  /** The field by which the documents are found. */
  readonly joinedBy?: string;
  readonly stages: Pipeline;
  put(stages: Pipeline): Stage;
}

function subPipeline(stage: Stage): SubPipeline | undefined {
  if ('$lookup' in stage) {
    const { $lookup } = stage;
    const { pipeline, foreignField } = $lookup;
    return (
      pipeline && {
        collection: $lookup.from,
        ...(foreignField !== undefined && { joinedBy: foreignField }),
        stages: pipeline,
        put: (stages) => ({ $lookup: { ...$lookup, pipeline: stages } }),
      }
    );
  }
  if (!('$unionWith' in stage)) return undefined;
  const { $unionWith } = stage;
  return (
    $unionWith.pipeline && {
      collection: $unionWith.coll,
      stages: $unionWith.pipeline,
      put: (stages) => ({ $unionWith: { ...$unionWith, pipeline: stages } }),
    }
  );
}
