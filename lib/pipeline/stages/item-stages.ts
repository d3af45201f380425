import type { Document } from 'mongodb';
import {
  logicalDesignOf,
  type DocumentDesign,
  type IndexDesign,
} from '../../design/model/document-design';
import type { Migration } from '../../migration/migrate';
import type { Item } from '../../sqlite/benchmark';
import { isOutermostOrdered } from '../../sqlite/select/outermost-order';
import { QueryProcess } from '../../sqlite/query/query-process';
import { canonicalText } from '../../results/extended-json';
import { isOutage, Unavailable } from '../../results/unavailable';
import { documentsExamined } from '../../mongo/explain';
import { GuardedError, runGuarded } from '../../mongo/guarded';
import { checkQuery } from '../../translation/check/check-query';
import { type CheckedQuery } from '../../translation/check/checked-query';
import { AMBIGUITIES } from '../../translation/check/open-constructs';
import { isEquivalent, sourceCaveats } from '../../translation/check/equivalence';
import { TIMEOUT_MS } from '../../translation/check/source-rows';
import type { OutputColumn } from '../../translation/check/pipeline-rows';
import type { Translation } from '../../translation/translate';
import {
  suggestIndexes,
  type GoldQuery,
  type IndexSuggestion,
} from '../../translation/index-suggestions';
import { pinPipeline } from '../../translation/check/pinned-clock';
import { isWeaklyTested } from '../../translation/check/weakly-tested';
import { agentContext } from './agent-context';
import type { Attempt, EvidenceContent, GoldContent, Mql, TranslationContent } from './artefacts';
import type { AppliedRule } from '../../translation/rules/optimise';
import { keepWhatPays } from './keep-what-pays';
import { PLAIN_AGGREGATE } from '../../translation/rules/plain-aggregate';
import {
  directivesFor,
  inputOf,
  need,
  readDesign,
  readIndexes,
  type ProfileContent,
} from './design-stages';
import { fieldsInput } from './input-hash';
import { migratedDatabase } from './migration-stages';
import type { ArtefactInput, ProducedArtefact, Stage, StageContext, StageInput } from './stage';

/** Numbered reasons that only running a query can give; the translator's own are below 900. */
const NOT_EQUAL = 900;
const SOURCE_FAILS = 901;
/** Not known to be wrong: a side hit its limit, twice. "Run pending stages" tries these again. */
const LIMIT_CODES = { time: 902, memory: 903 } as const;

const GOLD_LIMITS = { maxTimeMS: TIMEOUT_MS, maxRows: 200_000, maxBytes: 256 * 1024 * 1024 };

interface ItemWork extends ProfileContent {
  readonly design: DocumentDesign;
  readonly indexes: IndexDesign;
  readonly db: Awaited<ReturnType<typeof migratedDatabase>>;
  readonly queries: QueryProcess;
}

/** Runs one piece of work an item, one after the other, with progress; `only` restricts which. */
async function eachItem(
  input: StageInput,
  context: StageContext,
  work: (item: Item, at: ItemWork) => Promise<ProducedArtefact | undefined>,
): Promise<ProducedArtefact[]> {
  const { catalog, profile } = await need<ProfileContent>(input, 'profile', input.source.name);
  const queries = QueryProcess.borrow();
  try {
    const at = {
      catalog,
      profile,
      design: await readDesign(input),
      indexes: await readIndexes(input),
      db: await migratedDatabase(input),
      queries,
    };
    const items = input.items.filter((item) => !input.only || input.only.includes(item.questionId));
    const artefacts: ProducedArtefact[] = [];
    for (const [done, item] of items.entries()) {
      context.signal.throwIfAborted();
      context.progress(done, items.length, 'items');
      const produced = await work(item, at);
      if (produced) artefacts.push(produced);
    }
    context.progress(items.length, items.length, 'items');
    return artefacts;
  } finally {
    queries.giveBack();
  }
}

const keyOf = (input: StageInput, item: Item): string => `${input.source.name}/${item.questionId}`;

export const translationStage: Stage = async (input, context) => {
  const counts = { translated: 0, untranslated: 0 };
  const limited: string[] = [];
  const caveats: Record<string, number> = {};
  const artefacts = await eachItem(input, context, async (item, at) => {
    const answer = await input.agent.translate(
      {
        item,
        catalog: at.catalog,
        profile: at.profile,
        design: at.design,
        directives: directivesFor(input.directives, item.questionId),
      },
      agentContext(input, context),
    );
    const content = await judgeWithinLimits(item, answer, at, input, context);
    if (content.status === 'translated') counts.translated++;
    else counts.untranslated++;
    if (content.reason && isLimitCode(content.reason.code)) limited.push(item.questionId);
    for (const caveat of content.caveats) caveats[caveat] = (caveats[caveat] ?? 0) + 1;
    const inputs =
      answer.status === 'translated'
        ? touchedInputs(input, at.design, answer.touches)
        : [await inputOf(input, 'conceptual_design', input.source.name)];
    return {
      kind: 'translation',
      key: keyOf(input, item),
      content,
      inputs,
      ...(content.status === 'untranslated' ? { gate: 'untranslated' as const } : {}),
    };
  });
  return { artefacts, report: { total: artefacts.length, ...counts, caveats, limited } };
};

const isLimitCode = (code: number): boolean => Object.values<number>(LIMIT_CODES).includes(code);

async function judgeWithinLimits(
  item: Item,
  answer: Translation,
  at: ItemWork,
  input: StageInput,
  context: StageContext,
): Promise<TranslationContent> {
  try {
    return await judge(item, answer, at, input, context);
  } catch (error) {
    const limit = error instanceof Unavailable ? error.resource : undefined;
    if (limit !== 'time' && limit !== 'memory') throw error;
    const { message } = error as Unavailable;
    const attempts: Attempt[] =
      answer.status === 'translated'
        ? [
            {
              mql: { collection: answer.collection, pipeline: answer.pipeline },
              verdict: { kind: 'timeout', detail: message },
            },
          ]
        : [];
    return {
      questionId: item.questionId,
      mql: null,
      columns: [],
      defects: [],
      verdict: null,
      attempts,
      status: 'untranslated',
      caveats: [],
      reason: { code: LIMIT_CODES[limit], text: message },
    };
  }
}

/** Nothing unequal is ever called translated. */
async function judge(
  item: Item,
  answer: Translation,
  at: ItemWork,
  input: StageInput,
  context: StageContext,
): Promise<TranslationContent> {
  const base = {
    questionId: item.questionId,
    mql: null,
    columns: [],
    defects: answer.status === 'translated' ? answer.defects : [],
    verdict: null,
    attempts: [] as Attempt[],
  };
  if (answer.status === 'untranslated')
    return {
      ...base,
      status: 'untranslated',
      caveats: await openCaveats(item, at, input, context),
      reason: { code: answer.code, text: answer.reason },
    };
  const mql: Mql = { collection: answer.collection, pipeline: answer.pipeline };
  const { verdict, caveats, expected } = await equivalence(
    item,
    mql,
    answer.columns,
    at,
    input,
    context,
  );
  // What SQL leaves open is a matter of the source: the check tells, whatever the translation had
  // to choose.
  const own = answer.caveats.filter(
    (caveat) => !(AMBIGUITIES as readonly string[]).includes(caveat),
  );
  const all = [...new Set([...own, ...caveats])].sort();
  const translated = {
    ...base,
    status: 'translated' as const,
    mql,
    columns: answer.columns,
    caveats: all,
    verdict,
  };
  if (verdict.kind === 'equal') return translated;
  const attempts: Attempt[] = [{ mql, verdict: { kind: verdict.kind, detail: verdict.detail } }];
  if (answer.alternative && expected) {
    const other: Mql = { collection: answer.collection, pipeline: answer.alternative };
    const second = await equivalence(item, other, answer.columns, at, input, context);
    // SQLite's own answer before another legal one.
    const isBetter =
      second.verdict.kind === 'equal' || (isEquivalent(second.verdict) && !isEquivalent(verdict));
    if (isBetter) return { ...translated, mql: other, verdict: second.verdict, attempts };
    attempts.push({
      mql: other,
      verdict: { kind: second.verdict.kind, detail: second.verdict.detail },
    });
  }
  if (isEquivalent(verdict)) return translated;
  if (!expected) {
    return {
      ...base,
      status: 'untranslated',
      caveats: [...new Set([...all, 'source_defect'])],
      verdict,
      attempts,
      reason: { code: SOURCE_FAILS, text: verdict.detail },
    };
  }
  return {
    ...base,
    status: 'untranslated',
    caveats: all,
    verdict,
    attempts,
    reason: {
      code: NOT_EQUAL,
      text: `the pipeline's result is not equal to the query's: ${verdict.detail}`,
    },
  };
}

/** An item that is not translated is as ambiguous as one that is. */
async function openCaveats(
  item: Item,
  at: ItemWork,
  input: StageInput,
  context: StageContext,
): Promise<readonly string[]> {
  const { catalog, queries } = at;
  const query = {
    sql: item.sql,
    sourcePath: input.source.path,
    catalog,
    queries,
    clock: input.settings.pinnedClock,
    signal: context.signal,
  };
  try {
    const caveats = await sourceCaveats({ ...query, ...(input.known && { known: input.known }) });
    return [...caveats].sort();
  } catch (error) {
    // The reason why it is not translated says more than that its query is slow.
    if (error instanceof Unavailable && !isOutage(error)) return [];
    throw error;
  }
}

const equivalence = (
  item: Item,
  mql: Mql,
  columns: readonly OutputColumn[],
  at: ItemWork,
  input: StageInput,
  context: StageContext,
  candidate?: { readonly maxTimeMS: number },
): Promise<CheckedQuery> =>
  checkQuery(
    {
      sql: item.sql,
      sourcePath: input.source.path,
      catalog: at.catalog,
      queries: at.queries,
      db: at.db,
      collection: mql.collection,
      pipeline: mql.pipeline,
      columns,
      clock: input.settings.pinnedClock,
      signal: context.signal,
      ...(candidate && { candidate }),
    },
    input.known,
  );

function touchedInputs(
  input: StageInput,
  design: DocumentDesign,
  touches: readonly { readonly collection: string; readonly fields: readonly string[] }[],
): ArtefactInput[] {
  return touches.map(({ collection, fields }) => {
    const logical = logicalDesignOf(design, collection);
    if (!logical) throw new Error(`a query touches ${collection}, which the design does not have`);
    return fieldsInput(`${input.source.name}/${collection}`, logical, fields);
  });
}

/**
 * Optimises every translated item and makes it gold. After the rules the result must still be
 * equal, no more documents may be examined, and it may not take longer; otherwise the translation
 * stays as it was, and the artefact says which rules were undone.
 */
export const optimisationStage: Stage = async (input, context) => {
  let optimised = 0;
  const artefacts = await eachItem(input, context, async (item, at) => {
    const key = keyOf(input, item);
    const translation = await need<TranslationContent>(input, 'translation', key);
    if (translation.status !== 'translated' || !translation.mql) return undefined;
    const content = await optimiseItem(
      item,
      { ...translation, mql: translation.mql },
      at,
      input,
      context,
    );
    if (content.optimised) optimised++;
    const inputs = [await inputOf(input, 'translation', key)];
    return {
      kind: 'gold',
      key,
      content,
      inputs,
      ...(content.optimised ? { gate: 'optimised_query' as const } : {}),
    };
  });
  return {
    artefacts,
    report: {
      gold: artefacts.length,
      optimised,
      indexSuggestions: await indexSuggestions(input, artefacts),
    },
  };
};

/** Over all gold of the database, that of earlier runs too: an index serves queries together. */
async function indexSuggestions(
  input: StageInput,
  produced: readonly ProducedArtefact[],
): Promise<IndexSuggestion[]> {
  const fresh = new Map(produced.map(({ key, content }) => [key, content as GoldContent]));
  const gold: GoldQuery[] = [];
  for (const item of input.items) {
    const key = keyOf(input, item);
    const content =
      fresh.get(key) ??
      (input.only ? await input.read<GoldContent>({ kind: 'gold', key }) : undefined);
    if (content) gold.push({ questionId: item.questionId, ...content.mql });
  }
  const indexes = await readIndexes(input);
  const db = await migratedDatabase(input);
  const { collections } = await need<Migration>(input, 'migration', input.source.name);
  const counts = new Map<string, Promise<number>>(
    collections.map(({ name, documents }) => [countKey(name, {}), Promise.resolve(documents)]),
  );
  const count = (collection: string, filter: Document): Promise<number> => {
    const key = countKey(collection, filter);
    const counted = counts.get(key) ?? db.collection(collection).countDocuments(filter);
    counts.set(key, counted);
    return counted;
  };
  return suggestIndexes(gold, await readDesign(input), indexes, count);
}

const countKey = (collection: string, filter: Document): string =>
  `${collection} ${canonicalText(filter)}`;

async function optimiseItem(
  item: Item,
  translation: TranslationContent & { mql: Mql },
  at: ItemWork,
  input: StageInput,
  context: StageContext,
): Promise<GoldContent> {
  const before = translation.mql;
  const directives = directivesFor(input.directives, item.questionId);
  const keep =
    input.settings.rules === 'none' ||
    directives.some((directive) => directive.kind === 'keep_unoptimised');
  const answer = keep
    ? { pipeline: before.pipeline, applied: [] as AppliedRule[] }
    : await input.agent.optimise(
        {
          item,
          collection: before.collection,
          pipeline: before.pipeline,
          catalog: at.catalog,
          profile: at.profile,
          design: at.design,
          indexes: at.indexes,
          directives,
        },
        agentContext(input, context),
      );
  const {
    mql: after,
    rules,
    undone,
    checked,
    documentsExamined: examined,
    timing,
  } = await keepWhatPays(before, answer.applied, {
    check: (mql, candidate) =>
      equivalence(item, mql, translation.columns, at, input, context, candidate),
    explain: (mql) => documentsExamined(at.db, mql.collection, mql.pipeline, context.signal),
    run: (mql) => runToTheEnd(mql, at, input, context),
  });
  const { verdict, expected, run } = checked;
  if (!isEquivalent(verdict) || !expected)
    throw new Error(`item ${item.questionId} is no longer equal: ${verdict.detail}`);
  const orderSensitive = isOutermostOrdered(item.sql);
  const isWeak = await isWeaklyTested({
    db: at.db,
    collection: after.collection,
    pipeline: after.pipeline,
    design: at.design,
    ordered: orderSensitive,
    clock: input.settings.pinnedClock,
    signal: context.signal,
    ...(run && { known: run }),
  });
  return {
    questionId: item.questionId,
    mql: after,
    before,
    columns: translation.columns,
    caveats: [
      ...new Set([
        ...translation.caveats,
        ...(isWeak ? ['weakly_tested'] : []),
        ...(rules.some(({ rule }) => rule === PLAIN_AGGREGATE) ? ['empty_aggregate'] : []),
      ]),
    ].sort(),
    defects: translation.defects,
    optimised: rules.length > 0,
    rules,
    undone,
    verdict,
    rowCount: expected.rowCount,
    resultDigest: expected.digest,
    orderSensitive,
    ...(translation.caveats.includes('time_dependent') && { clock: input.settings.pinnedClock }),
    documentsExamined: examined,
    ...(timing && { timing }),
  };
}

/** For its time: what is cut off has taken the time until then. */
async function runToTheEnd(
  mql: Mql,
  at: ItemWork,
  input: StageInput,
  context: StageContext,
): Promise<void> {
  try {
    await runGuarded(at.db, mql.collection, pinPipeline(mql.pipeline, input.settings.pinnedClock), {
      ...GOLD_LIMITS,
      signal: context.signal,
    });
  } catch (error) {
    if (!(error instanceof GuardedError && error.kind === 'timeout') || context.signal.aborted)
      throw error;
  }
}

export const evidenceStage: Stage = async (input, context) => {
  const artefacts = await eachItem(input, context, async (item, at) => {
    const key = keyOf(input, item);
    const gold = await input.read<GoldContent>({ kind: 'gold', key });
    if (item.evidence.trim() === '' || !gold) return undefined;
    const rewritten = await input.agent.rewriteEvidence(
      {
        item,
        collection: gold.mql.collection,
        pipeline: gold.mql.pipeline as Document[],
        catalog: at.catalog,
        profile: at.profile,
        design: at.design,
      },
      agentContext(input, context),
    );
    const content: EvidenceContent = {
      questionId: item.questionId,
      evidence: item.evidence,
      evidenceMql: rewritten.text,
      paths: rewritten.paths,
      unmatched: rewritten.unmatched,
    };
    return {
      kind: 'evidence',
      key,
      content,
      inputs: [await inputOf(input, 'gold', key)],
      gate: 'evidence',
    };
  });
  return { artefacts, report: { evidence: artefacts.length } };
};
