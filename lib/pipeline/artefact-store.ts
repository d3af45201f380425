import { randomUUID } from 'node:crypto';
import { contentHash, sha256 } from '../results/hash';
import type { BlobStore } from '../db/blob-store';
import { pgText, type Database, type Tx } from '../db/database';
import { decodeContent } from './content';
import type { ArtefactInput, ArtefactKind, ArtefactRef, ProducedArtefact } from './stages/stage';
import { type Production, type Prepared, replaceInputs, keepUnaffected } from './save-production';

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

export interface Edit {
  readonly databaseId: string;
  readonly userId: string;
  readonly artefact: ProducedArtefact;
  readonly blobHash: string;
}

/**
 * A reviewer's version takes the place of the current one, and keeps it as long as what it was made
 * from stays the same. Call with the database locked.
 */
export async function saveEdit(
  tx: Tx,
  edit: Edit,
): Promise<{
  artefactId: string;
  versionId: string;
  replacedId: string;
  contentHash: string;
  inputsHash: string;
}> {
  const { databaseId } = edit;
  const { kind, key } = edit.artefact;
  const artefact = await tx.artefact.findUniqueOrThrow({
    where: { databaseId_kind_key: { databaseId, kind, key } },
    include: { current: true },
  });
  const before = artefact.current;
  if (!before) throw new Error(`the ${kind} of ${key} has no current version to edit`);
  const prepared: Prepared = {
    ...edit.artefact,
    hash: contentHash(edit.artefact.content),
    inputsHash: hashInputs(edit.artefact.inputs),
    blobHash: edit.blobHash,
  };
  const same = await tx.artefactVersion.findUnique({
    where: { artefactId_contentHash: { artefactId: artefact.id, contentHash: prepared.hash } },
  });
  const versionId = same?.id ?? randomUUID();
  if (same) {
    await tx.artefactVersion.update({
      where: { id: same.id },
      data: { inputsHash: prepared.inputsHash },
    });
  } else {
    const last = await tx.artefactVersion.aggregate({
      where: { artefactId: artefact.id },
      _max: { seq: true },
    });
    await tx.artefactVersion.create({
      data: {
        id: versionId,
        artefactId: artefact.id,
        seq: (last._max.seq ?? 0) + 1,
        contentHash: prepared.hash,
        inputsHash: prepared.inputsHash,
        blobHash: edit.blobHash,
        authorUserId: edit.userId,
      },
    });
  }
  await tx.artefact.update({
    where: { id: artefact.id },
    data: { currentId: versionId, heldEdit: true },
  });
  const ids = await tx.artefact.findMany({
    where: { databaseId },
    select: { id: true, kind: true, key: true },
  });
  await replaceInputs(tx, new Map(ids.map((row) => [refKey(row), row.id])), [
    { versionId, artefact: prepared },
  ]);
  await keepUnaffected(tx, artefact.id, edit.artefact.content, prepared.hash);
  return {
    artefactId: artefact.id,
    versionId,
    replacedId: before.id,
    contentHash: prepared.hash,
    inputsHash: prepared.inputsHash,
  };
}

/** Makes an earlier version current again, with what it was made from then: the undo of an edit. */
export async function restoreVersion(tx: Tx, blobs: BlobStore, versionId: string): Promise<void> {
  const version = await tx.artefactVersion.findUniqueOrThrow({ where: { id: versionId } });
  await tx.artefact.update({
    where: { id: version.artefactId },
    data: { currentId: versionId, heldEdit: version.authorUserId !== null },
  });
  await keepUnaffected(
    tx,
    version.artefactId,
    decodeContent(await blobs.read(version.blobHash)),
    version.contentHash,
  );
}
