import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBlobStore, BlobMissingError, type BlobStore } from './blob-store';
import { isUniqueViolation, isUnreachable, type Database } from './database';
import { Prisma } from './generated/client';
import { listen, notify } from './notify';
import { createTestDatabase } from './test/test-database';

let db: Database;
let folder: string;
let blobs: BlobStore;
beforeAll(async () => {
  db = await createTestDatabase();
  folder = await mkdtemp(path.join(os.tmpdir(), 'aptmql-blob-'));
  blobs = openBlobStore(db, path.join(folder, 'cache'));
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true, force: true });
});

describe('blob store', () => {
  test('keeps small blobs once, bytes unaltered', async () => {
    const bytes = Buffer.from('a\0b{"a":1,"b":-1}');
    const [first, second] = await blobs.putMany([bytes, bytes]);
    expect(first).toBe(second);
    expect(await blobs.read(first!)).toEqual(bytes);
    expect(await blobs.put(Buffer.alloc(0))).toMatch(/^e3b0/);
    expect(await blobs.read(await blobs.put(Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  test('streams a file of many chunks in and out, and caches it by hash', async () => {
    const file = path.join(folder, 'big');
    const content = randomBytes(9_000_001);
    await writeFile(file, content);
    const { hash, bytes } = await blobs.putFile(file);
    expect(bytes).toBe(content.length);
    const copy = await blobs.materialise(hash);
    expect(content.equals(await readFile(copy))).toBe(true);
    expect((await stat(copy)).mode & 0o222).toBe(0);
    const parts: Buffer[] = [];
    for await (const part of blobs.stream(hash)) parts.push(part as Buffer);
    expect(content.equals(Buffer.concat(parts))).toBe(true);
    expect(await blobs.materialise(hash)).toBe(copy);
  });

  test('names a blob that is missing, and forgets what nothing refers to', async () => {
    await expect(blobs.read('0'.repeat(64))).rejects.toThrow(BlobMissingError);
    await expect(blobs.materialise('0'.repeat(64))).rejects.toThrow(BlobMissingError);
    const hash = await blobs.put(Buffer.from('lonely'));
    expect(await blobs.removeUnreferenced()).toBe(0);
    expect(await blobs.removeUnreferenced(-1000)).toBeGreaterThan(0);
    expect(await blobs.size(hash)).toBeUndefined();
  });
});

test('notifications reach every subscriber, and again after the connection was lost', async () => {
  const listener = listen(db.url);
  const seen: unknown[] = [];
  listener.subscribe((message) => seen.push(message));
  await expect.poll(() => seen).toContainEqual({ type: 'reconnected' });
  await notify(db, { hello: 1 });
  await expect.poll(() => seen).toContainEqual({ hello: 1 });
  await db.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND ` +
      'datname = current_database()',
  );
  await expect
    .poll(() => seen.filter((m) => (m as { type?: string }).type === 'reconnected').length, {
      timeout: 5000,
    })
    .toBe(2);
  await notify(db, { hello: 2 });
  await expect.poll(() => seen).toContainEqual({ hello: 2 });
  await listener.close();
});

describe('audit trail', () => {
  test('refuses to be changed, even by its owner', async () => {
    await db.prisma.auditEvent.create({
      data: {
        chain: 'c',
        seq: 1,
        at: new Date(),
        actor: 'a',
        action: 'x',
        subject: 's',
        detail: Buffer.from('{}'),
        previous: '',
        hash: 'h',
      },
    });
    await expect(db.pool.query(`UPDATE audit_event SET actor = 'b'`)).rejects.toThrow(
      /append-only/,
    );
    await expect(db.pool.query('DELETE FROM audit_event')).rejects.toThrow(/append-only/);
    await expect(db.pool.query('TRUNCATE audit_event')).rejects.toThrow(/append-only/);
  });
});

describe('a short transaction', () => {
  const marks = async () =>
    (await db.query<{ name: string }>(Prisma.sql`SELECT name FROM setting ORDER BY name`)).map(
      ({ name }) => name,
    );

  test('keeps all or nothing, and its connection serves again after a failure', async () => {
    const put = (name: string) =>
      Prisma.sql`INSERT INTO setting (name, value) VALUES (${name}, '')`;
    await expect(
      db.shortTransaction(async (on) => {
        await on.query(put('first'));
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await expect(
      db.shortTransaction(async (on) => [
        await on.query(put('second')),
        await on.query(put('second')),
      ]),
    ).rejects.toSatisfy(isUniqueViolation);
    expect(await marks()).toEqual([]);
    for (let turn = 0; turn < 20; turn++)
      await db.shortTransaction((on) => on.query(put(`kept ${turn}`)));
    expect(await marks()).toHaveLength(20);
    expect(db.pool.idleCount).toBe(db.pool.totalCount);
  });

  test('whose connection is lost fails, and the next gets another one', async () => {
    const lost = db.shortTransaction(async (on) => {
      await on.query(Prisma.sql`INSERT INTO setting (name, value) VALUES ('lost', '')`);
      await on.query(Prisma.sql`SELECT pg_terminate_backend(pg_backend_pid())`);
    });
    await expect(lost).rejects.toSatisfy(isUnreachable);
    expect(await marks()).not.toContain('lost');
    await db.shortTransaction((on) => on.query(Prisma.sql`SELECT 1`));
    expect(db.pool.idleCount).toBe(db.pool.totalCount);
  });
});
