import { type z } from 'zod';
import type { ProducedArtefact, StageName } from './stage';

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
  | Refusal;

export interface Refusal {
  readonly ok: false;
  readonly problems: readonly EditProblem[];
}

export const refuse = (path: string, message: string): Refusal => ({
  ok: false,
  problems: [{ path, message }],
});

export const zodProblems = (error: z.ZodError): Refusal => ({
  ok: false,
  problems: error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message })),
});
