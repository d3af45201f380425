import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../app-error';
import { audited } from '../db/audit';
import type { BlobStore } from '../db/blob-store';
import { isUniqueViolation, type Database, type Tx } from '../db/database';
import { notify } from '../db/notify';
import { lastPart, lockDatabase } from '../pipeline/artefact-store';
import { decodeContent } from '../pipeline/content';
import { latestRuns } from '../pipeline/schedule';
import { stageNames, type GateName } from '../pipeline/stages/stage';
import { hasGenuineLoss, type TableValidation } from '../validation/table-validation';
import type { FinaliseReport, MissingRow } from './benchmark-api';
import { countTasks } from '../review/task-query';

/**
 * What stands between a source database and its being final: unfinished stages, tasks that are not
 * done, genuine loss. (That gold scores 1.0 on the bytes that ship is proven by the export itself.)
 */
export async function finaliseReport(
  on: Tx,
  blobs: BlobStore,
  databaseId: string,
): Promise<FinaliseReport> {
  const database = await on.sourceDatabase.findUnique({ where: { id: databaseId } });
  if (!database) throw notFound('This source database');
  const missing = [
    ...(await unfinishedStages(on, databaseId)),
    ...(await undecidedTasks(on, databaseId)),
    ...(await openLosses(on, blobs, databaseId)),
  ];
  const finalised = await standingFinalisations(on, [databaseId]);
  return {
    ready: missing.length === 0,
    finalisedAt: finalised.get(databaseId)?.toISOString() ?? null,
    missing,
  };
}

async function unfinishedStages(on: Tx, databaseId: string): Promise<MissingRow[]> {
  const rows: MissingRow[] = [];
  // In the order in which work flows (request, run, task): what moves on between two of these reads
  // is then met again by the second, whereas the other way round it would be seen by neither.
  const [asked] = await on.$queryRaw<{ asked: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM outbox
      WHERE handled_at IS NULL AND topic = 'request_stage'
        AND position(convert_to(${databaseId}, 'UTF8') in payload) > 0) AS asked`;
  if (asked?.asked)
    rows.push({
      what: 'the agents have just been asked for something',
      gate: null,
      taskId: null,
      count: 1,
    });
  const runs = new Map((await latestRuns(on, databaseId)).map((run) => [run.stage, run]));
  for (const stage of stageNames) {
    const run = runs.get(stage);
    if (run?.state === 'done') continue;
    const name =
      stage === 'cross_validation' ? 'cross-collection validation' : stage.replaceAll('_', ' ');
    rows.push({ what: `${name} ${stateInWords(run)}`, gate: null, taskId: null, count: 1 });
  }
  return rows;
}

const gateNouns: Readonly<Record<GateName, string>> = {
  conceptual_design: 'conceptual design',
  collection_validation: 'collection validation',
  cross_validation: 'cross-collection validation',
  table_validation: 'table validation',
  untranslated: 'untranslated items',
  optimised_query: 'optimised queries',
  evidence: 'evidence',
};

async function undecidedTasks(on: Tx, databaseId: string): Promise<MissingRow[]> {
  const rows: MissingRow[] = [];
  for (const { gate, tasks } of await countTasks(on, { databaseId })) {
    const name = gateNouns[gate];
    const row = async (count: number, state: string, what: string) => {
      if (count === 0) return;
      const [first] = await on.$queryRaw<
        { id: string }[]
      >`SELECT id FROM task WHERE database_id = ${databaseId}::uuid AND gate = ${gate}
        AND state = ${state} ORDER BY position LIMIT 1`;
      rows.push({ what: `${name}: ${count} ${what}`, gate, taskId: first?.id ?? null, count });
    };
    await row(tasks.open, 'open', tasks.open === 1 ? 'task to decide' : 'tasks to decide');
    await row(tasks.stale, 'stale', 'to decide again, because what was decided on has changed');
    await row(tasks.waiting, 'waiting', 'waiting for the agents');
  }
  return rows;
}

async function openLosses(on: Tx, blobs: BlobStore, databaseId: string): Promise<MissingRow[]> {
  const validations = await on.artefact.findMany({
    where: { databaseId, kind: 'table_validation', retiredAt: null },
    include: { current: true, tasks: { where: { closedAt: null } } },
  });
  const contents = await blobs.readMany(
    validations.flatMap(({ current }) => (current ? [current.blobHash] : [])),
  );
  return validations.flatMap(({ key, current, tasks }): MissingRow[] => {
    const content = current && decodeContent<TableValidation>(contents.get(current.blobHash)!);
    if (!content || !Array.isArray(content.flags) || !hasGenuineLoss(content)) return [];
    return [
      {
        what:
          `the table ${lastPart(key)} loses values: change the design, or reclassify what ` +
          'was flagged',
        gate: 'table_validation',
        taskId: tasks[0]?.id ?? null,
        count: 1,
      },
    ];
  });
}

/**
 * Digest of everything that is current in a database: a finalisation is bound to it, as decisions
 * are to versions.
 */
async function stateDigest(on: Tx, databaseId: string): Promise<string> {
  const [row] = await on.$queryRaw<{ digest: string }[]>`
    SELECT encode(sha256(convert_to(coalesce(
      string_agg(artefact.id || version.content_hash, ',' ORDER BY artefact.id), ''), 'UTF8')),
      'hex') AS digest
    FROM artefact JOIN artefact_version version ON version.id = artefact.current_id
    WHERE artefact.database_id = ${databaseId}::uuid AND artefact.retired_at IS NULL`;
  return row!.digest;
}

/**
 * When databases were finalised, for those whose finalisation still stands: nothing changed and
 * nothing is undecided since.
 */
export async function standingFinalisations(
  on: Tx,
  databaseIds: readonly string[],
): Promise<Map<string, Date>> {
  const decisions = await on.decision.findMany({
    where: { databaseId: { in: [...databaseIds] }, verdict: 'finalise', undoneBy: null },
    orderBy: { createdAt: 'desc' },
    distinct: ['databaseId'],
  });
  const standing = new Map<string, Date>();
  for (const decision of decisions) {
    const [open] = await on.$queryRaw<{ open: boolean }[]>`SELECT EXISTS (SELECT 1 FROM task
      WHERE database_id = ${decision.databaseId}::uuid
        AND state IN ('open', 'stale', 'waiting')) AS open`;
    if (!open?.open && (await stateDigest(on, decision.databaseId)) === decision.contentHash)
      standing.set(decision.databaseId, decision.createdAt);
  }
  return standing;
}

/** @throws {AppError} not_finalised, naming what is missing */
export async function finalise(
  db: Database,
  blobs: BlobStore,
  user: Principal,
  databaseId: string,
  idempotencyKey: string,
): Promise<FinaliseReport> {
  if (user.via !== 'session' || (user.role !== 'lead' && user.role !== 'admin'))
    throw new AppError('forbidden', 'Only leads and admins finalise, signed in', 'Ask a lead.');
  const before = await db.prisma.decision.findUnique({ where: { idempotencyKey } });
  if (before) return finaliseReport(db.prisma, blobs, databaseId);
  try {
    await audited(db, async (tx) => {
      await lockDatabase(tx, databaseId);
      // What is final rests on the definition of a task's state, not on what is kept of it.
      await tx.$queryRaw`SELECT rebuild_task_states(${databaseId}::uuid)`;
      const report = await finaliseReport(tx, blobs, databaseId);
      if (!report.ready) {
        throw new AppError(
          'not_finalised',
          `The database cannot be finalised: ${report.missing.map(({ what }) => what).join('; ')}`,
          'Do what is missing, then finalise.',
          report.missing.map(({ gate, what }) => ({ path: gate ?? '', message: what })),
        );
      }
      const { benchmarkId } = await tx.sourceDatabase.findUniqueOrThrow({
        where: { id: databaseId },
      });
      const contentHash = await stateDigest(tx, databaseId);
      const decision = await tx.decision.create({
        data: {
          benchmarkId,
          databaseId,
          contentHash,
          inputsHash: '',
          userId: user.id,
          verdict: 'finalise',
          settles: true,
          awaits: false,
          idempotencyKey,
        },
      });
      await notify(tx, { type: 'tasks', benchmarkId, databaseId });
      return {
        result: undefined,
        audit: [
          {
            chain: benchmarkId,
            actor: user.id,
            action: 'finalise',
            subject: `database:${databaseId}`,
            detail: { decision: decision.id, state: contentHash },
          },
        ],
      };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error; // otherwise the same request was made twice at once
  }
  return finaliseReport(db.prisma, blobs, databaseId);
}

function stateInWords(
  run: { readonly state: string; readonly failure: string | null } | undefined,
) {
  if (!run) return 'has not run';
  if (run.state === 'failed') return `failed: ${run.failure ?? ''}`;
  return run.state === 'cancelled' ? 'was cancelled' : 'is not finished';
}
