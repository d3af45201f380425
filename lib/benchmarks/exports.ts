import { csv, type Cell } from '../http/csv';
import { notFound } from '../app-error';
import { auditDetail } from '../db/audit';
import type { Database } from '../db/database';
import type { Page } from '../api-fields';
import type { AuditRow } from './overview-api';

export async function listAudit(
  db: Database,
  benchmarkId: string,
  query: { page: number; pageSize: number },
): Promise<Page<AuditRow>> {
  const where = { chain: benchmarkId };
  const [events, total, people] = await Promise.all([
    db.prisma.auditEvent.findMany({
      where,
      orderBy: { seq: 'desc' },
      skip: (query.page - 1) * query.pageSize,
      take: query.pageSize,
    }),
    db.prisma.auditEvent.count({ where }),
    db.prisma.user.findMany({ select: { id: true, name: true } }),
  ]);
  const nameOf = new Map(people.map(({ id, name }) => [id, name]));
  const rows = events.map((event) => ({
    seq: event.seq,
    at: event.at.toISOString(),
    actor: nameOf.get(event.actor) ?? event.actor,
    action: event.action,
    subject: event.subject,
    detail: auditDetail(event.detail),
    hash: event.hash,
  }));
  return { rows, total, page: query.page, pageSize: query.pageSize };
}

/** Every span of attention. */
export async function effortCsv(db: Database, benchmarkId: string): Promise<string> {
  await assertBenchmark(db, benchmarkId);
  const spans = await db.prisma.effortSpan.findMany({
    where: { task: { benchmarkId } },
    orderBy: [{ startedAt: 'asc' }, { id: 'asc' }],
    include: { user: true, task: { include: { database: true, artefact: true } } },
  });
  const rows = spans.map(({ user, task, startedAt, endedAt, end }): Cell[] => [
    task.database.name,
    task.gate,
    task.artefact.key,
    user.name,
    startedAt,
    endedAt,
    (endedAt.getTime() - startedAt.getTime()) / 1000,
    end,
  ]);
  return csv(
    ['database', 'gate', 'key', 'reviewer', 'started_at', 'ended_at', 'seconds', 'end'],
    rows,
  );
}

/** Every decision, undone ones included. */
export async function decisionsCsv(db: Database, benchmarkId: string): Promise<string> {
  await assertBenchmark(db, benchmarkId);
  const decisions = await db.prisma.decision.findMany({
    where: { benchmarkId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    include: {
      user: true,
      database: true,
      task: { include: { artefact: true } },
      version: true,
      undoneBy: true,
    },
  });
  const rows = decisions.map((decision): Cell[] => [
    decision.createdAt,
    decision.database.name,
    decision.task?.gate ?? '',
    decision.task?.artefact.key ?? '',
    decision.verdict,
    decision.reasonCode,
    decision.note,
    decision.user.name,
    decision.version?.seq ?? null,
    decision.contentHash,
    decision.undoneBy ? 'yes' : 'no',
  ]);
  return csv(
    [
      'at',
      'database',
      'gate',
      'key',
      'verdict',
      'reason',
      'note',
      'reviewer',
      'version',
      'content_hash',
      'undone',
    ],
    rows,
  );
}

async function assertBenchmark(db: Database, id: string): Promise<void> {
  if (!(await db.prisma.benchmark.findUnique({ where: { id }, select: { id: true } })))
    throw notFound('This benchmark');
}
