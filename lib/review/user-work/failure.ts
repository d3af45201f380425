import { AppError } from '../../auth/errors';
import { isUnreachable } from '../../db/database';
import { asOutage } from '../../mongo/outage';
import { isOutage } from '../../results/unavailable';
import type { WorkFailure } from './work-process';

/** An error as it goes to another process. */
export function failure(error: unknown): WorkFailure {
  if (error instanceof AppError) {
    const { code, message, next, problems } = error;
    return { code, message, next, ...(problems && { problems }) };
  }
  const message = error instanceof Error ? error.message : String(error);
  const isAway = isOutage(asOutage(error)) || isUnreachable(error);
  if (!isAway) return { message };
  return { code: 'unavailable', message: 'A database cannot be reached', next: 'Nothing was saved. Try again when it is back.' };
}
