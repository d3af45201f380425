/** Why a request fails; `lib/http/http-status` has the status of each. */
export type ApiErrorCode =
  | 'malformed'
  | 'not_signed_in'
  | 'wrong_credentials'
  | 'forbidden'
  | 'foreign_origin'
  | 'not_found'
  | 'conflict'
  /** The artefact has a newer version than the one decided on. */
  | 'version_changed'
  /** Agents are redoing this artefact or something that it depends on. */
  | 'being_redone'
  /** Somebody else holds the task. */
  | 'leased'
  /**
   * The decider holds no lease on the task, or it was decided meanwhile by somebody whom they may
   * not overrule.
   */
  | 'lease_lost'
  | 'too_large'
  | 'check_failed'
  | 'not_finalised'
  | 'rate_limited'
  | 'unavailable'
  | 'internal';

/** What is wrong at one place of what was sent or edited. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

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
