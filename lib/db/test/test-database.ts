import { randomUUID } from 'node:crypto';
import path from 'node:path';
import pg from 'pg';
import { openDatabase, type Database } from '../database';
import { ensureEmbeddedPostgres } from '../embedded-postgres';
import { migrate } from '../migrate';

/** The folder of one test run, made and removed by `test-run.ts`. */
export function testRunFolder(): string {
  const folder = process.env.APTMQL_TEST_RUN;
  if (!folder)
    throw new Error(
      'no folder for this test run: vitest.config.ts has to name lib/db/test/test-run.ts as globalSetup',
    );
  return folder;
}

/**
 * An empty database of one's own, migrated, in the PostgreSQL that all files of a test run share.
 */
export async function createTestDatabase(): Promise<Database> {
  const server = await ensureEmbeddedPostgres({
    dataDir: path.join(testRunFolder(), 'shared'),
    durable: false,
  });
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  try {
    await admin.query('SELECT pg_advisory_lock(1)'); // one file makes the template, the others wait
    const template = await admin.query(`SELECT 1 FROM pg_database WHERE datname = 'migrated'`);
    if (template.rowCount === 0) {
      await admin.query('CREATE DATABASE migrating');
      await migrate(databaseAt(server.url, 'migrating'));
      await admin.query('ALTER DATABASE migrating RENAME TO migrated');
    }
    await admin.query(`CREATE DATABASE ${name} TEMPLATE migrated`);
  } finally {
    await admin.end();
  }
  return openDatabase(databaseAt(server.url, name));
}

const databaseAt = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${name}` }).toString();
