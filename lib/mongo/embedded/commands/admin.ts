import { Doc } from '../bson/doc';
import { ServerError, typeMismatch, unsupported } from '../errors';
import { Environment, Scope } from '../expressions/expression';
import { parseFilter } from '../query/match';
import { fromArray } from '../stages/stage';
import type { Collection } from '../storage/store';
import { isNumeric, toDouble, typeName, type Value } from '../values/value';
import { docField, type Engine, QueryControl, reply, stringField, type Request } from './engine';
import { splitNamespace } from './namespace';
import { collectionStatistics, databaseStatistics, parseScale, wholeNumber } from './statistics';

const ignoredCreateOptions = new Set(['create', 'lsid', '$db', '$readPreference', '$clusterTime', 'comment', 'writeConcern', 'maxTimeMS']);
const refusedCreateOptions = new Set(['capped', 'timeseries', 'viewOn', 'validator', 'clusteredIndex', 'changeStreamPreAndPostImages', 'encryptedFields', 'collation']);

export function create(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const name = stringField(command, 'create');
  const options: Record<string, Value> = {};
  command.keys.forEach((key, i) => {
    const value = command.values[i];
    if (ignoredCreateOptions.has(key)) return;
    const off = value === false || (value instanceof Doc && (value.size === 0 || value.get('locale') === 'simple'));
    if (refusedCreateOptions.has(key)) {
      if (!off) throw unsupported(`option '${key}' of create`);
      return;
    }
    options[key] = value;
  });
  if (engine.store.find(database, name)) throw new ServerError(48, `Collection ${database}.${name} already exists.`);
  engine.store.create(database, name, Doc.of(options));
  return reply({});
}

export function drop(engine: Engine, request: Request): Buffer {
  const name = stringField(request.command, 'drop');
  const collection = engine.store.find(request.database, name);
  if (!collection) return reply({});
  const nIndexesWas = collection.indexes().length + 1;
  engine.store.drop(collection);
  return reply({ nIndexesWas, ns: `${request.database}.${name}` });
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
    const source = store.find(fromDb, fromName);
    if (!source) throw new ServerError(26, `Source collection ${fromDb}.${fromName} does not exist`);
    const target = store.find(toDb, toName);
    if (target) {
      if (request.command.get('dropTarget') !== true) throw new ServerError(48, 'target namespace exists');
      store.drop(target);
    }
    store.rename(source, toDb, toName);
  })();
  return reply({});
}

const indexDirections = (value: Value): boolean => isNumeric(value) && toDouble(value) !== 0;
const knownIndexOptions = new Set([
  'key', 'name', 'v', 'unique', 'sparse', 'partialFilterExpression', 'expireAfterSeconds', 'background', 'hidden', 'ns', 'collation', 'storageEngine',
]);

export function createIndexes(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const name = stringField(command, 'createIndexes');
  const specs = command.get('indexes');
  if (!Array.isArray(specs) || specs.length === 0) throw new ServerError(2, 'Must specify at least one index to create');
  const existed = engine.store.find(database, name) !== null;
  const collection = engine.store.findOrCreate(database, name);
  const before = collection.indexes().length + 1;
  for (const spec of specs) {
    if (!(spec instanceof Doc)) throw typeMismatch('an index specification must be an object');
    createIndex(collection, checkIndex(spec));
  }
  const after = collection.indexes().length + 1;
  return reply({
    numIndexesBefore: before,
    numIndexesAfter: after,
    ...(existed ? {} : { createdCollectionAutomatically: true }),
    ...(after === before ? { note: 'all indexes already exist' } : {}),
  });
}

function checkIndex(spec: Doc): Doc {
  const key = spec.get('key');
  if (!(key instanceof Doc) || key.size === 0) throw new ServerError(67, 'Index keys cannot be empty.');
  for (const option of spec.keys) if (!knownIndexOptions.has(option)) throw unsupported(`index option '${option}'`, 197);
  const collation = spec.get('collation');
  if (collation instanceof Doc && collation.get('locale') !== 'simple') throw unsupported('an index with a collation', 67);
  key.keys.forEach((path, i) => {
    const direction = key.values[i];
    if (typeof direction === 'string' || path.includes('$**')) throw unsupported(`an index of type '${typeof direction === 'string' ? direction : 'wildcard'}'`, 67);
    if (!indexDirections(direction)) throw new ServerError(67, `Values in v:2 index key pattern cannot be of type ${typeName(direction)}. Only numbers > 0, numbers < 0, and strings are allowed.`);
    if (path === '' || path.split('.').some((part) => part === '' || part.startsWith('$'))) throw new ServerError(67, `Index key contains an illegal field name: '${path}'`);
  });
  if (typeof spec.get('name') === 'string') return spec;
  const name = key.keys.map((path, i) => `${path}_${String(toDouble(key.values[i] as number))}`).join('_');
  return new Doc([...spec.keys, 'name'], [...spec.values, name]);
}

function createIndex(collection: Collection, spec: Doc): void {
  const key = spec.get('key') as Doc;
  const name = spec.get('name') as string;
  if (key.size === 1 && key.keys[0] === '_id') return;
  const signature = (k: Doc): string => k.keys.map((path, i) => `${path}:${Math.sign(toDouble(k.values[i] as number))}`).join(',');
  for (const index of collection.indexes()) {
    const same = signature(index.spec.get('key') as Doc) === signature(key);
    const sameOptions = index.unique === (spec.get('unique') === true) && index.sparse === (spec.get('sparse') === true);
    if (index.name === name && same && sameOptions) return;
    if (index.name === name) throw new ServerError(same ? 85 : 86, `An existing index has the same name as the requested index. Requested index: ${name}`);
    if (same && sameOptions && !index.partial && !spec.has('partialFilterExpression')) throw new ServerError(85, `Index already exists with a different name: ${index.name}`);
  }
  const keys = ['v', ...spec.keys.filter((k) => k !== 'v' && k !== 'ns' && k !== 'background')];
  collection.createIndex(name, new Doc(keys, keys.map((k) => (k === 'v' ? 2 : spec.get(k)))));
}

export function dropIndexes(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const collection = engine.store.require(database, stringField(command, command.keys[0] as string));
  const nIndexesWas = collection.indexes().length + 1;
  const wanted = command.get('index');
  const one = (w: Value): void => {
    if (w === '_id_') throw new ServerError(72, 'cannot drop _id index');
    const index = collection.indexes().find((i) => (typeof w === 'string' ? i.name === w : w instanceof Doc && sameKey(i.spec.get('key') as Doc, w)));
    if (!index) throw new ServerError(27, typeof w === 'string' ? `index not found with name [${w}]` : "can't find index with key");
    collection.dropIndex(index);
  };
  if (wanted === '*') for (const index of [...collection.indexes()]) collection.dropIndex(index);
  else if (Array.isArray(wanted)) wanted.forEach(one);
  else one(wanted);
  return reply({ nIndexesWas });
}
const sameKey = (a: Doc, b: Doc): boolean =>
  a.size === b.size && a.keys.every((k, i) => k === b.keys[i] && toDouble(a.values[i] as number) === toDouble(b.values[i] as number));

const cursorOf = (engine: Engine, docs: Doc[], namespace: string): Buffer => engine.openCursor(fromArray(docs), namespace, Infinity, new QueryControl());

export function listIndexes(engine: Engine, request: Request): Buffer {
  const collection = engine.store.require(request.database, stringField(request.command, 'listIndexes'));
  const docs = [Doc.of({ v: 2, key: Doc.of({ _id: 1 }), name: '_id_' }), ...collection.indexes().map((i) => i.spec)];
  return cursorOf(engine, docs, collection.namespace);
}

const filtering = (spec: Doc): ((doc: Doc) => boolean) => (spec.size === 0 ? () => true : parseFilter(spec, Scope.root(new Environment())).test);

export function listCollections(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const test = filtering(docField(command, 'filter'));
  const nameOnly = command.get('nameOnly') === true;
  const docs = engine.store.list(database).map((c) =>
    Doc.of({
      name: c.name,
      type: 'collection',
      options: c.options,
      info: Doc.of({ readOnly: false }),
      idIndex: Doc.of({ v: 2, key: Doc.of({ _id: 1 }), name: '_id_' }),
    }),
  );
  const matching = docs.filter(test).map((d) => (nameOnly ? Doc.of({ name: d.get('name'), type: 'collection' }) : d));
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
  return reply({ databases: docs.filter(test), ...(nameOnly ? {} : { totalSize: BigInt(total), totalSizeMb: BigInt(Math.floor(total / 1048576)) }) });
}

export function collStats(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const name = stringField(command, command.keys[0] as string);
  return reply({ ns: `${database}.${name}`, ...collectionStatistics(engine.store.find(database, name), parseScale(command.get('scale'))) });
}
export function dbStats(engine: Engine, request: Request): Buffer {
  return reply(databaseStatistics(request.database, engine.store.list(request.database), parseScale(request.command.get('scale'))));
}
export function validate(engine: Engine, request: Request): Buffer {
  const collection = engine.store.require(request.database, stringField(request.command, 'validate'));
  return reply({ ns: collection.namespace, nrecords: wholeNumber(collection.count()), nIndexes: collection.indexes().length + 1, valid: true, warnings: [], errors: [] });
}
