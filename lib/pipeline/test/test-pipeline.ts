import { mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { MongoClient } from 'mongodb';
import type { Agent } from '../../../agents/contract';
import { openBlobStore, type BlobStore } from '../../db/blob-store';
import type { Database } from '../../db/database';
import { createTestDatabase } from '../../db/test/test-database';
import { contentHash, sha256 } from '../../results/hash';
import type { Item, SourceBenchmark } from '../../sqlite/benchmark';
import { importBenchmark } from '../import-benchmark';
import { stageNames, type ProducedArtefact, type Stage, type StageName } from '../stages/stage';
import { startWorker, type Worker } from '../worker';

/**
 * A pipeline for tests: stages that turn a few words into artefacts, so that everything around them
 * can be watched. A stage's outcome is changed by setting `world`.
 */
export interface TestWorld {
  /**
   * Text of the conceptual design; an item's translation depends on it only where it names the
   * item.
   */
  design: string;
  /** What a stage does instead of its work. */
  instead: Partial<Record<StageName, (signal: AbortSignal) => Promise<void>>>;
  /** Stages in the order in which they ran, with what they were restricted to. */
  readonly ran: string[];
  readonly items: number;
}

export interface TestPipeline {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly folder: string;
  readonly world: TestWorld;
  /** Imports a benchmark of one database, `shop`. */
  importShop(name?: string, start?: boolean): Promise<{ benchmarkId: string; databaseId: string }>;
  startWorker(): Promise<Worker>;
  /** Waits until nothing is queued or running. */
  settled(databaseId: string): Promise<void>;
}

export async function createTestPipeline(items = 4): Promise<TestPipeline> {
  const db = await createTestDatabase();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'aptmql-pipeline-'));
  const blobs = openBlobStore(db, path.join(folder, 'cache'));
  const world: TestWorld = { design: 'first', instead: {}, ran: [], items };
  return {
    db,
    blobs,
    folder,
    world,
    importShop: async (name = 'Shop', start = true) => {
      const benchmarkId = await importBenchmark(db, blobs, await shop(folder, items), {
        name,
        actor: 'test',
        start,
      });
      const database = await db.prisma.sourceDatabase.findFirstOrThrow({ where: { benchmarkId } });
      return { benchmarkId, databaseId: database.id };
    },
    startWorker: () =>
      startWorker({
        db,
        blobs,
        mongo: undefined as unknown as MongoClient,
        stages: testStages(world),
        agentNamed: () => ({ name: 'test' }) as Agent,
        scratchFolder: folder,
        makeBundle: (wanted) =>
          writeFile(path.join(wanted.folder, 'README.md'), wanted.draft ? 'DRAFT' : 'final'),
      }),
    settled: async (databaseId) => {
      for (;;) {
        // In this order: what leaves the outbox is queued in the same transaction.
        const pending = await db.prisma.outbox.count({ where: { handledAt: null } });
        const active = await db.prisma.stageRun.count({
          where: { databaseId, state: { in: ['queued', 'running'] } },
        });
        if (active + pending === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

async function shop(folder: string, count: number): Promise<SourceBenchmark> {
  const file = path.join(folder, 'shop.sqlite');
  const questions = path.join(folder, 'dev.json');
  const bytes = Buffer.from('not opened by these stages');
  await writeFile(file, bytes);
  await writeFile(questions, '[]');
  const items: Item[] = Array.from({ length: count }, (_, index) => ({
    questionId: String(index + 1),
    split: 'dev',
    database: 'shop',
    question: `Question ${index + 1}?`,
    evidence: 'hint',
    sql: 'SELECT 1',
    difficulty: null,
  }));
  return {
    kind: 'bird',
    questionFiles: [{ split: 'dev', path: questions, sha256: sha256('[]'), items: count }],
    databases: [
      { name: 'shop', path: file, sha256: sha256(bytes), bytes: bytes.length, descriptions: {} },
    ],
    items,
    problems: [],
  };
}

function testStages(world: TestWorld): Record<StageName, Stage> {
  const produce: Record<
    StageName,
    (
      text: (kind: ProducedArtefact['kind'], key: string) => Promise<string>,
      ids: readonly string[],
      directives: string,
    ) => Promise<ProducedArtefact[]>
  > = {
    profile: async () => [
      { kind: 'profile', key: 'shop', content: { text: 'profile' }, inputs: [] },
    ],
    conceptual_design: async (text, _ids, directives) => [
      {
        kind: 'conceptual_design',
        key: 'shop',
        content: { text: world.design + directives },
        inputs: [{ kind: 'profile', key: 'shop', hash: await text('profile', 'shop') }],
        gate: 'conceptual_design',
      },
    ],
    logical_design: async (text) => [
      {
        kind: 'logical_design',
        key: 'shop/orders',
        content: { text: `fields of ${await text('conceptual_design', 'shop')}` },
        inputs: [
          { kind: 'conceptual_design', key: 'shop', hash: await text('conceptual_design', 'shop') },
        ],
      },
    ],
    migration: async () => [],
    collection_validation: async (text) => [
      {
        kind: 'collection_validation',
        key: 'shop/orders',
        content: { failed: 0 },
        inputs: [
          {
            kind: 'logical_design',
            key: 'shop/orders',
            hash: await text('logical_design', 'shop/orders'),
          },
        ],
        gate: 'collection_validation',
      },
    ],
    cross_validation: async () => [],
    table_validation: async () => [],
    translation: async (text, ids) => {
      const design = await text('logical_design', 'shop/orders');
      return ids.map((id) => ({
        kind: 'translation',
        key: `shop/${id}`,
        content: { text: `pipeline ${id}` },
        inputs: [{ kind: 'logical_design', key: 'shop/orders', hash: design }],
      }));
    },
    optimisation: async (text, ids, directives) =>
      Promise.all(
        ids.map(async (id) => ({
          kind: 'gold' as const,
          key: `shop/${id}`,
          content: { text: `gold ${id}${directives}` },
          inputs: [
            {
              kind: 'translation' as const,
              key: `shop/${id}`,
              hash: await text('translation', `shop/${id}`),
            },
          ],
          ...(directives.includes('keep_unoptimised') ? {} : { gate: 'optimised_query' as const }),
        })),
      ),
    evidence: async (text, ids) =>
      Promise.all(
        ids.map(async (id) => ({
          kind: 'evidence' as const,
          key: `shop/${id}`,
          content: { text: `evidence ${id}` },
          inputs: [
            { kind: 'gold' as const, key: `shop/${id}`, hash: await text('gold', `shop/${id}`) },
          ],
          gate: 'evidence' as const,
        })),
      ),
  };
  return Object.fromEntries(
    stageNames.map((name): [StageName, Stage] => [
      name,
      async (input, { progress, signal }) => {
        world.ran.push(input.only ? `${name} ${input.only.join(',')}` : name);
        await world.instead[name]?.(signal);
        signal.throwIfAborted();
        progress(1, 2, 'steps');
        const read = async (kind: ProducedArtefact['kind'], key: string): Promise<string> =>
          contentHash(await input.read({ kind, key }));
        const ids = input.items
          .map((item) => item.questionId)
          .filter((id) => !input.only || input.only.includes(id));
        const directives = input.directives.map((directive) => directive.kind).join();
        const artefacts = await produce[name](read, ids, directives);
        return {
          artefacts,
          report: {
            seen: artefacts.length,
            ...(directives.includes('free_text') && name === 'conceptual_design'
              ? {
                  cannotAct: input.directives.map((directive) => ({
                    directive,
                    reason: 'beyond me',
                  })),
                }
              : {}),
          },
        };
      },
    ]),
  ) as Record<StageName, Stage>;
}
