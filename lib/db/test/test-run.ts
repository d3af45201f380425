import { access, chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ensureEmbeddedPostgres } from '../embedded-postgres';
import { ensureGeneratedClient } from '../migrate';

/**
 * Vitest's global setup: a folder for the run, and the end of the PostgreSQL that a test file may
 * have started in it.
 */
export default async function testRun(): Promise<() => Promise<void>> {
  await ensureGeneratedClient();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'aptmql-test-'));
  await chmod(folder, 0o711); // PostgreSQL may have to run as another user
  process.env.APTMQL_TEST_RUN = folder;
  return async () => {
    const shared = path.join(folder, 'shared');
    const started = await access(path.join(shared, 'postgres')).then(
      () => true,
      () => false,
    );
    if (started) await (await ensureEmbeddedPostgres({ dataDir: shared, durable: false })).stop();
    await rm(folder, { recursive: true, force: true });
  };
}
