import fs from 'node:fs/promises';
import path from 'node:path';
import { createUser, updateUser } from '../lib/auth/accounts';
import { BenchmarkNameTaken, importBenchmark } from '../lib/pipeline/import-benchmark';
import { openBenchmark, type OpenBenchmark } from '../lib/sqlite/source/open-benchmark';
import { generateSampleBenchmark } from '../sample/generate';
import type { Stores } from './services';

const sampleName = 'Sample benchmark';

/**
 * There is always an admin. A password that was generated is returned, and kept in `file` for its
 * owner only.
 */
export async function ensureAdmin(
  { config, db }: Stores,
  reset: boolean,
): Promise<{ email: string; password: string | undefined; file: string }> {
  const file = path.join(config.dataDir, 'admin-password');
  const keep = async (password: string | undefined) => {
    if (password === undefined) return;
    await fs.writeFile(file, `${password}\n`, { mode: 0o600 });
    await fs.chmod(file, 0o600);
  };
  const admin = await db.prisma.user.findFirst({
    where: { role: 'admin', disabledAt: null },
    orderBy: { createdAt: 'asc' },
  });
  if (!admin) {
    const { password } = await createUser(db, 'npm start', {
      email: config.adminEmail,
      name: 'Admin',
      role: 'admin',
      password: config.adminPassword,
    });
    await keep(password);
    return { email: config.adminEmail, password, file };
  }
  if (!reset) return { email: admin.email, password: undefined, file };
  const { password } = await updateUser(db, 'npm start', admin.id, { resetPassword: true });
  await keep(password);
  return { email: admin.email, password, file };
}

/**
 * On the first start there is something to look at: the sample benchmark, with the agents at work
 * on it.
 */
export async function ensureSample(
  { config, db, blobs }: Stores,
  say: (line: string) => void,
): Promise<void> {
  if (await db.prisma.setting.findUnique({ where: { name: 'sample_imported' } })) return;
  const folder = path.join(config.dataDir, 'scratch', 'sample');
  await fs.rm(folder, { recursive: true, force: true });
  await fs.mkdir(folder, { recursive: true });
  let opened: OpenBenchmark | undefined;
  try {
    generateSampleBenchmark(folder);
    opened = await openBenchmark(folder);
    await importBenchmark(db, blobs, opened.benchmark, { name: sampleName, actor: 'npm start' });
    say('The sample benchmark was imported; the agents are working on it.');
  } catch (error) {
    // otherwise a start before this one was killed just after it
    if (!(error instanceof BenchmarkNameTaken)) throw error;
  } finally {
    await opened?.close();
    await fs.rm(folder, { recursive: true, force: true });
  }
  await db.prisma.setting.create({
    data: { name: 'sample_imported', value: new Date().toISOString() },
  });
}
