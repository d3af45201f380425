import { randomBytes } from 'node:crypto';
import { Binary, BSON, Double, Int32, Long, type Db, type Document, type MongoClient } from 'mongodb';
import { isEmbed, type Field, type LogicalDesign } from '../design/document-design';
import { documentsToResultSet } from '../results/compare';
import { rowKey, valueKey } from '../results/equality';
import { fromBson } from '../results/value';
import type { ValidationMapping } from './mapping';

/**
 * Shows that mappings can fail: faults are planted in a copy of some documents, and a mapping catches a fault when its
 * result changes. A mapping that equals the source on all documents and changes with the fault differs from the source
 * on the faulty ones, so a few documents are enough.
 */
export interface PlantedFaults {
  readonly planted: number;
  /** Faults that no mapping noticed: holes of the validation. */
  readonly holes: readonly PlantedFault[];
  /** How many faults each mapping caught. */
  readonly caught: Readonly<Record<string, number>>;
}

export interface PlantedFault {
  readonly kind: FaultKind;
  readonly path: string;
}

export type FaultKind = 'field dropped' | 'value altered' | 'values swapped between rows' | 'array shortened' | 'row lost' | 'row doubled';

const SAMPLE = 10;

export async function plantFaults(design: LogicalDesign, mappings: readonly ValidationMapping[], db: Db, mongo: MongoClient, signal: AbortSignal): Promise<PlantedFaults> {
  const sample = await sampleDocuments(design, db);
  const scratch = mongo.db(`aptmql_faults_${randomBytes(6).toString('hex')}`);
  const holes: PlantedFault[] = [];
  const caught: Record<string, number> = {};
  let planted = 0;
  try {
    const collection = scratch.collection(design.collection);
    const run = async (mapping: ValidationMapping): Promise<string> => {
      const documents = await collection.aggregate([...mapping.pipeline], { promoteValues: false, promoteLongs: false }).toArray();
      const { columns, rows } = documentsToResultSet(documents.map(fromBson));
      return [columns.join('\u0001'), ...rows.map(rowKey).sort()].join('\n');
    };
    // Only what a fault touches is written, and put back: there are thousands of faults.
    const write = async (before: readonly Document[], after: readonly Document[]): Promise<void> => {
      for (const [at, old] of before.entries()) if (!after[at]) await collection.deleteOne({ _id: old._id as never });
      for (const [at, document] of after.entries()) {
        if (!before[at]) await collection.insertOne({ ...document });
        else if (before[at] !== document) await collection.replaceOne({ _id: document._id as never }, document);
      }
    };
    await write([], sample);
    const sound = new Map<ValidationMapping, string>();
    for (const mapping of mappings) sound.set(mapping, await run(mapping));
    for (const { fault, documents } of faultsOf(design, sample)) {
      signal.throwIfAborted();
      planted++;
      await write(sample, documents);
      // Those that read the path are asked first; the others may notice too.
      const order = [...mappings].sort((a, b) => Number(b.covers.includes(fault.path)) - Number(a.covers.includes(fault.path)));
      let by: ValidationMapping | undefined;
      for (const mapping of order) {
        if ((await run(mapping)) === sound.get(mapping)) continue;
        by = mapping;
        break;
      }
      if (by) caught[by.name] = (caught[by.name] ?? 0) + 1;
      else holes.push(fault);
      await write(documents, sample);
    }
  } finally {
    await scratch.dropDatabase();
  }
  return { planted, holes, caught };
}

/** The first documents, and for every array one that is not empty, so that each field occurs where it can. */
async function sampleDocuments(design: LogicalDesign, db: Db): Promise<Document[]> {
  const collection = db.collection(design.collection);
  const options = { promoteValues: false, promoteLongs: false } as const;
  const found = new Map<string, Document>();
  const take = async (filter: Document, limit: number): Promise<void> => {
    for (const document of await collection.find(filter, options).limit(limit).toArray()) found.set(valueKey(fromBson(document._id)), shorten(document));
  };
  await take({}, SAMPLE);
  for (const path of embeddedPaths(design.fields, '')) await take({ [path]: { $exists: true, $nin: [[], null] } }, 3);
  for (const path of leafPaths(design.fields, '')) await take({ [path]: { $ne: null } }, 2);
  return [...found.values()];
}

// A few entries show as much as a thousand: what is compared is a mapping's result with and without the fault.
const ENTRIES = 4;
function shorten<T>(node: T): T {
  if (Array.isArray(node)) return node.slice(0, ENTRIES).map(shorten) as T;
  if (node === null || typeof node !== 'object' || node instanceof Date || '_bsontype' in node) return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, shorten(value as unknown)])) as T;
}

const embeddedPaths = (fields: readonly Field[], prefix: string): string[] =>
  fields.flatMap((field) => (isEmbed(field) || field.kind === 'extendedReference' ? [prefix + field.name, ...embeddedPaths(field.fields, `${prefix}${field.name}.`)] : []));

const leafPaths = (fields: readonly Field[], prefix: string): string[] =>
  fields.flatMap((field) => (isEmbed(field) || field.kind === 'extendedReference' ? leafPaths(field.fields, `${prefix}${field.name}.`) : [prefix + field.name]));

const arrayPaths = (fields: readonly Field[], prefix: string): string[] =>
  fields.flatMap((field) => (isEmbed(field) ? [...(field.kind === 'embedMany' ? [prefix + field.name] : []), ...arrayPaths(field.fields, `${prefix}${field.name}.`)] : []));

interface Planted {
  readonly fault: PlantedFault;
  readonly documents: readonly Document[];
}

function* faultsOf(design: LogicalDesign, sample: readonly Document[]): Generator<Planted> {
  if (sample.length === 0) return;
  for (const path of leafPaths(design.fields, '')) {
    const alter = changed(sample, path, ([first]) => {
      if (!first) return false;
      const other = alterValue(first.holder[first.name]);
      if (other === undefined) return false;
      first.holder[first.name] = other;
      return true;
    });
    if (alter) yield { fault: { kind: 'value altered', path }, documents: alter };
    const drop = changed(sample, path, ([first]) => first !== undefined && delete first.holder[first.name]);
    if (drop) yield { fault: { kind: 'field dropped', path }, documents: drop };
    const swap = changed(sample, path, ([first, ...others]) => {
      const key = (place: Place): string => valueKey(fromBson(place.holder[place.name]));
      const second = first && others.find((place) => place.document !== first.document && key(place) !== key(first));
      if (!first || !second) return false;
      [first.holder[first.name], second.holder[second.name]] = [second.holder[second.name], first.holder[first.name]];
      return true;
    });
    if (swap) yield { fault: { kind: 'values swapped between rows', path }, documents: swap };
  }
  for (const path of arrayPaths(design.fields, '')) {
    const shorter = changed(sample, path, (places) => {
      const full = places.find(({ holder, name }) => Array.isArray(holder[name]) && (holder[name] as unknown[]).length > 0);
      if (!full) return false;
      (full.holder[full.name] as unknown[]).pop();
      return true;
    });
    if (shorter) yield { fault: { kind: 'array shortened', path }, documents: shorter };
  }
  yield { fault: { kind: 'row lost', path: '_id' }, documents: sample.slice(0, -1) };
  yield { fault: { kind: 'row doubled', path: '_id' }, documents: [...sample, { ...copy(sample[0]!), _id: 'planted twice' }] };
}

/** Where a path occurs with a value: the document or entry that holds it. */
interface Place {
  readonly document: Document;
  readonly holder: Record<string, unknown>;
  readonly name: string;
}

/** The sample with some documents changed at a path, the others the very same; undefined where there is nothing to change. */
function changed(sample: readonly Document[], path: string, change: (places: Place[]) => boolean): Document[] | undefined {
  const copies = sample.map(copy);
  const places = copies.flatMap((document) => placesOf(document, document, path.split('.')));
  if (!change(places)) return undefined;
  const same = (a: Document, b: Document): boolean => valueKey(fromBson(a)) === valueKey(fromBson(b)) && BSON.calculateObjectSize(a) === BSON.calculateObjectSize(b);
  return sample.map((document, at) => (same(document, copies[at]!) ? document : copies[at]!));
}

function placesOf(document: Document, node: unknown, [name, ...rest]: readonly string[]): Place[] {
  if (Array.isArray(node)) return node.flatMap((entry) => placesOf(document, entry, [name!, ...rest]));
  if (node === null || typeof node !== 'object' || !Object.hasOwn(node, name!)) return [];
  const holder = node as Record<string, unknown>;
  if (rest.length > 0) return placesOf(document, holder[name!], rest);
  // A null is as good as a missing field: dropping or moving it changes nothing.
  return holder[name!] === null ? [] : [{ document, holder, name: name! }];
}

/** Documents and arrays are copied; values are never changed in place. */
function copy<T>(node: T): T {
  if (Array.isArray(node)) return node.map(copy) as T;
  if (node === null || typeof node !== 'object' || node instanceof Date || '_bsontype' in node) return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, copy(value as unknown)])) as T;
}

/** Another value of the same type; undefined where there is none. */
function alterValue(value: unknown): unknown {
  if (typeof value === 'string') return `${value}~`;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (value instanceof Int32) return new Int32(value.value === 2 ** 31 - 1 ? 0 : value.value + 1);
  if (value instanceof Long) return value.add(1);
  if (value instanceof Double) return new Double(value.value === 0 ? 1 : value.value * 2);
  if (value instanceof Date) return new Date(value.getTime() + 86_400_000);
  if (value instanceof Binary) return new Binary(Buffer.concat([value.buffer, Buffer.from([1])]));
  return undefined;
}
