import type { Document } from 'mongodb';
import { plainFinalProjection } from '../mql/final-projection';
import { sameMql } from '../mql/same-mql';
import { readPipeline, type Pipeline } from '../mql/stage';
import type { Rewriting, Rule, RuleContext } from './rule';
import { attributeMatch } from './attribute-match';
import { countStage } from './count-stage';
import { copiedPartner } from './copied-partner';
import { dropLookup } from './drop-lookup';
import { elemMatch } from './elem-match';
import { exprToPredicate } from './expr-to-predicate';
import { facetCount } from './facet-count';
import { groupById } from './group-by-id';
import { groupByKey } from './group-by-key';
import { impliedPresence } from './implied-presence';
import { inSubPipelines } from './in-sub-pipelines';
import { lookupByFields } from './lookup-by-fields';
import { lookupKey } from './lookup-key';
import { lookupOnce } from './lookup-once';
import { lookupDirection } from './lookup-direction';
import { matchBeforeUnwind } from './match-before-unwind';
import { matchEarly } from './match-early';
import { mergeMatches } from './merge-matches';
import { mergeProjects } from './merge-projects';
import { ownArray } from './own-array';
import { plainAggregate } from './plain-aggregate';
import { setOnce } from './set-once';
import { sortLimitEarly } from './sort-limit-early';
import { topOfGroup } from './top-of-group';
import { unwindCount } from './unwind-count';
import { unwindFold } from './unwind-fold';

export interface AppliedRule {
  readonly rule: string;
  readonly reason: string;
  readonly before: readonly Document[];
  readonly after: readonly Document[];
  /** The collection that `after` starts from, where the rule changed it. */
  readonly collection?: string;
}

/** The collection from which a pipeline starts after some rules. */
export const startOf = (collection: string, applied: readonly AppliedRule[]): string =>
  applied.reduce((current, rule) => rule.collection ?? current, collection);

export interface Optimisation {
  readonly pipeline: Document[];
  readonly collection: string;
  /** In the order of application; each one's `before` is the one's `after` before it. */
  readonly applied: readonly AppliedRule[];
}

export interface OptimisationInput extends RuleContext {
  readonly pipeline: readonly Document[];
  /** Names of rules not to use, at a reviewer's directive. */
  readonly without?: readonly string[];
}

/** In this order; after each application the list is tried from its start again. */
export const RULES: readonly Rule[] = [
  exprToPredicate,
  lookupByFields,
  lookupKey,
  dropLookup,
  ownArray,
  copiedPartner,
  matchEarly,
  mergeMatches,
  impliedPresence,
  elemMatch,
  unwindCount,
  unwindFold,
  groupById,
  groupByKey,
  sortLimitEarly,
  topOfGroup,
  mergeProjects,
  countStage,
  facetCount,
  setOnce,
]
  .flatMap((rule) => [rule, inSubPipelines(rule)])
  // Last, because only a run shows whether they are right or pay: undoing them must undo nothing
  // else.
  .concat(
    lookupOnce,
    matchBeforeUnwind,
    lookupDirection,
    plainAggregate,
    attributeMatch,
    inSubPipelines(attributeMatch),
  );

const MOST_STEPS = 100;

/**
 * Makes any pipeline over the design more MongoDB-native, rule by rule to a fixpoint. The rules
 * keep the rows as far as they can see; whoever calls this runs both pipelines and undoes the rules
 * when they differ.
 */
export function optimise({ pipeline, without = [], ...context }: OptimisationInput): Optimisation {
  const rules = RULES.filter(({ name }) => !without.includes(name));
  const applied: AppliedRule[] = [];
  let current = readPipeline(pipeline);
  // Not as MongoDB takes it: there is nothing that a rule could rely on.
  if (!current) return { pipeline: [...pipeline], collection: context.collection, applied };
  for (let step = 0; step < MOST_STEPS; step++) {
    const collection = startOf(context.collection, applied);
    const next = firstChange(rules, current, { ...context, collection });
    if (!next) break;
    applied.push({
      rule: next.rule,
      reason: next.reason,
      before: current as readonly Document[],
      after: next.pipeline as readonly Document[],
      ...(next.collection !== undefined && { collection: next.collection }),
    });
    current = next.pipeline;
  }
  return {
    pipeline: [...current] as Document[],
    collection: startOf(context.collection, applied),
    applied,
  };
}

function firstChange(
  rules: readonly Rule[],
  pipeline: Pipeline,
  context: RuleContext,
): (Rewriting & { rule: string }) | undefined {
  for (const rule of rules) {
    const found = rule.apply(pipeline, context);
    const rewritten = found && plainFinalProjection(found.pipeline);
    if (rewritten && !sameMql(rewritten, pipeline))
      return { rule: rule.name, ...found, pipeline: rewritten };
  }
  return undefined;
}
