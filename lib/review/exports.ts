import { notFound } from '../auth/errors';
import { auditDetail } from '../db/audit';
import type { Database } from '../db/database';
import type { AuditRow, Page } from './api-types';

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

type Cell = string | number | Date | null;

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

const csv = (header: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [header, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');

/** Text that a spreadsheet would take for a formula gets an apostrophe before it. */
function cell(value: Cell): string {
  if (value === null) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvResponse = (fileName: string, text: string): Response =>
  new Response(text, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': attachment(fileName),
      'cache-control': 'no-store',
    },
  });

/**
 * A header holds Latin letters only; the name as it is follows by RFC 6266. What no file system
 * takes becomes `_`.
 */
export function attachment(fileName: string): string {
  const legal = fileName.replace(/[\p{Cc}"\\/:*?<>|]/gu, '_');
  const plain = legal.replace(/[^\x20-\x7e]/g, '_');
  return (
    'attachment; ' +
    `filename="${plain}"${plain === legal ? '' : `; filename*=UTF-8''${encodeURIComponent(Buffer.from(legal).toString()).replace(/['()]/g, (found) => `%${found.charCodeAt(0).toString(16)}`)}`}`
  );
}
