import { randomUUID } from 'node:crypto';
import { contentHash } from '../results/hash';
import type { BlobStore } from '../db/blob-store';
import { type Database, type Tx } from '../db/database';
import { encodeContent } from './content';
import { inputHash } from './stages/input-hash';
import type { ArtefactKind, ProducedArtefact, StageName } from './stages/stage';
import { hashInputs, lockDatabase, saveTasks, refKey } from './artefact-store';
import { type Production } from './production';

export interface Prepared extends ProducedArtefact {
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
  const { databaseId, stage } = production;
  await lockDatabase(tx, databaseId);
  const existing = await existingArtefacts(tx, databaseId);
  const idOf = await addArtefacts(tx, production, prepared, existing);
  const taken = await withoutHeldEdits(tx, prepared, existing);
  const current = await saveVersions(tx, production, taken, idOf);
  const producedIds = prepared.map((artefact) => idOf.get(refKey(artefact))!);
  await makeCurrent(tx, current);
  await tx.$executeRaw`UPDATE artefact
    SET produced_at = clock_timestamp(), retired_at = NULL, stage = ${stage}
      WHERE id = ANY(${producedIds}::uuid[])`;

  await replaceInputs(tx, idOf, current);
  for (const { artefactId, artefact } of current) {
    const before = existing.get(refKey(artefact))?.current;
    if (before && before.contentHash !== artefact.hash)
      await keepUnaffected(tx, artefactId, artefact.content, artefact.hash);
  }
  const retired = production.everything
    ? await retireOthers(tx, stage, existing, new Set(producedIds))
    : 0;
  await saveTasks(
    tx,
    production,
    prepared.map((artefact) => ({ artefactId: idOf.get(refKey(artefact))!, artefact })),
  );
  return { changed: current.filter((one) => isChanged(one, existing)).length + retired };
}

type Existing = Awaited<ReturnType<typeof existingArtefacts>>;

/** A database's artefacts before the stage, by their kind and key. */
async function existingArtefacts(tx: Tx, databaseId: string) {
  const rows = await tx.artefact.findMany({
    where: { databaseId },
    include: { current: { select: { id: true, contentHash: true, inputsHash: true } } },
  });
  return new Map(rows.map((artefact) => [refKey(artefact), artefact]));
}

/** Adds those that are new; returns the ids of all, by kind and key. */
async function addArtefacts(
  tx: Tx,
  { benchmarkId, databaseId, stage }: Production,
  prepared: readonly Prepared[],
  existing: Existing,
): Promise<Map<string, string>> {
  const producedAt = new Date();
  const added = prepared.filter((artefact) => !existing.has(refKey(artefact)));
  await tx.artefact.createMany({
    data: added.map(({ kind, key }) => ({ benchmarkId, databaseId, kind, key, stage, producedAt })),
  });
  const rows = await tx.artefact.findMany({
    where: { databaseId },
    select: { id: true, kind: true, key: true },
  });
  return new Map(rows.map((row) => [refKey(row), row.id]));
}

/** A held edit is not replaced while what it was made from is the same. */
async function withoutHeldEdits(
  tx: Tx,
  prepared: readonly Prepared[],
  existing: Existing,
): Promise<Prepared[]> {
  const held = [...existing.values()].filter((artefact) => artefact.heldEdit);
  const outdated = await outdatedVersions(
    tx,
    held.map((artefact) => artefact.currentId!),
  );
  return prepared.filter((artefact) => {
    const before = existing.get(refKey(artefact));
    const isHeld = before?.heldEdit && !before.retiredAt && before.current;
    return !isHeld || outdated.has(before.current!.id);
  });
}

/** A version that is to be the artefact's current one. */
interface CurrentVersion {
  readonly artefactId: string;
  readonly versionId: string;
  readonly artefact: Prepared;
}

/** Adds the versions that the artefacts do not have yet. */
async function saveVersions(
  tx: Tx,
  { stageRunId, agentRunOf }: Production,
  taken: readonly Prepared[],
  idOf: ReadonlyMap<string, string>,
): Promise<CurrentVersion[]> {
  const versions = await tx.artefactVersion.findMany({
    where: { artefactId: { in: taken.map((artefact) => idOf.get(refKey(artefact))!) } },
    select: { id: true, artefactId: true, contentHash: true, seq: true },
  });
  const known = new Map(
    versions.map((version) => [`${version.artefactId} ${version.contentHash}`, version.id]),
  );
  const lastSeq = new Map<string, number>();
  for (const { artefactId, seq } of versions)
    lastSeq.set(artefactId, Math.max(lastSeq.get(artefactId) ?? 0, seq));
  const current = taken.map((artefact) => {
    const artefactId = idOf.get(refKey(artefact))!;
    const versionId = known.get(`${artefactId} ${artefact.hash}`);
    const isNew = versionId === undefined;
    return { artefactId, artefact, versionId: versionId ?? randomUUID(), isNew };
  });
  await tx.artefactVersion.createMany({
    data: current
      .filter(({ isNew }) => isNew)
      .map(({ artefactId, versionId, artefact }) => ({
        id: versionId,
        artefactId,
        seq: (lastSeq.get(artefactId) ?? 0) + 1,
        contentHash: artefact.hash,
        inputsHash: artefact.inputsHash,
        blobHash: artefact.blobHash,
        stageRunId,
        agentRunId: agentRunOf(artefact) ?? null,
      })),
  });
  return current;
}

async function makeCurrent(tx: Tx, current: readonly CurrentVersion[]): Promise<void> {
  const versionIds = current.map(({ versionId }) => versionId);
  const inputsHashes = current.map(({ artefact }) => artefact.inputsHash);
  const artefactIds = current.map(({ artefactId }) => artefactId);
  await tx.$executeRaw`
    UPDATE artefact_version SET inputs_hash = x.inputs
      FROM unnest(${versionIds}::uuid[], ${inputsHashes}::text[]) AS x(id, inputs)
    WHERE artefact_version.id = x.id AND inputs_hash <> x.inputs`;
  await tx.$executeRaw`
    UPDATE artefact SET current_id = x.version, held_edit = false
      FROM unnest(${artefactIds}::uuid[], ${versionIds}::uuid[]) AS x(id, version)
    WHERE artefact.id = x.id AND (current_id IS DISTINCT FROM x.version OR held_edit)`;
}

/** Retires what the stage produced before and does not produce any more; returns how many. */
async function retireOthers(
  tx: Tx,
  stage: StageName,
  existing: Existing,
  produced: ReadonlySet<string>,
): Promise<number> {
  const retired = [...existing.values()].filter(
    (artefact) => artefact.stage === stage && !artefact.retiredAt && !produced.has(artefact.id),
  );
  await tx.artefact.updateMany({
    where: { id: { in: retired.map(({ id }) => id) } },
    data: { retiredAt: new Date() },
  });
  return retired.length;
}

/** Another content is current than before, or the same made from other inputs. */
function isChanged({ artefact, versionId }: CurrentVersion, existing: Existing): boolean {
  const before = existing.get(refKey(artefact));
  return (
    !before ||
    before.retiredAt !== null ||
    before.current?.id !== versionId ||
    before.current.inputsHash !== artefact.inputsHash
  );
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
export async function replaceInputs(
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
export async function keepUnaffected(
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
