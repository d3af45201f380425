import { notFound } from '../app-error';
import type { Database, Tx } from '../db/database';
import { decodeContent } from '../pipeline/content';
import { relaxedJson } from '../results/extended-json';
import { silenceFor } from '../pipeline/heartbeat';
import { gateNames, stageNames, type StageName } from '../pipeline/stages/stage';
import type { BlobStore } from '../db/blob-store';
import type {
  BenchmarkDetail,
  BenchmarkRow,
  DatabaseDetail,
  DatabaseRow,
  GateRow,
} from './benchmark-api';
import type { Overview, OverviewRow, ReviewerRow } from './overview-api';
import type { StageRow, StageRunRow } from '../pipeline/stage-api';
import type { ArtefactKind, GateName } from '../pipeline/stages/stage';
import type { TaskCounts, TaskState } from '../pipeline/task-state';
import { effortByGate, type GateEffort } from '../review/effort';
import { standingFinalisations } from './finalise';
import { countTasks, sumCounts, type GateCounts } from '../review/task-query';

const none: TaskCounts = { open: 0, stale: 0, waiting: 0, done: 0 };

// ── Stages ───────────────────────────────────────────────────────────────────────────────────────

interface LoadedRun {
  readonly id: string;
  readonly databaseId: string;
  readonly stage: string;
  readonly state: StageRunRow['state'];
  readonly done: number;
  readonly total: number;
  readonly unit: string;
  readonly failure: string | null;
  readonly queuedAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly report: Uint8Array | null;
}

export const stageRunRow = (run: LoadedRun): StageRunRow => ({
  id: run.id,
  stage: run.stage as StageName,
  state: run.state,
  done: run.done,
  total: run.total,
  unit: run.unit,
  failure: run.failure,
  queuedAt: run.queuedAt.toISOString(),
  startedAt: run.startedAt?.toISOString() ?? null,
  endedAt: run.endedAt?.toISOString() ?? null,
  remainingSeconds: remainingSeconds(run),
  report: run.report ? (relaxedJson(decodeContent(run.report)) as Record<string, unknown>) : {},
});

/** At the pace so far; nothing before a twentieth is done, because that would be a guess. */
function remainingSeconds({ state, startedAt, done, total }: LoadedRun): number | null {
  if (state !== 'running' || !startedAt || total <= 0 || done < total / 20) return null;
  const spent = (Date.now() - startedAt.getTime()) / 1000;
  return Math.round((spent / done) * (total - done));
}

/** Latest run of each stage, of several databases at once. */
async function latestRunsOf(
  on: Tx,
  databaseIds: readonly string[],
): Promise<Map<string, LoadedRun[]>> {
  const runs = await on.stageRun.findMany({
    where: { databaseId: { in: [...databaseIds] } },
    orderBy: { position: 'desc' },
    distinct: ['databaseId', 'stage'],
  });
  return grouped(runs);
}
function grouped(runs: readonly LoadedRun[]): Map<string, LoadedRun[]> {
  const groups = new Map<string, LoadedRun[]>();
  for (const run of runs) groups.set(run.databaseId, [...(groups.get(run.databaseId) ?? []), run]);
  return groups;
}

const stageRows = (runs: readonly LoadedRun[]): StageRow[] =>
  stageNames.map((stage) => {
    const run = runs.find((candidate) => candidate.stage === stage);
    return { stage, run: run ? stageRunRow(run) : null };
  });

function currentStage(runs: readonly LoadedRun[]): StageRunRow | null {
  const rows = stageRows(runs).flatMap(({ run }) => (run ? [run] : []));
  const at = (state: StageRunRow['state']) => rows.find((run) => run.state === state);
  return at('running') ?? at('failed') ?? at('queued') ?? at('cancelled') ?? rows.at(-1) ?? null;
}

// ── Databases and benchmarks ─────────────────────────────────────────────────────────────────────

async function databaseRows(
  on: Tx,
  where: { benchmarkId?: string; id?: string },
): Promise<{ row: DatabaseRow; runs: LoadedRun[]; gates: GateCounts[] }[]> {
  const databases = await on.sourceDatabase.findMany({
    where,
    orderBy: { name: 'asc' },
    include: { _count: { select: { items: true } } },
  });
  const ids = databases.map(({ id }) => id);
  const [counts, runs, finalised] = await Promise.all([
    countTasks(on, where.id ? { databaseId: where.id } : { benchmarkId: where.benchmarkId }),
    latestRunsOf(on, ids),
    standingFinalisations(on, ids),
  ]);
  return databases.map((database) => {
    const gates = counts.filter(({ databaseId }) => databaseId === database.id);
    const own = runs.get(database.id) ?? [];
    const row: DatabaseRow = {
      id: database.id,
      benchmarkId: database.benchmarkId,
      name: database.name,
      sha256: database.sha256,
      bytes: Number(database.bytes),
      items: database._count.items,
      tasks: sumCounts(gates.map(({ tasks }) => tasks)),
      currentStage: currentStage(own),
      finalisedAt: finalised.get(database.id)?.toISOString() ?? null,
    };
    return { row, runs: own, gates };
  });
}

const gateRows = (
  databaseId: string,
  gates: readonly GateCounts[],
  effort: readonly GateEffort[],
): GateRow[] =>
  gateNames.map((gate) => ({
    gate,
    tasks: gates.find((row) => row.gate === gate)?.tasks ?? none,
    minutes: effort.find((row) => row.databaseId === databaseId && row.gate === gate)?.minutes ?? 0,
  }));

export async function listBenchmarks(db: Database): Promise<BenchmarkRow[]> {
  const benchmarks = await db.prisma.benchmark.findMany({
    orderBy: { createdAt: 'desc' },
    select: { id: true },
  });
  return Promise.all(
    benchmarks.map(async ({ id }) => (await benchmarkWithDatabases(db.prisma, id)).row),
  );
}

async function benchmarkWithDatabases(on: Tx, id: string) {
  const benchmark = await on.benchmark.findUnique({ where: { id } });
  if (!benchmark) throw notFound('This benchmark');
  const databases = await databaseRows(on, { benchmarkId: id });
  const row: BenchmarkRow = {
    id,
    name: benchmark.name,
    kind: benchmark.kind as BenchmarkRow['kind'],
    createdAt: benchmark.createdAt.toISOString(),
    databases: databases.length,
    items: databases.reduce((sum, database) => sum + database.row.items, 0),
    tasks: sumCounts(databases.map((database) => database.row.tasks)),
    finalisedDatabases: databases.filter((database) => database.row.finalisedAt).length,
  };
  return { benchmark, databases, row };
}

export async function benchmarkDetail(db: Database, id: string): Promise<BenchmarkDetail> {
  const { benchmark, databases, row } = await benchmarkWithDatabases(db.prisma, id);
  return {
    ...row,
    agent: benchmark.agent,
    settings: decodeContent(benchmark.settings),
    questionFiles: decodeContent<BenchmarkDetail['questionFiles']>(benchmark.questionFiles).map(
      ({ split, sha256, items }) => ({ split, sha256, items }),
    ),
    problems: decodeContent(benchmark.problems),
    databaseRows: databases.map((database) => database.row),
  };
}

export async function databaseDetail(
  db: Database,
  blobs: BlobStore,
  id: string,
): Promise<DatabaseDetail> {
  const on = db.prisma;
  const [found] = await databaseRows(on, { id });
  if (!found) throw notFound('This source database');
  const [benchmark, effort, artefacts, migration, silence] = await Promise.all([
    on.benchmark.findUniqueOrThrow({ where: { id: found.row.benchmarkId } }),
    effortByGate(on, found.row.benchmarkId),
    // Item artefacts are listed by the queue, page by page.
    on.$queryRaw<
      {
        id: string;
        kind: ArtefactKind;
        key: string;
        seq: number;
        gate: GateName | null;
        task_id: string | null;
        state: TaskState | null;
      }[]
    >`
      SELECT artefact.id, artefact.kind, artefact.key, version.seq, task.gate, task.id AS task_id,
        task.state
      FROM artefact JOIN artefact_version version ON version.id = artefact.current_id
      LEFT JOIN task ON task.artefact_id = artefact.id AND task.state <> 'closed'
      WHERE artefact.database_id = ${id}::uuid AND artefact.retired_at IS NULL
        AND artefact.kind NOT IN ('translation', 'gold', 'evidence')
      ORDER BY artefact.kind, artefact.key`,
    on.artefact.findFirst({
      where: { databaseId: id, kind: 'migration', retiredAt: null },
      include: { current: true },
    }),
    silenceFor(db, id),
  ]);
  const migrated = migration?.current
    ? decodeContent<{ mongoDatabase?: string }>(await blobs.read(migration.current.blobHash))
    : undefined;
  return {
    ...found.row,
    benchmarkName: benchmark.name,
    mongoDatabase: migrated?.mongoDatabase ?? null,
    workerSilence: silence,
    stages: stageRows(found.runs),
    gates: gateRows(id, found.gates, effort),
    artefacts: artefacts.map(({ task_id, state, ...artefact }) => ({
      ...artefact,
      taskId: task_id,
      taskState: state,
    })),
  };
}

// ── For leads ────────────────────────────────────────────────────────────────────────────────────

export async function overview(db: Database, benchmarkId: string): Promise<Overview> {
  const on = db.prisma;
  const { databases, row } = await benchmarkWithDatabases(on, benchmarkId);
  const [effort, done, costs, reviewers] = await Promise.all([
    effortByGate(on, benchmarkId),
    on.$queryRaw<{ database_id: string; verdict: string; day: string; n: number }[]>`
      SELECT task.database_id, decision.verdict,
        to_char(date_trunc('day', decision.created_at), 'YYYY-MM-DD') AS day, count(*)::int AS n
      FROM task JOIN decision ON decision.id = task.decision_id
      WHERE task.benchmark_id = ${benchmarkId}::uuid AND task.state = 'done'
      GROUP BY task.database_id, decision.verdict, date_trunc('day', decision.created_at)
        ORDER BY day`,
    on.$queryRaw<{ database_id: string; cost: number }[]>`
      SELECT database_id, sum(cost_usd)::float8 AS cost FROM agent_run
      WHERE database_id IN (SELECT id FROM source_database
        WHERE benchmark_id = ${benchmarkId}::uuid) GROUP BY 1`,
    reviewerRows(on, benchmarkId),
  ]);
  const days = new Map<string, number>();
  for (const { day, n } of done) days.set(day, (days.get(day) ?? 0) + n);
  const rows = databases.map(({ row: database, runs, gates }): OverviewRow => {
    const translation = runs.find((run) => run.stage === 'translation' && run.state === 'done');
    const report = translation?.report
      ? decodeContent<{ translated?: number; untranslated?: number }>(translation.report)
      : {};
    const verdict = (name: string) =>
      done
        .filter((entry) => entry.database_id === database.id && entry.verdict === name)
        .reduce((sum, { n }) => sum + n, 0);
    return {
      ...database,
      gates: gateRows(database.id, gates, effort),
      stages: stageRows(runs),
      translated: report.translated ?? null,
      untranslated: report.untranslated ?? null,
      excluded: verdict('exclude'),
      sourceDefects: verdict('mark_source_defect'),
      costUsd: costs.find((entry) => entry.database_id === database.id)?.cost ?? 0,
    };
  });
  const total = row.tasks.open + row.tasks.stale + row.tasks.waiting + row.tasks.done;
  let decided = 0;
  const burnDown = [...days].map(([day, n]) => {
    decided += n;
    return { day, decided: n, remaining: total - decided };
  });
  return {
    databases: rows,
    reviewers,
    burnDown,
    forecast: forecast(burnDown, total - row.tasks.done),
  };
}

/** When the rest is done at the pace of the last seven days. */
function forecast(
  days: readonly { readonly day: string; readonly decided: number }[],
  remaining: number,
): string | null {
  const since = Date.now() - 7 * 86_400_000;
  const recent = days.filter(({ day }) => Date.parse(day) >= since);
  const pace = recent.reduce((sum, { decided }) => sum + decided, 0) / Math.max(1, recent.length);
  if (remaining === 0 || pace === 0) return null;
  return new Date(Date.now() + (remaining / pace) * 86_400_000).toISOString().slice(0, 10);
}

async function reviewerRows(on: Tx, benchmarkId: string): Promise<ReviewerRow[]> {
  return on.$queryRaw<ReviewerRow[]>`
    WITH made AS (
      SELECT decision.user_id, decision.task_id, decision.verdict, decision.settles
      FROM decision LEFT JOIN decision later ON later.undoes_id = decision.id
      WHERE decision.benchmark_id = ${benchmarkId}::uuid AND decision.task_id IS NOT NULL
        AND decision.verdict <> 'undo' AND later.id IS NULL
    ), counted AS (
      SELECT user_id, count(*)::int AS decisions, count(*) FILTER (WHERE settles)::int AS approved,
        count(*) FILTER (WHERE verdict = 'request_changes')::int AS requested
      FROM made GROUP BY user_id
    ), spent AS (
      SELECT effort_span.user_id, effort_span.task_id,
        sum(extract(epoch FROM ended_at - started_at)) AS seconds
      FROM effort_span JOIN task ON task.id = effort_span.task_id
        WHERE task.benchmark_id = ${benchmarkId}::uuid GROUP BY 1, 2
    ), worked AS (
      SELECT user_id, sum(seconds) / 60 AS minutes FROM spent GROUP BY user_id
    ), dwelt AS (
      SELECT spent.user_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY spent.seconds)::float8 AS seconds
      FROM spent JOIN made USING (user_id, task_id) GROUP BY spent.user_id
    ), held AS (
      SELECT lease.user_id, count(*)::int AS tasks FROM lease JOIN task ON task.id = lease.task_id
      WHERE lease.expires_at > now() AND task.benchmark_id = ${benchmarkId}::uuid
        GROUP BY lease.user_id
    )
    SELECT app_user.id, app_user.name, coalesce(counted.decisions, 0) AS decisions,
      coalesce(counted.approved, 0) AS approved,
      coalesce(counted.requested, 0) AS "requestedChanges",
        coalesce(worked.minutes, 0)::float8 AS minutes,
      dwelt.seconds AS "dwellSeconds", coalesce(held.tasks, 0) AS holding
    FROM app_user
    LEFT JOIN counted ON counted.user_id = app_user.id
    LEFT JOIN worked ON worked.user_id = app_user.id
    LEFT JOIN dwelt ON dwelt.user_id = app_user.id
    LEFT JOIN held ON held.user_id = app_user.id
    WHERE app_user.role IN ('reviewer', 'lead', 'admin') AND app_user.disabled_at IS NULL
    ORDER BY app_user.name`;
}
