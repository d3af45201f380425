import { Doc } from '../bson/doc';
import { ServerError, unsupported } from '../errors';
import { DateTime, typeName } from '../bson/value';
import { fromArray, type Next, type StageBuilder } from './stage';

/** Stages whose documents describe a collection instead of coming from it. */

/**
 * `$collStats`, as far as it tells what is stored: what shells and graphical clients show of a
 * collection.
 */
const collStats: StageBuilder = (operand, { source, collection }, name) => {
  if (!(operand instanceof Doc))
    throw new ServerError(14, `${name} must take a nested object but found: ${typeName(operand)}`);
  const storage = operand.get('storageStats');
  for (const key of operand.keys)
    if (key !== 'storageStats' && key !== 'count') throw unsupported(`option '${key}' of ${name}`);
  const describe = (): Doc => {
    const from = collection ?? '';
    const scale = storage instanceof Doc ? storage.get('scale') : undefined;
    const statistics = source.statistics(from, scale);
    if (!statistics)
      throw new ServerError(
        26,
        'Unable to retrieve storageStats in $collStats stage :: caused by :: Collection ' +
          `[${source.database}.${from}] not found.`,
      );
    const out = Doc.of({
      ns: `${source.database}.${from}`,
      localTime: new DateTime(Date.now()),
    }).copy();
    if (storage !== undefined) out.set('storageStats', Doc.of(statistics));
    if (operand.has('count')) out.set('count', statistics.count);
    return out;
  };
  return {
    name,
    generates: 'collection',
    open: () => {
      let output: Next | undefined;
      return () => (output ??= fromArray([describe()]))();
    },
  };
};

/** `$indexStats`: the indexes and how often each was used. */
const indexStats: StageBuilder = (operand, { source, collection }, name) => {
  if (!(operand instanceof Doc) || operand.size > 0)
    throw new ServerError(28803, 'The $indexStats stage specification must be an empty object');
  return {
    name,
    generates: 'collection',
    open: () => {
      let output: Next | undefined;
      return () => (output ??= fromArray(source.indexes(collection ?? '')))();
    },
  };
};

export const describingStages: Record<string, StageBuilder> = {
  $collStats: collStats,
  $indexStats: indexStats,
};
