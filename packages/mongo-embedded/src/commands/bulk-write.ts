import { SESSION_FIELDS } from './generic-fields';
import { Doc } from '../bson/doc';
import { badValue, ServerError, typeMismatch } from '../errors';
import { Double, isNumeric, toDouble, typeName, type Value } from '../bson/value';
import { docField, type Engine, reply, okDouble, type Request } from './engine';
import { splitNamespace } from './namespace';
import { batch, operations, prepare, runDelete, runUpdate, validatorFor } from './write';

/**
 * The `bulkWrite` command: writes to several collections in one go, each reported on its own.
 * Rules: https://www.mongodb.com/docs/manual/reference/command/bulkWrite/
 */
export function bulkWrite(engine: Engine, request: Request): Buffer {
  const { command } = request;
  for (const key of command.keys)
    if (!knownFields.has(key))
      throw new ServerError(40415, `BSON field 'bulkWrite.${key}' is an unknown field.`);
  const namespaces = operations(request, 'nsInfo').map((info) => splitNamespace(info.get('ns')));
  const totals: Totals = { nInserted: 0, nMatched: 0, nModified: 0, nUpserted: 0, nDeleted: 0 };
  const results: Value[] = [];
  const ops = operations(request, 'ops');
  const { writeErrors } = batch(engine, request, ops, (op, idx) => {
    const [database, name] = targetOf(op, namespaces);
    const outcome = runOne(engine, { ...request, database }, name, op, totals);
    if (command.get('errorsOnly') !== true) results.push(Doc.of({ ok: okDouble, idx, ...outcome }));
  });
  const failures = (writeErrors ?? []) as Doc[];
  for (const failure of failures) results.push(reportOf(failure, ops));
  results.sort((a, b) => Number((a as Doc).get('idx')) - Number((b as Doc).get('idx')));
  const cursor = Doc.of({ id: 0n, firstBatch: results, ns: 'admin.$cmd.bulkWrite' });
  return reply({ cursor, nErrors: failures.length, ...totals });
}

const knownFields = new Set<string>([
  'bulkWrite',
  'ops',
  'nsInfo',
  'ordered',
  'bypassDocumentValidation',
  'errorsOnly',
  'cursor',
  'let',
  'writeConcern',
  'maxTimeMS',
  ...SESSION_FIELDS,
]);

type Totals = Record<'nInserted' | 'nMatched' | 'nModified' | 'nUpserted' | 'nDeleted', number>;

function targetOf(op: Doc, namespaces: readonly [string, string][]): [string, string] {
  const at = op.values[0];
  const target = isNumeric(at) ? namespaces[toDouble(at)] : undefined;
  if (!target)
    throw badValue(
      'BulkWrite ops entry has an invalid nsInfo index: ' +
        `${isNumeric(at) ? toDouble(at) : typeName(at)}`,
    );
  return target;
}

function runOne(
  engine: Engine,
  request: Request,
  name: string,
  op: Doc,
  totals: Totals,
): Record<string, Value> {
  switch (op.keys[0]) {
    case 'insert': {
      const document = op.get('document');
      if (!(document instanceof Doc))
        throw typeMismatch(
          `BSON field 'bulkWrite.insert.document' is the wrong type '${typeName(document)}', ` +
            `expected type 'object'`,
        );
      const collection = engine.store.findOrCreate(request.database, name);
      const insertion = prepare(document);
      validatorFor(collection, request)?.check(Doc.fromRaw(insertion.raw), null);
      collection.insert(insertion);
      totals.nInserted++;
      return { n: 1 };
    }
    case 'update':
      return update(engine, request, name, op, totals);
    case 'delete': {
      const n = runDelete(
        engine,
        request,
        name,
        op,
        docField(op, 'filter'),
        op.get('multi') !== true,
      );
      totals.nDeleted += n;
      return { n };
    }
    default:
      throw badValue(`Unrecognized bulkWrite operation: ${op.keys[0] ?? ''}`);
  }
}

function update(
  engine: Engine,
  request: Request,
  name: string,
  op: Doc,
  totals: Totals,
): Record<string, Value> {
  // What the `update` command calls `c`.
  const operation = op.has('constants') ? op.copy().set('c', op.get('constants')) : op;
  const sort = op.get('sort');
  const outcome = runUpdate(
    engine,
    request,
    name,
    operation,
    docField(op, 'filter'),
    op.get('updateMods'),
    sort instanceof Doc ? sort : undefined,
  );
  totals.nMatched += outcome.matched;
  totals.nModified += outcome.modified;
  if (!('upserted' in outcome)) return { n: outcome.matched, nModified: outcome.modified };
  totals.nUpserted++;
  return { n: 1, nModified: 0, upserted: Doc.of({ _id: outcome.upserted }) };
}

/** A write error as this command reports it. */
function reportOf(failure: Doc, ops: readonly Doc[]): Doc {
  const idx = Number(failure.get('index'));
  const report: Record<string, Value> = { ok: new Double(0), idx };
  failure.keys.forEach((key, i) => {
    if (key !== 'index') report[key] = failure.values[i];
  });
  report.n = 0;
  if (ops[idx]?.keys[0] === 'update') report.nModified = 0;
  return Doc.of(report);
}
