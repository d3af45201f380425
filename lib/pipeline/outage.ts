import { isUnreachable, postgresCode } from '../db/database';
import { asOutage } from '../mongo/outage';
import { isOutage } from '../results/unavailable';

/** A full disk as the system, SQLite and PostgreSQL report it; MongoDB's is among its outages. */
const FULL_DISK = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL', '53100']);

/**
 * A server is away, or the disk is full: the stage says nothing about its input, and runs again.
 */
export function isAway(error: unknown): boolean {
  return (
    isOutage(asOutage(error)) || isUnreachable(error) || FULL_DISK.has(postgresCode(error) ?? '')
  );
}
