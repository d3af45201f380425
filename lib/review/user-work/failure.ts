import { AppError } from '../../app-error';
import { isAway } from '../../pipeline/outage';
import type { WorkFailure } from './work-process';

/** An error as it goes to another process. */
export function failure(error: unknown): WorkFailure {
  if (error instanceof AppError) {
    const { code, message, next, problems } = error;
    return { code, message, next, ...(problems && { problems }) };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (!isAway(error)) return { message };
  return {
    code: 'unavailable',
    message: 'A database cannot be reached',
    next: 'Nothing was saved. Try again when it is back.',
  };
}
