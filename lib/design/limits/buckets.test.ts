import { describe, expect, test } from 'vitest';
import { bucketCount } from '../model/document-count';
import { score } from '../model/score';
import { profiledSource } from '../test/design-fixture';
import type { Directive } from '../model/directive';
import { deriveDesign } from '../logical/logical';
import { checkDesign } from './loss-check';
import { proposeDesign } from '../propose/propose';
import { readWorkload } from '../model/read-workload';
import { whatIf } from '../propose/what-if';

const limits = { maxArrayP99: 100, maxArray: 1000 };
const ID = 'reading(station_id)->station(id)';
/** Ten stations with 400 readings each. */
const ddl = (
  column = 'station_id INTEGER NOT NULL REFERENCES station(id)',
  key = '1 + i % 10',
): string => `
  CREATE TABLE station (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE reading (rid INTEGER PRIMARY KEY, ${column}, day TEXT, value REAL);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) INSERT INTO station SELECT i, 's' || i FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO reading SELECT i, ${key}, date('2020-01-01', '+' || i || ' days'), i * 0.5 FROM n;`;
const SERIES = [1, 2, 3].map(
  (station) => `SELECT avg(value) FROM reading WHERE station_id = ${station}`,
);

function propose(sql: readonly string[], directives: readonly Directive[] = [], source = ddl()) {
  const { catalog, profile } = profiledSource(source);
  const items = sql.map((text, index) => ({
    questionId: String(index),
    split: 'dev',
    database: 'db',
    question: '',
    evidence: '',
    sql: text,
    difficulty: null,
  }));
  const workload = readWorkload(items, catalog, profile);
  const { design: conceptual, cannotAct } = proposeDesign({
    catalog,
    profile,
    workload,
    strategy: 'access-pattern',
    limits,
    directives,
  });
  const design = deriveDesign({ conceptual, catalog, profile, directives });
  expect(checkDesign(design, catalog, profile, limits)).toEqual([]);
  return {
    catalog,
    profile,
    workload,
    conceptual,
    design,
    cannotAct,
    choice: conceptual.relationships.find(({ relationship }) =>
      relationship.startsWith('reading'),
    )!,
    collection: conceptual.collections.find(({ rootTable }) => rootTable === 'reading')!,
  };
}

describe('rows are kept in buckets', () => {
  test('where three queries find whole series, for less than as documents of their own', () => {
    const { choice, collection, conceptual } = propose(SERIES);
    expect(choice).toMatchObject({ choice: 'bucket', field: 'reading' });
    expect(collection.id).toEqual({ kind: 'bucket', columns: ['station_id'], size: 100 });
    const [mine, apart] = (['bucket', 'reference'] as const).map((wanted) =>
      score(choice.alternatives!.find((entry) => entry.choice === wanted)!.cost!),
    );
    expect(mine).toBeLessThan(apart! * 0.8);
    expect(choice.reason).toMatch(
      /^In buckets by station_id: 0 queries read reading with station, 400.0 rows of it for each on average, at most 400\..*As a reference the workload would cost/,
    );
    expect(conceptual.patterns.find(({ pattern }) => pattern === 'Bucket')).toMatchObject({
      target: 'reading.reading',
    });
    expect(conceptual.document.result).toContain(
      'counts the buckets from 1: up to 100 rows with the same station\\_id in each',
    );
  });

  test.each<[string, readonly string[], string?]>([
    ['two queries are not enough', SERIES.slice(0, 2)],
    [
      'most queries look for single rows',
      [
        ...SERIES,
        ...Array.from(
          { length: 40 },
          (_, rid) => `SELECT value FROM reading WHERE day = '2020-02-${rid}'`,
        ),
      ],
    ],
    ['series are short', SERIES, ddl(undefined, '1 + i / 2')],
    [
      'other rows refer to them',
      SERIES,
      `${ddl()} CREATE TABLE note (nid INTEGER PRIMARY KEY, reading_id INTEGER REFERENCES ` +
        'reading(rid)); INSERT INTO note VALUES (1, 1);',
    ],
    [
      'rows without a key',
      SERIES,
      ddl('station_id INTEGER REFERENCES station(id)', 'CASE WHEN i % 7 THEN 1 + i % 10 END'),
    ],
  ])('but not where %s', (_, sql, source) => {
    expect(propose(sql, [], source).choice.choice).not.toBe('bucket');
  });

  test('nor where no item asks', () => {
    expect(propose([]).choice.choice).not.toBe('bucket');
  });
});

test('why not, with figures or the obstacle', () => {
  const reason = (sql: readonly string[], source?: string): string | undefined =>
    propose(sql, [], source).conceptual.patterns.find(({ pattern }) => pattern === 'Bucket')
      ?.reason;
  expect(reason(SERIES.slice(0, 2))).toContain(
    'Left: two queries find rows of reading by station_id.',
  );
  expect(
    reason([
      ...SERIES,
      ...Array.from(
        { length: 40 },
        (_, rid) => `SELECT value FROM reading WHERE day = '2020-02-${rid}'`,
      ),
    ]),
  ).toMatch(
    /Left: the other queries would read whole buckets for single rows\. The workload would cost an estimated [\d,]+ in buckets, [\d,]+ as it is\./,
  );
  expect(
    reason(
      SERIES,
      ddl('station_id INTEGER REFERENCES station(id)', 'CASE WHEN i % 7 THEN 1 + i % 10 END'),
    ),
  ).toContain('571 rows of reading have no station_id to be kept by');
});

test('a reviewer decides otherwise, within what loses nothing', () => {
  const wish = (choice: 'bucket' | 'reference', relationship = ID): Directive => ({
    kind: 'relationship',
    relationship,
    choice,
  });
  expect(propose(SERIES, [wish('reference')]).choice).toMatchObject({
    choice: 'reference',
    directed: true,
  });
  expect(propose([], [wish('bucket')]).choice).toMatchObject({
    choice: 'bucket',
    directed: true,
    reason: 'In buckets because a reviewer directed it.',
  });
  const obstacle = (column: string, key: string): string | undefined =>
    propose([], [wish('bucket')], ddl(column, key)).cannotAct[0]?.reason;
  expect(
    obstacle('station_id INTEGER REFERENCES station(id)', 'CASE WHEN i <> 5 THEN 1 + i % 10 END'),
  ).toBe('1 row of reading has no station_id to be kept by');
  expect(
    obstacle(
      'station_id REFERENCES station(id)',
      'CASE WHEN i % 2 THEN 1 + i % 10 ELSE CAST(1 + i % 10 AS TEXT) END',
    ),
  ).toBe('station_id of reading does not hold integers alone, nor texts alone');

  const nested =
    `${ddl()} CREATE TABLE note (nid INTEGER PRIMARY KEY, reading_id INTEGER NOT ` +
    `NULL REFERENCES reading(rid), text TEXT); INSERT INTO note VALUES (1, 1, 'a'), (2, 5, 'b');`;
  const embedNotes: Directive = {
    kind: 'relationship',
    relationship: 'note(reading_id)->reading(rid)',
    choice: 'embed',
  };
  expect(propose([], [wish('bucket'), embedNotes], nested).cannotAct).toMatchObject([
    {
      directive: embedNotes,
      reason: 'reading lies in buckets, and arrays in arrays are hard to query',
    },
  ]);
  expect(propose([], [embedNotes, wish('bucket')], nested).cannotAct).toMatchObject([
    {
      directive: wish('bucket'),
      reason: 'note is embedded in reading, and would lie in arrays in arrays',
    },
  ]);
  const twoKeys = ddl(
    'station_id INTEGER NOT NULL REFERENCES station(id), owner INTEGER NOT NULL REFERENCES ' +
      'station(id)',
    '1 + i % 10, 1 + i % 3',
  );
  expect(
    propose([], [wish('bucket'), wish('bucket', 'reading(owner)->station(id)')], twoKeys)
      .cannotAct[0]?.reason,
  ).toContain('reading has one place');
});

test('what if: in and out of buckets, with sizes; what is embedded moves', () => {
  const { catalog, profile, workload, conceptual } = propose(SERIES.slice(0, 2));
  const asked = { catalog, profile, workload, design: conceptual, directives: [], limits };
  const { before, after, problems } = whatIf({
    ...asked,
    change: { relationship: ID, choice: 'bucket' },
  });
  expect(problems).toEqual([]);
  expect(after!.score).toBeLessThan(before.score);
  expect(after!.collections.find(({ collection }) => collection === 'reading')).toMatchObject({
    documents: 45,
    longestArrays: { reading: 100 },
  });
  expect(whatIf({ ...asked, change: { relationship: ID, choice: 'bucket' } }).advice).toBe(
    'two queries find rows of reading by station_id',
  );
  expect(
    whatIf({ ...asked, change: { relationship: ID, choice: 'embed' } }).obstacle,
  ).toBeUndefined();
});

test('as many buckets as keys, or as full ones and half of one a key', () => {
  const { profile } = propose(SERIES);
  expect(bucketCount('reading', ['station_id'], 100, profile)).toBe(45);
  expect(bucketCount('reading', ['station_id'], 1000, profile)).toBe(10);
  expect(bucketCount('reading', ['station_id'], 1, profile)).toBe(4000);
  expect(bucketCount('station', ['id'], 100, profile)).toBe(10);
});
