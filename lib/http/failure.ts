import { AppError } from '../app-error';
import { isUnreachable } from '../db/database';
import { asOutage } from '../mongo/outage';
import { isOutage } from '../results/unavailable';
import type { ApiError } from './api-error';
import { httpStatus } from './http-status';
import { json } from './json';

/** Another copy of the class, from another bundle, has the same name. */
const isAway = (error: unknown): boolean =>
  isOutage(asOutage(error)) || (error instanceof Error && error.name === 'Unavailable');

/** The answer to a request that failed: what happened, to what, what next. */
export function failure(error: unknown): Response {
  const known = knownError(error);
  if (known.code === 'internal') console.error(error);
  const { code, message, next, problems } = known;
  const body: ApiError = { error: { code, message, next, ...(problems ? { problems } : {}) } };
  return json(httpStatus[code], body);
}

function knownError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  // Another copy of the class, from another bundle.
  if (
    error instanceof Error &&
    'code' in error &&
    'next' in error &&
    Object.hasOwn(httpStatus, String(error.code))
  )
    return error as AppError;
  if (isUnreachable(error))
    return new AppError(
      'unavailable',
      'The database cannot be reached',
      'Nothing was saved. This page tries again by itself.',
    );
  if (isAway(error))
    return new AppError(
      'unavailable',
      'MongoDB cannot be reached',
      'Nothing was saved. Try again when the server is back.',
    );
  return new AppError(
    'internal',
    'Something went wrong on our side',
    'Try again; if it happens again, tell an admin when it did: the server’s log has the reason.',
  );
}
