import type { ApiErrorCode, Problem } from '../review/api-types';

/**
 * A failure that a person can act on: what happened, to what, what next. Everything else that is
 * thrown is a fault of ours and reaches people as `internal`.
 */
export class AppError extends Error {
  constructor(
    readonly code: ApiErrorCode,
    message: string,
    readonly next: string,
    readonly problems?: readonly Problem[],
  ) {
    super(message);
  }
}

export const notFound = (what: string): AppError =>
  new AppError(
    'not_found',
    `${what} does not exist`,
    'It may have been deleted; go back and reload.',
  );

export const httpStatus: Readonly<Record<ApiErrorCode, number>> = {
  malformed: 400,
  not_signed_in: 401,
  wrong_credentials: 401,
  forbidden: 403,
  foreign_origin: 403,
  not_found: 404,
  conflict: 409,
  version_changed: 409,
  being_redone: 409,
  leased: 409,
  lease_lost: 409,
  not_finalised: 409,
  too_large: 413,
  check_failed: 422,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
};
