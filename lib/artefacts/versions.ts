import { notFound } from '../app-error';
import type { BlobStore } from '../db/blob-store';
import type { Tx } from '../db/database';
import { decodeContent } from '../pipeline/content';
import { relaxedJson } from '../results/extended-json';
import type { VersionDetail, VersionRow } from './artefact-api';

/** What a version's row is made of. */
export const withVersion = {
  authorUser: true,
  agentRun: true,
  currentOf: { select: { id: true } },
} as const;
export type LoadedVersion = NonNullable<Awaited<ReturnType<typeof loadVersion>>>;
export const loadVersion = (on: Tx, id: string) =>
  on.artefactVersion.findUnique({ where: { id }, include: withVersion });

/** The author of a version: a user, or else an agent or the pipeline. */
export const authorOf = (
  user: string | null,
  agent: string | null,
  runId: string | null,
): VersionRow['author'] =>
  user === null
    ? { kind: 'agent', name: agent ?? 'pipeline', runId }
    : { kind: 'user', name: user, runId: null };

export const versionRow = (version: LoadedVersion): VersionRow => ({
  id: version.id,
  seq: version.seq,
  contentHash: version.contentHash,
  createdAt: version.createdAt.toISOString(),
  author: authorOf(
    version.authorUser?.name ?? null,
    version.agentRun?.agent ?? null,
    version.agentRunId,
  ),
  current: version.currentOf !== null,
});

export const versionDetail = async (
  blobs: BlobStore,
  version: LoadedVersion,
): Promise<VersionDetail> => ({
  ...versionRow(version),
  content: relaxedJson(decodeContent(await blobs.read(version.blobHash))),
});

export async function listVersions(on: Tx, artefactId: string): Promise<VersionRow[]> {
  const versions = await on.artefactVersion.findMany({
    where: { artefactId },
    orderBy: { seq: 'desc' },
    include: withVersion,
  });
  return versions.map(versionRow);
}

export async function versionBySeq(
  on: Tx,
  artefactId: string,
  seq: number,
): Promise<LoadedVersion> {
  const version = await on.artefactVersion.findUnique({
    where: { artefactId_seq: { artefactId, seq } },
    include: withVersion,
  });
  if (!version) throw notFound(`Version ${seq} of this artefact`);
  return version;
}
