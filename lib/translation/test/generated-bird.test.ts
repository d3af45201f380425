import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveDesign } from '../../design/logical/logical';
import { proposeDesign } from '../../design/propose/propose';
import { readWorkload } from '../../design/model/read-workload';
import { assembleDocuments } from '../../migration/assemble';
import { start as startMongoServer, type EmbeddedServer } from 'mongo-embedded';
import { catalogOf } from '../../sqlite/schema/introspect';
import { openSource } from '../../sqlite/open';
import { profileDatabase } from '../../sqlite/profile/profile-database';
import { QueryProcess } from '../../sqlite/query/query-process';
import { generateSource, type SchemaFile } from '../../studies/generated-source';
import { checkEquivalence, isEquivalent } from '../check/equivalence';
import { optimise } from '../rules/optimise';
import { PLAIN_AGGREGATE } from '../rules/plain-aggregate';
import { translate } from '../translate';

const BIRD = path.resolve('../shared/data/bird');
/**
 * Small ones of BIRD dev's schemas whose data is not at hand; `bench/generate-bird.ts` takes all of
 * them.
 */
const SCHEMAS = ['toxicology', 'student_club', 'debit_card_specializing'];
/** Among the rows that SQL leaves open SQLite takes those of its own plan. */
const OPEN: Readonly<Record<string, readonly number[]>> = { student_club: [1404] };

const there = existsSync(path.join(BIRD, 'dev_tables.json'));
if (!there) console.warn(`BIRD's schemas are not at ${BIRD}: generated databases are not tried`);

describe.skipIf(!there)('generated BIRD', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'generated-bird-'));
  let server: EmbeddedServer;
  let client: MongoClient;
  const queries = QueryProcess.borrow();
  beforeAll(async () => {
    server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
    client = await new MongoClient(server.uri).connect();
  });
  afterAll(async () => {
    queries.close();
    await client.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(SCHEMAS)('%s is translated to equal rows', { timeout: 120_000 }, async (name) => {
    const schema = (
      JSON.parse(readFileSync(path.join(BIRD, 'dev_tables.json'), 'utf8')) as SchemaFile[]
    ).find(({ db_id }) => db_id === name);
    const items = (
      JSON.parse(readFileSync(path.join(BIRD, 'dev.json'), 'utf8')) as {
        question_id: number;
        db_id: string;
        SQL: string;
      }[]
    ).filter(({ db_id }) => db_id === name);
    if (!schema) throw new Error(`${name} is no schema of BIRD dev`);
    const file = path.join(folder, `${name}.sqlite`);
    let state = 7;
    generateSource(file, {
      schema,
      sql: items.map(({ SQL }) => SQL),
      random: () => (state = (state * 16807) % 2147483647) / 2147483647,
    });
    const sqlite = openSource(file);
    const catalog = catalogOf(sqlite, { name, sha256: '', descriptions: {} });
    const profile = profileDatabase(sqlite, catalog);
    sqlite.close();
    const workload = readWorkload(
      items.map(({ question_id, SQL }) => ({
        questionId: String(question_id),
        split: 'dev',
        database: name,
        question: '',
        evidence: '',
        sql: SQL,
        difficulty: '',
      })),
      catalog,
      profile,
    );
    const conceptual = proposeDesign({
      catalog,
      profile,
      workload,
      strategy: 'access-pattern',
      limits: { maxArrayP99: 100, maxArray: 1000 },
      directives: [],
    }).design;
    const design = deriveDesign({ conceptual, catalog, profile, directives: [] });
    const db = client.db(name);
    for (const logical of design.logical) {
      const documents = [...assembleDocuments(file, catalog, logical, new Map())];
      if (documents.length > 0) await db.collection(logical.collection).insertMany(documents);
    }
    const wrong: string[] = [];
    for (const { question_id, SQL } of items) {
      const translation = translate(SQL, { catalog, profile, design });
      if (translation.status !== 'translated') {
        wrong.push(`${question_id}: ${translation.reason}`);
        continue;
      }
      const { columns, alternative } = translation;
      const verdicts = [];
      for (const pipeline of [translation.pipeline, ...(alternative ? [alternative] : [])]) {
        const optimised = optimise({
          catalog,
          profile,
          design,
          collection: translation.collection,
          pipeline,
          without: [PLAIN_AGGREGATE],
        });
        const { verdict } = await checkEquivalence({
          sql: SQL,
          sourcePath: file,
          catalog,
          queries,
          db,
          ...optimised,
          columns,
          clock: '2026-01-01T00:00:00Z',
          signal: new AbortController().signal,
        });
        verdicts.push(verdict);
        if (isEquivalent(verdict)) break;
      }
      if (!verdicts.some(isEquivalent))
        wrong.push(`${question_id}: ${verdicts.map(({ detail }) => detail).join(' | ')}`);
    }
    const open = OPEN[name] ?? [];
    expect(wrong.filter((line) => !open.some((id) => line.startsWith(`${id}: `)))).toEqual([]);
    expect(wrong.length / items.length).toBeLessThan(0.05);
  });
});
