import { canonicalText, parseCanonical } from '../results/extended-json';
import { sha256 } from '../results/hash';
import { pgText, queriesIn, type Database, type Queries, type Tx } from './database';
import { Prisma } from './generated/client';

/** What happened, for the audit trail. */
export interface AuditEntry {
  /** A benchmark's id, or `installation` for users and tokens. */
  readonly chain: string;
  /** A user's id, or the name of what acted. */
  readonly actor: string;
  readonly action: string;
  /** Kind and id of what it was done to, e.g. `task:…`. */
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}
export const installationChain = 'installation';

/**
 * A transaction that leaves audit entries. A trigger appends them to their chains at the commit
 * (`audit_append`), because the lock that keeps a chain in one order is held until the commit is
 * done, and nobody should wait for it longer.
 */
export async function audited<T>(
  db: Database,
  work: (tx: Tx) => Promise<{ readonly result: T; readonly audit: readonly AuditEntry[] }>,
): Promise<T> {
  return db.transaction(async (tx) => {
    const { result, audit } = await work(tx);
    await leaveForAudit(queriesIn(tx), audit);
    return result;
  });
}

/** The entries of a transaction, in it. */
export async function leaveForAudit(on: Queries, audit: readonly AuditEntry[]): Promise<void> {
  // Chains in one order for all: two transactions never wait for each other's.
  const entries = [...audit].sort((a, b) => Number(a.chain > b.chain) - Number(a.chain < b.chain));
  for (const { chain, actor, action, subject, detail } of entries) {
    await on.query(Prisma.sql`
      INSERT INTO audit_pending (chain, actor, action, subject, detail)
      VALUES (${chain}, ${pgText(actor)}, ${action}, ${pgText(subject)},
        ${Buffer.from(canonicalText(detail))})`);
  }
}

interface HashedEvent {
  readonly chain: string;
  readonly seq: number;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: Uint8Array;
  readonly previous: string;
}
const eventHash = (event: HashedEvent): string =>
  sha256(
    `aptmql-audit:1\n${JSON.stringify([
      event.chain,
      event.seq,
      event.at.toISOString(),
      event.actor,
      event.action,
      event.subject,
      Buffer.from(event.detail).toString('utf8'),
      event.previous,
    ])}`,
  );

export interface AuditCheck {
  readonly ok: boolean;
  readonly events: number;
  readonly head: string | null;
  /** The first event that does not fit, in words. */
  readonly broken: string | null;
}

/**
 * Recomputes a chain from its first event. A missing tail shows only against a head noted elsewhere
 * (bundles note it).
 */
export async function verifyAudit(db: Database, chain: string): Promise<AuditCheck> {
  let previous = '';
  let events = 0;
  for (;;) {
    const page = await db.prisma.auditEvent.findMany({
      where: { chain, seq: { gt: events } },
      orderBy: { seq: 'asc' },
      take: 1000,
    });
    for (const event of page) {
      const broken = breakAt(event, events, previous);
      if (broken) return { ok: false, events, head: previous || null, broken };
      previous = event.hash;
      events = event.seq;
    }
    if (page.length < 1000) return { ok: true, events, head: previous || null, broken: null };
  }
}

export const auditDetail = (bytes: Uint8Array): unknown =>
  parseCanonical(Buffer.from(bytes).toString('utf8'));

/** What does not fit in the event after `events` others, in words; undefined where all does. */
function breakAt(
  event: Parameters<typeof eventHash>[0] & { readonly hash: string },
  events: number,
  previous: string,
): string | undefined {
  if (event.seq !== events + 1) return `event ${events + 1} is missing`;
  if (event.previous !== previous) return `event ${event.seq} does not follow event ${events}`;
  return event.hash === eventHash(event) ? undefined : `event ${event.seq} was altered`;
}
