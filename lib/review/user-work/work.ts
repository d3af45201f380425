import type { Choice } from '../../design/model/document-design';
import type { WhatIf } from '../../design/propose/what-if';
import type { EditOutcome } from '../../pipeline/stages/edit-outcome';
import type { ArtefactRef } from '../../pipeline/stages/stage';
import type { DesignFiguresResponse } from '../../artefacts/artefact-api';

/**
 * Work on what users send or ask for that may take long, by kind: what goes in and what comes out.
 */
export interface UserWork {
  /**
   * Checks an edit as an agent's work is checked. `content` is as it came: relaxed Extended JSON.
   */
  check: {
    readonly input: {
      readonly databaseId: string;
      readonly ref: ArtefactRef;
      readonly content: object;
    };
    readonly output: EditOutcome;
  };
  what_if: {
    readonly input: {
      readonly databaseId: string;
      readonly change: { readonly relationship: string; readonly choice: Choice };
    };
    readonly output: WhatIf;
  };
  design_figures: {
    readonly input: { readonly databaseId: string };
    readonly output: DesignFiguresResponse;
  };
}
export type WorkKind = keyof UserWork;

/** Does one piece of work: elsewhere in the application, in this process in tests. */
export type DoUserWork = <Kind extends WorkKind>(
  userId: string,
  kind: Kind,
  input: UserWork[Kind]['input'],
  signal: AbortSignal,
) => Promise<UserWork[Kind]['output']>;
