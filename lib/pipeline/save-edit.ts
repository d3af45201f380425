import { randomUUID } from 'node:crypto';
import { contentHash } from '../results/hash';
import type { BlobStore } from '../db/blob-store';
import { type Tx } from '../db/database';
import { decodeContent } from './content';
import type { ProducedArtefact } from './stages/stage';
import { type Prepared, replaceInputs, keepUnaffected } from './save-production';
import { hashInputs, refKey } from './artefact-store';

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
