import type { z } from 'zod';
import type { Principal } from '../auth/accounts';
import type { Database, Tx } from '../db/database';
import type { GateName } from '../pipeline/stages/stage';
import type { effortBody } from './task-api';

interface Interval {
  readonly from: number;
  readonly to: number;
}

/**
 * A browser that was suspended may send a span of days; nobody reviews one task for longer than
 * this.
 */
const longest = 4 * 3_600_000;

/**
 * Keeps spans of attention. A user's spans never overlap: what is already covered is cut off, so
 * that two windows and a beacon that arrives twice count once. Spans of tasks that are gone are
 * dropped.
 */
export async function recordEffort(
  db: Database,
  user: Principal,
  spans: z.infer<typeof effortBody>['spans'],
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`effort:${user.id}`}, 0))`;
    const known = new Set(
      (
        await tx.task.findMany({
          where: { id: { in: spans.map((span) => span.taskId) } },
          select: { id: true },
        })
      ).map(({ id }) => id),
    );
    for (const span of spans) {
      const to = Math.min(Date.parse(span.endedAt), Date.now());
      const from = Math.max(Date.parse(span.startedAt), to - longest);
      if (!known.has(span.taskId) || from >= to) continue;
      const free = uncovered({ from, to }, await coveredBy(tx, user.id, { from, to }));
      if (!free) continue;
      await tx.effortSpan.createMany({
        data: [
          {
            id: span.id,
            userId: user.id,
            taskId: span.taskId,
            startedAt: new Date(free.from),
            endedAt: new Date(free.to),
            end: span.end,
          },
        ],
        skipDuplicates: true,
      });
    }
  });
}

async function coveredBy(tx: Tx, userId: string, span: Interval): Promise<Interval[]> {
  const rows = await tx.effortSpan.findMany({
    where: { userId, startedAt: { lt: new Date(span.to) }, endedAt: { gt: new Date(span.from) } },
    orderBy: { startedAt: 'asc' },
  });
  return rows.map((row) => ({ from: row.startedAt.getTime(), to: row.endedAt.getTime() }));
}

/** The longest part of a span that nothing covers. */
export function uncovered(span: Interval, covered: readonly Interval[]): Interval | undefined {
  const free: Interval[] = [];
  let from = span.from;
  for (const interval of covered) {
    if (interval.from > from) free.push({ from, to: Math.min(interval.from, span.to) });
    from = Math.max(from, interval.to);
  }
  if (from < span.to) free.push({ from, to: span.to });
  return free.sort((a, b) => b.to - b.from - (a.to - a.from))[0];
}

export interface GateEffort {
  readonly databaseId: string;
  readonly gate: GateName;
  readonly minutes: number;
}

/** Measured minutes for each database and gate. */
export async function effortByGate(on: Tx, benchmarkId: string): Promise<GateEffort[]> {
  return on.$queryRaw<GateEffort[]>`
    SELECT task.database_id AS "databaseId", task.gate,
      sum(extract(epoch FROM ended_at - started_at) / 60)::float8 AS minutes
    FROM effort_span JOIN task ON task.id = effort_span.task_id
      WHERE task.benchmark_id = ${benchmarkId}::uuid GROUP BY 1, 2`;
}
