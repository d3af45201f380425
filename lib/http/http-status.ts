import type { ApiErrorCode } from '../app-error';

/** The HTTP status of each failure: the one place where the two meet. */
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
