import { sha256 } from '../results/hash';
import type { BlobStore } from '../db/blob-store';
import { pgText, type Database, type Tx } from '../db/database';
import { decodeContent } from './content';
import type { ArtefactInput, ArtefactKind, ArtefactRef, ProducedArtefact } from './stages/stage';
import { type Production } from './production';

/** Hash of what a version was made from; a decision copies it. */
export const hashInputs = (inputs: readonly ArtefactInput[]): string =>
  sha256(
    JSON.stringify(
      inputs
        .map((input) => [input.kind, input.key, input.part ?? '', input.hash])
        .sort(compareRows),
    ),
  );

const compareRows = (a: readonly string[], b: readonly string[]): number =>
  JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;

/**
 * Serialises everything that changes which versions of a database's artefacts are current. Taken
 * before any other row.
 */
export async function lockDatabase(tx: Tx, databaseId: string): Promise<void> {
  await tx.$queryRaw`SELECT id FROM source_database WHERE id = ${databaseId}::uuid FOR UPDATE`;
}

export interface ReadArtefact<T> {
  readonly artefactId: string;
  readonly versionId: string;
  readonly contentHash: string;
  readonly content: T;
}

/**
 * The current version of an artefact, or undefined. One question to Postgres, because item stages
 * ask thousands of times.
 */
export async function readCurrent<T>(
  db: Database,
  blobs: BlobStore,
  databaseId: string,
  ref: ArtefactRef,
): Promise<ReadArtefact<T> | undefined> {
  const [row] = await db.prisma.$queryRaw<
    {
      id: string;
      version_id: string;
      content_hash: string;
      blob_hash: string;
      bytes: bigint;
      first: Uint8Array | null;
    }[]
  >`
    SELECT artefact.id, version.id AS version_id, version.content_hash, version.blob_hash,
      blob.bytes, chunk.data AS first
    FROM artefact JOIN artefact_version version ON version.id = artefact.current_id
      JOIN blob ON blob.hash = version.blob_hash
    LEFT JOIN blob_chunk chunk ON chunk.hash = blob.hash AND chunk.seq = 0
    WHERE artefact.database_id = ${databaseId}::uuid AND artefact.kind = ${ref.kind}
      AND artefact.key = ${ref.key} AND artefact.retired_at IS NULL`;
  if (!row) return undefined;
  const whole =
    row.first?.length === Number(row.bytes) ? row.first : await blobs.read(row.blob_hash);
  return {
    artefactId: row.id,
    versionId: row.version_id,
    contentHash: row.content_hash,
    content: decodeContent<T>(whole),
  };
}

export async function saveTasks(
  tx: Tx,
  production: Production,
  produced: readonly { artefactId: string; artefact: ProducedArtefact }[],
): Promise<void> {
  const { benchmarkId, databaseId } = production;
  const existing = await tx.task.findMany({
    where: { artefactId: { in: produced.map(({ artefactId }) => artefactId) } },
    select: { id: true, artefactId: true, gate: true, closedAt: true },
  });
  const gated = new Map(produced.map(({ artefactId, artefact }) => [artefactId, artefact.gate]));
  const close = existing.filter(
    (task) => !task.closedAt && gated.get(task.artefactId) !== task.gate,
  );
  const reopen = existing.filter(
    (task) => task.closedAt && gated.get(task.artefactId) === task.gate,
  );
  const has = new Set(existing.map((task) => `${task.artefactId} ${task.gate}`));
  const add = produced.filter(
    ({ artefactId, artefact }) => artefact.gate && !has.has(`${artefactId} ${artefact.gate}`),
  );
  await tx.task.updateMany({
    where: { id: { in: close.map((task) => task.id) } },
    data: { closedAt: new Date() },
  });
  await tx.task.updateMany({
    where: { id: { in: reopen.map((task) => task.id) } },
    data: { closedAt: null },
  });
  const titles = await itemTitles(
    tx,
    databaseId,
    add.map(({ artefact }) => artefact),
  );
  await tx.task.createMany({
    data: add.map(({ artefactId, artefact }) => ({
      benchmarkId,
      databaseId,
      artefactId,
      gate: artefact.gate!,
      title: pgText(titles.get(artefact.key) ?? lastPart(artefact.key)),
    })),
  });
}

export const itemKinds: readonly ArtefactKind[] = ['translation', 'gold', 'evidence'];

export const isItemKind = (kind: string): boolean =>
  (itemKinds as readonly string[]).includes(kind);

/** `database/collection` → `collection`; a database's own artefacts have its name alone. */
export const lastPart = (key: string): string => key.slice(key.indexOf('/') + 1);

async function itemTitles(
  tx: Tx,
  databaseId: string,
  artefacts: readonly ArtefactRef[],
): Promise<Map<string, string>> {
  const keys = artefacts
    .filter((artefact) => isItemKind(artefact.kind))
    .map((artefact) => artefact.key);
  const items = await tx.item.findMany({
    where: { databaseId, questionId: { in: keys.map(lastPart) } },
    select: { questionId: true, title: true },
  });
  const titleOf = new Map(items.map((item) => [item.questionId, item.title]));
  return new Map(keys.map((key) => [key, titleOf.get(lastPart(key)) ?? lastPart(key)]));
}

export const refKey = (ref: { readonly kind: string; readonly key: string }): string =>
  `${ref.kind} ${ref.key}`;
