import { z } from 'zod';
import { legalCollectionName } from '../../lib/design/model/names';
import { deriveDesign } from '../../lib/design/logical/logical';
import { checkDesign } from '../../lib/design/limits/loss-check';
import { proposeIndexes } from '../../lib/design/cost/indexes';
import { proposeDesign } from '../../lib/design/propose/propose';
import type { Directive } from '../../lib/design/model/directive';
import { CHOICES, type ConceptualDesign } from '../../lib/design/model/document-design';
import type { ConceptualDesignAnswer, ConceptualDesignTask } from '../contract';

/**
 * What a language model submits: its choices and its prose. The structure is built from them, never
 * parsed out of prose.
 */
export const submissionSchema = z.strictObject({
  relationships: z
    .array(
      z.strictObject({
        relationship: z.string(),
        choice: z.enum(CHOICES),
        reason: z.string().min(10).max(2000),
      }),
    )
    .describe(
      'One entry for every relationship of the profile, with its id. `copy` is a reference with ' +
        'a few of the parent’s columns beside it, those that the workload reads. `bucket` keeps ' +
        'the child rows in documents of several rows of one parent each.',
    ),
  collections: z
    .array(z.strictObject({ table: z.string(), name: z.string().min(1).max(100) }))
    .describe('Names for collections, where the table’s own name is not good.'),
  patterns: z
    .array(z.strictObject({ pattern: z.string(), target: z.string(), reason: z.string() }))
    .describe('Guidebook patterns used, and anti-patterns avoided.'),
  source: z
    .string()
    .min(1)
    .describe('Part 1, Markdown: the source schema, the domain, a profile of each entity.'),
  accessPatterns: z
    .string()
    .min(1)
    .describe('Part 2, Markdown: the access patterns that the design must support.'),
});
export type Submission = z.infer<typeof submissionSchema>;

export type Judged =
  | { readonly ok: true; readonly answer: ConceptualDesignAnswer }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Turns a submission into a design, by the same engine and under the same hard constraints as the
 * builtin agent's. A reviewer's directives come after the model's choices and win.
 */
export function judgeSubmission(input: unknown, task: ConceptualDesignTask): Judged {
  const parsed = submissionSchema.safeParse(input);
  if (!parsed.success)
    return {
      ok: false,
      problems: parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    };
  const submission = parsed.data;
  const problems = unknownNames(submission, task);
  if (problems.length > 0) return { ok: false, problems };

  const reviewers = task.directives.filter((directive) => directive.kind !== 'free_text');
  const overridden = new Set(
    reviewers.flatMap((directive) =>
      directive.kind === 'relationship' ? [directive.relationship] : [],
    ),
  );
  const wishes = wishesOf(submission);
  const { design, cannotAct } = proposeDesign({ ...task, directives: [...wishes, ...reviewers] });
  const refused = cannotAct.filter(
    ({ directive }) =>
      wishes.includes(directive) &&
      !(directive.kind === 'relationship' && overridden.has(directive.relationship)),
  );
  if (refused.length > 0)
    return {
      ok: false,
      problems: refused.map(({ directive, reason }) => `${wishName(directive)}: ${reason}`),
    };

  const conceptual = inOwnWords(design, submission, overridden);
  const whole = deriveDesign({
    conceptual,
    catalog: task.catalog,
    profile: task.profile,
    directives: task.directives,
    types: task.types,
  });
  const broken = checkDesign(whole, task.catalog, task.profile, task.limits);
  if (broken.length > 0)
    return { ok: false, problems: broken.map(({ subject, detail }) => `${subject}: ${detail}`) };
  return {
    ok: true,
    answer: {
      design: conceptual,
      indexes: proposeIndexes(whole, task.catalog, task.profile, task.workload),
      cannotAct: cannotAct.filter(({ directive }) => reviewers.some((own) => own === directive)),
    },
  };
}

/** What the submission names and the source has not, and the other way round. */
function unknownNames(
  { relationships, collections }: Submission,
  task: ConceptualDesignTask,
): string[] {
  const known = task.profile.relationships.map((relationship) => relationship.id);
  return [
    ...known
      .filter((id) => !relationships.some((entry) => entry.relationship === id))
      .map((id) => `there is no choice for ${id}`),
    ...relationships
      .filter((entry) => !known.includes(entry.relationship))
      .map((entry) => `there is no relationship ${entry.relationship}`),
    ...collections
      .filter(({ table }) => !task.catalog.tables.some((known) => known.name === table))
      .map(({ table }) => `there is no table ${table}`),
    ...collections
      .filter(({ name }) => legalCollectionName(name) !== name)
      .map(({ name }) => `"${name}" is no plain collection name`),
  ];
}

/** The model's choices, as directives that the engine follows where it can. */
function wishesOf({ relationships, collections }: Submission): Directive[] {
  return [
    ...relationships.map(({ relationship, choice }): Directive => ({
      kind: 'relationship',
      relationship,
      choice,
    })),
    ...collections.map(({ table, name }): Directive => ({
      kind: 'rename_collection',
      table,
      name,
    })),
  ];
}

const wishName = (directive: Directive): string =>
  directive.kind === 'relationship'
    ? `${directive.relationship}: no ${directive.choice}`
    : directive.kind;

/** The design with the model's prose; a relationship that a reviewer directed keeps its reason. */
function inOwnWords(
  design: ConceptualDesign,
  { relationships, patterns, source, accessPatterns }: Submission,
  overridden: ReadonlySet<string>,
): ConceptualDesign {
  const reasons = new Map(relationships.map((entry) => [entry.relationship, entry.reason]));
  const choices = design.relationships.map((choice) => {
    const { directed, ...own } = choice;
    return overridden.has(choice.relationship)
      ? { ...own, ...(directed ? { directed } : {}) }
      : { ...own, reason: reasons.get(choice.relationship)! };
  });
  const decisions = choices
    .map((choice) => `- **${choice.relationship}: ${choice.choice}**. ${choice.reason}`)
    .join('\n');
  return {
    ...design,
    relationships: choices,
    patterns,
    document: { ...design.document, source, accessPatterns, decisions },
  };
}
