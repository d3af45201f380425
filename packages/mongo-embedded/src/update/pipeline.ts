import { Doc } from '../bson/doc';
import { ServerError } from '../errors';
import type { Value } from '../bson/value';

const updateStages = new Set([
  '$addFields',
  '$set',
  '$project',
  '$unset',
  '$replaceRoot',
  '$replaceWith',
]);

/** A pipeline that updates one document may only have stages that make one document of one. */
export function checkUpdateStages(stages: readonly Value[]): void {
  for (const stage of stages) {
    const name = stage instanceof Doc ? (stage.keys[0] ?? '') : '';
    if (!updateStages.has(name))
      throw new ServerError(72, `${name} is not allowed to be used within an update`);
  }
}
