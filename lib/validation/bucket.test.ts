import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Directive } from '../design/model/directive';
import {
  bucketRows,
  type DocumentDesign,
  type Field,
  type LogicalDesign,
} from '../design/model/document-design';
import { logicalCsv, parseLogicalCsv } from '../design/logical/logical-csv';
import { checkDesign } from '../design/limits/loss-check';
import { documentDesignSchema } from '../design/model/schema';
import { jsonSchema } from '../bundle/json-schema';
import { assemble, assembleDocuments } from '../migration/assemble';
import { ConversionFixture, testLimits, type ConvertedSource } from './test/conversion-fixture';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

/**
 * Series that end within a bucket, at its end, and after one row; a station without rows, rows of
 * none that is there, names that differ in case.
 */
const sql = `
  CREATE TABLE kind (id INTEGER PRIMARY KEY, unit TEXT); INSERT INTO kind VALUES (1, 'C'), (2, 'hPa');
  CREATE TABLE station (code TEXT PRIMARY KEY, name TEXT);
  INSERT INTO station VALUES ('a', 'Oslo'), ('A', 'Bergen'), ('b', 'Rome'), ('c', 'Paris');
  CREATE TABLE reading (rid INTEGER PRIMARY KEY, station TEXT NOT NULL COLLATE NOCASE REFERENCES station(code), kind_id INTEGER REFERENCES kind(id), day TEXT, value REAL);
  INSERT INTO reading VALUES (1, 'a', 1, '2024-01-01', 1.5), (2, 'b', 1, '2024-01-01', 2), (3, 'A', 2, NULL, 3), (4, 'a', 1, '2024-01-02', NULL), (5, 'a', 2, '2024-01-03', 5),
    (6, 'b', 2, '2024-01-02', 6), (7, 'a', 1, '2024-01-03', 7), (8, 'a', 1, '2024-01-04', 8), (9, 'b', 9, '2024-01-03', 9), (10, 'x', 1, '2024-01-01', 1.5), (11, 'A', 1, '', 0);`;
const ID = 'reading(station)->station(code)';
const directives: Directive[] = [
  { kind: 'relationship', relationship: ID, choice: 'bucket' },
  { kind: 'relationship', relationship: 'reading(kind_id)->kind(id)', choice: 'copy' },
];
const ofThree = (design: DocumentDesign): DocumentDesign => resized(design, 3);
const resized = (design: DocumentDesign, size: number): DocumentDesign => {
  const small = <T extends LogicalDesign | DocumentDesign['conceptual']['collections'][number]>(
    entry: T,
  ): T => (entry.id.kind === 'bucket' ? { ...entry, id: { ...entry.id, size } } : entry);
  return {
    conceptual: { ...design.conceptual, collections: design.conceptual.collections.map(small) },
    logical: design.logical.map(small),
  };
};
/** What is repeated of the station lies beside its key, once a bucket. */
const withStation = (design: DocumentDesign): DocumentDesign => {
  const station: Field = {
    kind: 'extendedReference',
    name: 'place',
    table: 'station',
    relationship: ID,
    join: [{ parent: 'code', child: 'station' }],
    fields: [{ kind: 'column', name: 'name', column: 'name', transform: { kind: 'identity' } }],
  };
  return {
    ...design,
    logical: design.logical.map((logical) =>
      logical.rootTable === 'reading'
        ? { ...logical, fields: [logical.fields[0]!, station, ...logical.fields.slice(1)] }
        : logical,
    ),
  };
};
const converted = (): Promise<ConvertedSource> =>
  fixture.convert(sql, { directives, change: (design) => withStation(ofThree(design)) });

test('rows that share a key share documents, up to so many, in source order', async () => {
  const source = await converted();
  expect(source.problems).toEqual([]);
  const documents = await source.db.collection('reading').find().sort({ _id: 1 }).toArray();
  expect(documents.map(({ place }) => place as unknown)).toEqual([
    { name: 'Bergen' },
    { name: 'Oslo' },
    { name: 'Oslo' },
    { name: 'Rome' },
    undefined,
  ]);
  expect(
    documents.map(({ _id, station, reading }) => [
      _id as unknown,
      station as unknown,
      (reading as { rid: number }[]).map(({ rid }) => rid),
    ]),
  ).toEqual([
    [1, 'A', [3, 11]],
    [2, 'a', [1, 4, 5]],
    [3, 'a', [7, 8]],
    [4, 'b', [2, 6, 9]],
    [5, 'x', [10]],
  ]);
  expect((documents[3]!.reading as unknown[])[2]).toEqual({
    rid: 9,
    kind_id: 9,
    day: '2024-01-03',
    value: 9,
  });
  expect((documents[1]!.reading as unknown[])[0]).toEqual({
    rid: 1,
    kind_id: 1,
    day: '2024-01-01',
    value: 1.5,
    kind: { unit: 'C' },
  });
  expect(source.migration.rows).toMatchObject({ reading: 11, station: 4 });
  expect(await source.failing()).toEqual([]);
  const collection = (await source.validate()).collections.find(
    (entry) => entry.collection === 'reading',
  )!;
  expect(collection.coverage).toMatchObject({
    _id: expect.arrayContaining(['reading: fields', 'reading.reading: fields']),
    station: ['reading: fields'],
    'reading.value': ['reading.reading: fields'],
  });
  expect(collection.faults.holes).toEqual([]);
});

test.each([1, 2, 3, 4, 100])(
  'buckets of %i: nothing is lost, and a migration goes on after any document with the same result',
  async (size) => {
    const source = await fixture.convert(sql, {
      directives,
      change: (design) => resized(design, size),
    });
    expect(await source.failing()).toEqual([]);
    const logical = source.design.logical.find(({ rootTable }) => rootTable === 'reading')!;
    const { sourcePath, catalog } = source;
    const whole = [...assemble(sourcePath, catalog, logical, new Map())];
    whole.forEach(({ position }, index) => {
      const used = new Map<string, number>();
      expect(
        [...assemble(sourcePath, catalog, logical, used, { position, documents: index + 1 })].map(
          ({ document }) => document,
        ),
      ).toEqual(whole.slice(index + 1).map(({ document }) => document));
      expect(used.get('reading') ?? 0).toBe(
        whole
          .slice(index + 1)
          .reduce((sum, { document }) => sum + (document.reading as unknown[]).length, 0),
      );
    });
  },
);

test('integers as keys, several of them, of a table without a rowid', async () => {
  const laps = `CREATE TABLE entry (race INTEGER, driver INTEGER, team TEXT, PRIMARY KEY (race, driver)); INSERT INTO entry VALUES (1, 10, 'x'), (1, 2, 'y'), (2, 10, 'z');
    CREATE TABLE laps (race INTEGER NOT NULL, driver INTEGER NOT NULL, lap INTEGER NOT NULL, ms INTEGER, PRIMARY KEY (race, driver, lap), FOREIGN KEY (race, driver) REFERENCES entry(race, driver)) WITHOUT ROWID;
    INSERT INTO laps VALUES (1, 10, 1, 5), (1, 10, 2, 6), (1, 10, 3, NULL), (1, 2, 1, 7), (2, 10, 1, 8), (2, 10, 2, 9);`;
  const source = await fixture.convert(laps, {
    directives: [
      {
        kind: 'relationship',
        relationship: 'laps(race,driver)->entry(race,driver)',
        choice: 'bucket',
      },
    ],
    change: (design) => resized(design, 2),
  });
  const documents = await source.db.collection('laps').find().sort({ _id: 1 }).toArray();
  expect(
    documents.map(({ race, driver, laps }) => [
      race as unknown,
      driver as unknown,
      (laps as { lap: number }[]).map((entry) => entry.lap),
    ]),
  ).toEqual([
    [1, 2, [1]],
    [1, 10, [1, 2]],
    [1, 10, [3]],
    [2, 10, [1, 2]],
  ]);
  expect(await source.failing()).toEqual([]);
});

const bucket =
  (update: object, _id = 2) =>
  (db: Db) =>
    db.collection<{ _id: number }>('reading').updateOne({ _id }, update);
describe('faults are caught', () => {
  test.each<[string, (db: Db) => Promise<unknown>]>([
    ['an altered value', bucket({ $set: { 'reading.1.value': 4 } })],
    ['an altered key', bucket({ $set: { station: 'A' } })],
    ['a row lost', bucket({ $pop: { reading: 1 } })],
    [
      'a row doubled',
      bucket({
        $push: {
          reading: { rid: 5, kind_id: 2, day: '2024-01-03', value: 5, kind: { unit: 'hPa' } },
        },
      } as never),
    ],
    [
      'a row in another bucket of the same key',
      async (db) => {
        await bucket({ $pop: { reading: 1 } })(db);
        return bucket(
          {
            $push: {
              reading: {
                $each: [{ rid: 5, kind_id: 2, day: '2024-01-03', value: 5, kind: { unit: 'hPa' } }],
                $position: 0,
              },
            },
          } as never,
          3,
        )(db);
      },
    ],
    ['no array', bucket({ $unset: { reading: '' } })],
    ['a bucket lost', (db) => db.collection<{ _id: number }>('reading').deleteOne({ _id: 5 })],
    [
      'an empty bucket',
      (db) =>
        db
          .collection<{ _id: number }>('reading')
          .insertOne({ _id: 6, station: 'a', reading: [] } as never),
    ],
    [
      'entries in another order',
      async (db) => {
        const found = await db
          .collection<{ _id: number; reading: unknown[] }>('reading')
          .findOne({ _id: 2 });
        return bucket({ $set: { reading: found!.reading.reverse() } })(db);
      },
    ],
    ['what is repeated of the parent altered', bucket({ $set: { 'place.name': 'Rome' } })],
    ['what is repeated of the parent left out', bucket({ $unset: { place: '' } })],
    ['a copy altered', bucket({ $set: { 'reading.0.kind.unit': 'F' } })],
  ])('%s', async (_, fault) => {
    const source = await converted();
    await fault(source.db);
    expect(await source.failing()).not.toEqual([]);
    await source.db.dropDatabase();
  });
});

test('it stands in the CSV and the schemas; what is none is refused', () => {
  const { design, catalog, profile, sourcePath } = fixture.plan(sql, {
    directives,
    change: (planned) => withStation(ofThree(planned)),
  });
  const logical = design.logical.find(({ rootTable }) => rootTable === 'reading')!;
  const csv = logicalCsv(logical);
  expect(csv).toContain(
    '"reading","reading._id","Int","bucket: position, from 1, among buckets of up to 3 rows with ' +
      'the same station"',
  );
  expect(csv).toContain(
    '"reading","reading.reading","Array","rows of reading where station = parent station; order: ' +
      'source order; relationship ""bucket"""',
  );
  expect(parseLogicalCsv(csv)).toEqual(logical);
  expect(() => parseLogicalCsv(csv.replace('up to 3 rows', 'some rows'))).toThrow(
    'line 2: buckets are written as',
  );
  expect(() => parseLogicalCsv(csv.replace('same station', 'same station by day'))).toThrow(
    'line 2',
  );
  expect(() => parseLogicalCsv(csv.replace('"Int"', '"String"'))).toThrow('line 2');
  expect(documentDesignSchema.parse(design)).toEqual(design);
  expect(jsonSchema(logical, profile)).toMatchObject({
    required: ['_id', 'station', 'reading'],
    properties: { _id: { bsonType: 'int' }, reading: { bsonType: 'array' } },
  });
  expect([...assembleDocuments(sourcePath, catalog, logical, new Map())]).toHaveLength(5);

  const changed = (change: (logical: LogicalDesign) => LogicalDesign): string[] =>
    checkDesign(
      {
        ...design,
        logical: design.logical.map((entry) => (entry === logical ? change(entry) : entry)),
      },
      catalog,
      profile,
      testLimits,
    ).map(({ kind, detail }) => `${kind}: ${detail}`);
  const rows = bucketRows(logical.fields)!;
  const copied = logical.fields[1]!;
  const withRows = (replaced: Field[]): LogicalDesign => ({
    ...logical,
    fields: [...logical.fields.filter((field) => field !== rows), ...replaced],
  });
  expect(changed((entry) => entry)).toEqual([]);
  expect(changed((entry) => ({ ...entry, id: { kind: 'ordinal' } }))).toEqual(
    expect.arrayContaining([expect.stringContaining('documents are no buckets')]),
  );
  expect(changed(() => withRows([]))).toEqual(
    expect.arrayContaining([expect.stringContaining('need an array of its rows')]),
  );
  expect(
    changed(() => withRows([{ ...rows, orderBy: [{ column: 'day', direction: 'asc' }] }]))[0],
  ).toContain('in source order');
  expect(changed(() => withRows([{ ...rows, join: [{ parent: 'day', child: 'day' }] }]))).toEqual(
    expect.arrayContaining([expect.stringContaining('join by station')]),
  );
  expect(changed(() => withRows([{ ...rows, fields: rows.fields.slice(1) }]))).toEqual([
    'loss: no field holds the values of this column',
  ]);
  expect(changed((entry) => ({ ...entry, fields: entry.fields.slice(1) }))).toEqual(
    expect.arrayContaining([
      expect.stringContaining('beside its rows a bucket holds station'),
      'loss: no field holds the values of this column',
    ]),
  );
  const value = rows.fields.find((field) => field.kind === 'column' && field.column === 'value')!;
  expect(changed(() => ({ ...logical, fields: [value, ...logical.fields] }))[0]).toContain(
    'nothing else that could differ',
  );
  expect(
    changed((entry) => ({ ...entry, id: { kind: 'bucket', columns: ['station'], size: 2000 } })),
  ).toEqual(['limit: buckets of 2000 rows; the limit is 1000']);
  expect(
    changed((entry) => ({
      ...entry,
      fields: [
        entry.fields[0]!,
        {
          ...copied,
          relationship: 'reading(kind_id)->kind(id)',
          table: 'kind',
          join: [{ parent: 'id', child: 'kind_id' }],
        } as Field,
        rows,
      ],
    })),
  ).toEqual(expect.arrayContaining([expect.stringContaining('nothing else that could differ')]));
  const byKind = (field: Field): Field => {
    if (field.kind === 'column' && field.column === 'station')
      return { ...field, column: 'kind_id', name: 'kind_id' };
    return field === rows
      ? {
          ...rows,
          join: [{ parent: 'kind_id', child: 'kind_id' }],
          fields: rows.fields.map((own) =>
            own.kind === 'column' && own.column === 'kind_id'
              ? { ...own, column: 'station', name: 'station' }
              : own,
          ),
        }
      : field;
  };
  expect(
    changed((entry) => ({
      ...entry,
      id: { kind: 'bucket', columns: ['kind_id'], size: 3 },
      fields: entry.fields.filter((field) => field !== copied).map(byKind),
    })),
  ).toEqual([]);
  expect(
    changed((entry) => ({
      ...entry,
      id: { kind: 'bucket', columns: ['day'], size: 3 },
      fields: entry.fields,
    })),
  ).toEqual(expect.arrayContaining([expect.stringMatching(/loss: 1 row of reading has no day/)]));
});
