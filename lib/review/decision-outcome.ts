import { AppError, notFound } from '../app-error';
import type { Principal } from '../auth/accounts';
import type { Database } from '../db/database';
import type { DecideResponse } from './decision-api';
import { findDecision } from './decision-rows';

/** Only people decide, signed in themselves. @throws {AppError} forbidden */
export function assertPerson(user: Principal): void {
  if (user.role === 'consumer')
    throw new AppError('forbidden', 'Consumers do not review', 'Ask an admin if you should.');
  if (user.via !== 'session')
    throw new AppError('forbidden', 'A token cannot decide: only people do', 'Sign in.');
}

/** What a decision of this key has led to; undefined when there is none. */
export async function decidedBefore(
  db: Database,
  user: Principal,
  idempotencyKey: string,
  taskId?: string,
): Promise<DecideResponse | undefined> {
  const made = await findDecision(db, idempotencyKey);
  if (!made) return undefined;
  if (made.row.by.id !== user.id || (taskId !== undefined && made.taskId !== taskId)) {
    throw new AppError(
      'conflict',
      'This idempotency key belongs to another decision',
      'Make a new key for each decision.',
    );
  }
  return { decision: made.row, taskState: made.taskState, first: false };
}

/** What the decision of this key has led to. @throws {AppError} not_found */
export async function outcome(
  db: Database,
  user: Principal,
  idempotencyKey: string,
  taskId?: string,
): Promise<DecideResponse> {
  const made = await decidedBefore(db, user, idempotencyKey, taskId);
  if (!made) throw notFound('This decision');
  return made;
}
