import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { readValueAt, skipValue } from '../bson/decode';
import { failedToParse, ServerError, typeMismatch } from '../errors';
import { type Scope, type Environment } from '../expressions/expression';
import { candidates, choosePlan } from '../planner/plan';
import { parseFilter, type Filter } from '../query/match';
import type { Validator } from '../query/validator';
import { parseProjection } from '../query/projection';
import { parseSortPattern } from '../values/sort';
import { fromArray, parsePipeline } from '../stages/stage';
import {
  idMistake,
  MAX_DOCUMENT,
  type Collection,
  type Insertion,
  type Row,
} from '../storage/store';
import { checkUpdateStages } from '../update/pipeline';
import { parseUpdate, upsertSeed } from '../update/update';
import { equalValues } from '../values/compare';
import { isNumeric, ObjectId, toDouble, typeName, type Value } from '../bson/value';
import { checkHint } from './hint';
import { docField, type Engine, reply, stringField, type Request } from './engine';

const MAX_BATCH = 100_000;
/** How many documents one statement inserts. */
const TOGETHER = 16;

/** The documents of a write command: beside it, or inside it. */
export function operations(request: Request, key: string): Doc[] {
  const beside = request.sequences.get(key);
  const docs = beside ? beside.map((b) => Doc.fromRaw(b)) : (request.command.get(key) ?? []);
  if (!Array.isArray(docs))
    throw typeMismatch(
      `BSON field '${key}' is the wrong type '${typeName(docs)}', expected type 'array'`,
    );
  if (docs.length === 0 || docs.length > MAX_BATCH)
    throw new ServerError(
      16,
      `Write batch sizes must be between 1 and ${MAX_BATCH}. Got ${docs.length} operations.`,
    );
  for (const doc of docs)
    if (!(doc instanceof Doc)) throw typeMismatch(`BSON field '${key}' must hold objects`);
  return docs as Doc[];
}

/**
 * Does them in order in one transaction; a failed one is reported and, when order matters, ends the
 * work.
 *
 * @param ahead may do some of the next ones at once, and says how many.
 */
export function batch<T>(
  engine: Engine,
  request: Request,
  items: readonly T[],
  work: (item: T, index: number) => void,
  ahead?: (from: number) => number,
): Record<string, Value> {
  const ordered = request.command.get('ordered') !== false;
  const errors: Value[] = [];
  engine.store.db.transaction(() => {
    for (let i = 0; i < items.length; i++) {
      if (ahead && i % TOGETHER === 0) {
        i += ahead(i);
        if (i >= items.length) break;
      }
      try {
        work(items[i] as T, i);
      } catch (error) {
        if (!(error instanceof ServerError) || error.code === 50 || error.code === 11601)
          throw error;
        errors.push(
          Doc.of({
            index: i,
            code: error.code,
            ...(error.extra as Record<string, Value>),
            errmsg: error.message,
          }),
        );
        if (ordered) break;
      }
      if ((i & 255) === 255) request.checkpoint();
    }
  })();
  return errors.length > 0 ? { writeErrors: errors } : {};
}

/** The raw document with `_id` first (made when there is none), and the id. */
function withId(doc: Doc): Insertion {
  const at = doc.keys.indexOf('_id');
  if (at === 0) return { raw: encode(doc), id: doc.values[0] };
  if (at < 0) {
    const id = ObjectId.generate();
    return { raw: prependId(doc, id), id };
  }
  const id = doc.values[at];
  const keys = ['_id', ...doc.keys.filter((_, i) => i !== at)];
  return { raw: encode(new Doc(keys, [id, ...doc.values.filter((_, i) => i !== at)])), id };
}
/** Without decoding the rest: what was sent stays byte for byte. */
function prependId(doc: Doc, id: ObjectId): Buffer {
  const raw = doc.raw();
  if (!raw) return encode(new Doc(['_id', ...doc.keys], [id, ...doc.values]));
  const element = Buffer.concat([
    Buffer.from([7]),
    Buffer.from('_id\0', 'latin1'),
    Buffer.from(id.bytes),
  ]);
  const out = Buffer.concat([Buffer.alloc(4), element, raw.bytes.subarray(raw.start + 4, raw.end)]);
  out.writeInt32LE(out.length, 0);
  return out;
}

/** The validator that a write must satisfy; null when the command bypasses validation. */
export const validatorFor = (collection: Collection, request: Request): Validator | null =>
  request.command.get('bypassDocumentValidation') === true ? null : collection.validator;

export function insert(engine: Engine, request: Request): Buffer {
  const { database, command } = request;
  const name = stringField(command, 'insert');
  const docs = operations(request, 'documents');
  const collection = engine.store.findOrCreate(database, name);
  let n = 0;
  // An id that is made here is made once, also when a document is tried twice.
  let prepared: Insertion[] = [];
  const validator = validatorFor(collection, request);
  const insertOne = (doc: Doc, i: number): void => {
    const insertion = prepared[i % TOGETHER] ?? prepare(doc);
    const mistake = idMistake(insertion.id);
    if (mistake && mistake.dollar === undefined)
      throw new ServerError(
        2,
        `can't use a${mistake.type === 'array' ? 'n' : ''} ${mistake.type} for _id`,
      );
    validator?.check(Doc.fromRaw(insertion.raw), null);
    collection.insert(insertion);
    n++;
  };
  const insertMany = (from: number): number => {
    let done = 0;
    for (prepared = []; docs.length - from - done >= TOGETHER; done += TOGETHER) {
      prepared = docs.slice(from + done, from + done + TOGETHER).map(prepare);
      if (!collection.insertTogether(prepared)) break;
      prepared = [];
      request.checkpoint();
    }
    n += done;
    return done;
  };
  const errors = batch(engine, request, docs, insertOne, validator ? undefined : insertMany);
  return reply({ n, ...errors });
}
export const prepare = (doc: Doc): Insertion => stamped(firstId(doc) ?? withId(doc));

const NOTHING = Buffer.alloc(8);
/**
 * An empty timestamp beside others at the top of a document becomes the time of the insertion; not
 * in `_id`.
 */
function stamped(insertion: Insertion): Insertion {
  const { raw } = insertion;
  if (raw.indexOf(NOTHING) < 0) return insertion;
  let out = raw;
  for (let at = 4; raw[at] !== 0;) {
    const type = raw[at] as number;
    const value = raw.indexOf(0, at + 1) + 1;
    if (
      type === TIMESTAMP &&
      raw.compare(NOTHING, 0, 8, value, value + 8) === 0 &&
      raw.toString('latin1', at + 1, value - 1) !== '_id'
    ) {
      if (out === raw) out = Buffer.from(raw);
      const now = Math.floor(Date.now() / 1000);
      increment = now === lastSecond ? increment + 1 : 1;
      lastSecond = now;
      out.writeUInt32LE(increment, value);
      out.writeUInt32LE(now, value + 4);
    }
    at = skipValue(raw, type, value);
  }
  return out === raw ? insertion : { raw: out, id: insertion.id };
}
const TIMESTAMP = 17;
let lastSecond = 0;
let increment = 0;

/** The usual case, where `_id` comes first: the bytes stay as they are. */
function firstId(doc: Doc): Insertion | null {
  const raw = doc.raw();
  if (!raw) return null;
  const { bytes, start, end } = raw;
  if (
    bytes[start + 5] !== 0x5f ||
    bytes[start + 6] !== 0x69 ||
    bytes[start + 7] !== 0x64 ||
    bytes[start + 8] !== 0
  )
    return null;
  return {
    raw: bytes.subarray(start, end),
    id: readValueAt(bytes, bytes[start + 4] as number, start + 9),
  };
}

interface Matching {
  readonly environment: Environment;
  readonly scope: Scope;
  readonly filter: Filter;
}
function matching(
  engine: Engine,
  request: Request,
  name: string,
  operation: Doc,
  query: Doc,
): Matching {
  const command = Doc.of({
    collation: operation.get('collation') ?? request.command.get('collation'),
    let: request.command.get('let'),
  });
  const cleaned = new Doc(
    command.keys.filter((_, i) => command.values[i] !== undefined),
    command.values.filter((v) => v !== undefined),
  );
  checkHint(engine, request.database, name, operation.get('hint'));
  const { environment, scope } = engine.environmentOf({ ...request, command: cleaned }, name);
  return { environment, scope, filter: parseFilter(query, scope) };
}

/** Rows that match, at most `limit` (0: all); with a sort, the first of that order. */
function matchRows(
  collection: Collection | null,
  { environment, filter }: Matching,
  limit: number,
  sort: Doc | undefined,
): { row: Row; doc: Doc }[] {
  if (!collection) return [];
  const rows = candidates(collection, choosePlan(collection, filter, environment.collation));
  const out: { row: Row; doc: Doc }[] = [];
  let n = 0;
  for (let row = rows(); row !== null; row = rows()) {
    const doc = Doc.fromRaw(row.d);
    if (filter.test(doc)) {
      out.push({ row, doc });
      if (limit > 0 && !sort && out.length >= limit) break;
    }
    if ((++n & 255) === 0) environment.checkpoint();
  }
  if (!sort || out.length < 2) return out;
  const pattern = parseSortPattern(sort, environment.collation);
  const keyed = out
    .map((item) => ({ item, key: pattern.keyOf(item.doc) }))
    .sort((a, b) => pattern.compareKeys(a.key, b.key));
  return keyed.slice(0, limit > 0 ? limit : undefined).map((k) => k.item);
}

type Change = (doc: Doc, inserting: boolean) => Doc;

/** An update in any of its three forms: replacement, operators, pipeline. */
function parseChange(
  engine: Engine,
  request: Request,
  update: Value,
  arrayFilters: Value,
  constants: Value,
  m: Matching,
  multi: boolean,
): Change {
  if (Array.isArray(update)) return pipelineChange(engine, request, update, constants, m);
  if (!(update instanceof Doc))
    throw failedToParse('Update argument must be either an object or an array');
  if (update.keys[0]?.startsWith('$')) return parseUpdate(update, m.scope, arrayFilters, m.filter);
  if (multi) throw failedToParse('multi update is not supported for replacement-style update');
  for (const key of update.keys)
    if (key.startsWith('$'))
      throw new ServerError(
        52,
        `The dollar ($) prefixed field '${key}' in '${key}' is not allowed in the context of an ` +
          `update's replacement document. Consider using an aggregation pipeline with ` +
          '$replaceWith.',
      );
  return (old) => {
    const id = update.get('_id') ?? old.get('_id');
    if (id === undefined) return update;
    const keys = ['_id', ...update.keys.filter((k) => k !== '_id')];
    return new Doc(
      keys,
      keys.map((k) => (k === '_id' ? id : update.get(k))),
    );
  };
}

function pipelineChange(
  engine: Engine,
  request: Request,
  stages: Value[],
  constants: Value,
  m: Matching,
): Change {
  checkUpdateStages(stages);
  let { scope } = m;
  if (constants instanceof Doc) {
    constants.keys.forEach((name, i) => {
      const bound = scope.with(name);
      scope = bound.scope;
      m.environment.frame[bound.slot] = constants.values[i];
    });
  }
  const pipeline = parsePipeline(stages, {
    scope,
    source: engine.sourceOf(request.database, m.environment),
    collection: null,
    depth: 0,
    inFacet: false,
  });
  return (doc) => pipeline.open(fromArray([doc]))() ?? doc;
}

/** Checks what an update must keep, and returns the bytes to store. */
function finished(before: Doc, after: Doc): Buffer {
  const oldId = before.get('_id');
  const newId = after.get('_id');
  if (newId === undefined) return encode(new Doc(['_id', ...after.keys], [oldId, ...after.values]));
  if (!equalValues(oldId, newId))
    throw new ServerError(
      66,
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    );
  return encode(after);
}

interface Outcome {
  matched: number;
  modified: number;
  upserted?: Value;
  before?: Doc | undefined;
  after?: Doc | undefined;
}

export function runUpdate(
  engine: Engine,
  request: Request,
  name: string,
  operation: Doc,
  query: Doc,
  update: Value,
  sort: Doc | undefined,
): Outcome {
  const multi = operation.get('multi') === true;
  const upsert = operation.get('upsert') === true;
  const m = matching(engine, request, name, operation, query);
  const change = parseChange(
    engine,
    request,
    update,
    operation.get('arrayFilters'),
    operation.get('c') ?? operation.get('let'),
    m,
    multi,
  );
  const { store } = engine;
  let collection = store.findStored(request.database, name);
  const rows = matchRows(collection, m, multi ? 0 : 1, sort);
  if (rows.length === 0) {
    if (!upsert) return { matched: 0, modified: 0 };
    collection ??= store.create(request.database, name);
    const replacing = update instanceof Doc && !update.keys[0]?.startsWith('$');
    const { raw, id } = withId(change(upsertSeed(query, replacing), true));
    validatorFor(collection, request)?.check(Doc.fromRaw(raw), null);
    collection.insert({ raw, id });
    return { matched: 0, modified: 0, upserted: id, after: Doc.fromRaw(raw) };
  }
  const target = collection as Collection;
  const validator = validatorFor(target, request);
  let modified = 0;
  let after: Doc | undefined;
  for (const { row, doc } of rows) {
    const raw = finished(doc, change(doc, false));
    after = Doc.fromRaw(raw);
    if (raw.equals(row.d)) continue;
    validator?.check(after, doc);
    if (raw.length > MAX_DOCUMENT)
      throw new ServerError(
        17419,
        `Resulting document after update is larger than ${MAX_DOCUMENT}`,
      );
    target.replace(row.rid, doc, raw);
    modified++;
  }
  if (modified > 0) target.changed();
  return { matched: rows.length, modified, before: rows[0]?.doc, after };
}

export function update(engine: Engine, request: Request): Buffer {
  const name = stringField(request.command, 'update');
  let n = 0;
  let nModified = 0;
  const upserted: Value[] = [];
  const errors = batch(engine, request, operations(request, 'updates'), (operation, index) => {
    const sort = operation.get('sort');
    const outcome = runUpdate(
      engine,
      request,
      name,
      operation,
      docField(operation, 'q'),
      operation.get('u'),
      sort instanceof Doc ? sort : undefined,
    );
    n += outcome.matched;
    nModified += outcome.modified;
    if ('upserted' in outcome) {
      n++;
      upserted.push(Doc.of({ index, _id: outcome.upserted }));
    }
  });
  return reply({ n, nModified, ...(upserted.length > 0 ? { upserted } : {}), ...errors });
}

/** Removes the first that matches or all of them; says how many. */
export function runDelete(
  engine: Engine,
  request: Request,
  name: string,
  operation: Doc,
  query: Doc,
  onlyOne: boolean,
): number {
  const collection = engine.store.findStored(request.database, name);
  if (!collection) return 0;
  if (query.size === 0 && !onlyOne) {
    const all = collection.count();
    collection.clear();
    return all;
  }
  const rows = matchRows(
    collection,
    matching(engine, request, name, operation, query),
    onlyOne ? 1 : 0,
    undefined,
  );
  for (const { row, doc } of rows) collection.remove(row.rid, doc);
  if (rows.length > 0) collection.changed();
  return rows.length;
}

export function remove(engine: Engine, request: Request): Buffer {
  const name = stringField(request.command, 'delete');
  let n = 0;
  const errors = batch(engine, request, operations(request, 'deletes'), (operation) => {
    const limit = operation.get('limit');
    if (!isNumeric(limit) || (toDouble(limit) !== 0 && toDouble(limit) !== 1))
      throw failedToParse(`The limit field in delete objects must be 0 or 1. Got ${String(limit)}`);
    const query = docField(operation, 'q');
    n += runDelete(engine, request, name, operation, query, toDouble(limit) === 1);
  });
  return reply({ n, ...errors });
}

export function findAndModify(engine: Engine, request: Request): Buffer {
  const { command } = request;
  const name = stringField(command, command.keys[0] as string);
  const query = docField(command, 'query');
  const sortSpec = docField(command, 'sort');
  const sort = sortSpec.size > 0 ? sortSpec : undefined;
  const fields = docField(command, 'fields');
  const wantsNew = command.get('new') === true;
  const removing = command.get('remove') === true;
  if (removing && command.has('update'))
    throw failedToParse("Cannot specify both an 'update' and 'remove'=true");
  if (!removing && !command.has('update'))
    throw failedToParse("Either an 'update' or 'remove'=true must be specified");
  if (removing && wantsNew)
    throw failedToParse(
      "Cannot specify both 'new'=true and 'remove'=true; 'remove' always returns the deleted " +
        'document',
    );
  const { scope } = engine.environmentOf(request);
  const project = parseProjection(fields, scope, {
    filter: query.size > 0 ? parseFilter(query, scope) : null,
  });
  const shown = (doc: Doc | undefined): Value => {
    if (!doc) return null;
    return fields.size > 0 ? project(doc) : doc;
  };
  return engine.store.db.transaction(() => {
    if (removing) {
      const collection = engine.store.findStored(request.database, name);
      const [found] = matchRows(
        collection,
        matching(engine, request, name, command, query),
        1,
        sort,
      );
      if (found && collection) {
        collection.remove(found.row.rid, found.doc);
        collection.changed();
      }
      return reply({ lastErrorObject: Doc.of({ n: found ? 1 : 0 }), value: shown(found?.doc) });
    }
    const outcome = runUpdate(engine, request, name, command, query, command.get('update'), sort);
    const inserted = 'upserted' in outcome;
    const last: Record<string, Value> = {
      n: outcome.matched > 0 || inserted ? 1 : 0,
      updatedExisting: outcome.matched > 0,
    };
    if (inserted) last.upserted = outcome.upserted;
    return reply({
      lastErrorObject: Doc.of(last),
      value: shown(wantsNew ? outcome.after : outcome.before),
    });
  })();
}
