import type { MongoClient } from 'mongodb';
import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../auth/errors';
import { audited } from '../db/audit';
import type { BlobStore } from '../db/blob-store';
import { isUniqueViolation, type Database } from '../db/database';
import { notify } from '../db/notify';
import { cancelStages } from '../pipeline/schedule';
import type { ItemRow, Page } from './api-types';

export async function changeBenchmark(db: Database, user: Principal, id: string, change: { name?: string | undefined; agent?: string | undefined }): Promise<void> {
  try {
    await audited(db, async (tx) => {
      if (!(await tx.benchmark.findUnique({ where: { id } }))) throw notFound('This benchmark');
      await tx.benchmark.update({ where: { id }, data: { ...(change.name === undefined ? {} : { name: change.name }), ...(change.agent === undefined ? {} : { agent: change.agent }) } });
      await notify(tx, { type: 'benchmark', benchmarkId: id });
      return { result: undefined, audit: [{ chain: id, actor: user.id, action: 'change_benchmark', subject: `benchmark:${id}`, detail: { ...change } }] };
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('conflict', `There is already a benchmark named "${change.name}"`, 'Choose another name.');
    throw error;
  }
}

/**
 * Deletes a benchmark with everything in it; its audit trail stays. The name, typed again, guards against the wrong one.
 */
export async function deleteBenchmark(stores: { db: Database; blobs: BlobStore; mongo(): Promise<MongoClient> }, user: Principal, id: string, name: string): Promise<void> {
  const { db } = stores;
  const benchmark = await db.prisma.benchmark.findUnique({ where: { id }, include: { databases: { select: { id: true } } } });
  if (!benchmark) throw notFound('This benchmark');
  if (benchmark.name !== name) throw new AppError('conflict', `The benchmark is named "${benchmark.name}", not "${name}"`, 'Type its name to delete it.');
  for (const { id: databaseId } of benchmark.databases) await db.transaction((tx) => cancelStages(tx, databaseId));
  await audited(db, async (tx) => {
    await tx.benchmark.delete({ where: { id } });
    await notify(tx, { type: 'benchmark', benchmarkId: id });
    return { result: undefined, audit: [{ chain: id, actor: user.id, action: 'delete_benchmark', subject: `benchmark:${id}`, detail: { name } }] };
  });
  const mongo = await stores.mongo();
  const { databases } = await mongo.db('admin').admin().listDatabases({ nameOnly: true });
  for (const database of databases) if (database.name.startsWith(benchmark.mongoPrefix)) await mongo.db(database.name).dropDatabase();
  await stores.blobs.removeUnreferenced();
}

export async function listItems(db: Database, databaseId: string, query: { page: number; pageSize: number; search?: string | undefined }): Promise<Page<ItemRow>> {
  if (!(await db.prisma.sourceDatabase.findUnique({ where: { id: databaseId }, select: { id: true } }))) throw notFound('This source database');
  const where = {
    databaseId,
    ...(query.search ? { OR: [{ title: { contains: query.search, mode: 'insensitive' as const } }, { questionId: { contains: query.search } }] } : {}),
  };
  const [items, total] = await Promise.all([
    db.prisma.item.findMany({ where, orderBy: { position: 'asc' }, skip: (query.page - 1) * query.pageSize, take: query.pageSize }),
    db.prisma.item.count({ where }),
  ]);
  const rows = items.map(({ id, questionId, title, difficulty, split }) => ({ id, questionId, question: title, difficulty, split }));
  return { rows, total, page: query.page, pageSize: query.pageSize };
}
