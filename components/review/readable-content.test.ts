import { expect, test } from 'vitest';
import { readableContent } from './readable-content';

const choice = {
  relationship: 'line(order_id)->order(id)',
  choice: 'embed',
  cardinality: 'many',
  field: 'lines',
  reason: '2 lines each.',
};
const design = (change: object) => ({
  collections: [
    {
      name: 'order',
      rootTable: 'order',
      id: { kind: 'column', column: 'id', transform: { kind: 'identity' } },
    },
  ],
  relationships: [{ ...choice, ...change }],
  patterns: [],
  document: { source: '', accessPatterns: '', decisions: '', result: '' },
});

test('a changed choice is one changed line', () => {
  const [before, after] = [
    {},
    { choice: 'reference', cardinality: undefined, field: undefined, directed: true },
  ].map((change) => readableContent('conceptual_design', design(change)).split('\n'));
  expect(before!.filter((line) => !after!.includes(line))).toEqual([
    'line(order_id)->order(id): embed many as lines',
  ]);
  expect(after!.filter((line) => !before!.includes(line))).toEqual([
    'line(order_id)->order(id): reference — set by reviewer',
  ]);
});

test('what parents keep is said', () => {
  const text = readableContent(
    'conceptual_design',
    design({
      choice: 'reference',
      computed: [{ field: 'lineCount', aggregate: 'count' }],
      subset: {
        field: 'first',
        limit: 3,
        orderBy: [{ column: 'no', direction: 'asc' }],
        columns: ['no', 'price'],
      },
      outlier: { field: 'few', flag: 'few_elsewhere', limit: 100, columns: ['no'] },
    }),
  );
  expect(text).toContain('; keeps lineCount, count; ');
  expect(text).toContain('; keeps first, first 3 by no asc: no, price; ');
  expect(text).toContain(
    '; keeps few, all up to 100: no; of more none, and the key in few_elsewhere\n',
  );
});

test('what documents repeat of their own columns is said', () => {
  const { collections, ...rest } = design({});
  const text = readableContent('conceptual_design', {
    ...rest,
    collections: [
      { ...collections[0], attributes: { field: 'attributes', columns: ['tag1', 'tag2'] } },
    ],
  });
  expect(text).toContain(
    'collection order: the rows of order, _id from id; repeats names and values as attributes: ' +
      'tag1, tag2\n',
  );
});

test('an untranslated item says why, a translated one its pipeline', () => {
  expect(
    readableContent('untranslated', { mql: null, reason: { code: 3, text: 'window frames' } }),
  ).toBe('not translated, reason 3: window frames');
  expect(
    readableContent('untranslated', { mql: { collection: 'order', pipeline: [{ $count: 'n' }] } }),
  ).toBe('db.order.aggregate([\n  { "$count": "n" }\n])');
});

test('a reclassified flag is one changed line', () => {
  const flagged = (name: string) =>
    readableContent('table_validation', {
      rows: 2,
      place: 'order',
      rowsApart: 0,
      columns: [],
      flags: [{ column: 'at', values: 2, class: name, explanation: 'date', samples: [] }],
    });
  expect(flagged('genuine_loss').split('\n').at(-1)).toBe('at: genuine loss, 2 values, date');
  expect(flagged('intentional_transformation').split('\n').slice(0, -1)).toEqual(
    flagged('genuine_loss').split('\n').slice(0, -1),
  );
});

test('a fault that no mapping noticed is named', () => {
  const text = readableContent('collection_validation', {
    mappings: [],
    coverage: {},
    faults: { planted: 2, holes: [{ kind: 'row lost', path: '_id' }], caught: {} },
  });
  expect(text).toBe('2 mutations, 1 undetected\n  undetected: row lost at _id');
});
