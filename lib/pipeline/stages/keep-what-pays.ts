import type { CheckedQuery } from '../../translation/check-query';
import { isEquivalent, TIMEOUT_MS } from '../../translation/equivalence';
import { startOf, type AppliedRule } from '../../translation/optimise';
import { isSlower, timeBoth, type Timing } from '../../translation/timing';
import type { GoldContent, Mql } from './artefacts';

/** How rewritings are tried; each of these runs the query once. */
export interface Trials {
  /** `candidate`: a rewriting, which may be given up at the first row too many and after this time. */
  check(mql: Mql, candidate?: { readonly maxTimeMS: number }): Promise<CheckedQuery>;
  /** Documents examined; null where the server does not tell. */
  explain(mql: Mql): Promise<number | null>;
  /** As long as it takes, or until it is cut off. */
  run(mql: Mql): Promise<unknown>;
}

export interface Kept extends Pick<GoldContent, 'mql' | 'rules' | 'undone' | 'documentsExamined' | 'timing'> {
  readonly checked: CheckedQuery;
}

/** A rewriting is given up when it runs this many times as long as what it replaces, and longer than a busy machine explains. */
const FAR_SLOWER = 4;
const PATIENCE_MS = 10_000;

/**
 * What is left of the rules when the result must still be equal, no more documents may be examined, and it may not take
 * clearly longer. Each rule stands on those before it: the last one goes until what is left passes.
 */
export async function keepWhatPays(before: Mql, applied: readonly AppliedRule[], trials: Trials): Promise<Kept> {
  const first = await trials.check(before);
  const unchanged: Kept = { mql: before, rules: [], undone: [], documentsExamined: { before: null, after: null }, checked: first };
  if (applied.length === 0) return unchanged;
  // Not before a rewriting is equal: then both are explained one after the other, under the same conditions.
  let explained: Explained | undefined;
  const explainBefore = async (): Promise<Explained> => (explained ??= await explain(trials, before));
  const maxTimeMS = first.run ? Math.min(TIMEOUT_MS, Math.max(PATIENCE_MS, FAR_SLOWER * first.run.milliseconds)) : TIMEOUT_MS;
  const undone: { rule: string; reason: string }[] = [];
  for (let rules = applied; rules.length > 0; rules = rules.slice(0, -1)) {
    const mql: Mql = { collection: startOf(before.collection, rules), pipeline: rules.at(-1)!.after };
    const tried = await attempt(before, explainBefore, mql, maxTimeMS, trials);
    if (!('worse' in tried)) return { mql, rules, undone, ...tried };
    undone.unshift({ rule: rules.at(-1)!.rule, reason: tried.worse });
  }
  return { ...unchanged, undone };
}

async function attempt(before: Mql, explainBefore: () => Promise<Explained>, after: Mql, maxTimeMS: number, trials: Trials): Promise<{ readonly worse: string } | Pick<Kept, 'checked' | 'documentsExamined' | 'timing'>> {
  let checked = await trials.check(after, { maxTimeMS });
  if (checked.verdict.kind === 'timeout' && maxTimeMS < TIMEOUT_MS) {
    // No figures in reasons: they would make another version of each run.
    if (isSlower({ before: await timeOf(() => trials.run(before)), after: maxTimeMS })) return { worse: SLOWER };
    // It is the machine that is slower than it was.
    checked = await trials.check(after, { maxTimeMS: TIMEOUT_MS });
  }
  if (!isEquivalent(checked.verdict)) return { worse: `the result changed: ${checked.verdict.detail}` };
  const explained = await explainBefore();
  const now = await explain(trials, after);
  if (explained.documents !== null && now.documents !== null && now.documents > explained.documents) {
    return { worse: `${now.documents} documents were examined instead of ${explained.documents}` };
  }
  // Explaining runs the query: where that took seconds, it was measurement enough. What could not be explained need not have run.
  const ran = explained.documents !== null && now.documents !== null ? { before: explained.milliseconds, after: now.milliseconds } : undefined;
  const timing: Timing = await timeBoth(() => trials.run(before), () => trials.run(after), ran);
  return isSlower(timing) ? { worse: SLOWER } : { checked, documentsExamined: { before: explained.documents, after: now.documents }, timing };
}

const SLOWER = 'it took clearly longer';

interface Explained {
  readonly documents: number | null;
  readonly milliseconds: number;
}

async function explain(trials: Trials, mql: Mql): Promise<Explained> {
  let documents: number | null = null;
  const milliseconds = await timeOf(async () => (documents = await trials.explain(mql)));
  return { documents, milliseconds };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
