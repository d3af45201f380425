import type { Principal } from '../auth/accounts';
import { AppError } from '../app-error';
import { audited } from '../db/audit';
import type { Database } from '../db/database';
import { notify } from '../db/notify';

/** Gives tasks to a reviewer, or (null) back to everybody. */
export async function assignTasks(
  db: Database,
  user: Principal,
  taskIds: readonly string[],
  assigneeId: string | null,
): Promise<number> {
  return audited(db, async (tx) => {
    const assignee =
      assigneeId === null ? null : await tx.user.findUnique({ where: { id: assigneeId } });
    if (
      assigneeId !== null &&
      (!assignee || assignee.disabledAt || !['admin', 'lead', 'reviewer'].includes(assignee.role))
    ) {
      throw new AppError(
        'conflict',
        'Work can be given to reviewers, leads and admins only',
        'Choose somebody else.',
      );
    }
    const tasks = await tx.task.findMany({
      where: { id: { in: [...taskIds] } },
      select: { id: true, benchmarkId: true, databaseId: true },
    });
    const { count } = await tx.task.updateMany({
      where: { id: { in: tasks.map(({ id }) => id) } },
      data: { assigneeId },
    });
    const databases = new Map(tasks.map((task) => [task.databaseId, task.benchmarkId]));
    for (const [databaseId, benchmarkId] of databases)
      await notify(tx, { type: 'tasks', benchmarkId, databaseId });
    const audit = [...databases].map(([databaseId, benchmarkId]) => ({
      chain: benchmarkId,
      actor: user.id,
      action: 'assign',
      subject: `database:${databaseId}`,
      detail: {
        to: assigneeId,
        tasks: tasks.filter((task) => task.databaseId === databaseId).map(({ id }) => id),
      },
    }));
    return { result: count, audit };
  });
}
