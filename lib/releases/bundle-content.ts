import type { MongoClient } from 'mongodb';
import type { BundleContent, BundleDatabase, BundleItem } from '../bundle/content';
import type { BlobStore } from '../db/blob-store';
import type { Database } from '../db/database';
import { lastPart, readCurrent } from '../pipeline/artefact-store';
import { decodeContent } from '../pipeline/content';
import { collectBundleDatabase, type ArtefactReader } from '../pipeline/stages/memory-run';
import type { ColumnDescriptions, Item, SourceDatabase } from '../sqlite/benchmark';
import { effortByGate } from '../review/effort';
import { finaliseReport } from '../benchmarks/finalise';

export interface BundleSource {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly mongo: MongoClient;
  readonly toolVersion: string;
}

/** Why a final bundle cannot be made. */
export class BundleUnfinished extends Error {
  constructor(readonly missing: readonly string[]) {
    super(`the benchmark is not finalised:\n${missing.map((line) => `  - ${line}`).join('\n')}`);
  }
}

/**
 * A benchmark's bundle, as it is current in Postgres. A draft takes what there is and lists what is
 * missing.
 *
 * @throws {BundleUnfinished} unless `draft`, naming what is missing
 */
export async function bundleContent(
  source: BundleSource,
  benchmarkId: string,
  draft: boolean,
): Promise<BundleContent> {
  const { db, blobs } = source;
  const benchmark = await db.prisma.benchmark.findUniqueOrThrow({
    where: { id: benchmarkId },
    include: { databases: { orderBy: { name: 'asc' } } },
  });
  const missing: string[] = [];
  for (const { id, name } of benchmark.databases) {
    const report = await finaliseReport(db.prisma, blobs, id);
    if (report.finalisedAt) continue;
    missing.push(
      ...(report.ready
        ? [`${name}: a lead has to finalise it`]
        : report.missing.map(({ what }) => `${name}: ${what}`)),
    );
  }
  if (missing.length > 0 && !draft) throw new BundleUnfinished(missing);

  const databases: BundleDatabase[] = [];
  for (const database of benchmark.databases) {
    try {
      databases.push(await bundleDatabase(db, blobs, database));
    } catch (error) {
      if (!draft) throw error;
      missing.push(
        `${database.name} is left out: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  return {
    name: benchmark.name,
    toolVersion: source.toolVersion,
    engine: await engineOf(source.mongo),
    questionFiles: decodeContent<BundleContent['questionFiles']>(benchmark.questionFiles).map(
      ({ split, sha256, items }) => ({ split, sha256, items }),
    ),
    databases,
    problems: decodeContent<BundleContent['problems']>(benchmark.problems),
    provenance: await provenance(db, benchmarkId),
    missing: draft ? missing : undefined,
  };
}

interface StoredDatabase {
  readonly id: string;
  readonly name: string;
  readonly sha256: string;
  readonly bytes: bigint;
  readonly blobHash: string;
  readonly descriptions: Uint8Array;
}

async function bundleDatabase(
  db: Database,
  blobs: BlobStore,
  database: StoredDatabase,
): Promise<BundleDatabase> {
  const source: SourceDatabase = {
    name: database.name,
    path: await blobs.materialise(database.blobHash),
    sha256: database.sha256,
    bytes: Number(database.bytes),
    descriptions: decodeContent<ColumnDescriptions>(database.descriptions),
  };
  const rows = await db.prisma.item.findMany({
    where: { databaseId: database.id },
    orderBy: { position: 'asc' },
    select: { content: true },
  });
  const items = rows.map((row) => decodeContent<Item>(row.content));
  const read: ArtefactReader = async <T>(ref: Parameters<ArtefactReader>[0]) =>
    (await readCurrent<T>(db, blobs, database.id, ref))?.content;
  const decided = await itemDecisions(db, database.id);
  const collected = await collectBundleDatabase(source, items, read, (questionId) =>
    (decided.get(questionId) ?? []).map(({ gate, verdict, at, by }) => ({ gate, verdict, at, by })),
  );
  return {
    ...collected,
    items: collected.items.map((item) =>
      withDecisions(item, decided.get(item.item.questionId) ?? []),
    ),
  };
}

interface ItemDecision {
  readonly gate: string;
  readonly verdict: string;
  readonly at: string;
  readonly by: string;
}

/** The decisions on a database's items that count, by question id. */
async function itemDecisions(
  db: Database,
  databaseId: string,
): Promise<Map<string, ItemDecision[]>> {
  const rows = await db.prisma.$queryRaw<
    { key: string; gate: string; verdict: string; at: Date; by: string }[]
  >`
    SELECT artefact.key, state.gate, state.verdict, decision.created_at AS at, app_user.name AS by
    FROM task_state state JOIN artefact ON artefact.id = state.artefact_id
      JOIN decision ON decision.id = state.decision_id
        JOIN app_user ON app_user.id = decision.user_id
    WHERE state.database_id = ${databaseId}::uuid AND state.state = 'done'
      AND artefact.kind IN ('translation', 'gold', 'evidence')
    ORDER BY decision.created_at, decision.id`;
  const byItem = new Map<string, ItemDecision[]>();
  for (const { key, at, ...row } of rows) {
    const questionId = lastPart(key);
    byItem.set(questionId, [...(byItem.get(questionId) ?? []), { ...row, at: at.toISOString() }]);
  }
  return byItem;
}

/** What reviewers said of an item, beside what the agents made of it. */
function withDecisions(item: BundleItem, decisions: readonly ItemDecision[]): BundleItem {
  const said = (verdict: string) => decisions.some((decision) => decision.verdict === verdict);
  const caveats = said('mark_source_defect')
    ? [...new Set([...item.caveats, 'source_defect'])].sort()
    : item.caveats;
  if (!said('exclude')) return { ...item, caveats };
  return { ...item, caveats, status: 'excluded', mql: null };
}

async function provenance(db: Database, benchmarkId: string): Promise<BundleContent['provenance']> {
  const [decisions, effort, databases, runs, head] = await Promise.all([
    db.prisma.decision.findMany({
      where: { benchmarkId },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      include: {
        user: true,
        database: true,
        undoneBy: true,
        version: true,
        task: { include: { artefact: true } },
      },
    }),
    effortByGate(db.prisma, benchmarkId),
    db.prisma.sourceDatabase.findMany({ where: { benchmarkId }, select: { id: true, name: true } }),
    db.prisma.agentRun.findMany({
      where: { database: { benchmarkId } },
      orderBy: [{ startedAt: 'asc' }, { id: 'asc' }],
      include: { database: true },
    }),
    // Asking for a bundle is audited too, and must not change the bundle.
    db.prisma.auditEvent.findFirst({
      where: { chain: benchmarkId, action: { not: 'request_bundle' } },
      orderBy: { seq: 'desc' },
    }),
  ]);
  const nameOf = new Map(databases.map(({ id, name }) => [id, name]));
  return {
    decisions: decisions.map((decision) => ({
      at: decision.createdAt.toISOString(),
      database: decision.database.name,
      gate: decision.task?.gate ?? null,
      artefact: decision.task
        ? `${decision.task.artefact.kind} ${decision.task.artefact.key}`
        : null,
      verdict: decision.verdict,
      reason: decision.reasonCode,
      note: decision.note,
      by: decision.user.name,
      version: decision.version?.seq ?? null,
      contentHash: decision.contentHash,
      undone: decision.undoneBy !== null,
    })),
    effort: effort
      .map(({ databaseId, gate, minutes }) => ({
        database: nameOf.get(databaseId) ?? databaseId,
        gate,
        minutes: Math.round(minutes * 100) / 100,
      }))
      .sort((a, b) => (`${a.database} ${a.gate}` < `${b.database} ${b.gate}` ? -1 : 1)),
    agentRuns: runs.map((run) => ({
      agent: run.agent,
      database: run.database.name,
      stage: run.stage,
      subject: run.subject,
      state: run.state,
      startedAt: run.startedAt.toISOString(),
      endedAt: run.endedAt?.toISOString() ?? null,
      inputTokens: run.inputTokens,
      outputTokens: run.outputTokens,
      costUsd: run.costUsd,
    })),
    auditHead: head ? { seq: head.seq, hash: head.hash } : null,
  };
}

async function engineOf(mongo: MongoClient): Promise<BundleContent['engine']> {
  const info = await mongo.db('admin').command({ buildInfo: 1 });
  return {
    name: info.mongoEmbedded === true ? 'AptMQL embedded server' : 'MongoDB',
    version: String(info.version),
  };
}
