import { stringField, reply, type Engine, type Request } from './engine';
import { collectionStatistics, databaseStatistics, parseScale, wholeNumber } from './statistics';

/** Commands that say what is stored. */

export function collStats(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const name = stringField(command, command.keys[0] as string);
  return reply({
    ns: `${database}.${name}`,
    ...collectionStatistics(
      engine.store.findStored(database, name),
      parseScale(command.get('scale')),
    ),
  });
}
export function dbStats(engine: Engine, request: Request): Buffer {
  return reply(
    databaseStatistics(
      request.database,
      engine.store.list(request.database),
      parseScale(request.command.get('scale')),
    ),
  );
}
export function validate(engine: Engine, request: Request): Buffer {
  const collection = engine.store.require(
    request.database,
    stringField(request.command, 'validate'),
  );
  return reply({
    ns: collection.namespace,
    nrecords: wholeNumber(collection.count()),
    nIndexes: collection.indexes().length + 1,
    valid: true,
    warnings: [],
    errors: [],
  });
}
