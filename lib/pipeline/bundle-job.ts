import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import yazl from 'yazl';
import type { BlobStore } from '../db/blob-store';
import { isUnreachable, pgText, type Database } from '../db/database';
import { notify } from '../db/notify';
import { asOutage } from '../mongo/outage';
import { isOutage } from '../results/unavailable';
import { pauseForOutage, StageStopped } from './run-stage';

/**
 * Writes a benchmark's bundle into an empty folder. It refuses, naming what is missing, unless
 * finalised or a draft.
 */
export type BundleMaker = (wanted: {
  readonly benchmarkId: string;
  readonly draft: boolean;
  readonly folder: string;
  readonly signal: AbortSignal;
  progress(done: number, total: number): void;
}) => Promise<void>;

interface BundleRunner {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly scratchFolder: string;
  readonly makeBundle: BundleMaker;
}

/** Carries out a queued bundle: written, zipped, stored as a blob. */
export async function runBundleJob(
  runner: BundleRunner,
  bundleId: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, blobs } = runner;
  const { count } = await db.prisma.bundle.updateMany({
    where: { id: bundleId, state: 'queued' },
    data: { state: 'running' },
  });
  if (count === 0) return;
  const row = await db.prisma.bundle.findUniqueOrThrow({
    where: { id: bundleId },
    include: { benchmark: true },
  });
  const tell = (state: string, done: number, total: number) =>
    notify(db, { type: 'bundle', benchmarkId: row.benchmarkId, bundleId, state, done, total });
  await mkdir(runner.scratchFolder, { recursive: true });
  const scratch = await mkdtemp(path.join(runner.scratchFolder, 'bundle-'));
  try {
    const folder = path.join(scratch, 'bundle');
    await mkdir(folder);
    let last = 0;
    await runner.makeBundle({
      benchmarkId: row.benchmarkId,
      draft: row.draft,
      folder,
      signal,
      progress: (done, total) => {
        if (Date.now() - last < 500) return;
        last = Date.now();
        db.prisma.bundle
          .updateMany({ where: { id: bundleId, state: 'running' }, data: { done, total } })
          .then(() => tell('running', done, total))
          .catch((error: unknown) =>
            console.warn(`progress of the bundle was not saved: ${String(error)}`),
          );
      },
    });
    signal.throwIfAborted();
    const name = `${row.benchmark.name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80)}${row.draft ? '-draft' : ''}`;
    const archive = path.join(scratch, 'bundle.zip');
    await zipFolder(folder, name, archive);
    const { hash, bytes } = await blobs.putFile(archive);
    await db.prisma.bundle.updateMany({
      where: { id: bundleId, state: 'running' },
      data: {
        state: 'done',
        blobHash: hash,
        bytes: BigInt(bytes),
        fileName: `${name}.zip`,
        endedAt: new Date(),
        failure: null,
      },
    });
    await tell('done', 1, 1);
  } catch (error) {
    const isAway = isOutage(asOutage(error)) || isUnreachable(error);
    if (isAway) await pauseForOutage(signal);
    const stopped = signal.reason instanceof StageStopped ? signal.reason.why : undefined;
    if (stopped === 'lost') return;
    const failure = pgText(error instanceof Error ? error.message : String(error));
    const isQueued = stopped ? stopped === 'shutdown' : isAway;
    const state = stopped ? 'cancelled' : 'failed';
    await db.prisma.bundle.updateMany({
      where: { id: bundleId, state: 'running' },
      data: isQueued ? { state: 'queued', jobId: null } : { state, failure, endedAt: new Date() },
    });
    await tell(isQueued ? 'queued' : state, 0, 0);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The same folder gives the same bytes: names sorted, one time for all. */
async function zipFolder(folder: string, root: string, archive: string): Promise<void> {
  const zip = new yazl.ZipFile();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
  for (const file of files) {
    zip.addFile(path.join(folder, file), `${root}/${file.split(path.sep).join('/')}`, {
      mtime: new Date('2000-01-01T00:00:00Z'),
      mode: 0o100644,
      compress: !/\.(gz|parquet)$/.test(file),
      forceDosTimestamp: true,
    });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(archive));
}
