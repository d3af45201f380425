import type { MqlDocument } from '../mql/mql';
import { isDocument } from '../mql/mql';
import { pathsInExpression } from '../mql/pipeline-paths';
import { replaceStages, type Rule } from './rule';
import { countedField } from './count-stage';
import { REASONS } from './reasons';

/**
 * Inside a `$facet` whose rows are read by one field, a `$group` that only counts is a `$count`.
 */
export const facetCount: Rule = {
  name: 'facet-count',
  apply(pipeline) {
    for (const [index, stage] of pipeline.entries()) {
      const facet = stage['$facet'];
      if (!isDocument(facet)) continue;
      const [[name, inner] = ['', []], ...others] = Object.entries(facet);
      const stages = inner as readonly MqlDocument[];
      const last = stages.at(-1);
      const counted = last && countedField(last);
      if (
        others.length > 0 ||
        counted === undefined ||
        !readsOnly(pipeline[index + 1], `${name}.${counted}`)
      )
        continue;
      const replaced = { $facet: { [name]: [...stages.slice(0, -1), { $count: counted }] } };
      return {
        pipeline: replaceStages(pipeline, index, 1, replaced),
        reason: REASONS.countStage(),
      };
    }
    return undefined;
  },
};

const readsOnly = (stage: MqlDocument | undefined, path: string): boolean => {
  const read = isDocument(stage?.['$project']) ? [...pathsInExpression(stage['$project'])] : [];
  return read.length > 0 && read.every((other) => other === path);
};
