import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtinAgent } from '../../../agents/drivers/builtin';
import { itemKey, readItems, readResults } from '../../bundle/bundled-items';
import { exportBundle } from '../../bundle/export';
import { signingKey } from '../../bundle/signature';
import { verifyBundle } from '../../bundle/verify';
import { connectMongo } from '../../mongo/client';
import { ensureEmbeddedServer } from '../../mongo/embedded/start';
import { readBenchmarkFolder } from '../../sqlite/benchmark-folder';
import { collectBundleDatabase, runInMemory } from './memory-run';
import { defaultSettings } from './stage';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-two-files-'));
const { privateKey } = generateKeyPairSync('ed25519');
const key = signingKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const signal = new AbortController().signal;
let server: Awaited<ReturnType<typeof ensureEmbeddedServer>>;
let mongo: MongoClient;
beforeAll(async () => {
  server = await ensureEmbeddedServer({ dataDir: path.join(folder, 'mongo') });
  mongo = await connectMongo(server.uri);
});
afterAll(async () => {
  await mongo.close();
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Ids of both files are the same; no two items ask the same. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  mini_dev_mysql: ['SELECT a, id FROM t', 'SELECT COUNT(*) FROM t', 'SELECT NO_SUCH(a) FROM t'],
  mini_dev_sqlite: ['SELECT a FROM t', 'SELECT MAX(id) FROM t', 'SELECT id FROM t WHERE a = \'x\''],
};

/** A benchmark of these files, exported as a draft. */
async function exported(out: string): Promise<readonly string[]> {
  const home = path.join(folder, 'source');
  fs.mkdirSync(home, { recursive: true });
  const sqlite = new Sqlite(path.join(home, 'd.sqlite'));
  sqlite.exec("DROP TABLE IF EXISTS t; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'x')");
  sqlite.close();
  for (const [file, queries] of Object.entries(FILES)) {
    const items = queries.map((SQL, id) => ({ question_id: id, db_id: 'd', question: `${file} ${id}`, evidence: `hint of ${file} ${id}`, SQL }));
    fs.writeFileSync(path.join(home, `${file}.json`), JSON.stringify(items));
  }
  const { databases: [source], items, questionFiles, problems } = await readBenchmarkFolder(home, { copies: path.join(folder, 'copies') });
  expect(problems).toEqual([]);
  const run = await runInMemory({ source: source!, items, settings: defaultSettings, agent: builtinAgent, mongo, mongoPrefix: 'two', signal });
  const database = await collectBundleDatabase(source!, items, run.artefacts);
  const provenance = { decisions: [], effort: [], agentRuns: [], auditHead: null };
  const engine = { name: 'test', version: '8.0.0' };
  const content = { name: 'two', toolVersion: '0', engine, questionFiles, databases: [database], problems, provenance, missing: ['review'] };
  return (await exportBundle(content, { out, mongo, key, signal })).faults;
}

test('equal ids in two question files: each ships its own question, evidence, gold and rows under its own id', async () => {
  const out = path.join(folder, 'bundle');
  expect(await exported(out)).toEqual([]);
  expect(await verifyBundle(out, { mongo, signal })).toMatchObject({ problems: [], gold: 5, equal: 5 });
  const problems: string[] = [];
  const items = readItems(out, problems);
  const results = await readResults(out, problems);
  expect(problems).toEqual([]);
  expect(items.map(({ split, question_id, SQL, question, evidence }) => [split, question_id, SQL, question, evidence])).toEqual(
    Object.entries(FILES).flatMap(([file, queries]) => queries.map((sql, id) => [file, String(id), sql, `${file} ${id}`, `hint of ${file} ${id}`])),
  );
  expect(items.filter(({ status }) => status !== 'translated').map(({ SQL }) => SQL)).toEqual(['SELECT NO_SUCH(a) FROM t']);
  const rowsOf = (file: string, id: string): unknown => results.get(itemKey(file, 'd', id))?.rows.map((row) => Object.values(row).map(String));
  expect([rowsOf('mini_dev_mysql', '0'), rowsOf('mini_dev_sqlite', '0')]).toEqual([[['x', '1'], ['y', '2'], ['x', '3']], [['x'], ['y'], ['x']]]);
  expect([rowsOf('mini_dev_mysql', '1'), rowsOf('mini_dev_sqlite', '1')]).toEqual([[['3']], [['3']]]);
});
