import { fork } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureEmbeddedPostgres } from './embedded-postgres';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'aptmql-pg-'));
  await chmod(folder, 0o711);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
const postmaster = async (): Promise<number> =>
  Number(
    (await readFile(path.join(folder, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0],
  );

test('starts, survives kill -9 with every committed row, starts again with the same data', async () => {
  const first = await ensureEmbeddedPostgres({ dataDir: folder });
  expect(first.owned).toBe(true);
  expect((await stat(path.join(folder, 'postgres/password'))).mode & 0o777).toBe(0o600);
  await query(first.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)');
  process.kill(await postmaster(), 'SIGKILL');
  await expect
    .poll(() => query(first.url, 'SELECT n FROM kept').catch(() => []), {
      timeout: 30_000,
      interval: 300,
    })
    .toEqual([{ n: 1 }]);
  await first.stop();
  const second = await ensureEmbeddedPostgres({ dataDir: folder });
  expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  await second.stop();
});

test('a second process connects to the first one’s server; when the first is killed, the next takes the server over', async () => {
  const holder = fork(path.join(import.meta.dirname, 'embedded-postgres.holder.ts'), [folder], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const url = await new Promise<string>((resolve) =>
    holder.once('message', (message) => resolve(String(message))),
  );
  const guest = await ensureEmbeddedPostgres({ dataDir: folder });
  expect(guest).toMatchObject({ owned: false, url });
  await guest.stop();
  expect(await query(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  const gone = new Promise((resolve) => holder.once('exit', resolve));
  holder.kill('SIGKILL');
  await gone;
  const heir = await ensureEmbeddedPostgres({ dataDir: folder });
  expect(heir).toMatchObject({ owned: true, url });
  await heir.stop();
});

test('says which port is in the way', async () => {
  const squatter = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => squatter.once('listening', resolve));
  const { port } = squatter.address() as { port: number };
  await expect(ensureEmbeddedPostgres({ dataDir: folder, port })).rejects.toThrow(
    `port ${port} is in use`,
  );
  squatter.close();
});

test('says which folder it cannot write', async () => {
  const file = path.join(folder, 'a-file');
  await writeFile(file, '');
  await expect(ensureEmbeddedPostgres({ dataDir: file })).rejects.toThrow(
    `cannot write in ${file}/postgres`,
  );
});
