import '../stages/language';
import { Doc } from '../bson/doc';
import { BsonWriter, encode, encodedSize } from '../bson/encode';
import { ServerError } from '../errors';
import { Environment, Scope, parseExpression } from '../expressions/expression';
import {
  candidates,
  choosePlan,
  inSortOrder,
  probeIndex,
  rowDoc,
  type Examined,
} from '../planner/plan';
import type { Filter } from '../query/match';
import { drain, fromArray, type Next, type Source } from '../stages/stage';
import type { IndexSpec } from '../storage/index-spec';
import { MAX_DOCUMENT, type Store, type Collection, type Row } from '../storage/store';
import { parseCollation } from '../values/collation';
import { Double, isNumeric, toDouble, typeName, type Value } from '../bson/value';
import { indexUses } from './index-description';
import { collectionStatistics, parseScale } from './statistics';
import { checkViewCollation, defaultCollation, resolveView } from './views';

/** One command as it came in: its document, and the documents that travelled beside it. */
export interface Request {
  readonly database: string;
  readonly name: string;
  readonly command: Doc;
  readonly sequences: ReadonlyMap<string, readonly Buffer[]>;
  readonly checkpoint: () => void;
}

/** A cursor: documents still to come. */
interface Cursor {
  next: Next;
  readonly namespace: string;
  /** Read ahead because it did not fit the last batch. */
  pending: Doc | null;
  lastUsed: number;
  /** Lets the query see the limits of the command that is asking. */
  readonly control: QueryControl;
}

/** Whose clock and kill switch a running query obeys: a cursor's changes with every getMore. */
export class QueryControl {
  check: () => void = () => undefined;
}

export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
const CURSOR_LIFETIME_MS = 600_000;

/** What all commands share: storage, cursors, and how queries are set up. */
export class Engine {
  private readonly cursors = new Map<bigint, Cursor>();

  constructor(
    readonly store: Store,
    /** Which worker this is: its cursors' ids say so. */
    private readonly workerIndex: number,
  ) {}

  /**
   * The variables, clock and collation of one query: of its own, or else of the collection that it
   * names.
   */
  environmentOf(
    request: Request,
    collectionName: Value = request.command.values[0],
  ): { environment: Environment; scope: Scope; control: QueryControl } {
    const collection =
      typeof collectionName === 'string' ? this.store.find(request.database, collectionName) : null;
    const collation = request.command.get('collation') ?? defaultCollation(collection);
    if (collection?.isView && collation instanceof Doc) checkViewCollation(collection, collation);
    if (collation !== undefined && !(collation instanceof Doc))
      throw new ServerError(
        14,
        `BSON field 'collation' is the wrong type '${typeName(collation)}', expected type 'object'`,
      );
    const control = new QueryControl();
    control.check = request.checkpoint;
    const environment = new Environment(parseCollation(collation), () => control.check());
    let scope = Scope.root(environment);
    const variables = request.command.get('let');
    if (variables instanceof Doc) {
      variables.keys.forEach((name, i) => {
        const bound = scope.with(name);
        environment.fix(
          bound.slot,
          parseExpression(variables.values[i], Scope.root(environment)).evaluate(Doc.empty()),
        );
        scope = bound.scope;
      });
    }
    return { environment, scope, control };
  }

  sourceOf(database: string, environment: Environment, examined?: Examined): Source {
    return {
      database,
      scan: (name, filter) =>
        this.scan(this.store.find(database, name), filter, environment, examined),
      sorted: (name, filter, sort, bound) => {
        const collection = this.store.find(database, name);
        const rows =
          collection && environment.collation.simple
            ? inSortOrder(collection, filter, sort, bound, examined)
            : null;
        return rows && mapRows(rows);
      },
      view: (name) => resolveView(this.store, database, name),
      statistics: (name, scale) => {
        const collection = this.store.find(database, name);
        return collection && collectionStatistics(collection, parseScale(scale));
      },
      indexes: (name) => indexUses(this.store.find(database, name)),
      probe: (name, path) => {
        const collection = this.store.find(database, name);
        if (!collection) return null;
        const byId = path === '_id';
        const index = collection
          .indexes()
          .find(
            (i) =>
              i.fields[0]?.path === path &&
              !i.partial &&
              !i.sparse &&
              !i.hidden &&
              i.collation.simple,
          );
        if (!byId && !index) return null;
        // A probe reads by key: the filter's shape is enough for the planner.
        const target = byId ? '_id_' : (index as IndexSpec);
        collection.use(target);
        return (values) => {
          const rows = probeIndex(collection, target, values, environment.collation, examined);
          if (rows) return rows.map(rowDoc);
          // A value that has no place in an index: all documents are candidates.
          return drain(collection.scan(), environment.checkpoint);
        };
      },
    };
  }

  /** Documents that may pass the filter. */
  scan(
    collection: Collection | null,
    filter: Filter | null,
    environment: Environment,
    examined?: Examined,
  ): Next {
    if (!collection) return () => null;
    const plan = choosePlan(collection, filter, environment.collation);
    if (plan.kind === 'scan') {
      const next = collection.scan();
      if (!examined) return next;
      return () => {
        const doc = next();
        if (doc) examined.docs++;
        return doc;
      };
    }
    return mapRows(candidates(collection, plan, examined));
  }

  // ---- cursors

  /** Answers with the first batch, and keeps the rest under an id when there is any. */
  openCursor(
    next: Next,
    namespace: string,
    batchSize: number | undefined,
    control: QueryControl,
    single = false,
  ): Buffer {
    const cursor: Cursor = { next, namespace, pending: null, lastUsed: Date.now(), control };
    const { docs, done } = this.readBatch(cursor, batchSize ?? 101);
    let id = 0n;
    if (!done && !single) {
      id = this.newCursorId();
      this.cursors.set(id, cursor);
      this.expireCursors();
    }
    return cursorReply('firstBatch', docs, id, namespace);
  }

  getMore(id: bigint, batchSize: number | undefined, checkpoint: () => void): Buffer {
    const cursor = this.cursors.get(id);
    if (!cursor) throw new ServerError(43, `cursor id ${id} not found`);
    cursor.lastUsed = Date.now();
    cursor.control.check = checkpoint;
    let batch;
    try {
      batch = this.readBatch(cursor, batchSize ?? Infinity);
    } catch (error) {
      this.cursors.delete(id);
      throw error;
    }
    if (batch.done) this.cursors.delete(id);
    return cursorReply('nextBatch', batch.docs, batch.done ? 0n : id, cursor.namespace);
  }
  killCursor(id: bigint): boolean {
    return this.cursors.delete(id);
  }
  private newCursorId(): bigint {
    const random = BigInt(Math.floor(Math.random() * 2 ** 44)) + 1n;
    return random * 16n + BigInt(this.workerIndex);
  }
  private expireCursors(): void {
    const before = Date.now() - CURSOR_LIFETIME_MS;
    for (const [id, cursor] of this.cursors) if (cursor.lastUsed < before) this.cursors.delete(id);
  }

  private readBatch(cursor: Cursor, most: number): { docs: Doc[]; done: boolean } {
    const docs: Doc[] = [];
    let bytes = 0;
    for (;;) {
      if (docs.length >= most && cursor.pending === null) {
        // Reading one document ahead shows whether a cursor is needed.
        if (most === 0) return { docs, done: false };
        cursor.pending = cursor.next();
        return { docs, done: cursor.pending === null };
      }
      const doc = cursor.pending ?? cursor.next();
      cursor.pending = null;
      if (doc === null) return { docs, done: true };
      const size = encodedSize(doc);
      if (size > MAX_DOCUMENT)
        throw new ServerError(
          10334,
          `BSONObj size: ${size} is invalid. Size must be between 0 and ${MAX_DOCUMENT}`,
        );
      if (docs.length >= most || (docs.length > 0 && bytes + size > MAX_BATCH_BYTES)) {
        cursor.pending = doc;
        return { docs, done: false };
      }
      bytes += size;
      docs.push(doc);
    }
  }
}

const mapRows =
  (rows: () => Row | null): Next =>
  () => {
    const row = rows();
    return row === null ? null : rowDoc(row);
  };

const writer = new BsonWriter(256 * 1024);

function cursorReply(
  field: 'firstBatch' | 'nextBatch',
  docs: readonly Doc[],
  id: bigint,
  namespace: string,
): Buffer {
  writer.reset();
  writer.document(
    new Doc(
      ['cursor', 'ok'],
      [new Doc([field, 'id', 'ns'], [docs as Doc[], id, namespace]), okDouble],
    ),
  );
  return writer.finish();
}

/** MongoDB's `ok` is a double. */
export const okDouble = new Double(1);

/** A plain reply: its fields, then `ok: 1`. */
export const reply = (fields: Record<string, Value>): Buffer =>
  encode(Doc.of({ ...fields, ok: okDouble }));

/** A cursor over documents that are there already. */
export const cursorOf = (engine: Engine, docs: Doc[], namespace: string): Buffer =>
  engine.openCursor(fromArray(docs), namespace, Infinity, new QueryControl());

// ---- reading a command's fields

export function numberField(command: Doc, key: string): number | undefined {
  const v = command.get(key);
  if (v === undefined || v === null) return undefined;
  if (!isNumeric(v))
    throw new ServerError(
      14,
      `BSON field '${key}' is the wrong type '${typeName(v)}', expected types '[long, int, ` +
        `decimal, double]'`,
    );
  return toDouble(v);
}
export function stringField(command: Doc, key: string): string {
  const v = command.get(key);
  if (typeof v !== 'string')
    throw new ServerError(73, `collection name has invalid type ${typeName(v)}`);
  return v;
}
export function docField(command: Doc, key: string): Doc {
  const v = command.get(key);
  if (v === undefined || v === null) return Doc.empty();
  if (!(v instanceof Doc))
    throw new ServerError(
      14,
      `BSON field '${key}' is the wrong type '${typeName(v)}', expected type 'object'`,
    );
  return v;
}
