import type { MongoClient } from 'mongodb';
import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../app-error';
import { audited } from '../db/audit';
import type { BlobStore } from '../db/blob-store';
import { isUniqueViolation, type Database } from '../db/database';
import { notify } from '../db/notify';
import { decodeContent, encodeContent } from '../pipeline/content';
import { cancelStages, requestStage } from '../pipeline/schedule';
import { defaultSettings, type BenchmarkSettings } from '../pipeline/stages/stage';
import { contentHash } from '../results/hash';
import type { Page } from '../api-fields';
import type { BenchmarkPatch } from './benchmark-api';
import type { ItemRow } from '../review/task-api';

/**
 * Changes name, agent or settings. Settings that decide about designs have every database designed
 * again.
 */
export async function changeBenchmark(
  db: Database,
  user: Principal,
  id: string,
  { name, agent, settings }: BenchmarkPatch,
): Promise<void> {
  try {
    await audited(db, async (tx) => {
      const found = await tx.benchmark.findUnique({
        where: { id },
        include: { databases: { select: { id: true } } },
      });
      if (!found) throw notFound('This benchmark');
      const before: BenchmarkSettings = {
        ...defaultSettings,
        ...decodeContent<BenchmarkSettings>(found.settings),
      };
      const given = Object.fromEntries(
        Object.entries(settings ?? {}).filter(([, value]) => value !== undefined),
      ) as Partial<BenchmarkSettings>;
      const after: BenchmarkSettings = { ...before, ...given };
      if (after.maxArrayP99 > after.maxArray)
        throw new AppError(
          'conflict',
          'The limit of 99 % of the arrays is above the limit of every array',
          'Lower the first or raise the second.',
        );
      const changed = contentHash(before) !== contentHash(after);
      const data = {
        ...(name === undefined ? {} : { name }),
        ...(agent === undefined ? {} : { agent }),
        ...(changed ? { settings: new Uint8Array(encodeContent(after)) } : {}),
      };
      await tx.benchmark.update({ where: { id }, data });
      if (changed)
        for (const { id: databaseId } of found.databases)
          await requestStage(tx, {
            databaseId,
            stage: 'conceptual_design',
            only: null,
            carriesChange: true,
          });
      await notify(tx, { type: 'benchmark', benchmarkId: id });
      return {
        result: undefined,
        audit: [
          {
            chain: id,
            actor: user.id,
            action: 'change_benchmark',
            subject: `benchmark:${id}`,
            detail: {
              ...(name === undefined ? {} : { name }),
              ...(agent === undefined ? {} : { agent }),
              ...(changed ? { settings } : {}),
            },
          },
        ],
      };
    });
  } catch (error) {
    if (isUniqueViolation(error))
      throw new AppError(
        'conflict',
        `There is already a benchmark named "${String(name)}"`,
        'Choose another name.',
      );
    throw error;
  }
}

/**
 * Deletes a benchmark with everything in it; its audit trail stays. The name, typed again, guards
 * against the wrong one.
 */
export async function deleteBenchmark(
  stores: { db: Database; blobs: BlobStore; mongo(): Promise<MongoClient> },
  user: Principal,
  id: string,
  name: string,
): Promise<void> {
  const { db } = stores;
  const benchmark = await db.prisma.benchmark.findUnique({
    where: { id },
    include: { databases: { select: { id: true } } },
  });
  if (!benchmark) throw notFound('This benchmark');
  if (benchmark.name !== name)
    throw new AppError(
      'conflict',
      `The benchmark is named "${benchmark.name}", not "${name}"`,
      'Type its name to delete it.',
    );
  for (const { id: databaseId } of benchmark.databases)
    await db.transaction((tx) => cancelStages(tx, databaseId));
  await audited(db, async (tx) => {
    await tx.benchmark.delete({ where: { id } });
    await notify(tx, { type: 'benchmark', benchmarkId: id });
    return {
      result: undefined,
      audit: [
        {
          chain: id,
          actor: user.id,
          action: 'delete_benchmark',
          subject: `benchmark:${id}`,
          detail: { name },
        },
      ],
    };
  });
  const mongo = await stores.mongo();
  const { databases } = await mongo.db('admin').admin().listDatabases({ nameOnly: true });
  for (const database of databases)
    if (database.name.startsWith(benchmark.mongoPrefix))
      await mongo.db(database.name).dropDatabase();
  await stores.blobs.removeUnreferenced();
}

export async function listItems(
  db: Database,
  databaseId: string,
  query: { page: number; pageSize: number; search?: string | undefined },
): Promise<Page<ItemRow>> {
  if (
    !(await db.prisma.sourceDatabase.findUnique({
      where: { id: databaseId },
      select: { id: true },
    }))
  )
    throw notFound('This source database');
  const where = {
    databaseId,
    ...(query.search
      ? {
          OR: [
            { title: { contains: query.search, mode: 'insensitive' as const } },
            { questionId: { contains: query.search } },
          ],
        }
      : {}),
  };
  const [items, total] = await Promise.all([
    db.prisma.item.findMany({
      where,
      orderBy: { position: 'asc' },
      skip: (query.page - 1) * query.pageSize,
      take: query.pageSize,
    }),
    db.prisma.item.count({ where }),
  ]);
  const rows = items.map(({ id, questionId, title, difficulty, split }) => ({
    id,
    questionId,
    question: title,
    difficulty,
    split,
  }));
  return { rows, total, page: query.page, pageSize: query.pageSize };
}
