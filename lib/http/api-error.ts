/**
 * Conventions of the HTTP interface
 * - Ids are UUIDs, times ISO 8601 in UTC.
 * - Bodies are JSON and strict: an unknown key is refused. State changes need a same-origin
 *   `Origin` header.
 * - A failure has the body `ApiError` and one of 400 (malformed), 401 (sign in), 403 (not for
 *   this role), 404, 409 (something changed meanwhile: `code` says what), 413, 422 (the content
 *   fails its checks), 429, 503.
 * - Artefact content is relaxed Extended JSON, key order kept: integers beyond 2^53 as
 *   `{"$numberLong": "…"}`, dates as `{"$date": "…"}`, bytes as `{"$binary": …}`.
 */
import type { ApiErrorCode, Problem } from '../app-error';

export interface ApiError {
  readonly error: {
    readonly code: ApiErrorCode;
    /** What happened, and to what. */
    readonly message: string;
    /** What to do next; shown beside the message. */
    readonly next: string;
    /** Problems by place: fields of a malformed body, or checks that an edited artefact fails. */
    readonly problems?: readonly Problem[];
  };
}

/** GET /api/health (anyone) → 200 or 503. */
export interface Health {
  readonly ok: boolean;
  readonly postgres: boolean;
  readonly mongo: boolean;
}
