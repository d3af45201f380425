import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Principal } from '../lib/auth/accounts';
import { notify } from '../lib/db/notify';
import { sha256 } from '../lib/results/hash';
import { claimTask } from '../lib/review/leases';
import { decide } from '../lib/review/decide-task';
import { finalise } from '../lib/benchmarks/finalise';
import { extractBenchmarkZip } from '../lib/sqlite/source/benchmark-zip';
import { patiently } from './outage-product';
import type { Stores } from './outage-stores';

/**
 * Approves all tasks, finalises the database and makes the final bundle, during which the service
 * goes away: digests of the files that tell what is in the benchmark.
 */
export async function finalBundle(
  { db, blobs, scratch }: Stores,
  benchmarkId: string,
  databaseId: string,
  disturb: (() => Promise<void>) | undefined,
): Promise<Map<string, string>> {
  const user = await admin({ db });
  await approveAll({ db, blobs }, user, benchmarkId);
  await finalise(db, blobs, user, databaseId, randomUUID());
  const data = { benchmarkId, draft: false, userId: user.id };
  const { id } = await db.prisma.bundle.create({ data });
  await notify(db, { type: 'work' });
  const find = () => patiently(() => db.prisma.bundle.findUniqueOrThrow({ where: { id } }));
  while ((await find()).state === 'queued') await sleep(100);
  await sleep(1000);
  await disturb?.();
  while (['queued', 'running'].includes((await find()).state)) await sleep(250);
  const { state, failure, blobHash } = await find();
  if (state !== 'done') return new Map([['bundle', `${state}: ${failure}`]]);
  const folder = path.join(scratch, id);
  await extractBenchmarkZip(await patiently(() => blobs.materialise(blobHash!)), folder);
  return digests(folder);
}

async function admin({ db }: Pick<Stores, 'db'>): Promise<Principal> {
  const where = { role: 'admin' as const };
  const { id, email, name } = await db.prisma.user.findFirstOrThrow({ where });
  return { id, email, name, role: 'admin', via: 'session', scopes: [], tokenHash: '' };
}

async function approveAll(
  { db, blobs }: Pick<Stores, 'db' | 'blobs'>,
  user: Principal,
  benchmarkId: string,
): Promise<void> {
  const checkEdit = () => Promise.reject(new Error('nothing is edited here'));
  const { signal } = new AbortController();
  for (;;) {
    const lease = await claimTask(db, user, { benchmarkId }, []);
    if (!lease) return;
    const { artefact } = await db.prisma.task.findUniqueOrThrow({
      where: { id: lease.taskId },
      select: { artefact: { select: { currentId: true } } },
    });
    const versionId = artefact.currentId!;
    const decision = { verdict: 'approve' as const, versionId, idempotencyKey: randomUUID() };
    await decide({ db, blobs, checkEdit }, user, lease.taskId, decision, signal);
  }
}

/** The other files name the benchmark, its audit chain and its agent runs. */
function digests(folder: string): Map<string, string> {
  const [root] = fs.readdirSync(folder);
  const home = path.join(folder, root!);
  const names = ['data', 'results', 'databases'].flatMap((part) =>
    fs
      .readdirSync(path.join(home, part), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(home, path.join(entry.parentPath, entry.name))),
  );
  return new Map(names.sort().map((name) => [name, digest(path.join(home, name))]));
}

/** Items without their decisions, which have times and ids of their own. */
function digest(file: string): string {
  const bytes = fs.readFileSync(file);
  if (!file.endsWith('.jsonl')) return sha256(bytes);
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
  const items = lines.map((line) => ({ ...(JSON.parse(line) as object), decisions: undefined }));
  return sha256(items.map((item) => JSON.stringify(item)).join('\n'));
}
