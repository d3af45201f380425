import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../app-error';
import type { BlobStore } from '../db/blob-store';
import { pgText, type Database } from '../db/database';
import { notify } from '../db/notify';
import type { ImportRow } from './benchmark-api';

/** BIRD's train set is about 9 GB zipped. */
const uploadLimit = 40 * 2 ** 30;

/**
 * Takes an uploaded archive into the blob store, where any worker finds it, and queues its import.
 */
export async function queueUpload(
  stores: { db: Database; blobs: BlobStore; dataDir: string },
  user: Principal,
  name: string,
  request: Request,
): Promise<ImportRow> {
  const { db, blobs } = stores;
  await assertNameFree(db, name);
  if (!request.body)
    throw new AppError(
      'malformed',
      'There is no file in the request',
      'Choose a .zip file with a BIRD or Spider benchmark.',
    );
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > uploadLimit) throw tooLarge();
  const folder = path.join(stores.dataDir, 'uploads');
  await mkdir(folder, { recursive: true });
  const scratch = await mkdtemp(path.join(folder, 'upload-'));
  try {
    const file = path.join(scratch, 'benchmark.zip');
    let received = 0;
    let start = Buffer.alloc(0);
    const bounded = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        received += chunk.length;
        if (start.length < 4) start = Buffer.concat([start, chunk.subarray(0, 4)]);
        done(received > uploadLimit ? tooLarge() : null, chunk);
      },
    });
    await pipeline(
      Readable.fromWeb(request.body as ReadableStream),
      bounded,
      createWriteStream(file),
    );
    if (start.subarray(0, 2).toString('latin1') !== 'PK')
      throw new AppError(
        'malformed',
        'The file is not a zip archive',
        'Choose a .zip file with a BIRD or Spider benchmark.',
      );
    const { hash } = await blobs.putFile(file);
    return await queue(db, { name: pgText(name), blobHash: hash, userId: user.id });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Queues the import of a folder or archive that lies on the workers' machine. */
export async function queueImportOfPath(
  db: Database,
  user: Principal,
  wanted: { name: string; path: string },
): Promise<ImportRow> {
  await assertNameFree(db, wanted.name);
  if (!path.isAbsolute(wanted.path))
    throw new AppError(
      'malformed',
      `The path ${wanted.path} is not absolute`,
      'Give the whole path, from the root.',
    );
  return queue(db, { name: wanted.name, path: wanted.path, userId: user.id });
}

async function queue(
  db: Database,
  data: { name: string; blobHash?: string; path?: string; userId: string },
): Promise<ImportRow> {
  const created = await db.prisma.import.create({ data });
  await notify(db, { type: 'work' });
  return importRow(created);
}

async function assertNameFree(db: Database, name: string): Promise<void> {
  const taken =
    (await db.prisma.benchmark.findUnique({ where: { name } })) ??
    (await db.prisma.import.findFirst({ where: { name, state: { in: ['queued', 'running'] } } }));
  if (taken)
    throw new AppError(
      'conflict',
      `There is already a benchmark named "${name}"`,
      'Choose another name.',
    );
}

const tooLarge = (): AppError =>
  new AppError(
    'too_large',
    `The file is larger than ${uploadLimit / 2 ** 30} GB`,
    'Import it from a folder on the server, or split it by database.',
  );

export async function listImports(db: Database): Promise<ImportRow[]> {
  return (await db.prisma.import.findMany({ orderBy: { createdAt: 'desc' }, take: 50 })).map(
    importRow,
  );
}

export async function findImport(db: Database, id: string): Promise<ImportRow> {
  const found = await db.prisma.import.findUnique({ where: { id } });
  if (!found) throw notFound('This import');
  return importRow(found);
}

const importRow = (row: {
  id: string;
  name: string;
  state: ImportRow['state'];
  phase: string;
  done: number;
  total: number;
  failure: string | null;
  benchmarkId: string | null;
  createdAt: Date;
}): ImportRow => ({
  id: row.id,
  name: row.name,
  state: row.state,
  phase: row.phase as ImportRow['phase'],
  done: row.done,
  total: row.total,
  failure: row.failure,
  benchmarkId: row.benchmarkId,
  createdAt: row.createdAt.toISOString(),
});
