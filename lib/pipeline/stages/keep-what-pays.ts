import type { VerdictKind } from '../../results/compare';
import type { CheckedQuery } from '../../translation/check/checked-query';
import { isEquivalent } from '../../translation/check/equivalence';
import { TIMEOUT_MS } from '../../translation/check/source-rows';
import { startOf, type AppliedRule } from '../../translation/rules/optimise';
import { timeBoth } from '../../translation/mql/timing';
import type { GoldContent, Mql } from './artefacts';

/** How rewritings are tried; each of these runs the query once. */
export interface Trials {
  /**
   * `candidate`: a rewriting, which is given up at the first row too many, or when it does not
   * finish in this time.
   */
  check(mql: Mql, candidate?: { readonly maxTimeMS: number }): Promise<CheckedQuery>;
  /** Documents examined; null where the server does not tell. */
  explain(mql: Mql): Promise<number | null>;
  /** As long as it takes, or until it is cut off. */
  run(mql: Mql): Promise<unknown>;
}

export interface Kept extends Pick<
  GoldContent,
  'mql' | 'rules' | 'undone' | 'documentsExamined' | 'timing'
> {
  readonly checked: CheckedQuery;
}

/**
 * What is left of the rules when the result must still be equal and no more documents may be
 * examined. Each rule builds on those before it: the last one goes until what is left passes. How
 * long a run takes is measured for the reviewer and decides nothing, so that the same input gives
 * the same gold on every machine.
 */
export async function keepWhatPays(
  before: Mql,
  applied: readonly AppliedRule[],
  trials: Trials,
): Promise<Kept> {
  const first = await trials.check(before);
  const documentsExamined = { before: null, after: null };
  const unchanged: Kept = { mql: before, rules: [], undone: [], documentsExamined, checked: first };
  if (applied.length === 0) return unchanged;
  // Not before a rewriting is equal: then both are explained one after the other, under the same
  // conditions.
  let explained: Explained | undefined;
  const explainBefore = async (): Promise<Explained> =>
    (explained ??= await explain(trials, before));
  const undone: { rule: string; reason: string }[] = [];
  for (let rules = applied; rules.length > 0; rules = rules.slice(0, -1)) {
    const mql: Mql = {
      collection: startOf(before.collection, rules),
      pipeline: rules.at(-1)!.after,
    };
    const tried = await attempt(before, first.verdict.kind, explainBefore, mql, trials);
    if (!('worse' in tried)) return { mql, rules, undone, ...tried };
    undone.unshift({ rule: rules.at(-1)!.rule, reason: tried.worse });
  }
  return { ...unchanged, undone };
}

type Attempt = { readonly worse: string } | Pick<Kept, 'checked' | 'documentsExamined' | 'timing'>;

async function attempt(
  before: Mql,
  verdictBefore: VerdictKind,
  explainBefore: () => Promise<Explained>,
  after: Mql,
  trials: Trials,
): Promise<Attempt> {
  const checked = await trials.check(after, { maxTimeMS: TIMEOUT_MS });
  if (checked.verdict.kind === 'timeout')
    return { worse: 'it does not finish within the time limit' };
  if (!isEquivalent(checked.verdict))
    return { worse: `the result changed: ${checked.verdict.detail}` };
  // SQLite's own answer is not given up for another legal one.
  const isOtherChoice = verdictBefore === 'equal' && checked.verdict.kind === 'tie';
  if (isOtherChoice) return { worse: 'it chooses other rows among ties' };
  const explained = await explainBefore();
  const now = await explain(trials, after);
  const isKnown = explained.documents !== null && now.documents !== null;
  if (isKnown && now.documents! > explained.documents!) {
    return { worse: `${now.documents} documents were examined instead of ${explained.documents}` };
  }
  // Explaining runs the query: where that took seconds, it was measurement enough. What could not
  // be explained need not have run.
  const ran = isKnown ? { before: explained.milliseconds, after: now.milliseconds } : undefined;
  const timing = await timeBoth(
    () => trials.run(before),
    () => trials.run(after),
    ran,
  );
  return {
    checked,
    documentsExamined: { before: explained.documents, after: now.documents },
    timing,
  };
}

interface Explained {
  readonly documents: number | null;
  readonly milliseconds: number;
}

async function explain(trials: Trials, mql: Mql): Promise<Explained> {
  const started = performance.now();
  const documents = await trials.explain(mql);
  return { documents, milliseconds: performance.now() - started };
}
