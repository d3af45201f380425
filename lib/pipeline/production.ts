import type { ArtefactRef, ProducedArtefact, StageName } from './stages/stage';

export interface Production {
  readonly benchmarkId: string;
  readonly databaseId: string;
  readonly stage: StageName;
  readonly stageRunId: string;
  readonly artefacts: readonly ProducedArtefact[];
  /** Whether the stage looked at everything: what it no longer produced is then retired. */
  readonly everything: boolean;
  /** The agent run that wrote an artefact. */
  agentRunOf(ref: ArtefactRef): string | undefined;
}
