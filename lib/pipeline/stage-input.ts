import type { MongoClient } from 'mongodb';
import type { Agent } from '../../agents/contract';
import type { BlobStore } from '../db/blob-store';
import type { Database } from '../db/database';
import type { Directive } from '../design/model/directive';
import type { Item } from '../sqlite/benchmark';
import { readCurrent } from './artefact-store';
import { decodeContent } from './content';
import type { ArtefactRef, BenchmarkSettings, StageInput } from './stages/stage';

/**
 * What a stage reads of a source database, from Postgres and the blob store. Without an agent it is
 * good for checking an edit, which asks none.
 */
export async function stageInput(
  stores: { db: Database; blobs: BlobStore; mongo: MongoClient; agent?: Agent },
  databaseId: string,
): Promise<StageInput> {
  const { db, blobs } = stores;
  const database = await db.prisma.sourceDatabase.findUniqueOrThrow({
    where: { id: databaseId },
    include: { benchmark: true },
  });
  const [path, items, directives] = await Promise.all([
    blobs.materialise(database.blobHash),
    db.prisma.item.findMany({
      where: { databaseId },
      orderBy: { position: 'asc' },
      select: { content: true },
    }),
    db.prisma.directive.findMany({
      where: { databaseId, withdrawnAt: null },
      orderBy: { position: 'asc' },
      select: { content: true },
    }),
  ]);
  return {
    source: {
      name: database.name,
      path,
      sha256: database.sha256,
      bytes: Number(database.bytes),
      descriptions: decodeContent(database.descriptions),
    },
    items: items.map((item) => decodeContent<Item>(item.content)),
    settings: decodeContent<BenchmarkSettings>(database.benchmark.settings),
    agent: stores.agent ?? nobody,
    mongo: stores.mongo,
    mongoPrefix: database.benchmark.mongoPrefix,
    read: async <T>(ref: ArtefactRef) =>
      (await readCurrent<T>(db, blobs, databaseId, ref))?.content,
    directives: directives.map((directive) => decodeContent<Directive>(directive.content)),
  };
}

const refuse = (): never => {
  throw new Error('no agent is asked here');
};
const nobody: Agent = {
  name: 'nobody',
  conceptualDesign: refuse,
  logicalDesign: refuse,
  translate: refuse,
  optimise: refuse,
  rewriteEvidence: refuse,
};
