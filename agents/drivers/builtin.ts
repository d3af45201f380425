import { deriveDesign, deriveLogical } from '../../lib/design/logical/logical';
import { proposeIndexes } from '../../lib/design/cost/indexes';
import { describeDesign } from '../../lib/design/document/describe-design';
import { proposeDesign } from '../../lib/design/propose/propose';
import { optimise } from '../../lib/translation/rules/optimise';
import { rewriteEvidence } from '../../lib/translation/evidence/evidence';
import { translate } from '../../lib/translation/translate';
import type { Agent } from '../contract';

/**
 * The deterministic agent: no key, no network, the same answer every time. The default, and the
 * baseline.
 */
export const builtinAgent: Agent = {
  name: 'builtin',

  async conceptualDesign(task) {
    const { design, cannotAct } = proposeDesign(task);
    const whole = deriveDesign({
      conceptual: design,
      catalog: task.catalog,
      profile: task.profile,
      directives: task.directives,
      types: task.types,
    });
    const indexes =
      task.strategy === 'access-pattern'
        ? proposeIndexes(whole, task.catalog, task.profile, task.workload)
        : noIndexes(design);
    const document = describeDesign(design, { ...task, whole, indexes });
    return { design: { ...design, document }, indexes, cannotAct };
  },

  async logicalDesign({ collection, ...task }) {
    return deriveLogical(collection, task);
  },

  async translate({ item, catalog, profile, design }) {
    return translate(item.sql, { catalog, profile, design });
  },

  async optimise({ collection, pipeline, catalog, profile, design, indexes, directives }) {
    const dropped = directives.flatMap((directive) =>
      directive.kind === 'drop_rule' ? [directive.rule] : [],
    );
    return optimise({ collection, pipeline, catalog, profile, design, indexes, without: dropped });
  },

  async rewriteEvidence({ item, collection, pipeline, catalog, design }) {
    return rewriteEvidence(item.evidence, { catalog, design, pipeline, collection, sql: item.sql });
  },
};

// The baselines are measured as their authors built them: without indexes.
const noIndexes = (design: {
  readonly collections: readonly { readonly name: string }[];
}): Record<string, never[]> => Object.fromEntries(design.collections.map(({ name }) => [name, []]));
