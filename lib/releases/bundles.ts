import { Readable } from 'node:stream';
import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../app-error';
import { audited } from '../db/audit';
import type { BlobStore } from '../db/blob-store';
import type { Database } from '../db/database';
import { notify } from '../db/notify';
import type { BundleRow } from './release-api';
import { standingFinalisations } from '../benchmarks/finalise';

interface LoadedBundle {
  readonly id: string;
  readonly benchmarkId: string;
  readonly draft: boolean;
  readonly state: BundleRow['state'];
  readonly done: number;
  readonly total: number;
  readonly failure: string | null;
  readonly createdAt: Date;
  readonly bytes: bigint | null;
  readonly blobHash: string | null;
  readonly fileName: string | null;
  readonly benchmark: { readonly name: string };
}

const bundleRow = (bundle: LoadedBundle): BundleRow => ({
  id: bundle.id,
  benchmarkId: bundle.benchmarkId,
  benchmarkName: bundle.benchmark.name,
  draft: bundle.draft,
  state: bundle.state,
  done: bundle.done,
  total: bundle.total,
  failure: bundle.failure,
  createdAt: bundle.createdAt.toISOString(),
  bytes: bundle.bytes === null ? null : Number(bundle.bytes),
  sha256: bundle.blobHash,
  fileName: bundle.fileName,
});

/** Consumers see final bundles that they asked for or that are done; others see all. */
const visibleTo = (user: Principal) =>
  user.role === 'consumer'
    ? { draft: false, OR: [{ state: 'done' as const }, { userId: user.id }] }
    : {};

export async function listBundles(
  db: Database,
  user: Principal,
  benchmarkId?: string,
): Promise<BundleRow[]> {
  const bundles = await db.prisma.bundle.findMany({
    where: { ...visibleTo(user), ...(benchmarkId ? { benchmarkId } : {}) },
    orderBy: { createdAt: 'desc' },
    take: 200,
    include: { benchmark: true },
  });
  return bundles.map(bundleRow);
}

export async function findBundle(db: Database, user: Principal, id: string): Promise<BundleRow> {
  const bundle = await db.prisma.bundle.findFirst({
    where: { id, ...visibleTo(user) },
    include: { benchmark: true },
  });
  if (!bundle) throw notFound('This bundle');
  return bundleRow(bundle);
}

/** @throws {AppError} not_finalised, naming the databases */
export async function requestBundle(
  db: Database,
  user: Principal,
  wanted: { benchmarkId: string; draft: boolean },
): Promise<BundleRow> {
  const { benchmarkId, draft } = wanted;
  if (draft && user.role === 'consumer')
    throw new AppError('forbidden', 'Drafts are for leads', 'Ask for the final bundle.');
  const missing = draft ? [] : await unfinalisedDatabases(db, benchmarkId);
  if (missing.length > 0) {
    throw new AppError(
      'not_finalised',
      'Not every source database is finalised: ' +
        `${missing.slice(0, 10).join(', ')}${missing.length > 10 ? ` and ${missing.length - 10} more` : ''}`,
      'Finalise them, or take a draft.',
      missing.map((name) => ({ path: name, message: 'is not finalised' })),
    );
  }
  return audited(db, async (tx) => {
    if (!(await tx.benchmark.findUnique({ where: { id: benchmarkId } })))
      throw notFound('This benchmark');
    const bundle = await tx.bundle.create({
      data: { benchmarkId, draft, userId: user.id },
      include: { benchmark: true },
    });
    await notify(tx, { type: 'work' });
    return {
      result: bundleRow(bundle),
      audit: [
        {
          chain: benchmarkId,
          actor: user.id,
          action: 'request_bundle',
          subject: `bundle:${bundle.id}`,
          detail: { draft },
        },
      ],
    };
  });
}

export async function unfinalisedDatabases(db: Database, benchmarkId: string): Promise<string[]> {
  const databases = await db.prisma.sourceDatabase.findMany({
    where: { benchmarkId },
    select: { id: true, name: true },
    orderBy: { name: 'asc' },
  });
  const standing = await standingFinalisations(
    db.prisma,
    databases.map(({ id }) => id),
  );
  return databases.filter(({ id }) => !standing.has(id)).map(({ name }) => name);
}

export async function downloadBundle(
  db: Database,
  blobs: BlobStore,
  user: Principal,
  id: string,
): Promise<Response> {
  const bundle = await findBundle(db, user, id);
  if (bundle.state !== 'done' || !bundle.sha256)
    throw new AppError('conflict', 'The bundle is not ready', 'Wait until it is done.');
  return new Response(Readable.toWeb(blobs.stream(bundle.sha256)) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': 'application/zip',
      'content-length': String(bundle.bytes),
      'content-disposition': `attachment; filename="${bundle.fileName ?? 'bundle.zip'}"`,
      'cache-control': 'no-store',
      etag: `"${bundle.sha256}"`,
    },
  });
}
