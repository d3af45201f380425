import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';

/** How long one read transaction may last: as long as it does, what is written stays in the log. */
const LIFETIME_MS = 1000;
/** A log that is longer is given the chance to be emptied, which needs moments without readers. */
const LONGEST_LOG = 128 * 1024 * 1024;
/** What is left of a log after it was emptied. */
export const KEPT_LOG = 64 * 1024 * 1024;

/**
 * The read transaction of one command: it sees one state of all collections, and index lookups need
 * no transactions of their own. A command that takes longer than `LIFETIME_MS` continues in a new
 * transaction, which sees later writes.
 */
export class Reading {
  private open = false;
  private since = 0;
  constructor(
    private readonly db: Database.Database,
    private readonly logFile: string,
  ) {}

  within<T>(work: () => T): T {
    this.begin();
    try {
      return work();
    } finally {
      this.end();
    }
  }

  /** Called now and then in between, where no statement is under way. */
  renew(): void {
    const now = performance.now();
    if (now - this.since < LIFETIME_MS) return;
    this.end();
    if (this.logLength() < LONGEST_LOG) this.begin();
    else this.since = now;
  }

  private begin(): void {
    this.db.exec('BEGIN');
    this.open = true;
    this.since = performance.now();
  }
  private end(): void {
    if (!this.open) return;
    this.open = false;
    this.db.exec('COMMIT');
  }
  private logLength(): number {
    return statSync(this.logFile, { throwIfNoEntry: false })?.size ?? 0;
  }
}
