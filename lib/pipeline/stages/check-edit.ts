import { z } from 'zod';
import {
  logicalDesignOf,
  type DocumentDesign,
  type IndexDesign,
  type LogicalDesign,
} from '../../design/document-design';
import { describeDesign } from '../../design/design-document';
import { deriveDesign } from '../../design/logical';
import { LogicalCsvError, placedRows, readLogicalCsv } from '../../design/logical-csv';
import { checkDesign, type DesignProblem } from '../../design/loss-check';
import {
  conceptualDesignSchema,
  indexDesignSchema,
  logicalDesignSchema,
} from '../../design/schema';
import type { Workload } from '../../design/workload';
import { documentsExamined } from '../../mongo/explain';
import { findForbidden } from '../../mql/allow-list';
import { MqlSyntaxError, parseMql } from '../../mql/parse';
import { isOutage, Unavailable } from '../../results/unavailable';
import type { Item } from '../../sqlite/benchmark';
import { isOutermostOrdered } from '../../sqlite/select/outermost-order';
import { QueryProcess } from '../../sqlite/query/query-process';
import { lintMql, type MqlProblem } from '../../translation/check/lint-mql';
import type { MqlDocument } from '../../translation/mql/mql';
import { evidencePaths } from '../../translation/evidence/evidence';
import {
  checkEquivalence,
  isEquivalent,
  type Equivalence,
} from '../../translation/check/equivalence';
import { resultDigest } from '../../results/result-digest';
import type { OutputColumn } from '../../translation/check/pipeline-rows';
import { identity } from '../../design/transform';
import type { TableValidation } from '../../validation/table-validation';
import type { EvidenceContent, GoldContent, Mql, TranslationContent } from './artefacts';
import { inputOf, need, readDesign, type ProfileContent } from './design-stages';
import { migratedDatabase } from './migration-stages';
import type { ArtefactRef, ProducedArtefact, StageInput, StageName } from './stage';

export interface EditProblem {
  /** Where in the content, as a dotted path; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

export type EditOutcome =
  | {
      readonly ok: true;
      /**
       * What is saved; it can be another artefact than the task's: a collection's validation is
       * edited by its design.
       */
      readonly artefact: ProducedArtefact;
      /**
       * The stage from which the agents have to catch up, and for which items; null: nothing
       * depends on it.
       */
      readonly restart: { readonly stage: StageName; readonly only?: readonly string[] } | null;
      /** What the checks could not show, although they pass. */
      readonly notes?: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly EditProblem[] };

/**
 * Checks what a reviewer edited exactly as an agent's work is checked, and says what to save.
 * Contents by kind:
 *
 * - `conceptual_design`, `index_design`: the artefact's content;
 * - `logical_design` and `collection_validation`: a logical design, or `{csv}`;
 * - `translation`, `gold`: `{text}` in shell syntax or Extended JSON, or `{mql: {collection,
 *   pipeline}}`;
 * - `evidence`: `{evidenceMql}`;
 * - `table_validation`: the artefact's content with other classes of its flags.
 */
export async function checkEdit(
  ref: ArtefactRef,
  content: unknown,
  input: StageInput,
  signal: AbortSignal,
): Promise<EditOutcome> {
  switch (ref.kind) {
    case 'conceptual_design':
      return checkConceptual(content, input);
    case 'index_design':
      return checkIndexes(content, input);
    case 'logical_design':
    case 'collection_validation':
      return checkLogical(ref.key, content, input);
    case 'translation':
    case 'gold':
      return checkMql(ref, content, input, signal);
    case 'evidence':
      return checkEvidence(ref, content, input);
    case 'table_validation':
      return checkReclassification(ref, content, input);
    default:
      return refuse('', `a ${ref.kind.replaceAll('_', ' ')} cannot be edited: it is a measurement`);
  }
}

const refuse = (path: string, message: string): EditOutcome => ({
  ok: false,
  problems: [{ path, message }],
});

const zodProblems = (error: z.ZodError): EditOutcome => ({
  ok: false,
  problems: error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message })),
});

async function checkConceptual(content: unknown, input: StageInput): Promise<EditOutcome> {
  const database = input.source.name;
  const parsed = conceptualDesignSchema.safeParse(content);
  if (!parsed.success) return zodProblems(parsed.error);
  const { catalog, profile } = await need<ProfileContent>(input, 'profile', database);
  const workload = await need<Workload>(input, 'workload', database);
  if (parsed.data.database !== database)
    return refuse('database', `the design is that of ${database}`);
  let design: DocumentDesign;
  try {
    design = deriveDesign({
      conceptual: parsed.data,
      catalog,
      profile,
      directives: input.directives,
    });
  } catch (error) {
    return refuse('', error instanceof Error ? error.message : String(error));
  }
  const problems = checkDesign(design, catalog, profile, input.settings);
  if (problems.length > 0)
    return {
      ok: false,
      problems: problems.map(({ subject, detail }) => ({ path: subject, message: detail })),
    };
  // The parts of the document that state the choices follow them; what a person wrote elsewhere
  // stays.
  const described = describeDesign(parsed.data, catalog, profile, workload);
  const document = {
    ...parsed.data.document,
    decisions: described.decisions,
    result: described.result,
  };
  const inputs = [
    await inputOf(input, 'profile', database),
    await inputOf(input, 'workload', database),
  ];
  return {
    ok: true,
    artefact: {
      kind: 'conceptual_design',
      key: database,
      content: { ...parsed.data, document },
      inputs,
      gate: 'conceptual_design',
    },
    restart: { stage: 'logical_design' },
  };
}

async function checkIndexes(content: unknown, input: StageInput): Promise<EditOutcome> {
  const parsed = indexDesignSchema.safeParse(content);
  if (!parsed.success) return zodProblems(parsed.error);
  const indexes: IndexDesign = parsed.data;
  const design = await readDesign(input);
  const unknown = Object.keys(indexes).find(
    (name) => !design.logical.some((logical) => logical.collection === name),
  );
  if (unknown) return refuse(unknown, 'the design has no collection of this name');
  const database = input.source.name;
  const inputs = [
    await inputOf(input, 'profile', database),
    await inputOf(input, 'workload', database),
  ];
  return {
    ok: true,
    artefact: { kind: 'index_design', key: database, content: indexes, inputs },
    restart: { stage: 'migration' },
  };
}

async function checkLogical(
  key: string,
  content: unknown,
  input: StageInput,
): Promise<EditOutcome> {
  const csv = z.strictObject({ csv: z.string() }).safeParse(content);
  let logical: LogicalDesign;
  let lines: ReadonlyMap<string, number> | undefined;
  if (csv.success) {
    try {
      ({ design: logical, lines } = readLogicalCsv(csv.data.csv));
    } catch (error) {
      if (error instanceof LogicalCsvError) return refuse(`line ${error.line}`, error.detail);
      throw error;
    }
  } else {
    const parsed = logicalDesignSchema.safeParse(content);
    if (!parsed.success) return zodProblems(parsed.error);
    logical = parsed.data;
  }
  const collection = key.slice(key.indexOf('/') + 1);
  if (logical.collection !== collection)
    return refuse(
      lines ? `line ${lines.get(`${logical.collection}._id`)}` : 'collection',
      `this is the design of ${collection}; to rename a collection, direct the agent on the ` +
        'conceptual design',
    );
  const { catalog, profile } = await need<ProfileContent>(input, 'profile', input.source.name);
  const design = await readDesign(input);
  const edited = {
    ...design,
    logical: design.logical.map((other) => (other.collection === collection ? logical : other)),
  };
  const problems = checkDesign(edited, catalog, profile, input.settings);
  if (problems.length > 0) {
    const before = logicalDesignOf(design, collection);
    return {
      ok: false,
      problems: problems.map(
        lines && before
          ? atLines(lines, logical, before)
          : ({ subject, detail }) => ({ path: subject, message: detail }),
      ),
    };
  }
  const inputs = [await inputOf(input, 'conceptual_design', input.source.name)];
  return {
    ok: true,
    artefact: { kind: 'logical_design', key, content: logical, inputs },
    restart: { stage: 'migration' },
  };
}

/**
 * Problems as one mends a CSV: at their lines; what has no line because its row is gone, with that
 * row.
 */
function atLines(
  lines: ReadonlyMap<string, number>,
  edited: LogicalDesign,
  before: LogicalDesign,
): (problem: DesignProblem) => EditProblem {
  const [placed, placedBefore] = [placedRows(edited), placedRows(before)];
  return ({ kind, subject, detail }) => {
    // A loss is told of a table or of its column, whose name a target can have too.
    const source = kind === 'loss' ? placed.get(subject) : undefined;
    const gone = kind === 'loss' && !source ? placedBefore.get(subject) : undefined;
    if (gone) {
      const instead = lines.get(gone.target);
      if (instead === undefined)
        return {
          path: subject,
          message:
            `the row of ${JSON.stringify(gone.target)} is missing: ${detail}. It was: ` +
            `${gone.row}`,
        };
      return {
        path: `line ${instead}`,
        message: `${JSON.stringify(gone.target)} held ${subject} before: ${detail}`,
      };
    }
    const line =
      lines.get(source?.target ?? subject) ??
      (subject === edited.collection ? lines.get(`${subject}._id`) : undefined);
    return line === undefined
      ? { path: subject, message: detail }
      : { path: `line ${line}`, message: `${JSON.stringify(subject)}: ${detail}` };
  };
}

const mqlEdit = z.union([
  z.strictObject({ text: z.string().min(1).max(200_000) }),
  z.looseObject({
    mql: z.strictObject({
      collection: z.string().min(1),
      pipeline: z.array(z.record(z.string(), z.unknown())),
    }),
  }),
]);

async function checkMql(
  ref: ArtefactRef,
  content: unknown,
  input: StageInput,
  signal: AbortSignal,
): Promise<EditOutcome> {
  const parsed = mqlEdit.safeParse(content);
  if (!parsed.success)
    return refuse('', 'a query is edited as text, or as {mql: {collection, pipeline}}');
  let mql: Mql;
  try {
    mql =
      'text' in parsed.data
        ? parseMql(parsed.data.text as string)
        : (parsed.data as { mql: Mql }).mql;
  } catch (error) {
    if (error instanceof MqlSyntaxError) return refuse('', error.message);
    throw error;
  }
  const questionId = ref.key.slice(ref.key.indexOf('/') + 1);
  const item = input.items.find((candidate) => candidate.questionId === questionId);
  if (!item) throw new Error(`there is no item ${ref.key}`);
  const forbidden = findForbidden(mql.pipeline);
  if (forbidden) return refuse(`pipeline.${forbidden.at}`, forbidden.message);
  const unknown = lintMql(mql.collection, mql.pipeline as MqlDocument[], await readDesign(input));
  if (unknown.length > 0) return { ok: false, problems: unknown.map(toEditProblem) };
  const translation = await need<TranslationContent>(input, 'translation', ref.key);
  const db = await migratedDatabase(input);
  const checked = await withinLimits(() =>
    compareEdited(item, mql, translation.columns, input, signal),
  );
  if (checked instanceof Unavailable)
    return refuse('', `The result cannot be compared: ${checked.message}`);
  if (!isEquivalent(checked.verdict) || !checked.expected)
    return refuse('', `the result is not equal to that of the SQL: ${checked.verdict.detail}`);
  const { verdict, columns, caveats } = checked;
  const isEmpty = checked.expected.rows.length === 0;
  const notes = isEmpty ? { notes: [EMPTY_RESULTS] } : {};
  const allCaveats = [...new Set([...translation.caveats, ...caveats])].sort();
  if (ref.kind === 'translation') {
    const edited: TranslationContent = {
      questionId,
      status: 'translated',
      mql,
      columns,
      caveats: allCaveats,
      defects: translation.defects,
      verdict,
      attempts: translation.attempts,
    };
    return {
      ok: true,
      artefact: {
        kind: 'translation',
        key: ref.key,
        content: edited,
        inputs: await allDesignInputs(input),
      },
      restart: { stage: 'optimisation', only: [questionId] },
      ...notes,
    };
  }
  const before = await need<GoldContent>(input, 'gold', ref.key);
  const examined = (query: Mql): Promise<number | null> =>
    documentsExamined(db, query.collection, query.pipeline);
  const edited: GoldContent = {
    ...before,
    mql,
    columns,
    caveats: allCaveats,
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
    rowCount: checked.expected.rows.length,
    resultDigest: resultDigest(checked.expected, isOutermostOrdered(item.sql)),
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
      content: edited,
      inputs: [await inputOf(input, 'translation', ref.key)],
      gate: 'optimised_query',
    },
    restart: { stage: 'evidence', only: [questionId] },
    ...notes,
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

/** Nobody states which fields a hand-written query depends on: it depends on all of them. */
async function allDesignInputs(input: StageInput): Promise<ProducedArtefact['inputs']> {
  const design = await readDesign(input);
  return Promise.all(
    design.logical.map((logical) =>
      inputOf(input, 'logical_design', `${input.source.name}/${logical.collection}`),
    ),
  );
}

async function checkEvidence(
  ref: ArtefactRef,
  content: unknown,
  input: StageInput,
): Promise<EditOutcome> {
  const parsed = z.looseObject({ evidenceMql: z.string().max(20_000) }).safeParse(content);
  if (!parsed.success) return zodProblems(parsed.error);
  const before = await need<EvidenceContent>(input, 'evidence', ref.key);
  const gold = await need<GoldContent>(input, 'gold', ref.key);
  const text = parsed.data.evidenceMql;
  const paths = evidencePaths(
    text,
    await readDesign(input),
    gold.mql.collection,
    gold.mql.pipeline,
  );
  const wrong = paths.find((path) => !path.inDesign);
  if (wrong) return refuse('evidenceMql', `the design has no field ${wrong.path}`);
  const edited: EvidenceContent = { ...before, evidenceMql: text, paths, unmatched: [] };
  return {
    ok: true,
    artefact: {
      kind: 'evidence',
      key: ref.key,
      content: edited,
      inputs: [await inputOf(input, 'gold', ref.key)],
      gate: 'evidence',
    },
    restart: null,
  };
}

/** Only the classes of flags may change, and their explanations: what was measured stays. */
async function checkReclassification(
  ref: ArtefactRef,
  content: unknown,
  input: StageInput,
): Promise<EditOutcome> {
  const flag = z.looseObject({
    class: z.enum(['intentional_transformation', 'genuine_loss']),
    explanation: z.string().max(4000),
  });
  const parsed = z.looseObject({ flags: z.array(flag) }).safeParse(content);
  if (!parsed.success) return zodProblems(parsed.error);
  const before = await need<TableValidation>(input, 'table_validation', ref.key);
  if (parsed.data.flags.length !== before.flags.length)
    return refuse('flags', 'flags can be classified, not added or removed');
  const flags = before.flags.map((old, index) => ({
    ...old,
    class: parsed.data.flags[index]!.class,
    explanation: parsed.data.flags[index]!.explanation,
  }));
  const inputs = [await inputOf(input, 'migration', input.source.name)];
  return {
    ok: true,
    artefact: {
      kind: 'table_validation',
      key: ref.key,
      content: { ...before, flags },
      inputs,
      gate: 'table_validation',
    },
    restart: null,
  };
}
