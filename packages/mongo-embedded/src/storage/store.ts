import Database from 'better-sqlite3';
import { readInt32 } from '../bson/decode';
import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { ServerError } from '../errors';
import type { Next } from '../stages/stage';
import { parseValidator, type Validator } from '../query/validator';
import {
  Binary,
  bsonUndefined,
  DateTime,
  ObjectId,
  Regex,
  typeName,
  type Value,
} from '../bson/value';
import { CacheBudget, CacheShares, type Cached } from './cache';
import {
  describeIndex,
  keysOf,
  probesOf,
  shareValue,
  type IndexSpec,
  type Keys,
} from './index-spec';
import { IndexUse } from './index-use';
import { encodeKey } from './keys';
import { KEPT_LOG, Reading } from './reading';

export const MAX_DOCUMENT = 16 * 1024 * 1024;
const SEGMENT = 4 * 1024 * 1024;
const CHUNK = 2000;
export const ID_INDEX = '_id_' as const;

type Statement = Database.Statement;

/** A document to be stored, and its `_id`. */
export interface Insertion {
  readonly raw: Buffer;
  readonly id: Value;
}

/** A stored document and its place. */
export interface Row {
  readonly rid: number;
  readonly d: Buffer;
}

/**
 * Collections and indexes in one SQLite file. One process thread writes; any number read. Rows keep
 * the raw BSON; index tables hold order-preserving keys.
 *
 * `synchronous = NORMAL` in WAL mode: a killed process loses nothing that was acknowledged.
 */
/** What the files hold; 1: keys of several fields of one array are made entry by entry. */
const FORMAT = 1;

export class Store {
  readonly db: Database.Database;
  private readonly open = new Map<number, Collection>();
  private dataVersion = -1;
  private readonly byName: Statement;
  readonly cache: CacheBudget;
  readonly reading: Reading;

  constructor(
    file: string,
    readonly writable: boolean,
    cacheBytes = 512 * 1024 * 1024,
    readonly use = new IndexUse(),
    shares = new CacheShares(),
  ) {
    this.db = new Database(file);
    this.db.pragma('journal_mode = WAL');
    this.db.pragma('synchronous = NORMAL');
    this.db.pragma('busy_timeout = 10000');
    this.db.pragma('cache_size = -16384');
    this.db.pragma(`journal_size_limit = ${KEPT_LOG}`);
    this.reading = new Reading(this.db, `${file}-wal`);
    if (writable) {
      this.db.exec(`
        CREATE TABLE IF NOT EXISTS collections(
          id INTEGER PRIMARY KEY AUTOINCREMENT, db TEXT NOT NULL, name TEXT NOT NULL,
          options BLOB NOT NULL, changes INTEGER NOT NULL DEFAULT 0, UNIQUE(db, name));
        CREATE TABLE IF NOT EXISTS indexes(
          id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, name TEXT NOT NULL,
          spec BLOB NOT NULL, multikey INTEGER NOT NULL DEFAULT 0, UNIQUE(collection, name));
      `);
    }
    this.byName = this.db.prepare(
      'SELECT id, db, name, options, changes FROM collections WHERE db = ? AND name = ?',
    );
    this.cache = new CacheBudget(cacheBytes, shares);
    if (writable) this.upgrade();
  }

  /** Data of an earlier version: indexes whose keys were made in another way are made again. */
  private upgrade(): void {
    const format = (): number => this.db.pragma('user_version', { simple: true }) as number;
    if (format() >= FORMAT) return;
    this.db
      .transaction(() => {
        if (format() >= FORMAT) return;
        for (const database of this.databases()) {
          for (const collection of this.list(database))
            for (const index of collection.maintained())
              if (index.shared.length > 0) collection.remakeKeys(index);
        }
        this.db.pragma(`user_version = ${FORMAT}`);
      })
      .immediate();
  }

  close(): void {
    this.db.close();
  }

  /** The collection as it is now, or null. */
  find(db: string, name: string): Collection | null {
    const row = this.byName.get(db, name) as
      { id: number; db: string; name: string; options: Buffer; changes: number } | undefined;
    if (!row) return null;
    const version = this.db.pragma('data_version', { simple: true }) as number;
    if (version !== this.dataVersion) {
      // Another connection wrote: indexes may have come or gone.
      this.dataVersion = version;
      for (const collection of this.open.values()) collection.forgetIndexes();
    }
    let collection = this.open.get(row.id);
    if (!collection) {
      collection = new Collection(this, row.id, row.db, row.name, row.options);
      this.open.set(row.id, collection);
    }
    collection.changes = row.changes;
    collection.refresh(row.options);
    collection.name = row.name;
    collection.database = row.db;
    return collection;
  }

  require(db: string, name: string): Collection {
    const found = this.findStored(db, name);
    if (!found) throw new ServerError(26, `ns does not exist: ${db}.${name}`);
    return found;
  }

  create(db: string, name: string, options: Doc = Doc.empty()): Collection {
    checkNamespace(db, name);
    const { lastInsertRowid: id } = this.db
      .prepare('INSERT INTO collections(db, name, options) VALUES(?, ?, ?)')
      .run(db, name, encode(options));
    this.db.exec(
      `CREATE TABLE c${id}(rid INTEGER PRIMARY KEY, k BLOB NOT NULL UNIQUE, d BLOB NOT NULL)`,
    );
    this.use.created('collection', Number(id));
    const created = this.find(db, name);
    if (!created) throw new ServerError(1, 'the collection vanished while it was created');
    return created;
  }
  findOrCreate(db: string, name: string): Collection {
    return this.findStored(db, name) ?? this.create(db, name);
  }
  /** The collection, or null; a view is an error, because it stores nothing. */
  findStored(db: string, name: string): Collection | null {
    const found = this.find(db, name);
    if (found?.isView)
      throw new ServerError(166, `Namespace ${db}.${name} is a view, not a collection`);
    return found;
  }

  drop(collection: Collection): void {
    this.db.transaction(() => {
      for (const index of collection.maintained()) this.db.exec(`DROP TABLE ${index.table}`);
      this.db.exec(`DROP TABLE c${collection.id}`);
      this.db.prepare('DELETE FROM indexes WHERE collection = ?').run(collection.id);
      this.db.prepare('DELETE FROM collections WHERE id = ?').run(collection.id);
    })();
    this.open.delete(collection.id);
    this.cache.drop(collection.id);
  }
  rename(collection: Collection, db: string, name: string): void {
    checkNamespace(db, name);
    this.db
      .prepare('UPDATE collections SET db = ?, name = ? WHERE id = ?')
      .run(db, name, collection.id);
  }

  list(db: string): Collection[] {
    const names = this.db
      .prepare('SELECT name FROM collections WHERE db = ? ORDER BY id')
      .pluck()
      .all(db) as string[];
    return names.map((name) => this.find(db, name)).filter((c) => c !== null);
  }
  databases(): string[] {
    return this.db
      .prepare('SELECT DISTINCT db FROM collections ORDER BY db')
      .pluck()
      .all() as string[];
  }
}

function checkNamespace(db: string, name: string): void {
  if (
    name === '' ||
    name.startsWith('.') ||
    name.endsWith('.') ||
    name.includes('$') ||
    name.includes('\0')
  ) {
    throw new ServerError(73, `Invalid collection name: ${name}`);
  }
  if (db === '' || /[/\\. "$*<>:|?\0]/.test(db) || db.length > 63)
    throw new ServerError(73, `Invalid database name: '${db}'`);
  if (Buffer.byteLength(`${db}.${name}`) > 255)
    throw new ServerError(73, 'Fully qualified namespace is too long');
}

export class Collection {
  changes = 0;
  private indexList: IndexSpec[] | undefined;
  private readonly statements = new Map<string, Statement>();

  constructor(
    private readonly store: Store,
    readonly id: number,
    public database: string,
    public name: string,
    private rawOptions: Buffer,
  ) {
    this.options = Doc.fromRaw(rawOptions);
  }
  /** As `create` and `collMod` gave them. */
  options: Doc;
  /** Counts a query that an index served. */
  use(index: IndexSpec | typeof ID_INDEX): void {
    if (index === ID_INDEX) this.store.use.used('collection', this.id);
    else this.store.use.used('index', index.id);
  }
  /** How often an index was used, and since when. */
  uses(index: IndexSpec | typeof ID_INDEX): { ops: bigint; since: DateTime } {
    const { ops, since } =
      index === ID_INDEX
        ? this.store.use.read('collection', this.id)
        : this.store.use.read('index', index.id);
    return { ops, since: new DateTime(since) };
  }
  private rule: Validator | null | undefined;
  /** Takes over what another thread may have changed. */
  refresh(rawOptions: Buffer): void {
    if (rawOptions.equals(this.rawOptions)) return;
    this.rawOptions = rawOptions;
    this.options = Doc.fromRaw(rawOptions);
    this.rule = undefined;
  }
  changeOptions(options: Doc): void {
    const raw = encode(options);
    this.sql('UPDATE collections SET options = ? WHERE id = ?').run(raw, this.id);
    this.refresh(raw);
  }
  changeIndex(index: IndexSpec, spec: Doc): void {
    this.sql('UPDATE indexes SET spec = ? WHERE id = ?').run(encode(spec), index.id);
    this.forgetIndexes();
  }
  /** Of the UUID form, the same as long as the collection lives. */
  get uuid(): Binary {
    const bytes = Buffer.alloc(16);
    bytes[6] = 0x40;
    bytes[8] = 0x80;
    bytes.writeUInt32BE(this.id, 12);
    return new Binary(4, bytes);
  }
  get isView(): boolean {
    return this.options.has('viewOn');
  }
  /** What documents must satisfy; null when anything goes. */
  get validator(): Validator | null {
    if (this.rule === undefined) this.rule = parseValidator(this.options);
    return this.rule;
  }

  get namespace(): string {
    return `${this.database}.${this.name}`;
  }
  private sql(text: string): Statement {
    let statement = this.statements.get(text);
    if (!statement) {
      statement = this.store.db.prepare(text);
      this.statements.set(text, statement);
    }
    return statement;
  }

  count(): number {
    return this.sql(`SELECT count(*) FROM c${this.id}`).pluck().get() as number;
  }
  bytes(): number {
    return (this.sql(`SELECT total(length(d)) FROM c${this.id}`).pluck().get() as number) ?? 0;
  }

  // ---- reading

  /** All documents in order of insertion, from memory while they fit its budget. */
  scan(): Next {
    const cached = this.cached();
    if (!cached) return this.stream();
    const segments = cached.segments.map((s) => ({ buffer: s.buffer, end: s.end }));
    let segment = 0;
    let buffer: Buffer = Buffer.alloc(0);
    let at = 0;
    let end = 0;
    return () => {
      while (at >= end) {
        const next = segments[segment++];
        if (!next) return null;
        ({ buffer, end } = next);
        at = 0;
      }
      const start = at;
      at += readInt32(buffer, start);
      return Doc.fromRaw(buffer, start);
    };
  }

  private cached(): Cached | null {
    const { cache } = this.store;
    let entry = cache.get(this.id);
    if (entry && entry.changes !== this.changes) {
      cache.drop(this.id);
      // Rewritten before it was ever read twice: holding it again would only cost.
      if (entry.scans < 2) {
        cache.put(this.id, {
          changes: this.changes,
          segments: [],
          lastRid: 0,
          bytes: 0,
          scans: -1,
        });
        return null;
      }
      entry = undefined;
    }
    if (entry?.scans === -1) {
      entry = undefined;
      cache.drop(this.id);
    }
    if (!entry) {
      if (this.bytes() > cache.room * 0.8) return null;
      entry = { changes: this.changes, segments: [], lastRid: 0, bytes: 0, scans: 0 };
      cache.put(this.id, entry);
    }
    entry.scans++;
    this.extend(entry);
    return entry;
  }

  /** Adds what was inserted since. */
  private extend(entry: Cached): void {
    const before = entry.bytes;
    const statement = this.sql(`SELECT rid, d FROM c${this.id} WHERE rid > ? ORDER BY rid`);
    for (const row of statement.iterate(entry.lastRid) as IterableIterator<Row>) {
      let segment = entry.segments[entry.segments.length - 1];
      if (!segment || segment.end + row.d.length > segment.buffer.length) {
        const size =
          entry.bytes === 0 ? Math.max(64 * 1024, row.d.length) : Math.max(SEGMENT, row.d.length);
        segment = { buffer: Buffer.allocUnsafeSlow(size), end: 0 };
        entry.segments.push(segment);
        entry.bytes += size;
      }
      segment.buffer.set(row.d, segment.end);
      segment.end += row.d.length;
      entry.lastRid = row.rid;
    }
    this.store.cache.grew(this.id, entry.bytes - before);
  }

  private stream(): Next {
    const rows = this.rows();
    return () => {
      const row = rows();
      return row === null ? null : Doc.fromRaw(row.d);
    };
  }

  /** Rows in order, a chunk at a time: no read transaction stays open in between. */
  rows(): () => Row | null {
    const statement = this.sql(
      `SELECT rid, d FROM c${this.id} WHERE rid > ? ORDER BY rid LIMIT ${CHUNK}`,
    );
    let chunk: Row[] = [];
    let i = 0;
    let last = Number.MIN_SAFE_INTEGER;
    return () => {
      if (i >= chunk.length) {
        chunk = statement.all(last) as Row[];
        i = 0;
        const end = chunk[chunk.length - 1];
        if (!end) return null;
        last = end.rid;
      }
      return chunk[i++] ?? null;
    };
  }

  byId(id: Value): Row | null {
    return this.byKey(encodeKey(id));
  }
  byKey(key: Buffer): Row | null {
    return (
      (this.sql(`SELECT rid, d FROM c${this.id} WHERE k = ?`).get(key) as Row | undefined) ?? null
    );
  }
  /** The row that has these values in the fields of a unique index. */
  findByUnique(paths: readonly string[], values: readonly Value[]): Row | null {
    const index = this.indexes().find(
      (i) =>
        i.unique &&
        !i.partial &&
        i.fields.length === paths.length &&
        i.fields.every((f) => paths.includes(f.path)),
    );
    if (!index) return null;
    const key = Buffer.concat(index.fields.map((f) => encodeKey(values[paths.indexOf(f.path)])));
    const rid = this.sql(`SELECT rid FROM ${index.table} WHERE k = ?`).pluck().get(key) as
      number | undefined;
    if (rid === undefined) return null;
    return (
      (this.sql(`SELECT rid, d FROM c${this.id} WHERE rid = ?`).get(rid) as Row | undefined) ?? null
    );
  }
  byIdRange(low: Buffer, high: Buffer): Row[] {
    return this.sql(`SELECT rid, d FROM c${this.id} WHERE k >= ? AND k < ? ORDER BY rid`).all(
      low,
      high,
    ) as Row[];
  }
  /**
   * Rows with this one key in an index of one field, in order of insertion: the order in which the
   * index has them.
   */
  byIndexKey(index: IndexSpec, key: Buffer): Row[] {
    return this.sql(
      `SELECT x.rid, c.d FROM ${index.table} x CROSS JOIN c${this.id} c ON c.rid = x.rid WHERE ` +
        'x.k = ? ORDER BY x.rid',
    ).all(key) as Row[];
  }
  /** Rows whose key in an index lies in a range, each once, in order of insertion. */
  byKeyRange(index: IndexSpec, low: Buffer, high: Buffer): Row[] {
    return this.sql(
      `SELECT rid, d FROM c${this.id} WHERE rid IN (SELECT rid FROM ${index.table} WHERE k >= ? ` +
        'AND k < ?) ORDER BY rid',
    ).all(low, high) as Row[];
  }
  /** Rows in the order of an index's keys, equal keys in order of insertion; a chunk at a time. */
  inKeyOrder(index: IndexSpec, backwards: boolean): () => Row | null {
    const statement = this.sql(
      backwards
        ? `SELECT x.k, x.rid, c.d FROM ${index.table} x CROSS JOIN c${this.id} c ON c.rid = ` +
            'x.rid WHERE x.k < ? ORDER BY x.k DESC, x.rid DESC LIMIT ?'
        : `SELECT x.k, x.rid, c.d FROM ${index.table} x CROSS JOIN c${this.id} c ON c.rid = ` +
            'x.rid WHERE (x.k, x.rid) > (?, ?) ORDER BY x.k, x.rid LIMIT ?',
    );
    const equalRows = this.sql(
      `SELECT x.k, x.rid, c.d FROM ${index.table} x CROSS JOIN c${this.id} c ON c.rid = x.rid ` +
        'WHERE x.k = ? ORDER BY x.rid',
    );
    let chunk: KeyedRow[] = [];
    let i = 0;
    let key: Buffer = backwards ? Buffer.from([0xff]) : Buffer.alloc(0);
    let rid = Number.MIN_SAFE_INTEGER;
    let size = 32;
    const read = (): KeyedRow[] => {
      if (!backwards) return statement.all(key, rid, size) as KeyedRow[];
      const found = statement.all(key, size) as KeyedRow[];
      const last = found[found.length - 1];
      if (!last) return [];
      // The last key's rows may be cut off: they are read whole, so that each key's rows can be
      // turned around.
      const whole =
        found.length < size
          ? found
          : [
              ...found.filter((r) => !r.k.equals(last.k)),
              ...(equalRows.all(last.k) as KeyedRow[]).reverse(),
            ];
      return turnedWithinKeys(whole);
    };
    return () => {
      if (i >= chunk.length) {
        chunk = read();
        size = Math.min(CHUNK, size * 4);
        i = 0;
        const end = chunk[chunk.length - 1];
        if (!end) return null;
        ({ k: key, rid } = end);
      }
      return chunk[i++] ?? null;
    };
  }

  // ---- indexes

  forgetIndexes(): void {
    this.indexList = undefined;
  }
  /** What was created on purpose: all but the index of `_id`. */
  indexes(): readonly IndexSpec[] {
    return this.maintained().filter((i) => i.name !== ID_INDEX);
  }
  /**
   * All indexes that writes keep up: where `_id` has a collation, its uniqueness is an index as
   * well.
   */
  maintained(): readonly IndexSpec[] {
    return (this.indexList ??= (
      this.sql('SELECT id, name, spec FROM indexes WHERE collection = ? ORDER BY id').all(
        this.id,
      ) as { id: number; name: string; spec: Buffer }[]
    ).map((row) => describeIndex(row.id, row.name, Doc.fromRaw(row.spec))));
  }
  isMultikey(index: IndexSpec): boolean {
    return this.sql('SELECT multikey FROM indexes WHERE id = ?').pluck().get(index.id) === 1;
  }
  indexBytes(index: IndexSpec): number {
    return this.sql(`SELECT total(length(k) + 8) FROM ${index.table}`).pluck().get() as number;
  }

  createIndex(name: string, spec: Doc): void {
    this.store.db.transaction(() => {
      const { lastInsertRowid } = this.sql(
        'INSERT INTO indexes(collection, name, spec) VALUES(?, ?, ?)',
      ).run(this.id, name, encode(spec));
      const index = describeIndex(Number(lastInsertRowid), name, spec);
      this.store.use.created('index', index.id);
      this.store.db.exec(
        `CREATE TABLE ${index.table}(k BLOB NOT NULL, rid INTEGER NOT NULL, PRIMARY KEY(k, rid)) ` +
          'WITHOUT ROWID',
      );
      this.remakeKeys(index);
    })();
    this.forgetIndexes();
  }
  /** Inside the caller's transaction. */
  remakeKeys(index: IndexSpec): void {
    this.store.db.exec(`DELETE FROM ${index.table}`);
    const rows = this.rows();
    for (let row = rows(); row !== null; row = rows())
      this.addKeys(index, row.rid, Doc.fromRaw(row.d));
  }
  dropIndex(index: IndexSpec): void {
    this.store.db.transaction(() => {
      this.store.db.exec(`DROP TABLE ${index.table}`);
      this.sql('DELETE FROM indexes WHERE id = ?').run(index.id);
    })();
    this.forgetIndexes();
    this.statements.clear();
  }

  /** Throws when another document has a value of these in a unique index. */
  private checkUnique(index: IndexSpec, { keys, values }: Keys, rid: number): void {
    keys.forEach((key, i) => {
      const tuple = values[i] as Value[];
      if (
        index.collation.simple ? this.hasOther(index, key, rid) : this.hasEqual(index, tuple, rid)
      ) {
        throw duplicateKey(this.namespace, index.name, index.spec.get('key') as Doc, tuple);
      }
    });
  }
  private hasOther(index: IndexSpec, key: Buffer, rid: number): boolean {
    return (
      this.sql(`SELECT rid FROM ${index.table} WHERE k = ? AND rid <> ? LIMIT 1`).get(key, rid) !==
      undefined
    );
  }
  /** With a collation a key only says where to look. */
  private hasEqual(index: IndexSpec, tuple: readonly Value[], rid: number): boolean {
    let keys: Buffer[] | null = [Buffer.alloc(0)];
    for (const value of tuple) {
      const probes = probesOf(index, value);
      if (!probes || !keys) keys = null;
      else keys = keys.flatMap((k) => probes.map((p) => Buffer.concat([k, p])));
    }
    const rows = (
      keys
        ? keys.flatMap((k) => this.byIndexKey(index, k))
        : (this.sql(`SELECT rid, d FROM c${this.id}`).all() as Row[])
    ) as Row[];
    return rows.some((row) => row.rid !== rid && shareValue(index, tuple, Doc.fromRaw(row.d)));
  }
  private addKeys(index: IndexSpec, rid: number, doc: Doc): void {
    const found = keysOf(index, doc);
    if (index.unique) this.checkUnique(index, found, rid);
    const statement = this.sql(`INSERT OR IGNORE INTO ${index.table}(k, rid) VALUES(?, ?)`);
    for (const key of found.keys) statement.run(key, rid);
    if (found.arrays && !this.isMultikey(index))
      this.sql('UPDATE indexes SET multikey = 1 WHERE id = ?').run(index.id);
  }
  private removeKeys(index: IndexSpec, rid: number, doc: Doc): void {
    const statement = this.sql(`DELETE FROM ${index.table} WHERE k = ? AND rid = ?`);
    for (const key of keysOf(index, doc).keys) statement.run(key, rid);
  }

  // ---- writing (inside the caller's transaction)

  /**
   * Inserts documents with one statement, which halves what an insert costs. False when one of them
   * cannot be inserted, or when there are indexes to look after; then none was.
   *
   * @param items always as many: each number of them is a statement of its own.
   */
  insertTogether(items: readonly Insertion[]): boolean {
    if (this.maintained().length > 0) return false;
    const parameters: Buffer[] = [];
    for (const { raw, id } of items) {
      if (raw.length > MAX_DOCUMENT || idMistake(id)) return false;
      parameters.push(encodeKey(id), raw);
    }
    try {
      this.sql(
        `INSERT INTO c${this.id}(k, d) VALUES${'(?, ?), '.repeat(items.length - 1)}(?, ?)`,
      ).run(parameters);
      return true;
    } catch (error) {
      // Which of them is the duplicate shows when they are inserted one by one.
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
  insert({ raw, id }: Insertion): void {
    if (raw.length > MAX_DOCUMENT)
      throw new ServerError(
        10334,
        `object to insert too large. size in bytes: ${raw.length}, max size: ${MAX_DOCUMENT}`,
      );
    const mistake = idMistake(id);
    if (mistake)
      throw new ServerError(
        mistake.dollar === undefined ? 53 : 52,
        mistake.dollar === undefined
          ? `The '_id' value cannot be of type ${mistake.type}`
          : `_id fields may not contain '$'-prefixed fields: ${mistake.dollar} is not valid for ` +
              'storage.',
      );
    const doc = Doc.fromRaw(raw);
    const indexes = this.maintained();
    for (const index of indexes) {
      if (index.unique) this.checkUnique(index, keysOf(index, doc), Number.MIN_SAFE_INTEGER);
    }
    let rid: number;
    try {
      rid = Number(
        this.sql(`INSERT INTO c${this.id}(k, d) VALUES(?, ?)`).run(encodeKey(id), raw)
          .lastInsertRowid,
      );
    } catch (error) {
      if (isDuplicate(error)) throw duplicateKey(this.namespace, '_id_', Doc.of({ _id: 1 }), [id]);
      throw error;
    }
    for (const index of indexes) this.addKeys(index, rid, doc);
  }
  replace(rid: number, before: Doc, after: Buffer): void {
    if (after.length > MAX_DOCUMENT)
      throw new ServerError(
        17419,
        `Resulting document after update is larger than ${MAX_DOCUMENT}`,
      );
    const doc = Doc.fromRaw(after);
    const indexes = this.maintained();
    for (const index of indexes) {
      if (index.unique) this.checkUnique(index, keysOf(index, doc), rid);
    }
    for (const index of indexes) this.removeKeys(index, rid, before);
    this.sql(`UPDATE c${this.id} SET d = ? WHERE rid = ?`).run(after, rid);
    for (const index of indexes) this.addKeys(index, rid, doc);
  }
  remove(rid: number, doc: Doc): void {
    for (const index of this.maintained()) this.removeKeys(index, rid, doc);
    this.sql(`DELETE FROM c${this.id} WHERE rid = ?`).run(rid);
  }
  clear(): void {
    for (const index of this.maintained()) this.store.db.exec(`DELETE FROM ${index.table}`);
    this.store.db.exec(`DELETE FROM c${this.id}`);
    this.changed();
  }
  /** Says that documents were replaced or removed, so that nobody relies on earlier ones. */
  changed(): void {
    this.sql('UPDATE collections SET changes = changes + 1 WHERE id = ?').run(this.id);
    this.changes++;
  }
}

/**
 * What an `_id` cannot be: of some types, and a document with a name that starts with a dollar, at
 * any depth.
 */
export function idMistake(id: Value): { readonly type: string; readonly dollar?: string } | null {
  if (Array.isArray(id) || id instanceof Regex || id === bsonUndefined)
    return { type: typeName(id) };
  const dollar = id instanceof Doc ? dollarName(id) : undefined;
  return dollar === undefined ? null : { type: 'object', dollar };
}
function dollarName(doc: Doc): string | undefined {
  for (const [i, key] of doc.keys.entries()) {
    if (key.startsWith('$') && !['$ref', '$id', '$db'].includes(key)) return key;
    const value = doc.values[i];
    const inside = value instanceof Doc ? dollarName(value) : undefined;
    if (inside !== undefined) return inside;
  }
  return undefined;
}

const isDuplicate = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_UNIQUE';

type KeyedRow = Row & { readonly k: Buffer };

/** Rows of descending keys, with those of the same key in ascending order of insertion. */
function turnedWithinKeys(rows: readonly KeyedRow[]): KeyedRow[] {
  const out: KeyedRow[] = [];
  for (let start = 0; start < rows.length;) {
    let end = start + 1;
    while (end < rows.length && rows[end]?.k.equals(rows[start]?.k as Buffer)) end++;
    for (let i = end - 1; i >= start; i--) out.push(rows[i] as KeyedRow);
    start = end;
  }
  return out;
}

function duplicateKey(
  namespace: string,
  index: string,
  pattern: Doc,
  values: readonly Value[],
): ServerError {
  const shown = pattern.keys.map((path, i) => `${path}: ${describe(values[i])}`).join(', ');
  return new ServerError(
    11000,
    `E11000 duplicate key error collection: ${namespace} index: ${index} dup key: { ${shown} }`,
    {
      keyPattern: pattern,
      keyValue: new Doc(
        [...pattern.keys],
        values.map((v) => v),
      ),
    },
  );
}
function describe(v: Value): string {
  if (typeof v === 'string') return `"${v}"`;
  if (v instanceof ObjectId) return `ObjectId('${v.hex}')`;
  if (v instanceof Doc) return '{…}';
  if (Array.isArray(v)) return '[…]';
  return String(typeof v === 'object' && v !== null && 'value' in v ? v.value : v);
}
