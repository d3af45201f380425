import type { Item } from '../../sqlite/benchmark';
import type { ArtefactRef, StageInput } from './stage';

/** The item that an artefact with the key `database/question` belongs to. */
export function itemOf({ key }: ArtefactRef, { items }: StageInput): Item {
  const questionId = key.slice(key.indexOf('/') + 1);
  const item = items.find((candidate) => candidate.questionId === questionId);
  if (!item) throw new Error(`there is no item ${key}`);
  return item;
}
