import { GENERIC_FIELDS } from './generic-fields';
import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { ServerError, typeMismatch, unsupported } from '../errors';
import { Environment, Scope } from '../expressions/expression';
import { parseFilter } from '../query/match';
import { parseValidator } from '../query/validator';
import { parsePipeline } from '../stages/stage';
import { ID_INDEX } from '../storage/store';
import { completeCollation, parseCollation } from '../values/collation';
import type { Value } from '../bson/value';
import { cursorOf, docField, type Engine, reply, stringField, type Request } from './engine';
import { idIndexOf } from './index-description';
import { changeIndex } from './indexes';
import { splitNamespace } from './namespace';
import { checkCycle, defaultCollation } from './views';

/** Commands about databases, collections and views. */

const ignoredCreateOptions = new Set<string>([
  'create',
  'writeConcern',
  'maxTimeMS',
  ...GENERIC_FIELDS,
]);
const refusedCreateOptions = new Set([
  'capped',
  'timeseries',
  'clusteredIndex',
  'changeStreamPreAndPostImages',
  'encryptedFields',
]);
const knownCreateOptions = new Set([
  'viewOn',
  'pipeline',
  'collation',
  'validator',
  'validationLevel',
  'validationAction',
  'idIndex',
  'storageEngine',
  'indexOptionDefaults',
  'size',
  'max',
  'expireAfterSeconds',
  'autoIndexId',
  'flags',
]);

export function create(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const name = stringField(command, 'create');
  const options: Record<string, Value> = {};
  command.keys.forEach((key, i) => {
    const value = command.values[i];
    if (ignoredCreateOptions.has(key)) return;
    const off = value === false || (value instanceof Doc && value.size === 0);
    if (refusedCreateOptions.has(key)) {
      if (!off) throw unsupported(`option '${key}' of create`);
      return;
    }
    if (!knownCreateOptions.has(key))
      throw new ServerError(40415, `BSON field 'create.${key}' is an unknown field.`);
    options[key] = value;
  });
  if ('size' in options || 'max' in options)
    throw new ServerError(
      72,
      "the 'capped' field needs to be true when either the 'size' or 'max' fields are present",
    );
  const collation = docField(command, 'collation');
  const complete = collation.size > 0 ? completeCollation(collation) : undefined;
  if (complete) options.collation = complete;
  else delete options.collation;
  if ('viewOn' in options) options.pipeline ??= [];
  const chosen = Doc.of(options);
  if ('viewOn' in options || 'pipeline' in options) checkView(engine, request, name, chosen);
  else parseValidator(chosen);
  const existing = engine.store.find(database, name);
  if (existing) {
    // Creating the same again is no mistake.
    if (encode(existing.options).equals(encode(chosen))) return reply({});
    throw new ServerError(
      48,
      existing.isView
        ? `A view already exists. NS: ${database}.${name}`
        : `Collection ${database}.${name} already exists.`,
    );
  }
  engine.store.db.transaction(() => {
    const created = engine.store.create(database, name, chosen);
    if (complete && !created.isView)
      created.createIndex(
        ID_INDEX,
        Doc.of({
          v: 2,
          key: Doc.of({ _id: 1 }),
          name: ID_INDEX,
          unique: true,
          collation: complete,
        }),
      );
  })();
  return reply({});
}

/** Checks what a view is to be; its pipeline is parsed, so that a mistake shows now. */
function checkView(engine: Engine, request: Request, name: string, options: Doc): void {
  const on = options.get('viewOn');
  const pipeline = options.get('pipeline');
  if (typeof on !== 'string' || on === '')
    throw new ServerError(72, "'viewOn' must name the collection or view that the view is on");
  if (!Array.isArray(pipeline))
    throw typeMismatch("BSON field 'create.pipeline' is the wrong type, expected type 'array'");
  for (const key of ['validator', 'validationLevel', 'validationAction', 'idIndex'])
    if (options.has(key)) throw new ServerError(72, `option '${key}' is not supported on a view`);
  checkCycle(engine.store, request.database, name, on);
  const below = engine.store.find(request.database, on);
  if (
    below &&
    parseCollation(defaultCollation(below)).name !==
      parseCollation(docField(options, 'collation')).name &&
    below.isView
  ) {
    throw new ServerError(167, `View ${name} has conflicting collation with view ${on}`);
  }
  const { environment, scope } = engine.environmentOf({
    ...request,
    command: Doc.of({ aggregate: on }),
  });
  const last = pipeline[pipeline.length - 1];
  if (last instanceof Doc && (last.has('$out') || last.has('$merge')))
    throw new ServerError(
      167,
      `The aggregation stage ${last.keys[0] ?? ''} of the view pipeline is not allowed`,
    );
  parsePipeline(pipeline, {
    scope,
    source: engine.sourceOf(request.database, environment),
    collection: on,
    depth: 0,
    inFacet: false,
  });
}

const viewOptions = new Set(['viewOn', 'pipeline']);
const validatorOptions = new Set(['validator', 'validationLevel', 'validationAction']);
const ignoredModOptions = new Set<string>([
  'collMod',
  'writeConcern',
  'maxTimeMS',
  ...GENERIC_FIELDS,
]);

/**
 * `collMod`: a view's definition, a collection's validator, or whether an index is hidden and when
 * it expires.
 */
export function collMod(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const name = stringField(command, 'collMod');
  const found = engine.store.find(database, name);
  if (!found) throw new ServerError(26, `ns does not exist: ${database}.${name}`);
  const options: Record<string, Value> = Object.fromEntries(
    found.options.keys.map((k, i) => [k, found.options.values[i]]),
  );
  const out: Record<string, Value> = {};
  command.keys.forEach((key, i) => {
    if (ignoredModOptions.has(key)) return;
    const value = command.values[i];
    if (key === 'index' && !found.isView) Object.assign(out, changeIndex(found, value));
    else if (validatorOptions.has(key) && !found.isView) options[key] = value;
    else if (viewOptions.has(key) && found.isView) options[key] = value;
    else if (key === 'index' || validatorOptions.has(key) || viewOptions.has(key))
      throw new ServerError(
        72,
        `option not supported on a ${found.isView ? 'view' : 'collection'}: ${key}`,
      );
    else throw unsupported(`option '${key}' of collMod`, 115);
  });
  if (options.validator instanceof Doc && options.validator.size === 0) delete options.validator;
  const chosen = Doc.of(options);
  if (found.isView) checkView(engine, request, name, chosen);
  else parseValidator(chosen);
  found.changeOptions(chosen);
  return reply(out);
}

export function drop(engine: Engine, request: Request): Buffer {
  const name = stringField(request.command, 'drop');
  const collection = engine.store.find(request.database, name);
  if (!collection) return reply({});
  const nIndexesWas = collection.indexes().length + 1;
  const { isView } = collection;
  engine.store.drop(collection);
  return reply({ ...(isView ? {} : { nIndexesWas }), ns: `${request.database}.${name}` });
}

export function dropDatabase(engine: Engine, request: Request): Buffer {
  const collections = engine.store.list(request.database);
  engine.store.db.transaction(() => {
    for (const collection of collections) engine.store.drop(collection);
  })();
  return reply(collections.length > 0 ? { dropped: request.database } : {});
}

export function renameCollection(engine: Engine, request: Request): Buffer {
  const [fromDb, fromName] = splitNamespace(request.command.get('renameCollection'));
  const [toDb, toName] = splitNamespace(request.command.get('to'));
  const { store } = engine;
  store.db.transaction(() => {
    const source = store.findStored(fromDb, fromName);
    if (!source)
      throw new ServerError(26, `Source collection ${fromDb}.${fromName} does not exist`);
    const target = store.find(toDb, toName);
    if (target) {
      if (request.command.get('dropTarget') !== true)
        throw new ServerError(48, 'target namespace exists');
      store.drop(target);
    }
    store.rename(source, toDb, toName);
  })();
  return reply({});
}

const filtering = (spec: Doc): ((doc: Doc) => boolean) =>
  spec.size === 0 ? () => true : parseFilter(spec, Scope.root(new Environment())).test;

export function listCollections(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const test = filtering(docField(command, 'filter'));
  const nameOnly = command.get('nameOnly') === true;
  const docs = engine.store.list(database).map((c) =>
    c.isView
      ? Doc.of({
          name: c.name,
          type: 'view',
          options: c.options,
          info: Doc.of({ readOnly: true }),
        })
      : Doc.of({
          name: c.name,
          type: 'collection',
          options: c.options,
          info: Doc.of({ readOnly: false, uuid: c.uuid }),
          idIndex: idIndexOf(c),
        }),
  );
  const matching = docs
    .filter(test)
    .map((d) => (nameOnly ? Doc.of({ name: d.get('name'), type: d.get('type') }) : d));
  return cursorOf(engine, matching, `${database}.$cmd.listCollections`);
}

export function listDatabases(engine: Engine, request: Request): Buffer {
  const test = filtering(docField(request.command, 'filter'));
  const nameOnly = request.command.get('nameOnly') === true;
  let total = 0;
  const docs = engine.store.databases().map((name) => {
    const size = nameOnly ? 0 : engine.store.list(name).reduce((n, c) => n + c.bytes(), 0);
    total += size;
    return nameOnly ? Doc.of({ name }) : Doc.of({ name, sizeOnDisk: BigInt(size), empty: false });
  });
  return reply({
    databases: docs.filter(test),
    ...(nameOnly
      ? {}
      : { totalSize: BigInt(total), totalSizeMb: BigInt(Math.floor(total / 1048576)) }),
  });
}
