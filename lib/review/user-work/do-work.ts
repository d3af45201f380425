import { processStores } from '../../db/process-database';
import { checkEdit } from '../../pipeline/stages/check-edit';
import { type EditOutcome } from '../../pipeline/stages/edit-outcome';
import { stageInput } from '../../pipeline/stage-input';
import { parseRelaxed } from '../../results/extended-json';
import { databaseWhatIf, designFigures } from '../../artefacts/designs';
import { processMongo } from '../../pipeline/process-mongo';
import type { DoUserWork, UserWork, WorkKind } from './work';

/** Does a piece of work in this process, with this process's connections. */
export const doUserWork: DoUserWork = (_userId, kind, input, signal) => {
  const work = WORK[kind] as (
    given: typeof input,
    stop: AbortSignal,
  ) => Promise<UserWork[typeof kind]['output']>;
  return work(input, signal);
};

type Work = {
  readonly [Kind in WorkKind]: (
    input: UserWork[Kind]['input'],
    signal: AbortSignal,
  ) => Promise<UserWork[Kind]['output']>;
};

const WORK: Work = {
  check,
  what_if: ({ databaseId, change }) => {
    const { db, blobs } = processStores();
    return databaseWhatIf(db, blobs, databaseId, change);
  },
  design_figures: ({ databaseId }) => {
    const { db, blobs } = processStores();
    return designFigures(db, blobs, databaseId);
  },
};

async function check(
  { databaseId, ref, content }: UserWork['check']['input'],
  signal: AbortSignal,
): Promise<EditOutcome> {
  let edited: unknown;
  try {
    edited = parseRelaxed(content);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, problems: [{ path: '', message: `this is not Extended JSON: ${reason}` }] };
  }
  const { db, blobs } = processStores();
  const input = await stageInput({ db, blobs, mongo: await processMongo() }, databaseId);
  return checkEdit(ref, edited, input, signal);
}
