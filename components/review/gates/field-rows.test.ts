import { expect, test } from 'vitest';
import type { Field, LogicalDesign } from '../../../lib/design/model/document-design';
import type { Transform } from '../../../lib/design/model/transform-kind';
import type { Profile } from '../../../lib/sqlite/profile/profile';
import { fieldRows } from './field-rows';

const none = { integer: 0, real: 0, text: 0, blob: 0, null: 0 };
const measured = (column: string, stored: object, min: unknown = null, max: unknown = null) => ({
  column,
  stored: { ...none, ...stored },
  min,
  max,
});
const profile = {
  tables: [
    {
      table: 'reading',
      columns: [
        measured('station', { text: 3 }),
        measured('value', { integer: 1, real: 1, null: 1 }, 1, 2.5),
        measured('day', { text: 3 }),
        measured('n', { integer: 2 }, 0, 9),
        measured('big', { integer: 2 }, 0, { $numberLong: '9007199254740993' }),
      ],
    },
    { table: 'station', columns: [measured('code', { text: 2 })] },
  ],
} as unknown as Profile;
const column = (
  name: string,
  kind: Transform = { kind: 'identity' },
): Field & { kind: 'column' } => ({ kind: 'column', name, column: name, transform: kind });
const design = (change: Partial<LogicalDesign>): LogicalDesign => ({
  collection: 'reading',
  rootTable: 'reading',
  id: { kind: 'ordinal' },
  fields: [],
  ...change,
});
const short = (rows: ReturnType<typeof fieldRows>): string[] =>
  rows.map(({ path, source, types, transform }) => [path, source, types, transform].join(' | '));

test('each field has the types that occur, narrowed by what was measured', () => {
  const fields = [
    column('station'),
    column('value'),
    column('day', { kind: 'date', format: 'YYYY-MM-DD' }),
    column('n'),
    column('big'),
  ];
  expect(short(fieldRows(design({ fields }), {}, profile))).toEqual([
    '_id | reading | int | ordinal of the row',
    'station | reading.station | string | identity',
    'value | reading.value | int or long or double or null | identity',
    'day | reading.day | date | date(YYYY-MM-DD)',
    'n | reading.n | int | identity',
    'big | reading.big | int or long | identity',
  ]);
});

test('buckets say how many rows share a document, and of what', () => {
  const rows: Field = {
    kind: 'embedMany',
    name: 'readings',
    table: 'reading',
    relationship: 'bucket',
    join: [{ parent: 'station', child: 'station' }],
    orderBy: [],
    fields: [column('n')],
  };
  const listed = fieldRows(
    design({
      id: { kind: 'bucket', columns: ['station'], size: 100 },
      fields: [column('station'), rows],
    }),
    { _id: ['reading: fields'], 'readings.n': ['reading.readings: fields'] },
    profile,
  );
  expect(short(listed)).toEqual([
    '_id | reading | int | ordinal of the bucket, up to 100 rows with the same station',
    'station | reading.station | string | identity',
    'readings | reading of the bucket | array | array of documents',
    'readings.n | reading.n | int | identity',
  ]);
  expect(listed.map(({ covered }) => covered)).toEqual([
    ['reading: fields'],
    [],
    null,
    ['reading.readings: fields'],
  ]);
});

test('an outlier’s flag has the type of the key that it repeats', () => {
  const few: Field = {
    kind: 'outlier',
    name: 'few',
    flag: 'few_elsewhere',
    table: 'reading',
    relationship: 'reading(station)->station(code)',
    join: [{ parent: 'code', child: 'station' }],
    limit: 5,
    fields: [column('n')],
  };
  const station = design({
    collection: 'station',
    rootTable: 'station',
    id: { kind: 'column', column: 'code', transform: { kind: 'identity' } },
    fields: [few],
  });
  const listed = fieldRows(
    station,
    { few_elsewhere: ['station.few_elsewhere: more than 5 rows of reading'] },
    profile,
  );
  expect(short(listed).slice(1)).toEqual([
    'few | reading, all up to 5 | array | array of copied rows',
    'few.n | reading.n | int | identity',
    'few_elsewhere | station.code | string | key, only where there are more than 5',
  ]);
  expect(listed.at(-1)!.covered).toEqual(['station.few_elsewhere: more than 5 rows of reading']);
});

test('names and values: the types of all values that can occur, never null', () => {
  const attribute: Field = {
    kind: 'attribute',
    name: 'known',
    fields: [column('station'), column('value')],
  };
  expect(short(fieldRows(design({ fields: [attribute] }), {}, profile)).slice(1)).toEqual([
    'known | reading: station, value | array | array of names and values',
    'known.k | name of the field | string | identity',
    'known.v | value of the field | string or int or long or double | identity',
  ]);
});
