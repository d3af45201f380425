import { Doc } from '../bson/doc';
import { ServerError, typeMismatch, unsupported } from '../errors';
import type { Collection } from '../storage/store';
import { isWildcard } from '../storage/index-spec';
import { completeCollation, parseCollation } from '../values/collation';
import { isNumeric, isTruthy, Regex, toDouble, typeName, type Value } from '../bson/value';
import { cursorOf, type Engine, reply, stringField, type Request } from './engine';
import { idIndexOf, sameKey } from './index-description';
import { defaultCollation } from './views';

/** Commands about indexes. */

const indexDirections = (value: Value): boolean => isNumeric(value) && toDouble(value) !== 0;
export const knownIndexOptions = new Set([
  'key',
  'name',
  'v',
  'unique',
  'sparse',
  'partialFilterExpression',
  'expireAfterSeconds',
  'background',
  'hidden',
  'ns',
  'collation',
  'storageEngine',
  'wildcardProjection',
]);

export function createIndexes(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const name = stringField(command, 'createIndexes');
  const specs = command.get('indexes');
  if (!Array.isArray(specs) || specs.length === 0)
    throw new ServerError(2, 'Must specify at least one index to create');
  const existed = engine.store.find(database, name) !== null;
  const collection = engine.store.findOrCreate(database, name);
  const before = collection.indexes().length + 1;
  for (const spec of specs) {
    if (!(spec instanceof Doc)) throw typeMismatch('an index specification must be an object');
    createIndex(collection, withCollation(checkIndex(spec), collection));
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
  if (!(key instanceof Doc) || key.size === 0)
    throw new ServerError(67, 'Index keys cannot be empty.');
  for (const option of spec.keys)
    if (!knownIndexOptions.has(option)) throw unsupported(`index option '${option}'`, 197);
  const expiry = spec.get('expireAfterSeconds');
  if (spec.has('expireAfterSeconds')) {
    if (!isNumeric(expiry) || !(toDouble(expiry) >= 0) || toDouble(expiry) > 2147483647)
      throw new ServerError(
        67,
        `TTL index 'expireAfterSeconds' option must be numeric and within an acceptable range`,
      );
    if (key.size > 1)
      throw new ServerError(
        67,
        'TTL indexes are single-field indexes, compound indexes do not support TTL',
      );
    if (key.keys[0] === '_id')
      throw new ServerError(
        197,
        "The field 'expireAfterSeconds' is not valid for an _id index specification",
      );
  }
  key.keys.forEach((path, i) => {
    const direction = key.values[i];
    if (typeof direction === 'string') throw unsupported(`an index of type '${direction}'`, 67);
    if (!indexDirections(direction))
      throw new ServerError(
        67,
        `Values in v:2 index key pattern cannot be of type ${typeName(direction)}. Only numbers ` +
          '> 0, numbers < 0, and strings are allowed.',
      );
    if (
      path === '' ||
      path
        .replace(/(^|\.)\$\*\*$/, '$1x')
        .split('.')
        .some((part) => part === '' || part.startsWith('$'))
    )
      throw new ServerError(67, `Index key contains an illegal field name: '${path}'`);
  });
  checkWildcard(spec, key);
  checkPartialFilter(spec);
  if (typeof spec.get('name') === 'string') return spec;
  const name = key.keys
    .map((path, i) => `${path}_${String(toDouble(key.values[i] as number))}`)
    .join('_');
  return new Doc([...spec.keys, 'name'], [...spec.values, name]);
}

/** What an index of all fields, or of all below one, cannot be. */
function checkWildcard(spec: Doc, key: Doc): void {
  const projection = spec.get('wildcardProjection');
  if (!key.keys.some(isWildcard)) {
    if (projection !== undefined)
      throw new ServerError(
        2,
        `The field 'wildcardProjection' is only allowed in an 'wildcard' index`,
      );
    return;
  }
  if (key.size > 1) throw unsupported('a compound wildcard index', 67);
  for (const option of ['unique', 'sparse'])
    if (isTruthy(spec.get(option) ?? false))
      throw new ServerError(67, `Index type 'wildcard' does not support the ${option} option`);
  if (spec.has('expireAfterSeconds'))
    throw new ServerError(67, "Index type 'wildcard' cannot be a TTL index");
  if (projection === undefined) return;
  if (!(projection instanceof Doc))
    throw typeMismatch("The field 'wildcardProjection' must be a non-empty object");
  if (projection.size === 0)
    throw new ServerError(9, "The 'wildcardProjection' field can't be an empty object");
  if (key.keys[0] !== '$**')
    throw new ServerError(
      9,
      "The field 'wildcardProjection' is only allowed when 'key' is {\"$**\": ±1}",
    );
}

const partialOperators = new Set(['$eq', '$in', '$gt', '$gte', '$lt', '$lte', '$type', '$exists']);

/** What a partial index's filter may say: nothing that holds of what is missing. */
function checkPartialFilter(spec: Doc): void {
  if (!spec.has('partialFilterExpression')) return;
  const filter = spec.get('partialFilterExpression');
  if (!(filter instanceof Doc))
    throw typeMismatch("The field 'partialFilterExpression' must be an object");
  if (spec.get('sparse') === true)
    throw new ServerError(67, 'cannot mix "partialFilterExpression" and "sparse" options');
  const refuse = (what: string): never => {
    throw new ServerError(
      67,
      `Error in specification: unsupported expression in partial index: ${what}`,
    );
  };
  const check = (part: Doc): void => {
    part.keys.forEach((key, i) => {
      const value = part.values[i];
      if (key === '$and' || key === '$or')
        for (const inner of Array.isArray(value) ? value : [])
          if (inner instanceof Doc) check(inner);
      if (key.startsWith('$') && key !== '$and' && key !== '$or') refuse(key);
      if (value instanceof Regex) refuse('$regex');
      if (!(value instanceof Doc) || value.keys[0]?.startsWith('$') !== true) return;
      for (const operator of value.keys) if (!partialOperators.has(operator)) refuse(operator);
      if (value.has('$exists') && !isTruthy(value.get('$exists'))) refuse('$exists: false');
    });
  };
  check(filter);
}

/** An index has its own collation if one is given, otherwise its collection's. */
function withCollation(spec: Doc, collection: Collection): Doc {
  const own = spec.get('collation');
  if (own !== undefined && !(own instanceof Doc))
    throw typeMismatch("The field 'collation' must be an object");
  const chosen = own ? completeCollation(own) : defaultCollation(collection);
  return new Doc(
    [...spec.copy().set('collation', chosen).keys],
    [...spec.copy().set('collation', chosen).values],
  );
}
const collationName = (spec: Doc): string => {
  const collation = spec.get('collation');
  return parseCollation(collation instanceof Doc ? collation : undefined).name;
};

function createIndex(collection: Collection, spec: Doc): void {
  const key = spec.get('key') as Doc;
  const name = spec.get('name') as string;
  if (key.size === 1 && key.keys[0] === '_id') return;
  const signature = (k: Doc): string =>
    k.keys.map((path, i) => `${path}:${Math.sign(toDouble(k.values[i] as number))}`).join(',');
  for (const index of collection.indexes()) {
    const same = signature(index.spec.get('key') as Doc) === signature(key);
    const sameOptions =
      index.unique === (spec.get('unique') === true) &&
      index.sparse === (spec.get('sparse') === true) &&
      index.collation.name === collationName(spec);
    if (index.name === name && same && sameOptions) return;
    if (index.name === name)
      throw new ServerError(
        same ? 85 : 86,
        `An existing index has the same name as the requested index. Requested index: ${name}`,
      );
    if (same && sameOptions && !index.partial && !spec.has('partialFilterExpression'))
      throw new ServerError(85, `Index already exists with a different name: ${index.name}`);
  }
  const keys = ['v', ...spec.keys.filter((k) => k !== 'v' && k !== 'ns' && k !== 'background')];
  collection.createIndex(
    name,
    new Doc(
      keys,
      keys.map((k) => (k === 'v' ? 2 : spec.get(k))),
    ),
  );
}

export function dropIndexes(engine: Engine, request: Request): Buffer {
  const { command, database } = request;
  const collection = engine.store.require(
    database,
    stringField(command, command.keys[0] as string),
  );
  const nIndexesWas = collection.indexes().length + 1;
  const wanted = command.get('index');
  const one = (w: Value): void => {
    if (w === '_id_') throw new ServerError(72, 'cannot drop _id index');
    const index = collection
      .indexes()
      .find((i) =>
        typeof w === 'string'
          ? i.name === w
          : w instanceof Doc && sameKey(i.spec.get('key') as Doc, w),
      );
    if (!index)
      throw new ServerError(
        27,
        typeof w === 'string' ? `index not found with name [${w}]` : "can't find index with key",
      );
    collection.dropIndex(index);
  };
  if (wanted === '*') for (const index of [...collection.indexes()]) collection.dropIndex(index);
  else if (Array.isArray(wanted)) wanted.forEach(one);
  else one(wanted);
  return reply({ nIndexesWas });
}
/** The part of `collMod` that is about an index: whether it is hidden, and when it expires. */
export function changeIndex(collection: Collection, spec: Value): Record<string, Value> {
  if (!(spec instanceof Doc))
    throw typeMismatch("BSON field 'collMod.index' is the wrong type, expected type 'object'");
  const [name, pattern] = [spec.get('name'), spec.get('keyPattern')];
  if ((name === undefined) === (pattern === undefined))
    throw new ServerError(72, 'Must specify either an index name or a key pattern, not both');
  const index = collection
    .indexes()
    .find((i) =>
      typeof name === 'string'
        ? i.name === name
        : pattern instanceof Doc && sameKey(i.spec.get('key') as Doc, pattern),
    );
  if (!index)
    throw new ServerError(
      27,
      `cannot find index ${typeof name === 'string' ? name : 'of this key pattern'} for ns ` +
        `${collection.namespace}`,
    );
  const changed = index.spec.copy();
  const out: Record<string, Value> = {};
  spec.keys.forEach((key, i) => {
    if (key === 'name' || key === 'keyPattern') return;
    const value = spec.values[i];
    if (key === 'expireAfterSeconds' && isNumeric(value) && toDouble(value) >= 0) {
      if (index.fields.length > 1)
        throw new ServerError(
          72,
          'TTL indexes are single-field indexes, compound indexes do not support TTL',
        );
    } else if (!(key === 'hidden' && typeof value === 'boolean'))
      throw new ServerError(72, `cannot change '${key}' of an index to this value`);
    if (index.spec.has(key)) out[`${key}_old`] = index.spec.get(key);
    else if (key === 'hidden') out.hidden_old = false;
    out[`${key}_new`] = value;
    changed.set(key, key === 'hidden' && value === false ? undefined : value);
  });
  collection.changeIndex(index, new Doc([...changed.keys], [...changed.values]));
  return out;
}

export function listIndexes(engine: Engine, request: Request): Buffer {
  const collection = engine.store.require(
    request.database,
    stringField(request.command, 'listIndexes'),
  );
  const docs = [idIndexOf(collection), ...collection.indexes().map((i) => i.spec)];
  return cursorOf(engine, docs, collection.namespace);
}
