import { canonicalText, parseCanonical } from '../results/extended-json';
import { sha256 } from '../results/hash';
import type { Database, Tx } from './database';
import { pgText } from './database';

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
 * A transaction that leaves audit entries. They are appended as its last act, because the lock that keeps a chain in
 * one order is held until the commit, and nobody should wait for it longer than that.
 */
export async function audited<T>(
  db: Database,
  work: (tx: Tx) => Promise<{ readonly result: T; readonly audit: readonly AuditEntry[] }>,
): Promise<T> {
  return db.transaction(async (tx) => {
    const { result, audit } = await work(tx);
    for (const chain of [...new Set(audit.map((entry) => entry.chain))].sort()) {
      await append(tx, chain, audit.filter((entry) => entry.chain === chain));
    }
    return result;
  });
}

async function append(tx: Tx, chain: string, entries: readonly AuditEntry[]): Promise<void> {
  const [last] = await tx.$queryRaw<{ seq: number | null; hash: string | null }[]>`SELECT seq, hash FROM audit_head(${chain})`;
  let seq = last?.seq ?? 0;
  let previous = last?.hash ?? '';
  for (const entry of entries) {
    const event = {
      chain,
      seq: ++seq,
      at: new Date(),
      actor: pgText(entry.actor),
      action: entry.action,
      subject: pgText(entry.subject),
      detail: new Uint8Array(Buffer.from(canonicalText(entry.detail))),
      previous,
    };
    const hash = eventHash(event);
    await tx.$executeRaw`
      INSERT INTO audit_event (chain, seq, at, actor, action, subject, detail, previous, hash)
      VALUES (${event.chain}, ${event.seq}, ${event.at}, ${event.actor}, ${event.action}, ${event.subject}, ${event.detail}, ${event.previous}, ${hash})`;
    previous = hash;
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
    `aptmql-audit:1\n${JSON.stringify([event.chain, event.seq, event.at.toISOString(), event.actor, event.action, event.subject, Buffer.from(event.detail).toString('utf8'), event.previous])}`,
  );

export interface AuditCheck {
  readonly ok: boolean;
  readonly events: number;
  readonly head: string | null;
  /** The first event that does not fit, in words. */
  readonly broken: string | null;
}

/** Recomputes a chain from its first event. A missing tail shows only against a head noted elsewhere (bundles note it). */
export async function verifyAudit(db: Database, chain: string): Promise<AuditCheck> {
  let previous = '';
  let events = 0;
  for (;;) {
    const page = await db.prisma.auditEvent.findMany({ where: { chain, seq: { gt: events } }, orderBy: { seq: 'asc' }, take: 1000 });
    for (const event of page) {
      const broken =
        event.seq !== events + 1
          ? `event ${events + 1} is missing`
          : event.previous !== previous
            ? `event ${event.seq} does not follow event ${events}`
            : event.hash !== eventHash(event)
              ? `event ${event.seq} was altered`
              : null;
      if (broken) return { ok: false, events, head: previous || null, broken };
      previous = event.hash;
      events = event.seq;
    }
    if (page.length < 1000) return { ok: true, events, head: previous || null, broken: null };
  }
}

export const auditDetail = (bytes: Uint8Array): unknown => parseCanonical(Buffer.from(bytes).toString('utf8'));
