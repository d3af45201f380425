import { randomUUID } from 'node:crypto';
import type { Agent, AgentContext, AgentStep } from '../../agents/contract';
import { pgText, type Database } from '../db/database';
import type { ArtefactRef, StageName } from './stages/stage';

/** The transcript of one agent run. */
interface Run {
  readonly id: string;
  readonly subject: string;
  readonly startedAt: Date;
  readonly steps: { readonly step: AgentStep; readonly at: Date }[];
  written: number;
  stored: boolean;
  state: 'running' | 'done' | 'failed';
  failure?: string;
  endedAt?: Date;
}

export interface AgentRecorder {
  /** The agent, with every call kept as an agent run. */
  readonly agent: Agent;
  /** The latest run that wrote an artefact. */
  runOf(ref: ArtefactRef): string | undefined;
  /**
   * Writes what is not yet in Postgres: call now and then, and before versions refer to the runs.
   */
  flush(): Promise<void>;
}

interface RunPlace {
  readonly databaseId: string;
  readonly database: string;
  readonly stageRunId: string;
  readonly stage: StageName;
}

/**
 * Which artefact a run writes is known by its stage and subject (a collection, a question id, or
 * the database).
 */
export function recordAgent(db: Database, agent: Agent, where: RunPlace): AgentRecorder {
  const runs: Run[] = [];
  const bySubject = new Map<string, Run>();

  async function kept<Answer>(
    subject: string,
    context: AgentContext,
    call: (context: AgentContext) => Promise<Answer>,
  ): Promise<Answer> {
    const run: Run = {
      id: randomUUID(),
      subject,
      startedAt: new Date(),
      steps: [],
      written: 0,
      stored: false,
      state: 'running',
    };
    runs.push(run);
    bySubject.set(subject, run);
    try {
      const answer = await call({
        ...context,
        step: (step) => {
          run.steps.push({ step, at: new Date() });
          context.step(step);
        },
      });
      run.state = 'done';
      return answer;
    } catch (error) {
      run.state = 'failed';
      run.failure = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      run.endedAt = new Date();
    }
  }

  let flushing = Promise.resolve();
  const flush = async () => {
    const due = runs.filter((run) => !run.stored || run.written < run.steps.length || run.endedAt);
    // those that end during the writing are due again
    const ended = due.filter((run) => run.endedAt);
    for (let at = 0; at < due.length; at += 200)
      await writeRuns(db, agent.name, where, due.slice(at, at + 200));
    for (const run of ended) runs.splice(runs.indexOf(run), 1);
  };

  return {
    agent: {
      name: agent.name,
      conceptualDesign: (task, context) =>
        kept(where.database, context, (own) => agent.conceptualDesign(task, own)),
      logicalDesign: (task, context) =>
        kept(task.collection, context, (own) => agent.logicalDesign(task, own)),
      translate: (task, context) =>
        kept(task.item.questionId, context, (own) => agent.translate(task, own)),
      optimise: (task, context) =>
        kept(task.item.questionId, context, (own) => agent.optimise(task, own)),
      rewriteEvidence: (task, context) =>
        kept(task.item.questionId, context, (own) => agent.rewriteEvidence(task, own)),
    },
    runOf: (ref) =>
      bySubject.get(
        ref.key === where.database ? where.database : ref.key.slice(where.database.length + 1),
      )?.id,
    // One after the other: a run must not be written twice at once.
    flush: () => (flushing = flushing.then(flush, flush)),
  };
}

/** Writes the runs, and those of their steps that are not written yet. */
async function writeRuns(
  db: Database,
  agent: string,
  where: RunPlace,
  slice: readonly Run[],
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.agentRun.createMany({
      data: slice
        .filter((run) => !run.stored)
        .map((run) => ({
          ...row(run),
          databaseId: where.databaseId,
          stageRunId: where.stageRunId,
          agent,
          stage: where.stage,
        })),
      skipDuplicates: true,
    });
    for (const run of slice.filter(({ stored }) => stored))
      await tx.agentRun.update({ where: { id: run.id }, data: row(run) });
    await tx.agentStep.createMany({
      data: slice.flatMap((run) =>
        run.steps.slice(run.written).map(({ step, at }, index) => ({
          runId: run.id,
          seq: run.written + index + 1,
          kind: step.kind,
          text: new Uint8Array(Buffer.from(step.text)),
          inputTokens: step.inputTokens ?? null,
          outputTokens: step.outputTokens ?? null,
          costUsd: step.costUsd ?? null,
          at,
        })),
      ),
      skipDuplicates: true,
    });
  });
  for (const run of slice) {
    run.stored = true;
    run.written = run.steps.length;
  }
}

const sum = (run: Run, of: (step: AgentStep) => number | undefined): number =>
  run.steps.reduce((total, { step }) => total + (of(step) ?? 0), 0);
const row = (run: Run) => ({
  id: run.id,
  subject: pgText(run.subject),
  state: run.state,
  failure: run.failure === undefined ? null : pgText(run.failure),
  startedAt: run.startedAt,
  endedAt: run.endedAt ?? null,
  inputTokens: sum(run, (step) => step.inputTokens),
  outputTokens: sum(run, (step) => step.outputTokens),
  costUsd: sum(run, (step) => step.costUsd),
  retries: run.steps.filter(({ step }) => step.kind === 'retry').length,
});
