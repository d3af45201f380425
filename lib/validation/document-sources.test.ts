import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DocumentDesign, LogicalDesign } from '../design/model/document-design';
import { rowKey } from '../results/equality';
import { fromBson, type ResultSet, type Value, type ValueDocument } from '../results/value';
import { openSource } from '../sqlite/open';
import { collectionMappings } from './collection-validation';
import { ConversionFixture, type ConvertedSource } from './test/conversion-fixture';
import { documentSources } from './document-sources';
import { firstRows } from './first-rows';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

/** As foreign SQL runs: integers exact. */
async function asking<T>(
  source: ConvertedSource,
  work: (ask: (sql: string) => Promise<ResultSet>) => Promise<T>,
): Promise<T> {
  const sqlite = openSource(source.sourcePath);
  try {
    return await work(async (sql) => {
      const statement = sqlite.prepare(sql);
      return {
        columns: statement.columns().map(({ name }) => name),
        rows: statement.raw().safeIntegers().all() as Value[][],
      };
    });
  } finally {
    sqlite.close();
  }
}

async function sourcesOf(source: ConvertedSource, collection: string, most = 5) {
  const logical = source.design.logical.find((candidate) => candidate.collection === collection)!;
  const documents = (
    await source.db
      .collection(collection)
      .find({}, { promoteValues: false })
      .sort({ _id: 1 })
      .toArray()
  ).map(fromBson) as ValueDocument[];
  const sources = await asking(source, (ask) =>
    documentSources(logical, source.catalog, documents, most, ask),
  );
  return sources.map(({ rows, total, children }) => ({
    rows,
    total,
    children: children.map(
      ({ path, table, rows: found, expected, entries }) =>
        `${path}: ${found} of ${table}, ${entries} of ${expected}`,
    ),
  }));
}

const family = `
  CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE c (id INTEGER PRIMARY KEY, p_id INTEGER NOT NULL REFERENCES p(id), v TEXT);
  CREATE TABLE d (id INTEGER PRIMARY KEY, c_id INTEGER NOT NULL REFERENCES c(id), w REAL);
  INSERT INTO p VALUES (1, 'it''s'), (2, NULL);
  INSERT INTO c VALUES (1, 1, 'a'), (2, 1, 'b');
  INSERT INTO d VALUES (1, 1, 1), (2, 1, 2.5), (3, 2, 3);`;

test('rows of the root, and how many are in each array, arrays in arrays too', async () => {
  const source = await fixture.convert(family, { strategy: 'fk-embedding' });
  expect(await sourcesOf(source, 'p')).toEqual([
    { rows: [[1n, "it's"]], total: 1, children: ['c: 2 of c, 2 of 2', 'c.d: 3 of d, 3 of 3'] },
    { rows: [[2n, null]], total: 1, children: ['c: 0 of c, 0 of 0', 'c.d: 0 of d, 0 of 0'] },
  ]);
  await source.db.collection('p').updateOne({ _id: 1 as never }, { $pop: { 'c.0.d': 1 } } as never);
  expect((await sourcesOf(source, 'p'))[0]!.children[1]).toBe('c.d: 3 of d, 2 of 3');
});

const retyped =
  (change: (logical: LogicalDesign) => LogicalDesign) =>
  (design: DocumentDesign): DocumentDesign => ({
    conceptual: design.conceptual,
    logical: design.logical.map(change),
  });

test('keys that are retyped, ordinals, and keys of every kind', async () => {
  const source = await fixture.convert(family, {
    strategy: 'fk-embedding',
    change: retyped((logical) => ({
      ...logical,
      id: { kind: 'column', column: 'id', transform: { kind: 'string' } },
    })),
  });
  expect((await sourcesOf(source, 'p')).map(({ rows, children }) => [rows, children[0]])).toEqual([
    [[[1n, "it's"]], 'c: 2 of c, 2 of 2'],
    [[[2n, null]], 'c: 0 of c, 0 of 0'],
  ]);
  const keys = await fixture.convert(
    `CREATE TABLE t (k PRIMARY KEY, n); INSERT INTO t VALUES (1.5, 'real'), ('o''n', 'text'), ` +
      `(x'00ff', 'blob'), (9007199254740993, 'long'), (-1e300, 'large'); CREATE TABLE u (a, b); ` +
      'INSERT INTO u VALUES (1, NULL), (1, 2);',
    { strategy: 'one-to-one' },
  );
  const found = await sourcesOf(keys, 't');
  expect(found.map(({ rows }) => rows.map(([, n]) => n))).toEqual(
    expect.arrayContaining([['real'], ['text'], ['blob'], ['long'], ['large']]),
  );
  expect(await sourcesOf(keys, 'u')).toEqual([
    { rows: [[1n, null]], total: 1, children: [] },
    { rows: [[1n, 2n]], total: 1, children: [] },
  ]);
});

const buckets = `
  CREATE TABLE s (code TEXT PRIMARY KEY);
  CREATE TABLE r (id INTEGER PRIMARY KEY, s TEXT NOT NULL REFERENCES s(code), v REAL);
  INSERT INTO s VALUES ('a'), ('b');
  INSERT INTO r VALUES (1, 'a', 1), (2, 'b', 2), (3, 'a', 3), (4, 'a', 4), (5, 'a', 5);`;

test('of a bucket the first rows in their order, and how many there are', async () => {
  const small = <T extends { readonly id: LogicalDesign['id'] }>(entry: T): T =>
    entry.id.kind === 'bucket' ? { ...entry, id: { ...entry.id, size: 3 } } : entry;
  const source = await fixture.convert(buckets, {
    directives: [{ kind: 'relationship', relationship: 'r(s)->s(code)', choice: 'bucket' }],
    change: (design) => ({
      conceptual: { ...design.conceptual, collections: design.conceptual.collections.map(small) },
      logical: design.logical.map(small),
    }),
  });
  expect(source.problems).toEqual([]);
  const rows = source.design.logical.find(({ rootTable }) => rootTable === 'r')!;
  expect(rows.id).toMatchObject({ kind: 'bucket', size: 3 });
  expect(await sourcesOf(source, 'r', 2)).toEqual([
    {
      rows: [
        [1n, 'a', 1],
        [3n, 'a', 3],
      ],
      total: 3,
      children: ['r: 3 of r, 3 of 3'],
    },
    { rows: [[5n, 'a', 5]], total: 1, children: ['r: 1 of r, 1 of 1'] },
    { rows: [[2n, 'b', 2]], total: 1, children: ['r: 1 of r, 1 of 1'] },
  ]);
});

test('a subset and an outlier say how many of the rows they are to hold', async () => {
  const join = [{ parent: 'code', child: 's' }];
  const common = {
    table: 'r',
    relationship: 'r(s)->s(code)',
    join,
    fields: [{ kind: 'column', name: 'v', column: 'v', transform: { kind: 'identity' } }],
  } as const;
  const source = await fixture.convert(buckets, {
    strategy: 'one-to-one',
    change: retyped((logical) =>
      logical.rootTable === 's'
        ? {
            ...logical,
            fields: [
              ...logical.fields,
              {
                kind: 'subset',
                name: 'top',
                limit: 2,
                orderBy: [{ column: 'v', direction: 'desc' }],
                ...common,
              },
              { kind: 'outlier', name: 'few', flag: 'few_elsewhere', limit: 3, ...common },
            ],
          }
        : logical,
    ),
  });
  expect((await sourcesOf(source, 's')).map(({ children }) => children)).toEqual([
    ['top: 4 of r, 2 of 2', 'few: 4 of r, 0 of 0'],
    ['top: 1 of r, 1 of 1', 'few: 1 of r, 1 of 1'],
  ]);
});

test.each<[string, string, Parameters<ConversionFixture['convert']>[1]]>([
  ['nested arrays', family, { strategy: 'fk-embedding' }],
  [
    'retyped keys',
    family,
    {
      strategy: 'fk-embedding',
      change: retyped((logical) => ({
        ...logical,
        id: { kind: 'column', column: 'id', transform: { kind: 'string' } },
      })),
    },
  ],
  [
    'buckets',
    buckets,
    { directives: [{ kind: 'relationship', relationship: 'r(s)->s(code)', choice: 'bucket' }] },
  ],
])(
  'the first rows of every mapping lie beside the rows that they equal: %s',
  async (_, sql, options) => {
    const source = await fixture.convert(sql, options);
    for (const logical of source.design.logical) {
      for (const mapping of collectionMappings(logical, source.catalog)) {
        const run = async (pipeline: readonly object[]) =>
          source.db
            .collection(logical.collection)
            .aggregate([...pipeline], { promoteValues: false })
            .toArray();
        const { rows, columns } = await asking(source, (ask) => firstRows(mapping, 3, ask, run));
        expect(rows.length, mapping.name).toBe(Math.min(3, (await run(mapping.pipeline)).length));
        for (const row of rows)
          expect(row.source && rowKey(row.source), mapping.name).toBe(rowKey(row.document));
        expect(columns.length).toBeGreaterThan(0);
      }
    }
  },
);

test('a row that no row of the source equals stands alone, and one row is not the equal of two', async () => {
  const source = await fixture.convert(buckets, { strategy: 'one-to-one' });
  const r = source.design.logical.find(({ rootTable }) => rootTable === 'r')!;
  await source.db.collection('r').updateOne({ _id: 2 as never }, { $set: { v: 99 } });
  const mapping = collectionMappings(r, source.catalog)[1]!;
  const twice = async (pipeline: readonly object[]) => {
    const found = await source.db
      .collection('r')
      .aggregate([...pipeline], { promoteValues: false })
      .toArray();
    return [found[0]!, found[0]!, found[1]!];
  };
  const { rows } = await asking(source, (ask) => firstRows(mapping, 2, ask, twice));
  expect(rows.map((row) => row.source === null)).toEqual([false, true, true]);
});
