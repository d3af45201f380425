import { z } from 'zod';
import { documentsExamined } from '../../mongo/explain';
import { findForbidden } from '../../mql/allow-list';
import { MqlSyntaxError, parseMql } from '../../mql/parse';
import { isOutage, Unavailable } from '../../results/unavailable';
import type { Item } from '../../sqlite/benchmark';
import { isOutermostOrdered } from '../../sqlite/select/outermost-order';
import { QueryProcess } from '../../sqlite/query/query-process';
import { lintMql, type MqlProblem } from '../../translation/check/lint-mql';
import type { MqlDocument } from '../../translation/mql/mql';
import {
  checkEquivalence,
  isEquivalent,
  type Equivalence,
} from '../../translation/check/equivalence';
import { resultDigest } from '../../results/result-digest';
import type { OutputColumn } from '../../translation/check/pipeline-rows';
import { identity } from '../../design/model/transform';
import type { GoldContent, Mql, TranslationContent } from './artefacts';
import { inputOf, need, readDesign, type ProfileContent } from './design-stages';
import { migratedDatabase } from './migration-stages';
import type { ArtefactRef, StageInput } from './stage';
import { type EditProblem, type EditOutcome, type Refusal, refuse } from './edit-outcome';
import { allDesignInputs } from './design-inputs';
import { itemOf } from './edited-item';

const mqlEdit = z.union([
  z.strictObject({ text: z.string().min(1).max(200_000) }),
  z.looseObject({
    mql: z.strictObject({
      collection: z.string().min(1),
      pipeline: z.array(z.record(z.string(), z.unknown())),
    }),
  }),
]);

export async function checkMql(
  ref: ArtefactRef,
  content: unknown,
  input: StageInput,
  signal: AbortSignal,
): Promise<EditOutcome> {
  const mql = readMqlEdit(content);
  if ('ok' in mql) return mql;
  const item = itemOf(ref, input);
  const unknown = lintMql(mql.collection, mql.pipeline as MqlDocument[], await readDesign(input));
  if (unknown.length > 0) return { ok: false, problems: unknown.map(toEditProblem) };
  const translation = await need<TranslationContent>(input, 'translation', ref.key);
  const checked = await withinLimits(() =>
    compareEdited(item, mql, translation.columns, input, signal),
  );
  if (checked instanceof Unavailable)
    return refuse('', `The result cannot be compared: ${checked.message}`);
  const { expected, verdict, columns } = checked;
  if (!isEquivalent(verdict) || !expected)
    return refuse('', `the result is not equal to that of the SQL: ${verdict.detail}`);
  const caveats = [...new Set([...translation.caveats, ...checked.caveats])].sort();
  const edit: EqualEdit = { ref, item, mql, columns, caveats, verdict, expected };
  const outcome =
    ref.kind === 'translation'
      ? await editedTranslation(edit, translation, input)
      : await editedGold(edit, input);
  return expected.rows.length === 0 ? { ...outcome, notes: [EMPTY_RESULTS] } : outcome;
}

/** The edited query; a refusal where it is no query, or one that may not run. */
function readMqlEdit(content: unknown): Mql | Refusal {
  const parsed = mqlEdit.safeParse(content);
  if (!parsed.success)
    return refuse('', 'a query is edited as text, or as {mql: {collection, pipeline}}');
  try {
    const mql =
      'text' in parsed.data
        ? parseMql(parsed.data.text as string)
        : (parsed.data as { mql: Mql }).mql;
    const forbidden = findForbidden(mql.pipeline);
    return forbidden ? refuse(`pipeline.${forbidden.at}`, forbidden.message) : mql;
  } catch (error) {
    if (error instanceof MqlSyntaxError) return refuse('', error.message);
    throw error;
  }
}

/** A query of a reviewer whose result is equal to that of the SQL. */
interface EqualEdit {
  readonly ref: ArtefactRef;
  readonly item: Item;
  readonly mql: Mql;
  readonly columns: readonly OutputColumn[];
  readonly caveats: readonly string[];
  readonly verdict: Equivalence['verdict'];
  readonly expected: NonNullable<Equivalence['expected']>;
}

async function editedTranslation(
  { ref, item, mql, columns, caveats, verdict }: EqualEdit,
  { defects, attempts }: TranslationContent,
  input: StageInput,
): Promise<Extract<EditOutcome, { ok: true }>> {
  const content: TranslationContent = {
    questionId: item.questionId,
    status: 'translated',
    mql,
    columns,
    caveats,
    defects,
    verdict,
    attempts,
  };
  return {
    ok: true,
    artefact: {
      kind: 'translation',
      key: ref.key,
      content,
      inputs: await allDesignInputs(input),
    },
    restart: { stage: 'optimisation', only: [item.questionId] },
  };
}

async function editedGold(
  { ref, item, mql, columns, caveats, verdict, expected }: EqualEdit,
  input: StageInput,
): Promise<Extract<EditOutcome, { ok: true }>> {
  const before = await need<GoldContent>(input, 'gold', ref.key);
  const db = await migratedDatabase(input);
  const examined = (query: Mql): Promise<number | null> =>
    documentsExamined(db, query.collection, query.pipeline);
  const content: GoldContent = {
    ...before,
    mql,
    columns,
    caveats,
    optimised: true,
    rules: [
      ...before.rules,
      {
        rule: 'edited-by-reviewer',
        reason: 'a reviewer rewrote the pipeline',
        before: before.mql.pipeline,
        after: mql.pipeline,
      },
    ],
    verdict,
    rowCount: expected.rows.length,
    resultDigest: resultDigest(expected, isOutermostOrdered(item.sql)),
    documentsExamined: {
      before: before.documentsExamined.before ?? (await examined(before.before)),
      after: await examined(mql),
    },
  };
  return {
    ok: true,
    artefact: {
      kind: 'gold',
      key: ref.key,
      content,
      inputs: [await inputOf(input, 'translation', ref.key)],
      gate: 'optimised_query',
    },
    restart: { stage: 'evidence', only: [item.questionId] },
  };
}

/** A query that hits its limit is the reviewer's to change; a server that is away is not. */
async function withinLimits<T>(work: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Unavailable && !isOutage(error)) return error;
    throw error;
  }
}

const EMPTY_RESULTS =
  'Both results are empty, which proves nothing: read the filters against the question before ' +
  'you approve.';

const toEditProblem = ({ at: stage, message }: MqlProblem): EditProblem => ({
  path: `pipeline.${stage}`,
  message,
});

/**
 * A person may name the output fields as they like: where the known ones are gone, columns are
 * matched by their values.
 */
async function compareEdited(
  item: Item,
  mql: Mql,
  known: readonly OutputColumn[],
  input: StageInput,
  signal: AbortSignal,
): Promise<Equivalence & { columns: readonly OutputColumn[] }> {
  const { catalog } = await need<ProfileContent>(input, 'profile', input.source.name);
  const queries = QueryProcess.borrow();
  try {
    const run = (columns: readonly OutputColumn[]): Promise<Equivalence> =>
      migratedDatabase(input).then((db) =>
        checkEquivalence({
          sql: item.sql,
          sourcePath: input.source.path,
          catalog,
          queries,
          db,
          collection: mql.collection,
          pipeline: mql.pipeline,
          columns,
          clock: input.settings.pinnedClock,
          signal,
        }),
      );
    const first = await run(known);
    if (isEquivalent(first.verdict) && known.length > 0) return { ...first, columns: known };
    if (!first.actual || !first.expected) return { ...first, columns: known };
    const names =
      known.length > 0
        ? known.map(({ name, transform }) => ({ name, transform }))
        : first.expected.columns.map((name) => ({ name, transform: identity }));
    const fields = first.actual.columns.filter(
      (_, index) => index >= known.length || first.actual!.rows.some((row) => row[index] !== null),
    );
    if (fields.length !== names.length) return { ...first, columns: known };
    const matched = names.map((column, index) => ({ ...column, path: fields[index]! }));
    return { ...(await run(matched)), columns: matched };
  } finally {
    queries.giveBack();
  }
}
