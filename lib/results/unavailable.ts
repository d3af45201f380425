export type Resource = 'MongoDB' | 'SQLite' | 'time' | 'memory' | 'disk';

/**
 * Work that failed for want of a server, memory, disk or time. It says nothing about the work
 * itself, so it is run again and never recorded as a verdict; what is known of the work is thrown
 * as another type (`QueryError`, `GuardedError`).
 */
export class Unavailable extends Error {
  constructor(
    readonly resource: Resource,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'Unavailable';
  }
}

/**
 * Unavailable for a while, as a server is that restarts: worth waiting for. Time and memory are
 * not: they are limits.
 */
export const isOutage = (error: unknown): boolean =>
  error instanceof Unavailable && error.resource !== 'time' && error.resource !== 'memory';
