import { mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import type { BlobStore } from '../db/blob-store';
import { isUnreachable, pgText, type Database } from '../db/database';
import { notify } from '../db/notify';
import { openBenchmark, type OpenBenchmark } from '../sqlite/source/open-benchmark';
import { importBenchmark } from './import-benchmark';
import { pauseForOutage, StageStopped } from './run-stage';

interface ImportRunner {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly scratchFolder: string;
}

/** Carries out a queued import: an uploaded archive, or a folder or archive on this machine. */
export async function runImportJob(
  runner: ImportRunner,
  importId: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, blobs } = runner;
  const { count } = await db.prisma.import.updateMany({
    where: { id: importId, state: 'queued' },
    data: { state: 'running' },
  });
  if (count === 0) return;
  const row = await db.prisma.import.findUniqueOrThrow({ where: { id: importId } });
  const tell = progressTeller(db, importId);
  await mkdir(runner.scratchFolder, { recursive: true });
  const scratch = await mkdtemp(path.join(runner.scratchFolder, 'import-'));
  let opened: OpenBenchmark | undefined;
  try {
    const archive = row.blobHash ? await blobs.materialise(row.blobHash) : undefined;
    const isFile = row.path !== null && (await stat(row.path)).isFile();
    const source = archive ?? row.path;
    if (!source) throw new Error('the import names neither an archive nor a folder');
    // blobs have hashes for names, which would stand in messages
    const named = path.join(scratch, 'benchmark.zip');
    const isArchive = archive !== undefined || isFile;
    if (isArchive) await symlink(source, named);
    await tell(isArchive ? 'unpacking' : 'reading', 0, 0, true);
    opened = await openBenchmark(isArchive ? named : source, {
      scratch,
      onUnpack: (done, total) => void tell('unpacking', done, total),
      onProgress: (done, total) => void tell('reading', done, total),
    });
    signal.throwIfAborted();
    await tell('storing', 0, 0, true);
    const benchmarkId = await importBenchmark(db, blobs, opened.benchmark, {
      name: row.name,
      actor: row.userId ?? 'import',
      signal,
      progress: (done, total) => void tell('storing', done, total),
    });
    await db.prisma.import.update({
      where: { id: importId },
      data: { state: 'done', phase: 'done', endedAt: new Date(), benchmarkId, failure: null },
    });
  } catch (error) {
    const isAway = isUnreachable(error);
    if (isAway) await pauseForOutage(signal);
    const stopped = signal.reason instanceof StageStopped ? signal.reason.why : undefined;
    if (stopped === 'lost') return;
    const failure = pgText(error instanceof Error ? error.message : String(error));
    await db.prisma.import.updateMany({
      where: { id: importId, state: 'running' },
      data: (stopped ? stopped === 'shutdown' : isAway)
        ? { state: 'queued', jobId: null }
        : { state: stopped ? 'cancelled' : 'failed', failure, endedAt: new Date() },
    });
  } finally {
    await opened?.close();
    await rm(scratch, { recursive: true, force: true });
    await tell.last();
  }
}

/** Progress in Postgres and to the pages, twice a second and at every new phase. */
function progressTeller(db: Database, importId: string) {
  let last = 0;
  const send = async () => {
    const row = await db.prisma.import.findUnique({ where: { id: importId } });
    if (row)
      await notify(db, {
        type: 'import',
        importId,
        state: row.state,
        phase: row.phase,
        done: row.done,
        total: row.total,
      });
  };
  const tell = async (
    phase: string,
    done: number,
    total: number,
    always = false,
  ): Promise<void> => {
    if (!always && Date.now() - last < 500) return;
    last = Date.now();
    const scale = total > 2 ** 30 ? 1024 : 1; // the columns are 32-bit
    try {
      await db.prisma.import.updateMany({
        where: { id: importId, state: 'running' },
        data: { phase, done: Math.trunc(done / scale), total: Math.trunc(total / scale) },
      });
      await send();
    } catch (error) {
      // the import itself goes on
      console.warn(`progress of the import was not saved: ${String(error)}`);
    }
  };
  return Object.assign(tell, { last: send });
}
