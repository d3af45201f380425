import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { encodeContent } from '../lib/pipeline/content';

/** What a load test needs to know of a seeded installation. */
export interface Seeded {
  readonly benchmarkId: string;
  /** Session cookies' tokens: made here, because signing in is limited for each client. */
  readonly reviewers: readonly string[];
  readonly lead: string;
}

const DATABASES = 20;
/** Logical designs of a database: each gold query and evidence string depends on one. */
const COLLECTIONS = 10;

/**
 * A benchmark with so many tasks, half of them optimised queries and half evidence, each with its
 * artefact, version, content (about 1 KB) and inputs, as the stages leave them. All of it is made
 * by PostgreSQL, in a minute for 100,000.
 */
export async function seedReview(pool: pg.Pool, tasks: number, people: number): Promise<Seeded> {
  const benchmarkId = randomUUID();
  const perDatabase = Math.ceil(tasks / 2 / DATABASES);
  await pool.query(
    'INSERT INTO benchmark (id, name, kind, mongo_prefix, settings, question_files, problems) ' +
      `VALUES ($1, $2, 'bird', $3, $4, $5, $5)`,
    [
      benchmarkId,
      `Load ${benchmarkId.slice(0, 8)}`,
      `load_${benchmarkId.slice(0, 8)}`,
      encodeContent({}),
      encodeContent([]),
    ],
  );
  await pool.query(
    `INSERT INTO source_database (id, benchmark_id, name, sha256, bytes, blob_hash, descriptions)
     SELECT gen_random_uuid(), $1, 'database_' || n, 'none', 1, 'none', $2
       FROM generate_series(1, $3) n`,
    [benchmarkId, encodeContent([]), DATABASES],
  );
  const item = encodeContent({
    questionId: '0',
    question: 'How many stations report?',
    evidence: 'reports refers to automatic = 1',
    SQL: 'SELECT 1',
    sql: 'SELECT 1',
    split: 'dev',
  });
  await pool.query(
    `INSERT INTO item (id, benchmark_id, database_id, question_id, split, position, title, content)
     SELECT gen_random_uuid(), $1, source.id, n::text, 'dev', n,
       'How many stations report in region ' || n || '?', $2
     FROM source_database source, generate_series(1, $3) n WHERE source.benchmark_id = $1`,
    [benchmarkId, item, perDatabase],
  );
  const artefacts = async (kind: string, stage: string, count: number): Promise<void> => {
    await pool.query(
      `INSERT INTO artefact (id, benchmark_id, database_id, kind, key, stage, produced_at)
       SELECT gen_random_uuid(), $1, source.id, $2, source.name || '/' || n, $3, now()
       FROM source_database source, generate_series(1, $4) n WHERE source.benchmark_id = $1`,
      [benchmarkId, kind, stage, count],
    );
  };
  await artefacts('logical_design', 'logical_design', COLLECTIONS);
  await artefacts('translation', 'translation', perDatabase);
  await artefacts('gold', 'optimisation', perDatabase);
  await artefacts('evidence', 'evidence', perDatabase);
  await seedVersions(pool, benchmarkId);
  await pool.query(
    `INSERT INTO task (id, benchmark_id, database_id, artefact_id, gate, title)
     SELECT gen_random_uuid(), $1, database_id, id, CASE kind WHEN 'gold' THEN 'optimised_query'
       ELSE 'evidence' END, key
     FROM seeded WHERE kind IN ('gold', 'evidence') ORDER BY database_id, kind, key`,
    [benchmarkId],
  );
  await pool.query('DROP TABLE seeded');
  const reviewers: string[] = [];
  for (let index = 0; index < people; index++)
    reviewers.push(await person(pool, 'reviewer', index));
  const lead = await person(pool, 'lead', 0);
  await pool.query('VACUUM ANALYZE');
  return { benchmarkId, reviewers, lead };
}

/** The current version of each artefact, and what it was made from; leaves the table `seeded`. */
async function seedVersions(pool: pg.Pool, benchmarkId: string): Promise<void> {
  await pool.query(
    `CREATE TEMP TABLE seeded AS
     SELECT artefact.id, artefact.kind, artefact.key, artefact.database_id,
       gen_random_uuid() AS version_id,
       convert_to('{"kind":"' || artefact.kind || '","key":"' || artefact.key || '","text":"' || repeat('a pipeline of several stages ', 30) || '"}', 'UTF8') AS content
     FROM artefact WHERE benchmark_id = '${benchmarkId}'`,
  );
  await pool.query(`ALTER TABLE seeded ADD COLUMN hash text`);
  await pool.query(`UPDATE seeded SET hash = encode(sha256(content), 'hex')`);
  await pool.query(
    'INSERT INTO blob (hash, bytes) SELECT hash, length(content) FROM seeded ON CONFLICT ' +
      'DO NOTHING',
  );
  await pool.query(
    'INSERT INTO blob_chunk (hash, seq, data) SELECT hash, 0, content FROM seeded ON CONFLICT ' +
      'DO NOTHING',
  );
  await pool.query(
    `INSERT INTO artefact_version (id, artefact_id, seq, content_hash, blob_hash, inputs_hash)
     SELECT version_id, id, 1, hash, hash, md5(key) FROM seeded`,
  );
  await pool.query(
    `UPDATE artefact SET current_id = seeded.version_id FROM seeded WHERE seeded.id = artefact.id`,
  );
  const feed = async (kind: string, source: string, part: string, key: string): Promise<void> => {
    await pool.query(
      `INSERT INTO artefact_input (version_id, kind, key, part, hash, source_id, source_hash)
       SELECT one.version_id, $2, other.key, $3, other.hash, other.id, other.hash
       FROM seeded one JOIN seeded other ON other.database_id = one.database_id AND other.kind = $2
         AND other.key = ${key}
       WHERE one.kind = $1`,
      [kind, source, part],
    );
  };
  const collection =
    `split_part(one.key, '/', 1) || '/' || (split_part(one.key, '/', 2)::int % ` +
    `${COLLECTIONS} + 1)`;
  await feed('gold', 'translation', '', 'one.key');
  await feed('gold', 'logical_design', 'fields', collection);
  await feed('evidence', 'gold', '', 'one.key');
  await feed('evidence', 'logical_design', 'fields', collection);
}

async function person(pool: pg.Pool, role: string, index: number): Promise<string> {
  const token = `s_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(token).digest('hex');
  const id = randomUUID();
  await pool.query(`INSERT INTO app_user (id, email, name, role) VALUES ($1, $2, $3, $4::"Role")`, [
    id,
    `${id}@example.org`,
    `${role} ${index}`,
    role,
  ]);
  await pool.query(
    'INSERT INTO session (token_hash, user_id, expires_at) VALUES ($1, $2, now() + interval ' +
      `'1 day')`,
    [hash, id],
  );
  return token;
}
