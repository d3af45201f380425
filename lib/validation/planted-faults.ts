import { arrayPaths, containerPaths, leafPaths, outlierArrays } from '../design/model/field-paths';
import { randomBytes } from 'node:crypto';
import {
  Binary,
  Double,
  Int32,
  Long,
  type Collection,
  type Db,
  type Document,
  type MongoClient,
} from 'mongodb';
import { type LogicalDesign } from '../design/model/document-design';
import { documentsToResultSet } from '../results/compare';
import { rowKey, valueKey } from '../results/equality';
import { fromBson } from '../results/value';
import type { ValidationMapping } from './mapping';

/**
 * Shows that mappings can fail: faults are planted in a copy of some documents, and a mapping
 * catches a fault when its result changes. A mapping that equals the source on all documents and
 * changes with the fault differs from the source on the faulty ones, so a few documents are enough.
 */
export interface PlantedFaults {
  readonly planted: number;
  /** Faults that no mapping noticed: holes of the validation. */
  readonly holes: readonly PlantedFault[];
  /**
   * The faults that each mapping caught; only how many in validations from before they were named.
   */
  readonly caught: Readonly<Record<string, readonly PlantedFault[] | number>>;
}

export interface PlantedFault {
  readonly kind: FaultKind;
  readonly path: string;
}

export type FaultKind =
  | 'field dropped'
  | 'value altered'
  | 'values swapped between rows'
  | 'array shortened'
  | 'array dropped'
  | 'entries reordered'
  | 'entry moved to another row'
  | 'outlier filled'
  | 'row lost'
  | 'row doubled';

const SAMPLE = 10;

export async function plantFaults(
  design: LogicalDesign,
  mappings: readonly ValidationMapping[],
  db: Db,
  mongo: MongoClient,
  signal: AbortSignal,
): Promise<PlantedFaults> {
  const sample = await sampleDocuments(design, db);
  const scratch = mongo.db(`aptmql_faults_${randomBytes(6).toString('hex')}`);
  const holes: PlantedFault[] = [];
  const caught = new Map<string, PlantedFault[]>();
  let planted = 0;
  try {
    const collection = scratch.collection(design.collection);
    await rewrite(collection, [], sample);
    const sound = new Map<ValidationMapping, string>();
    for (const mapping of mappings) sound.set(mapping, await resultOf(mapping, collection));
    const catches = async (mapping: ValidationMapping): Promise<boolean> =>
      (await resultOf(mapping, collection)) !== sound.get(mapping);
    const record = (fault: PlantedFault, by: ValidationMapping | undefined): void => {
      planted++;
      if (by) caught.set(by.name, [...(caught.get(by.name) ?? []), fault]);
      else holes.push(fault);
    };
    const alone: Planted[] = structuralFaults(design, sample);
    const leaves = leafFaults(design, sample);
    // Faults that different mappings are to catch are planted together; one that its mapping misses
    // is tried alone.
    for (const round of roundsOf(leaves, mappings)) {
      signal.throwIfAborted();
      const documents = applied(
        sample,
        round.flatMap(({ fault }) => fault.edits),
      );
      await rewrite(collection, sample, documents);
      for (const { fault, mapping } of round) {
        if (await catches(mapping)) record(fault.fault, mapping);
        else alone.push({ fault: fault.fault, documents: applied(sample, fault.edits) });
      }
      await rewrite(collection, documents, sample);
    }
    for (const fault of leaves)
      if (!mappings.some((mapping) => mapping.covers.includes(fault.fault.path)))
        alone.push({ fault: fault.fault, documents: applied(sample, fault.edits) });
    for (const { fault, documents } of alone) {
      signal.throwIfAborted();
      await rewrite(collection, sample, documents);
      // Those that read the path are asked first; the others may notice too.
      const order = [...mappings].sort(
        (a, b) => Number(b.covers.includes(fault.path)) - Number(a.covers.includes(fault.path)),
      );
      let by: ValidationMapping | undefined;
      for (const mapping of order) {
        if (!(await catches(mapping))) continue;
        by = mapping;
        break;
      }
      record(fault, by);
      await rewrite(collection, documents, sample);
    }
  } finally {
    await scratch.dropDatabase();
  }
  return { planted, holes, caught: Object.fromEntries(caught) };
}

/** The rows that a mapping reads from the documents, in no order. */
async function resultOf(
  mapping: ValidationMapping,
  collection: Collection<Document>,
): Promise<string> {
  const documents = await collection
    .aggregate([...mapping.pipeline], { promoteValues: false, promoteLongs: false })
    .toArray();
  const { columns, rows } = documentsToResultSet(documents.map(fromBson));
  return [columns.join('\u0001'), ...rows.map(rowKey).sort()].join('\n');
}

/** Only what a fault touches is written, and put back: there are thousands of faults. */
async function rewrite(
  collection: Collection<Document>,
  before: readonly Document[],
  after: readonly Document[],
): Promise<void> {
  for (const [index, old] of before.entries())
    if (!after[index]) await collection.deleteOne({ _id: old._id as never });
  for (const [index, document] of after.entries()) {
    if (!before[index]) await collection.insertOne({ ...document });
    else if (before[index] !== document)
      await collection.replaceOne({ _id: document._id as never }, document);
  }
}

/**
 * The first documents, and for every array and field some in which it is filled, so that each
 * occurs where it can.
 */
async function sampleDocuments(design: LogicalDesign, db: Db): Promise<Document[]> {
  const collection = db.collection(design.collection);
  const options = { promoteValues: false, promoteLongs: false } as const;
  const found = new Map<string, Document>();
  const take = async (filter: Document, limit: number): Promise<void> => {
    for (const document of await collection.find(filter, options).limit(limit).toArray())
      found.set(valueKey(fromBson(document._id)), shorten(document));
  };
  const filled = (path: string): number =>
    [...found.values()].filter((document) =>
      placesOf(document, document, path.split('.')).some(
        ({ holder, name }) => !Array.isArray(holder[name]) || holder[name].length > 0,
      ),
    ).length;
  await take({}, SAMPLE);
  for (const path of containerPaths(design.fields))
    if (filled(path) < 3) await take({ [path]: { $exists: true, $nin: [[], null] } }, 3);
  for (const path of leafPaths(design.fields))
    if (filled(path) < 2) await take({ [path]: { $ne: null } }, 2);
  return [...found.values()];
}

// A few entries show as much as a thousand: what is compared is a mapping's result with and without
// the fault.
const ENTRIES = 4;
function shorten<T>(node: T): T {
  if (Array.isArray(node)) return node.slice(0, ENTRIES).map(shorten) as T;
  if (node === null || typeof node !== 'object' || node instanceof Date || '_bsontype' in node)
    return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, shorten(value as unknown)]),
  ) as T;
}

interface Planted {
  readonly fault: PlantedFault;
  readonly documents: readonly Document[];
}

/** A fault in the values of one field. */
interface LeafFault {
  readonly fault: PlantedFault;
  readonly edits: readonly Edit[];
}

interface Edit {
  readonly document: Document;
  readonly path: string;
  /** Which of the path's places in the document: arrays give it several. */
  readonly nth: number;
  /** Changes the copy's holder. */
  change(holder: Record<string, unknown>, name: string): void;
}

function leafFaults(design: LogicalDesign, sample: readonly Document[]): LeafFault[] {
  return leafPaths(design.fields).flatMap((path): LeafFault[] => {
    const places = sample.flatMap((document) => placesOf(document, document, path.split('.')));
    const [first, ...others] = places;
    if (!first) return [];
    const edit = ({ document, nth }: Place, change: Edit['change']): Edit => ({
      document,
      path,
      nth,
      change,
    });
    const set = (place: Place, value: unknown): Edit =>
      edit(place, (holder, name) => void (holder[name] = value));
    const value = first.holder[first.name];
    const key = (place: Place): string => valueKey(fromBson(place.holder[place.name]));
    const other = alterValue(value);
    const second = others.find(
      (place) => place.document !== first.document && key(place) !== key(first),
    );
    return [
      ...(other === undefined
        ? []
        : [{ fault: { kind: 'value altered', path }, edits: [set(first, other)] } as const]),
      {
        fault: { kind: 'field dropped', path },
        edits: [edit(first, (holder, name) => void delete holder[name])],
      },
      ...(second
        ? [
            {
              fault: { kind: 'values swapped between rows', path },
              edits: [set(first, second.holder[second.name]), set(second, value)],
            } as const,
          ]
        : []),
    ];
  });
}

/** Faults of whole entries and documents. */
function structuralFaults(design: LogicalDesign, sample: readonly Document[]): Planted[] {
  if (sample.length === 0) return [];
  const shortened = arrayPaths(design.fields).flatMap((path): Planted[] => {
    const full = sample
      .flatMap((document) => placesOf(document, document, path.split('.')))
      .find(({ holder, name }) => Array.isArray(holder[name]) && holder[name].length > 0);
    if (!full) return [];
    const edit: Edit = {
      document: full.document,
      path,
      nth: full.nth,
      change: (holder, name) => void (holder[name] as unknown[]).pop(),
    };
    return [{ fault: { kind: 'array shortened', path }, documents: applied(sample, [edit]) }];
  });
  const arrays = arrayPaths(design.fields).flatMap((path) => arrayFaults(path, sample));
  // The children of an outlier would be found twice: by its flag, and in the array.
  const filled = outlierArrays(design.fields).flatMap(({ path, flag }): Planted[] => {
    const places = sample.flatMap((document) => placesOf(document, document, path.split('.')));
    const outlier = places.find(({ holder }) => Object.hasOwn(holder, flag));
    const other = places.find(
      ({ holder, name }) => Array.isArray(holder[name]) && holder[name].length > 0,
    );
    if (!outlier || !other) return [];
    const edit: Edit = {
      document: outlier.document,
      path,
      nth: outlier.nth,
      change: (holder, name) => void (holder[name] = copy(other.holder[other.name])),
    };
    return [{ fault: { kind: 'outlier filled', path }, documents: applied(sample, [edit]) }];
  });
  return [
    ...shortened,
    ...arrays,
    ...filled,
    { fault: { kind: 'row lost', path: '_id' }, documents: sample.slice(0, -1) },
    {
      fault: { kind: 'row doubled', path: '_id' },
      documents: [...sample, { ...copy(sample[0]!), _id: 'planted twice' }],
    },
  ];
}

/**
 * What leaves every value in place but the order of entries, the row that they belong to, or an
 * empty array.
 */
function arrayFaults(path: string, sample: readonly Document[]): Planted[] {
  const places = sample
    .flatMap((document) => placesOf(document, document, path.split('.')))
    .filter(({ holder, name }) => Array.isArray(holder[name]));
  const entries = ({ holder, name }: Place): unknown[] => holder[name] as unknown[];
  const key = (entry: unknown): string => valueKey(fromBson(entry));
  const fault = (
    kind: FaultKind,
    ...edits: readonly (readonly [Place, Edit['change']])[]
  ): Planted => ({
    fault: { kind, path },
    documents: applied(
      sample,
      edits.map(([{ document, nth }, change]) => ({ document, path, nth, change })),
    ),
  });
  const several = places.find(
    (place) => entries(place).length > 1 && key(entries(place)[0]) !== key(entries(place)[1]),
  );
  const from = places.find((place) => entries(place).length > 0);
  // Within one document: beyond it, the document's key tells.
  const to =
    from && places.find((place) => place.document === from.document && place.nth !== from.nth);
  const empty = places.find((place) => entries(place).length === 0) ?? from;
  return [
    ...(several
      ? [
          fault('entries reordered', [
            several,
            (holder, name) => void (holder[name] = firstTwoSwapped(holder[name] as unknown[])),
          ]),
        ]
      : []),
    ...(from && to
      ? [
          fault(
            'entry moved to another row',
            [from, (holder, name) => void (holder[name] as unknown[]).pop()],
            [to, (holder, name) => void (holder[name] as unknown[]).push(entries(from).at(-1))],
          ),
        ]
      : []),
    ...(empty ? [fault('array dropped', [empty, (holder, name) => void delete holder[name]])] : []),
  ];
}

const firstTwoSwapped = ([first, second, ...rest]: readonly unknown[]): unknown[] => [
  second,
  first,
  ...rest,
];

/** Rounds of faults, each with the mapping that is to catch it, no mapping twice in a round. */
function roundsOf(
  faults: readonly LeafFault[],
  mappings: readonly ValidationMapping[],
): { fault: LeafFault; mapping: ValidationMapping }[][] {
  const owner = new Map<string, ValidationMapping>();
  for (const mapping of mappings)
    for (const path of mapping.covers) if (!owner.has(path)) owner.set(path, mapping);
  const next = new Map<ValidationMapping, number>();
  const rounds: { fault: LeafFault; mapping: ValidationMapping }[][] = [];
  for (const fault of faults) {
    const mapping = owner.get(fault.fault.path);
    if (!mapping) continue;
    const at = next.get(mapping) ?? 0;
    next.set(mapping, at + 1);
    (rounds[at] ??= []).push({ fault, mapping });
  }
  return rounds;
}

/** The sample with some documents edited, the others the very same. */
function applied(sample: readonly Document[], edits: readonly Edit[]): Document[] {
  const copies = new Map<Document, Document>();
  // Places are found before anything is changed: a dropped field would shift those behind it.
  const targets = edits.map((edit) => {
    let target = copies.get(edit.document);
    if (!target) copies.set(edit.document, (target = copy(edit.document)));
    return { place: placesOf(target, target, edit.path.split('.'))[edit.nth]!, edit };
  });
  for (const { place, edit } of targets) edit.change(place.holder, place.name);
  return sample.map((document) => copies.get(document) ?? document);
}

/** Where a path occurs with a value: the document or entry that holds it. */
interface Place {
  readonly document: Document;
  readonly holder: Record<string, unknown>;
  readonly name: string;
  readonly nth: number;
}

const placesOf = (document: Document, node: unknown, path: readonly string[]): Place[] =>
  holdersOf(node, path).map(({ holder, name }, nth) => ({ document, holder, name, nth }));

function holdersOf(
  node: unknown,
  [name, ...rest]: readonly string[],
): { holder: Record<string, unknown>; name: string }[] {
  if (Array.isArray(node)) return node.flatMap((entry) => holdersOf(entry, [name!, ...rest]));
  if (node === null || typeof node !== 'object' || !Object.hasOwn(node, name!)) return [];
  const holder = node as Record<string, unknown>;
  if (rest.length > 0) return holdersOf(holder[name!], rest);
  // A null is as good as a missing field: dropping or moving it changes nothing.
  return holder[name!] === null ? [] : [{ holder, name: name! }];
}

/** Documents and arrays are copied; values are never changed in place. */
function copy<T>(node: T): T {
  if (Array.isArray(node)) return node.map(copy) as T;
  if (node === null || typeof node !== 'object' || node instanceof Date || '_bsontype' in node)
    return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, copy(value as unknown)]),
  ) as T;
}

/** Another value of the same type; undefined where there is none. */
function alterValue(value: unknown): unknown {
  if (typeof value === 'string') return `${value}~`;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (value instanceof Int32) return new Int32(value.value === 2 ** 31 - 1 ? 0 : value.value + 1);
  if (value instanceof Long) return value.add(1);
  if (value instanceof Double)
    return new Double(value.value === 0 || !Number.isFinite(value.value) ? 1 : value.value * 2);
  if (value instanceof Date) return new Date(value.getTime() + 86_400_000);
  if (value instanceof Binary) return new Binary(Buffer.concat([value.buffer, Buffer.from([1])]));
  return undefined;
}
