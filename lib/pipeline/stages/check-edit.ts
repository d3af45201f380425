import { z } from 'zod';
import {
  logicalDesignOf,
  type DocumentDesign,
  type IndexDesign,
  type LogicalDesign,
} from '../../design/model/document-design';
import { describeDesign } from '../../design/document/describe-design';
import { deriveDesign } from '../../design/logical/logical';
import { storedTypes, type StoredTypes } from '../../design/model/bson-types';
import { LogicalCsvError, placedRows, readLogicalCsv } from '../../design/logical/logical-csv';
import { checkDesign, type DesignProblem } from '../../design/limits/loss-check';
import {
  conceptualDesignSchema,
  indexDesignSchema,
  logicalDesignSchema,
} from '../../design/model/schema';
import type { Workload } from '../../design/model/workload';
import { evidencePaths } from '../../translation/evidence/gold/evidence-paths';
import type { TableValidation } from '../../validation/table-validation';
import type { EvidenceContent, GoldContent } from './artefacts';
import { itemOf } from './edited-item';
import { inputOf, need, readDesign, typesOf, type ProfileContent } from './design-stages';
import type { ArtefactRef, StageInput } from './stage';
import { type EditProblem, type EditOutcome, refuse, zodProblems } from './edit-outcome';
import { checkMql } from './check-query-edit';

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
  const described = describeDesign(parsed.data, {
    catalog,
    profile,
    workload,
    types: typesOf(input, workload),
    whole: design,
  });
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
  const { catalog, profile } = await need<ProfileContent>(input, 'profile', input.source.name);
  const types = storedTypes(profile);
  let logical: LogicalDesign;
  let lines: ReadonlyMap<string, number> | undefined;
  if (csv.success) {
    try {
      ({ design: logical, lines } = readLogicalCsv(csv.data.csv, types));
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
          ? atLines(lines, logical, before, types)
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
  types: StoredTypes,
): (problem: DesignProblem) => EditProblem {
  const [placed, placedBefore] = [placedRows(edited, types), placedRows(before, types)];
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
  const item = itemOf(ref, input);
  const { catalog } = await need<ProfileContent>(input, 'profile', input.source.name);
  const design = await readDesign(input);
  const paths = evidencePaths(text, { catalog, design, ...gold.mql, sql: item.sql });
  const wrong = paths.find(({ use }) => use === 'unknown');
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
