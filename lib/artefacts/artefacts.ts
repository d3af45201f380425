import { AppError, notFound } from '../app-error';
import type { BlobStore } from '../db/blob-store';
import type { Database } from '../db/database';
import { storedTypes } from '../design/model/bson-types';
import { logicalCsv } from '../design/logical/logical-csv';
import type { LogicalDesign } from '../design/model/document-design';
import { readCurrent } from '../pipeline/artefact-store';
import type { ProfileContent } from '../pipeline/stages/design-stages';
import type { ArtefactRow, VersionDetail, VersionRow } from './artefact-api';
import type { ArtefactKind, GateName } from '../pipeline/stages/stage';
import type { TaskState } from '../pipeline/task-state';
import { csvResponse } from '../http/csv';
import { listVersions, loadVersion, versionDetail } from './versions';

async function artefactRow(
  db: Database,
  id: string,
): Promise<ArtefactRow & { databaseId: string }> {
  const [row] = await db.prisma.$queryRaw<
    {
      id: string;
      kind: ArtefactKind;
      key: string;
      seq: number;
      database_id: string;
      gate: GateName | null;
      task_id: string | null;
      state: TaskState | null;
    }[]
  >`
    SELECT artefact.id, artefact.kind, artefact.key, version.seq, artefact.database_id, state.gate,
      state.id AS task_id, state.state
    FROM artefact JOIN artefact_version version ON version.id = artefact.current_id
    LEFT JOIN task_state state ON state.artefact_id = artefact.id AND state.state <> 'closed'
    WHERE artefact.id = ${id}::uuid LIMIT 1`;
  if (!row) throw notFound('This artefact');
  const { task_id, database_id, state, ...rest } = row;
  return { ...rest, databaseId: database_id, taskId: task_id, taskState: state };
}

export async function currentArtefact(
  db: Database,
  blobs: BlobStore,
  ref: { databaseId: string; kind: ArtefactKind; key: string },
): Promise<{ artefact: ArtefactRow; current: VersionDetail }> {
  const { databaseId, kind, key } = ref;
  const artefact = await db.prisma.artefact.findUnique({
    where: { databaseId_kind_key: { databaseId, kind, key } },
  });
  const version =
    artefact?.currentId && !artefact.retiredAt
      ? await loadVersion(db.prisma, artefact.currentId)
      : null;
  if (!artefact || !version) throw notFound(`The ${kind.replaceAll('_', ' ')} of ${key}`);
  return {
    artefact: await artefactRow(db, artefact.id),
    current: await versionDetail(blobs, version),
  };
}

export async function artefactWithVersions(
  db: Database,
  id: string,
): Promise<{ artefact: ArtefactRow & { databaseId: string }; versions: VersionRow[] }> {
  return { artefact: await artefactRow(db, id), versions: await listVersions(db.prisma, id) };
}

/**
 * The logical design behind a collection's task, in the four columns of Table 7: what `edit` takes
 * as `{csv}`.
 */
export async function taskLogicalCsv(
  db: Database,
  blobs: BlobStore,
  taskId: string,
): Promise<Response> {
  const task = await db.prisma.task.findUnique({
    where: { id: taskId },
    include: { artefact: true },
  });
  if (!task) throw notFound('This task');
  const { databaseId, artefact } = task;
  if (artefact.kind !== 'collection_validation' && artefact.kind !== 'logical_design') {
    throw new AppError(
      'conflict',
      'Only the tasks of collections have a logical design',
      'Open a collection validation.',
    );
  }
  const design = await readCurrent<LogicalDesign>(db, blobs, databaseId, {
    kind: 'logical_design',
    key: artefact.key,
  });
  const profile = await readCurrent<ProfileContent>(db, blobs, databaseId, {
    kind: 'profile',
    key: artefact.key.slice(0, artefact.key.indexOf('/')),
  });
  if (!design || !profile) throw notFound(`The logical design of ${artefact.key}`);
  return csvResponse(
    `${artefact.key.replace('/', '-')}-logical-design.csv`,
    logicalCsv(design.content, storedTypes(profile.content.profile)),
  );
}
