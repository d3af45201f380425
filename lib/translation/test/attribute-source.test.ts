import type Database from 'better-sqlite3';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logicalCsv, parseLogicalCsv } from '../../design/logical/logical-csv';
import { documentsExamined } from '../../mongo/explain';
import { compareResults, documentsToResultSet } from '../../results/compare';
import { fromBson, type Value } from '../../results/value';
import { openSource } from '../../sqlite/open';
import { runnableSql } from '../../sqlite/select/runnable-sql';
import { ConversionFixture, type ConvertedSource } from '../../validation/test/conversion-fixture';
import { lintMql } from '../check/lint-mql';
import { optimise } from '../rules/optimise';
import { translate } from '../translate';

/**
 * Matches that name six home players each, as in BIRD's european_football_2, of whom a question
 * names one: the whole way from the workload to queries that one index serves.
 */
const ROWS = 5000;
const PLAYERS = [1, 2, 3, 4, 5, 6].map((n) => `home_player_${n}`);
function fill(sqlite: Database.Database): void {
  sqlite.exec(`CREATE TABLE league (lid INTEGER PRIMARY KEY, name TEXT); INSERT INTO league VALUES (1, 'North'), (2, 'South'), (3, 'none');
    CREATE TABLE match (id INTEGER PRIMARY KEY, league_id INTEGER NOT NULL REFERENCES league(lid), season TEXT, goals INTEGER, ${PLAYERS.map((name) => `${name} REAL`).join(', ')});`);
  const insert = sqlite.prepare(
    'INSERT INTO match VALUES ' +
      `(${Array.from({ length: 4 + PLAYERS.length }, () => '?').join(', ')})`,
  );
  for (let i = 1; i <= ROWS; i++)
    insert.run(
      i,
      1 + (i % 2),
      `20${10 + (i % 8)}`,
      i % 5,
      ...PLAYERS.map((_, index) =>
        i % (13 + index) === 0 ? null : ((i * (7 + 4 * index) + index) % 1000) + (i % 2) / 2,
      ),
    );
}

const single = (name: string, player: number): string =>
  `SELECT id, season FROM match WHERE ${name} = ${player}`;
const WORKLOAD = [
  ...PLAYERS.map((name, index) => single(name, 10 * index + 0.5)),
  ...[7, 8.5, 9].map(
    (player) =>
      'SELECT count(*) FROM match WHERE ' +
      `${PLAYERS.map((name) => `${name} = ${player}`).join(' OR ')}`,
  ),
  'SELECT name FROM league WHERE lid IN (SELECT league_id FROM match WHERE home_player_2 = 15)',
];

let fixture: ConversionFixture;
let source: ConvertedSource;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
  source = await fixture.convert(fill, { workload: WORKLOAD });
}, 120_000);
afterAll(() => fixture.stop());

it('the design has it, in place of an index for each player', () => {
  const { design, input, problems } = source;
  expect(problems).toEqual([]);
  expect(
    design.conceptual.collections.find(({ rootTable }) => rootTable === 'match')!.attributes,
  ).toEqual({ field: 'attributes', columns: PLAYERS, queries: 10 });
  const keys = input.indexes['match']!.map(({ key }) => Object.keys(key));
  expect(keys).toContainEqual(['attributes.k', 'attributes.v']);
  expect(keys.flat().filter((path) => PLAYERS.includes(path))).toEqual([]);
  for (const logical of design.logical)
    expect(parseLogicalCsv(logicalCsv(logical))).toEqual(logical);
  const without = fixture.plan(fill, {
    workload: WORKLOAD,
    directives: [{ kind: 'without_attributes', table: 'match' }],
  });
  expect(
    without.design.logical.flatMap(({ fields }) => fields).some(({ kind }) => kind === 'attribute'),
  ).toBe(false);
  expect(
    without.input.indexes['match']!.filter(({ key }) => PLAYERS.some((name) => name in key)),
  ).toHaveLength(6);
});

it('nothing is lost, every fault is caught, and every claim holds', async () => {
  expect(await source.failing()).toEqual([]);
  const { collections, references } = await source.validate();
  expect(
    collections.find(({ collection }) => collection === 'match')!.coverage['attributes.v'],
  ).toEqual(['match.attributes: names and values']);
  expect(
    references
      .filter(({ relationship }) => relationship.includes('attributes'))
      .map(({ holds }) => holds),
  ).toEqual([true, true]);
  const first = (await source.db
    .collection<{ _id: number }>('match')
    .findOne({ _id: 13 })) as Record<string, unknown>;
  expect(first['attributes']).toEqual(PLAYERS.slice(1).map((k) => ({ k, v: first[k] })));
});

/** The rows of both sides, and the documents that the optimised pipeline and the plain one read. */
async function run(sql: string): Promise<{
  pipeline: readonly Document[];
  collection: string;
  verdict: string;
  plain: string;
  examined: number | null;
}> {
  const translation = translate(sql, source);
  if (translation.status !== 'translated') throw new Error(translation.reason);
  const { collection, pipeline } = optimise({
    ...source,
    indexes: source.input.indexes,
    collection: translation.collection,
    pipeline: translation.pipeline,
  });
  expect(lintMql(collection, pipeline as never, source.design)).toEqual([]);
  const sqlite = openSource(source.sourcePath);
  const rows = sqlite.prepare(runnableSql(sql, source.catalog)).raw().all() as Value[][];
  sqlite.close();
  const columns = translation.columns.map(({ path }) => path);
  const compare = async (of: string, stages: readonly Document[]): Promise<string> => {
    const found = documentsToResultSet(
      (
        await source.db
          .collection(of)
          .aggregate([...stages], { promoteValues: false, promoteLongs: false })
          .toArray()
      ).map(fromBson),
    );
    return compareResults({ columns, rows }, found, {
      columns: 'named',
      extraColumns: 'refuse',
      order: 'bag',
    }).kind;
  };
  return {
    pipeline,
    collection,
    verdict: await compare(collection, pipeline),
    plain: await compare(translation.collection, translation.pipeline),
    examined: await documentsExamined(source.db, collection, pipeline),
  };
}

describe('one index serves', () => {
  it.each<[string, number]>([
    ...PLAYERS.map((name, index): [string, number] => [single(name, 10 * index + 0.5), 10]),
    [single('home_player_3', 8), 10],
    ["SELECT id FROM match WHERE season = '2012' AND home_player_5 = 23", 10],
    ['SELECT id FROM match WHERE home_player_1 = 7.5 AND home_player_2 = 12.5', 10],
    ['SELECT id FROM match WHERE home_player_1 IN (7.5, 21.5, 35.5)', 30],
    [WORKLOAD[6]!, 40],
    [
      `SELECT season, sum(goals) FROM match WHERE ${PLAYERS.slice(0, 3)
        .map((name) => `${name} = 8.5`)
        .join(' OR ')} GROUP BY season`,
      30,
    ],
    [`SELECT id FROM match WHERE 9 IN (${PLAYERS.join(', ')})`, 40],
  ])('%s', async (sql, most) => {
    const { pipeline, verdict, plain, examined } = await run(sql);
    expect([verdict, plain]).toEqual(['equal', 'equal']);
    expect(JSON.stringify(pipeline)).toContain('"attributes":{"$elemMatch"');
    expect(examined).toBeLessThanOrEqual(most);
  });
});

it.each([
  'SELECT id FROM match WHERE home_player_1 IS NULL',
  'SELECT id FROM match WHERE home_player_1 <> 7.5',
  'SELECT id FROM match WHERE home_player_1 > 990',
  'SELECT id FROM match WHERE home_player_1 = 7.5 OR home_player_2 = 8.5',
  'SELECT id FROM match WHERE home_player_1 = home_player_2',
  "SELECT id FROM match WHERE home_player_1 = 7.5 OR season = '2011'",
  'SELECT home_player_1 FROM match WHERE id = 3 AND home_player_1 = 22.5',
])('it serves no other: %s', async (sql) => {
  const { pipeline, verdict, plain } = await run(sql);
  expect([verdict, plain]).toEqual(['equal', 'equal']);
  expect(JSON.stringify(pipeline)).not.toContain('attributes');
});

it('finds the same documents for a value of any type, with every other in the way', async () => {
  const { Binary, Decimal128, Double, Int32, Long } = await import('mongodb');
  const values: unknown[] = [
    new Int32(5),
    new Double(5),
    Long.fromNumber(5),
    Decimal128.fromString('5'),
    new Double(5.5),
    new Double(NaN),
    new Double(Infinity),
    '5',
    'a',
    'A',
    '',
    true,
    false,
    new Date(5),
    new Binary(Buffer.from('5')),
    Long.fromString('9007199254740993'),
    null,
  ];
  const name = 'types';
  const documents = values.flatMap((a, i) =>
    values.map((b, j) => ({
      _id: i * 100 + j,
      a,
      b,
      attributes: [
        ...(a === null ? [] : [{ k: 'a', v: a }]),
        ...(b === null ? [] : [{ k: 'b', v: b }]),
      ],
    })),
  );
  await source.db.collection<Document>(name).insertMany(documents as never);
  await source.db.collection(name).createIndex({ 'attributes.k': 1, 'attributes.v': 1 });
  const column = (field: string) => ({
    kind: 'column' as const,
    name: field,
    column: field,
    transform: { kind: 'identity' as const },
  });
  const design = {
    ...source.design,
    logical: [
      {
        collection: name,
        rootTable: name,
        id: { kind: 'ordinal' as const },
        fields: [
          column('a'),
          column('b'),
          { kind: 'attribute' as const, name: 'attributes', fields: [column('a'), column('b')] },
        ],
      },
    ],
  };
  const profile = {
    ...source.profile,
    tables: [
      {
        ...source.profile.tables[0]!,
        table: name,
        rowCount: 1000,
        columns: ['a', 'b'].map((of) => ({
          ...source.profile.tables[0]!.columns[0]!,
          column: of,
          distinct: 20,
        })),
      },
    ],
  };
  for (const value of values) {
    for (const match of [
      { a: value },
      { b: { $in: [value] } },
      { $or: [{ a: value }, { b: value }] },
    ]) {
      const { pipeline } = optimise({
        catalog: source.catalog,
        profile,
        design,
        indexes: { [name]: [{ key: { 'attributes.k': 1, 'attributes.v': 1 }, reason: '' }] },
        collection: name,
        pipeline: [{ $match: match }, { $project: { _id: 1 } }],
      });
      expect(JSON.stringify(pipeline).includes('$elemMatch')).toBe(value !== null);
      const ids = async (stages: readonly Document[]): Promise<unknown[]> =>
        (
          await source.db
            .collection(name)
            .aggregate([...stages])
            .toArray()
        )
          .map(({ _id }) => _id as unknown)
          .sort();
      const plain = await ids([{ $match: match }, { $project: { _id: 1 } }]);
      expect(plain.length).toBeGreaterThan(0);
      expect(await ids(pipeline)).toEqual(plain);
      // NaN has a key of its own kind.
      if (value !== null && !Number.isNaN(Number(value instanceof Double ? value : 0)))
        expect(await documentsExamined(source.db, name, pipeline)).toBe(plain.length);
    }
  }
});
