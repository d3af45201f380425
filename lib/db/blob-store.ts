import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { sha256 } from '../results/hash';
import type { Database, Tx } from './database';

const chunkBytes = 4 * 1024 * 1024;

export class BlobMissingError extends Error {
  constructor(hash: string) {
    super(`the blob ${hash} is not in the store`);
  }
}

/**
 * Bytes by their SHA-256, in Postgres: any worker on any machine finds them. A blob is stored once,
 * in chunks of a few MB, and is whole or absent. `cacheFolder` holds copies on this machine's disk.
 */
export interface BlobStore {
  /** Stores a small blob; inside `tx` when given. */
  put(bytes: Uint8Array, tx?: Tx): Promise<string>;
  /** Stores many small blobs in two statements. */
  putMany(blobs: readonly Uint8Array[], tx?: Tx): Promise<string[]>;
  /** Stores a file of any size without holding it in memory. `progress` counts bytes. */
  putFile(
    file: string,
    progress?: (bytes: number) => void,
  ): Promise<{ hash: string; bytes: number }>;
  /** @throws {BlobMissingError} */
  read(hash: string): Promise<Buffer>;
  readMany(hashes: readonly string[]): Promise<Map<string, Buffer>>;
  size(hash: string): Promise<number | undefined>;
  /** @throws {BlobMissingError} on first use */
  stream(hash: string): Readable;
  /** Path of a read-only copy on this machine's disk. @throws {BlobMissingError} */
  materialise(hash: string): Promise<string>;
  /** Removes blobs that nothing refers to and that are older than an hour (or `olderThanMs`). */
  removeUnreferenced(olderThanMs?: number): Promise<number>;
}

export const openBlobStore = (db: Database, cacheFolder: string): BlobStore =>
  new PostgresBlobStore(db, cacheFolder);

class PostgresBlobStore implements BlobStore {
  constructor(
    private readonly db: Database,
    private readonly cacheFolder: string,
  ) {}

  private async *chunks(hash: string): AsyncGenerator<Buffer> {
    const bytes = await this.size(hash);
    if (bytes === undefined) throw new BlobMissingError(hash);
    for (let seq = 0, read = 0; read < bytes; seq++) {
      const { rows } = await this.db.pool.query<{ data: Buffer }>(
        'SELECT data FROM blob_chunk WHERE hash = $1 AND seq = $2',
        [hash, seq],
      );
      const [chunk] = rows;
      if (!chunk) throw new BlobMissingError(hash); // removed while it was read
      read += chunk.data.length;
      yield chunk.data;
    }
  }

  async size(hash: string): Promise<number | undefined> {
    const blob = await this.db.prisma.blob.findUnique({ where: { hash } });
    return blob ? Number(blob.bytes) : undefined;
  }

  stream(hash: string): Readable {
    return Readable.from(this.chunks(hash), { objectMode: false });
  }

  async put(bytes: Uint8Array, tx?: Tx): Promise<string> {
    return (await this.putMany([bytes], tx))[0]!;
  }

  async putMany(blobs: readonly Uint8Array[], tx?: Tx): Promise<string[]> {
    const hashes = blobs.map((bytes) => sha256(bytes));
    const byHash = new Map(blobs.map((bytes, index) => [hashes[index]!, bytes]));
    const write = async (on: Tx) => {
      const rows = [...byHash].map(([hash, bytes]) => ({ hash, bytes: BigInt(bytes.length) }));
      await on.blob.createMany({ data: rows, skipDuplicates: true });
      await touch(
        on,
        rows.map(({ hash }) => hash),
      );
      const data = [...byHash].flatMap(([hash, bytes]) =>
        pieces(bytes).map((piece, seq) => ({ hash, seq, data: new Uint8Array(piece) })),
      );
      for (const batch of batches(data))
        await on.blobChunk.createMany({ data: batch, skipDuplicates: true });
    };
    await (tx ? write(tx) : this.db.transaction(write));
    return hashes;
  }

  async putFile(
    file: string,
    progress?: (bytes: number) => void,
  ): Promise<{ hash: string; bytes: number }> {
    const { hash, bytes } = await hashFile(file);
    if ((await touch(this.db.prisma, [hash])) > 0) {
      progress?.(bytes);
      return { hash, bytes };
    }
    await transfer(this.db, async (client) => {
      await client.query('INSERT INTO blob (hash, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        hash,
        bytes,
      ]);
      let seq = 0;
      let sent = 0;
      for await (const piece of createReadStream(file, {
        highWaterMark: chunkBytes,
      }) as AsyncIterable<Buffer>) {
        await client.query(
          'INSERT INTO blob_chunk (hash, seq, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
          [hash, seq++, piece],
        );
        sent += piece.length;
        progress?.(sent);
      }
      if (sent !== bytes) throw new Error(`${file} changed while it was stored`);
    });
    return { hash, bytes };
  }

  async read(hash: string): Promise<Buffer> {
    return (await this.readMany([hash])).get(hash)!;
  }

  async readMany(hashes: readonly string[]): Promise<Map<string, Buffer>> {
    const parts = new Map<string, Buffer[]>(hashes.map((hash) => [hash, []]));
    const wanted = [...parts.keys()];
    for (let at = 0; at < wanted.length; at += 500) {
      const slice = wanted.slice(at, at + 500);
      const present = await this.db.prisma.blob.findMany({
        where: { hash: { in: slice } },
        select: { hash: true },
      });
      const missing = slice.find((hash) => !present.some((blob) => blob.hash === hash));
      if (missing) throw new BlobMissingError(missing);
      const rows = await this.db.prisma.blobChunk.findMany({
        where: { hash: { in: slice } },
        orderBy: [{ hash: 'asc' }, { seq: 'asc' }],
      });
      for (const row of rows) parts.get(row.hash)?.push(Buffer.from(row.data));
    }
    return new Map([...parts].map(([hash, pieces]) => [hash, Buffer.concat(pieces)]));
  }

  async materialise(hash: string): Promise<string> {
    const folder = path.join(/* turbopackIgnore: true */ this.cacheFolder, hash.slice(0, 2));
    const file = path.join(/* turbopackIgnore: true */ folder, hash);
    if (
      await fs.access(file).then(
        () => true,
        () => false,
      )
    )
      return file;
    await fs.mkdir(folder, { recursive: true });
    const partial = path.join(/* turbopackIgnore: true */ folder, `.${randomUUID()}`);
    try {
      await pipeline(Readable.from(this.chunks(hash)), createWriteStream(partial));
      const read = await hashFile(partial);
      if (read.hash !== hash)
        throw new Error(`the blob ${hash} is damaged in the store: its bytes hash to ${read.hash}`);
      await fs.chmod(partial, 0o444);
      await fs.rename(partial, file);
    } finally {
      await fs.rm(partial, { force: true });
    }
    return file;
  }

  async removeUnreferenced(olderThanMs = 3_600_000): Promise<number> {
    const before = new Date(Date.now() - olderThanMs);
    return this.db.prisma.$executeRaw`
      DELETE FROM blob WHERE created_at < ${before}
        AND NOT EXISTS (SELECT 1 FROM artefact_version WHERE blob_hash = blob.hash)
        AND NOT EXISTS (SELECT 1 FROM source_database WHERE blob_hash = blob.hash)
        AND NOT EXISTS (SELECT 1 FROM bundle WHERE blob_hash = blob.hash)
        AND NOT EXISTS (SELECT 1 FROM import
          WHERE blob_hash = blob.hash AND state IN ('queued', 'running'))
        AND NOT EXISTS (SELECT 1 FROM benchmark
          WHERE position(convert_to(blob.hash, 'UTF8') in question_files) > 0)`;
  }
}

/**
 * Makes blobs that are wanted again young, so that `removeUnreferenced` leaves them until something
 * refers to them.
 */
const touch = (on: Tx, hashes: readonly string[]): Promise<number> =>
  on.$executeRaw`UPDATE blob SET created_at = now() WHERE hash = ANY(${[...hashes]}::text[])`;

/**
 * A transaction on the driver itself: large values pass without being turned into text on the way.
 */
async function transfer(db: Database, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await db.pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    await work(client);
    await client.query('COMMIT');
    broken = false;
  } finally {
    client.release(broken); // a broken one is closed, which rolls back
  }
}

async function hashFile(file: string): Promise<{ hash: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(file, {
    highWaterMark: 1024 * 1024,
  }) as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { hash: hash.digest('hex'), bytes };
}

function pieces(bytes: Uint8Array): Uint8Array[] {
  const out: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    out.push(bytes.subarray(at, at + chunkBytes));
  return out;
}

/** Groups rows so that one statement carries a few MB at most. */
function* batches<Row extends { readonly data: Uint8Array }>(
  rows: readonly Row[],
): Generator<Row[]> {
  let batch: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (batch.length > 0 && (bytes + row.data.length > chunkBytes || batch.length >= 500)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += row.data.length;
  }
  if (batch.length > 0) yield batch;
}
