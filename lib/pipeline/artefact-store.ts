import { randomUUID } from 'node:crypto';
import { contentHash, sha256 } from '../results/hash';
import type { BlobStore } from '../db/blob-store';
import { pgText, type Database, type Tx } from '../db/database';
import { decodeContent, encodeContent } from './content';
import { inputHash } from './stages/input-hash';
import type {
  ArtefactInput,
  ArtefactKind,
  ArtefactRef,
  ProducedArtefact,
  StageName,
} from './stages/stage';

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

export interface Production {
  readonly benchmarkId: string;
  readonly databaseId: string;
  readonly stage: StageName;
  readonly stageRunId: string;
  readonly artefacts: readonly ProducedArtefact[];
  /** Whether the stage looked at everything: what it no longer produced is then retired. */
  readonly everything: boolean;
  /** The agent run that wrote an artefact. */
  agentRunOf(ref: ArtefactRef): string | undefined;
}

interface Prepared extends ProducedArtefact {
  readonly hash: string;
  readonly inputsHash: string;
  readonly blobHash: string;
}

/**
 * Stores contents outside the transaction that makes them current: unreferenced blobs do no harm.
 */
async function prepare(
  blobs: BlobStore,
  artefacts: readonly ProducedArtefact[],
): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  for (let at = 0; at < artefacts.length; at += 200) {
    const slice = artefacts.slice(at, at + 200);
    const hashes = await blobs.putMany(slice.map((artefact) => encodeContent(artefact.content)));
    for (const [index, artefact] of slice.entries()) {
      prepared.push({
        ...artefact,
        hash: contentHash(artefact.content),
        inputsHash: hashInputs(artefact.inputs),
        blobHash: hashes[index]!,
      });
    }
  }
  return prepared;
}

/**
 * Makes what a stage produced current, inside the transaction that `save` is given. Content that
 * the artefact had before is no new version but becomes current again. A reviewer's edit stays
 * current as long as the agents answer to the same inputs. Tasks follow: one for each artefact with
 * a gate, closed where there is none any more.
 */
export async function prepareProduction(
  db: Database,
  blobs: BlobStore,
  production: Production,
): Promise<{ save(tx: Tx): Promise<{ changed: number }> }> {
  const prepared = await prepare(blobs, production.artefacts);
  const refs = new Set(prepared.map((artefact) => refKey(artefact)));
  if (refs.size !== prepared.length)
    throw new Error(`the stage ${production.stage} produced an artefact twice`);
  return { save: (tx) => save(tx, production, prepared) };
}

async function save(
  tx: Tx,
  production: Production,
  prepared: readonly Prepared[],
): Promise<{ changed: number }> {
  const { benchmarkId, databaseId, stage, stageRunId } = production;
  await lockDatabase(tx, databaseId);
  const now = new Date();
  const existing = new Map(
    (
      await tx.artefact.findMany({
        where: { databaseId },
        include: { current: { select: { id: true, contentHash: true, inputsHash: true } } },
      })
    ).map((artefact) => [refKey(artefact), artefact]),
  );
  // New ones.
  const added = prepared.filter((artefact) => !existing.has(refKey(artefact)));
  await tx.artefact.createMany({
    data: added.map(({ kind, key }) => ({
      benchmarkId,
      databaseId,
      kind,
      key,
      stage,
      producedAt: now,
    })),
  });
  const rows = await tx.artefact.findMany({
    where: { databaseId },
    select: { id: true, kind: true, key: true },
  });
  const idOf = new Map(rows.map((row) => [refKey(row), row.id]));

  // A held edit is not replaced while what it was made from is the same.
  const outdated = await outdatedVersions(
    tx,
    [...existing.values()]
      .filter((artefact) => artefact.heldEdit)
      .map((artefact) => artefact.currentId!),
  );
  const taken = prepared.filter((artefact) => {
    const before = existing.get(refKey(artefact));
    return !(
      before?.heldEdit &&
      !before.retiredAt &&
      before.current &&
      !outdated.has(before.current.id)
    );
  });
  const artefactIds = taken.map((artefact) => idOf.get(refKey(artefact))!);
  const versions = await tx.artefactVersion.findMany({
    where: { artefactId: { in: artefactIds } },
    select: { id: true, artefactId: true, contentHash: true, seq: true },
  });
  const known = new Map(
    versions.map((version) => [`${version.artefactId} ${version.contentHash}`, version.id]),
  );
  const lastSeq = new Map<string, number>();
  for (const version of versions)
    lastSeq.set(version.artefactId, Math.max(lastSeq.get(version.artefactId) ?? 0, version.seq));

  const current: {
    artefactId: string;
    versionId: string;
    inputsHash: string;
    artefact: Prepared;
    fresh: boolean;
  }[] = [];
  for (const artefact of taken) {
    const artefactId = idOf.get(refKey(artefact))!;
    const versionId = known.get(`${artefactId} ${artefact.hash}`);
    current.push({
      artefactId,
      artefact,
      inputsHash: artefact.inputsHash,
      versionId: versionId ?? randomUUID(),
      fresh: versionId === undefined,
    });
  }
  await tx.artefactVersion.createMany({
    data: current
      .filter(({ fresh }) => fresh)
      .map(({ artefactId, versionId, artefact }) => ({
        id: versionId,
        artefactId,
        seq: (lastSeq.get(artefactId) ?? 0) + 1,
        contentHash: artefact.hash,
        inputsHash: artefact.inputsHash,
        blobHash: artefact.blobHash,
        stageRunId,
        agentRunId: production.agentRunOf(artefact) ?? null,
      })),
  });
  const versionIds = current.map(({ versionId }) => versionId);
  await tx.$executeRaw`
    UPDATE artefact_version SET inputs_hash = x.inputs
      FROM unnest(${versionIds}::uuid[], ${current.map((row) => row.inputsHash)}::text[]) AS x(id,
        inputs)
    WHERE artefact_version.id = x.id AND inputs_hash <> x.inputs`;
  await tx.$executeRaw`
    UPDATE artefact SET current_id = x.version, held_edit = false
      FROM unnest(${current.map((row) => row.artefactId)}::uuid[], ${versionIds}::uuid[]) AS x(id,
        version)
    WHERE artefact.id = x.id AND (current_id IS DISTINCT FROM x.version OR held_edit)`;
  const producedIds = prepared.map((artefact) => idOf.get(refKey(artefact))!);
  await tx.$executeRaw`UPDATE artefact
    SET produced_at = clock_timestamp(), retired_at = NULL, stage = ${stage}
      WHERE id = ANY(${producedIds}::uuid[])`;

  await replaceInputs(tx, idOf, current);
  for (const { artefactId, artefact } of current) {
    const before = existing.get(refKey(artefact))?.current;
    if (before && before.contentHash !== artefact.hash)
      await keepUnaffected(tx, artefactId, artefact.content, artefact.hash);
  }

  const produced = new Set(producedIds);
  const retired = production.everything
    ? [...existing.values()]
        .filter(
          (artefact) =>
            artefact.stage === stage && !artefact.retiredAt && !produced.has(artefact.id),
        )
        .map((artefact) => artefact.id)
    : [];
  await tx.artefact.updateMany({ where: { id: { in: retired } }, data: { retiredAt: now } });
  await saveTasks(
    tx,
    production,
    prepared.map((artefact) => ({ artefactId: idOf.get(refKey(artefact))!, artefact })),
  );

  const changed = current.filter(({ artefact, versionId, inputsHash }) => {
    const before = existing.get(refKey(artefact));
    return (
      !before ||
      before.retiredAt ||
      before.current?.id !== versionId ||
      before.current.inputsHash !== inputsHash
    );
  }).length;
  return { changed: changed + retired.length };
}

/** Those that were made from what is no longer current. */
async function outdatedVersions(tx: Tx, versionIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT input.version_id AS id FROM artefact_input input
    JOIN artefact source ON source.id = input.source_id
    JOIN artefact_version source_version ON source_version.id = source.current_id
    WHERE input.version_id = ANY(${[...versionIds]}::uuid[])
      AND source_version.content_hash <> input.source_hash`;
  return new Set(rows.map((row) => row.id));
}

/** Records what versions were made from, with the inputs' whole content hashes at this time. */
async function replaceInputs(
  tx: Tx,
  idOf: ReadonlyMap<string, string>,
  versions: readonly { readonly versionId: string; readonly artefact: Prepared }[],
): Promise<void> {
  const versionIds = versions.map(({ versionId }) => versionId);
  const sourceIds = new Set(
    versions
      .flatMap(({ artefact }) => artefact.inputs.map((input) => idOf.get(refKey(input))))
      .filter((id) => id !== undefined),
  );
  const sources = await tx.artefact.findMany({
    where: { id: { in: [...sourceIds] } },
    select: { id: true, current: { select: { contentHash: true } } },
  });
  const hashOf = new Map(sources.map((source) => [source.id, source.current?.contentHash ?? null]));
  await tx.artefactInput.deleteMany({ where: { versionId: { in: versionIds } } });
  const rows = versions.flatMap(({ versionId, artefact }) =>
    artefact.inputs.map((input) => {
      // The source file never changes: nothing to catch up with.
      const sourceId = input.part === 'source' ? null : (idOf.get(refKey(input)) ?? null);
      return {
        versionId,
        kind: input.kind,
        key: input.key,
        part: input.part ?? '',
        hash: input.hash,
        sourceId,
        sourceHash: sourceId === null ? null : (hashOf.get(sourceId) ?? null),
      };
    }),
  );
  for (let at = 0; at < rows.length; at += 2000)
    await tx.artefactInput.createMany({ data: rows.slice(at, at + 2000), skipDuplicates: true });
}

/**
 * What depends on a part of an artefact that is the same in the new version has nothing to catch up
 * with.
 */
async function keepUnaffected(
  tx: Tx,
  sourceId: string,
  content: unknown,
  hash: string,
): Promise<void> {
  const parts = await tx.artefactInput.findMany({
    where: { sourceId, part: { not: '' }, sourceHash: { not: hash } },
    distinct: ['part', 'hash'],
  });
  for (const { kind, key, part, hash: partHash } of parts) {
    if (inputHash({ kind: kind as ArtefactKind, key, part, hash: partHash }, content) !== partHash)
      continue;
    await tx.artefactInput.updateMany({
      where: { sourceId, part, hash: partHash },
      data: { sourceHash: hash },
    });
  }
}

async function saveTasks(
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

const refKey = (ref: { readonly kind: string; readonly key: string }): string =>
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
