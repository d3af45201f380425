import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { badValue, failedToParse, ServerError, typeMismatch, unsupported } from '../errors';
import { parseExpression, type Environment, type Scope } from '../expressions/expression';
import { fromArray, parsePipeline, type Next, type Source } from '../stages/stage';
import type { Collection, Store } from '../storage/store';
import { equalValues } from '../values/compare';
import { ObjectId, typeName, type Value } from '../bson/value';
import { mergeDocuments } from '../expressions/array';
import { nested } from '../stages/basic';
import { checkUpdateStages } from '../update/pipeline';

/** Writes a pipeline's result; runs on the writing worker. */
export interface Output {
  write(results: Next): void;
}

interface Context {
  readonly store: Store;
  readonly database: string;
  readonly scope: Scope;
  readonly environment: Environment;
  readonly source: Source;
  readonly bypassValidation: boolean;
}

/** Splits `$out` or `$merge` off a pipeline. */
export function splitOutput(pipeline: Value): {
  stages: Value;
  name: '$out' | '$merge' | null;
  spec: Value;
} {
  const last = Array.isArray(pipeline) ? pipeline[pipeline.length - 1] : undefined;
  const name = last instanceof Doc && last.size === 1 ? last.keys[0] : undefined;
  if (name !== '$out' && name !== '$merge')
    return { stages: pipeline, name: null, spec: undefined };
  return { stages: (pipeline as Value[]).slice(0, -1), name, spec: (last as Doc).values[0] };
}

export function parseOutput(name: '$out' | '$merge', spec: Value, context: Context): Output {
  return name === '$out' ? out(spec, context) : merge(spec, context);
}

function target(spec: Value, name: string, database: string): { db: string; coll: string } {
  if (typeof spec === 'string') return { db: database, coll: spec };
  if (spec instanceof Doc && typeof spec.get('coll') === 'string')
    return {
      db: typeof spec.get('db') === 'string' ? (spec.get('db') as string) : database,
      coll: spec.get('coll') as string,
    };
  throw new ServerError(
    16990,
    `${name} only supports a string or object argument, but found ${typeName(spec)}`,
  );
}

function idFirst(doc: Doc): { raw: Buffer; id: Value } {
  const id = doc.get('_id') ?? ObjectId.generate();
  const keys = ['_id', ...doc.keys.filter((k) => k !== '_id')];
  return {
    raw: encode(
      new Doc(
        keys,
        keys.map((k) => (k === '_id' ? id : doc.get(k))),
      ),
    ),
    id,
  };
}

function out(spec: Value, { store, database, environment, bypassValidation }: Context): Output {
  if (spec instanceof Doc && spec.has('timeseries')) throw unsupported("$out's 'timeseries'");
  const { db, coll } = target(spec, '$out', database);
  return {
    write: (results) => {
      const docs: { raw: Buffer; id: Value }[] = [];
      for (let doc = results(); doc !== null; doc = results()) {
        docs.push(idFirst(doc));
        if ((docs.length & 255) === 0) environment.checkpoint();
      }
      store.db.transaction(() => {
        const collection = store.findOrCreate(db, coll);
        collection.clear();
        const validator = bypassValidation ? null : collection.validator;
        for (const doc of docs) {
          validator?.check(Doc.fromRaw(doc.raw), null);
          collection.insert(doc);
        }
      })();
    },
  };
}

type Matched = (old: Doc, fresh: Doc) => Doc | null;

function merge(spec: Value, context: Context): Output {
  const { store, database, environment } = context;
  const options = spec instanceof Doc ? spec : Doc.of({ into: spec });
  for (const key of options.keys)
    if (!['into', 'on', 'let', 'whenMatched', 'whenNotMatched'].includes(key))
      throw failedToParse(`BSON field '$merge.${key}' is an unknown field.`);
  const { db, coll } = target(options.get('into'), '$merge', database);
  const onSpec = options.get('on') ?? '_id';
  const on = (Array.isArray(onSpec) ? onSpec : [onSpec]).map((v) => {
    if (typeof v !== 'string')
      throw new ServerError(51186, '$merge on must be a string or array of strings');
    return v;
  });
  const notMatched = options.get('whenNotMatched') ?? 'insert';
  if (notMatched !== 'insert' && notMatched !== 'discard' && notMatched !== 'fail')
    throw badValue(
      `Enumeration value '${String(notMatched)}' for field 'whenNotMatched' is not a valid value.`,
    );
  const mode = options.get('whenMatched') ?? 'merge';
  const matched = whenMatched(mode, options.get('let'), notMatched === 'insert', context);
  // What neither keeps nor adds anything is no merge.
  if (notMatched !== 'insert' && (mode === 'keepExisting' || mode === 'fail')) {
    throw new ServerError(
      51181,
      `Combination of $merge modes 'whenMatched: ${mode}' and 'whenNotMatched: ${notMatched}' is ` +
        'not supported',
    );
  }
  return {
    write: (results) => {
      store.db.transaction(() => {
        const collection = store.findOrCreate(db, coll);
        requireUnique(collection, on);
        const validator = context.bypassValidation ? null : collection.validator;
        let changed = false;
        let n = 0;
        for (let doc = results(); doc !== null; doc = results()) {
          if ((++n & 255) === 0) environment.checkpoint();
          const fresh = Doc.fromRaw(idFirst(doc).raw);
          const old = findExisting(
            collection,
            on,
            on.length === 1 && on[0] === '_id' ? fresh : doc,
          );
          if (!old) {
            if (notMatched === 'fail')
              throw new ServerError(
                13113,
                '$merge could not find a matching document in the target collection for at least ' +
                  'one document in the source collection',
              );
            if (notMatched === 'insert') validator?.check(fresh, null);
            if (notMatched === 'insert')
              collection.insert({ raw: encode(fresh), id: fresh.get('_id') });
            continue;
          }
          const before = Doc.fromRaw(old.d);
          const after = matched(before, doc);
          if (after === null) continue;
          const id = before.get('_id');
          if (after.has('_id') && !equalValues(after.get('_id'), id))
            throw new ServerError(
              66,
              '$merge failed to update the matching document, did you attempt to modify the _id ' +
                'or the shard key?',
            );
          const { raw } = idFirst(after.copy().set('_id', id));
          validator?.check(Doc.fromRaw(raw), before);
          collection.replace(old.rid, before, raw);
          changed = true;
        }
        if (changed) collection.changed();
      })();
    },
  };
}

function requireUnique(collection: Collection, on: readonly string[]): void {
  if (on.length === 1 && on[0] === '_id') return;
  const wanted = [...on].sort().join('\0');
  if (
    !collection.indexes().some(
      (i) =>
        i.unique &&
        !i.partial &&
        i.fields
          .map((f) => f.path)
          .sort()
          .join('\0') === wanted,
    )
  ) {
    throw new ServerError(51183, 'Cannot find index to verify that join fields will be unique');
  }
}

function findExisting(
  collection: Collection,
  on: readonly string[],
  doc: Doc,
): { rid: number; d: Buffer } | null {
  const values = on.map((path) => nested(doc, path.split('.')));
  values.forEach((v, i) => {
    if (Array.isArray(v) || v === undefined || v === null)
      throw new ServerError(
        51132,
        `$merge write error: 'on' field '${on[i]}' cannot be missing, null, undefined or an array`,
      );
  });
  if (on.length === 1 && on[0] === '_id') return collection.byId(values[0]);
  return collection.findByUnique(on, values);
}

function whenMatched(mode: Value, variables: Value, inserting: boolean, context: Context): Matched {
  if (variables !== undefined && !(variables instanceof Doc))
    throw typeMismatch(
      `BSON field '$merge.let' is the wrong type '${typeName(variables)}', expected type 'object'`,
    );
  if (typeof mode === 'string' && variables)
    throw new ServerError(51199, `Cannot use 'let' variables with 'whenMatched: ${mode}' mode`);
  switch (mode) {
    case 'replace':
      return (_old, fresh) => fresh;
    case 'keepExisting':
      return () => null;
    case 'merge':
      return (old, fresh) => mergeDocuments([old, fresh]);
    case 'fail':
      return (old) => {
        throw new ServerError(
          11000,
          `E11000 duplicate key error: $merge found an existing document`,
          { keyValue: Doc.of({ _id: old.get('_id') }) },
        );
      };
    default:
      if (typeof mode === 'string')
        throw badValue(`Enumeration value '${mode}' for field 'whenMatched' is not a valid value.`);
      if (!Array.isArray(mode))
        throw new ServerError(
          51191,
          `$merge 'whenMatched' field must be either a string or an array, but found ` +
            `${typeName(mode)}`,
        );
      return matchedPipeline(mode, variables, inserting, context);
  }
}

function matchedPipeline(
  stages: Value[],
  variables: Doc | undefined,
  inserting: boolean,
  { scope, source, environment }: Context,
): Matched {
  checkUpdateStages(stages);
  if (variables?.has('new') && variables.get('new') !== '$$ROOT')
    throw new ServerError(
      51273,
      "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'",
    );
  let spec = variables ?? Doc.of({ new: '$$ROOT' });
  // `new` goes along by itself where the new document is needed anyway.
  if (inserting && !spec.has('new'))
    spec = new Doc([...spec.keys, 'new'], [...spec.values, '$$ROOT']);
  let inner = scope;
  const bindings = spec.keys.map((name, i) => {
    const bound = inner.with(name);
    inner = bound.scope;
    return { slot: bound.slot, evaluate: parseExpression(spec.values[i], scope).evaluate };
  });
  const pipeline = parsePipeline(stages, {
    scope: inner,
    source,
    collection: null,
    depth: 0,
    inFacet: false,
  });
  return (old, fresh) => {
    for (const b of bindings) environment.frame[b.slot] = b.evaluate(fresh);
    return pipeline.open(fromArray([old]))();
  };
}
