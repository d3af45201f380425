import { describe, expect, test } from 'vitest';
import { bindSelect } from '../../sqlite/select/bind';
import { parseSelect } from '../../sqlite/select/parse-select';
import { queryBlocks } from '../../sqlite/select/query-blocks';
import { score } from '../model/score';
import { CostModel } from '../cost/cost-model';
import { profiledSource } from '../test/design-fixture';
import type { Directive } from '../model/directive';
import { proposeIndexes } from '../cost/indexes';
import { deriveDesign } from '../logical/logical';
import { logicalCsv, parseLogicalCsv } from '../logical/logical-csv';
import { checkDesign } from '../limits/loss-check';
import { proposeDesign } from './propose';
import { readWorkload } from '../model/read-workload';
import { conceptualDesignSchema } from '../model/schema';
import { whatIf } from './what-if';

const limits = { maxArrayP99: 100, maxArray: 1000 };
const ROWS = 2000;
const PLAYERS = [1, 2, 3, 4, 5, 6].map((n) => `home_player_${n}`);

/**
 * Matches with six players, none of whom plays often; two flags; sparse columns of one kind; a
 * family of texts that ignore case.
 */
const DDL = `
  CREATE TABLE game (id INTEGER PRIMARY KEY, season TEXT, ${PLAYERS.map((name) => `${name} INTEGER`).join(', ')}, away_player_1 INTEGER, away_player_2 INTEGER, flag1 INTEGER, flag2 INTEGER, flag3 INTEGER, isbn TEXT, shelf TEXT, sigil TEXT, nick1 TEXT COLLATE NOCASE, nick2 TEXT COLLATE NOCASE, nick3 TEXT COLLATE NOCASE, mixed1, mixed2, mixed3);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
  INSERT INTO game SELECT i, '20' || (i % 10), ${PLAYERS.map((_, index) => `${index === 2 ? 'CASE WHEN i % 4 = 0 THEN NULL ELSE ' : ''}(i * ${[7, 9, 11, 13, 17, 19][index]!}) % 400${index === 2 ? ' END' : ''}`).join(', ')}, (i * 3) % 400, (i * 11) % 400, i % 2, i % 3 = 0, i % 5 = 0,
    CASE WHEN i % 10 = 0 THEN 'i' || i END, CASE WHEN i % 11 = 0 THEN 's' || i END, CASE WHEN i % 12 = 0 THEN 'g' || i END, 'n' || i, 'n' || (i * 7), 'n' || (i * 3), CASE i % 2 WHEN 0 THEN i ELSE 'm' || i END, CASE i % 2 WHEN 0 THEN i ELSE 'm' || i END, CASE i % 2 WHEN 0 THEN i ELSE 'm' || i END FROM n;`;
const { catalog, profile } = profiledSource(DDL);
const workloadOf = (sql: readonly string[]) =>
  readWorkload(
    sql.map((text, index) => ({
      questionId: String(index),
      split: 'dev',
      database: 'db',
      question: '',
      evidence: '',
      sql: text,
      difficulty: null,
    })),
    catalog,
    profile,
  );
const by = (...columns: readonly string[]): string[] =>
  columns.map(
    (column) =>
      `SELECT season FROM game WHERE ${column} = ` +
      `${/isbn|shelf|sigil|nick/.test(column) ? "'x'" : 5}`,
  );
const ANY = `SELECT season FROM game WHERE ${PLAYERS.map((name) => `${name} = 7`).join(' OR ')}`;

function propose(sql: readonly string[], directives: readonly Directive[] = []) {
  const workload = workloadOf(sql);
  const { design: conceptual, cannotAct } = proposeDesign({
    catalog,
    profile,
    workload,
    strategy: 'access-pattern',
    limits,
    directives,
  });
  expect(conceptualDesignSchema.parse(conceptual)).toEqual(conceptual);
  const design = deriveDesign({ conceptual, catalog, profile, directives: [] });
  expect(checkDesign(design, catalog, profile, limits)).toEqual([]);
  for (const logical of design.logical)
    expect(parseLogicalCsv(logicalCsv(logical))).toEqual(logical);
  const indexes = proposeIndexes(design, catalog, profile, workload);
  return {
    workload,
    conceptual,
    design,
    cannotAct,
    attributes: conceptual.collections[0]!.attributes,
    keys: indexes['game']!.map(({ key }) => Object.keys(key)),
    pattern: conceptual.patterns.find(({ pattern }) => pattern === 'Attribute'),
  };
}

describe('an attribute is proposed', () => {
  test('where single columns of a family are each asked by value: one index instead of theirs', () => {
    const { attributes, keys, pattern, design, conceptual } = propose(
      by(...PLAYERS.slice(0, 4), 'season'),
    );
    expect(attributes).toEqual({ field: 'attributes', columns: PLAYERS, queries: 4 });
    expect(keys).toEqual([['attributes.k', 'attributes.v'], ['season']]);
    expect(design.logical[0]!.fields.find(({ kind }) => kind === 'attribute')).toMatchObject({
      name: 'attributes',
      fields: PLAYERS.map((name) => ({ name, column: name })),
    });
    expect(pattern).toMatchObject({ target: 'game.attributes' });
    expect(pattern!.status).toBeUndefined();
    expect(pattern!.reason).toMatch(
      /^4 queries compare 4 of 6 columns of a kind \(home_player_1, .* …\) with constants\. .* 5\.8 entries a document on average, need one index in place of 4 of a single column;/,
    );
    expect(conceptual.document.decisions).toContain(
      '**game: attribute** as attributes. The documents repeat the names and values of ' +
        'home\\_player\\_1, ',
    );
    expect(conceptual.document.result).toContain('| game | standalone | game | ✓ | game |');
  });

  test('where queries ask several for the same value, which no index of a single column serves', () => {
    for (const sql of [ANY, `SELECT season FROM game WHERE 7 IN (${PLAYERS.join(', ')})`]) {
      const { attributes, keys, pattern } = propose([sql, sql, sql]);
      expect(attributes).toMatchObject({ columns: PLAYERS, queries: 3 });
      expect(keys).toEqual([['attributes.k', 'attributes.v']]);
      expect(pattern!.reason).toContain('need one index; the workload');
    }
  });

  test('over several families of a kind, as far as they are asked, and over sparse columns', () => {
    expect(
      propose(by('home_player_1', 'away_player_1', 'away_player_2')).attributes!.columns,
    ).toEqual([...PLAYERS, 'away_player_1', 'away_player_2']);
    expect(propose(by('isbn', 'shelf', 'sigil')).attributes!.columns).toEqual([
      'isbn',
      'shelf',
      'sigil',
    ]);
  });

  test.each<[string, readonly string[]]>([
    ['two columns are asked', [...by('home_player_1', 'home_player_2'), ...by('home_player_1')]],
    ['two queries ask', [ANY, ANY]],
    [
      'two columns are asked together',
      Array.from(
        { length: 4 },
        () => 'SELECT season FROM game WHERE home_player_1 = 7 OR home_player_2 = 7',
      ),
    ],
    ['ranges are asked', PLAYERS.map((name) => `SELECT season FROM game WHERE ${name} > 5`)],
    ['nulls are asked for', PLAYERS.map((name) => `SELECT season FROM game WHERE ${name} IS NULL`)],
    [
      'a subquery finds the value',
      PLAYERS.map(
        (name) => `SELECT season FROM game WHERE ${name} = (SELECT max(season) FROM game)`,
      ),
    ],
    [
      'columns are compared with each other',
      PLAYERS.slice(1).map((name) => `SELECT season FROM game WHERE ${name} = home_player_1`),
    ],
    [
      'different values are asked',
      Array.from(
        { length: 3 },
        () =>
          'SELECT season FROM game WHERE home_player_1 = 7 OR home_player_2 = 8 OR ' +
          'home_player_3 = 9',
      ),
    ],
    ['the columns are of several kinds', by('home_player_1', 'isbn', 'season')],
    ['values have several storage classes', by('mixed1', 'mixed2', 'mixed3')],
    ['texts ignore case', by('nick1', 'nick2', 'nick3')],
  ])('but not where %s', (_, sql) => {
    const { attributes, keys, pattern } = propose(sql);
    expect(attributes).toBeUndefined();
    expect(keys.flat().filter((path) => path.startsWith('attributes'))).toEqual([]);
    expect(pattern).toBeUndefined();
  });

  test('nor where longer documents cost the other queries more than it spares: it is weighed and left, with the reason', () => {
    const tags = Array.from({ length: 30 }, (_, index) => `tag${index + 1}`);
    const source = profiledSource(
      'CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, ' +
        `${tags.map((tag) => `${tag} INTEGER`).join(', ')}); WITH RECURSIVE n(i) AS (SELECT 1 ` +
        `UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO thing SELECT i, 'n', ` +
        `${tags.map((_, index) => `(i * ${index * 2 + 1}) % 400`).join(', ')} FROM n;`,
    );
    const items = [
      ...['tag1', 'tag2', 'tag3'].map((tag) => `SELECT name FROM thing WHERE ${tag} = 5`),
      ...Array.from({ length: 5 }, () => 'SELECT name FROM thing'),
    ].map((sql, index) => ({
      questionId: String(index),
      split: 'dev',
      database: 'db',
      question: '',
      evidence: '',
      sql,
      difficulty: null,
    }));
    const { design } = proposeDesign({
      ...source,
      workload: readWorkload(items, source.catalog, source.profile),
      strategy: 'access-pattern',
      limits,
      directives: [],
    });
    expect(design.collections[0]!.attributes).toBeUndefined();
    expect(design.patterns).toMatchObject([
      {
        pattern: 'Attribute',
        status: 'considered',
        target: 'thing',
        reason: expect.stringMatching(
          /^3 queries compare 3 of 30 columns of a kind \(tag1, tag2, tag3, tag4 …\) with constants\. Left: the estimated cost of the workload would rise from [\d,]+ to [\d,]+\.$/,
        ) as string,
      },
    ]);
  });
});

test('nor where every column keeps its index as a reference', () => {
  const references =
    profiledSource(`CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT); WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399) INSERT INTO person SELECT i, 'p' || i FROM n;
    CREATE TABLE game (id INTEGER PRIMARY KEY, season TEXT, p1 INTEGER REFERENCES person(id), p2 INTEGER REFERENCES person(id), p3 INTEGER REFERENCES person(id), p4 INTEGER REFERENCES person(id)); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO game SELECT i, 's', i % 400, (i * 3) % 400, (i * 7) % 400, (i * 11) % 400 FROM n;`);
  const items = ['p1', 'p2', 'p3', 'p4'].map((column, index) => ({
    questionId: String(index),
    split: 'dev',
    database: 'db',
    question: '',
    evidence: '',
    sql: `SELECT season FROM game WHERE ${column} = 5`,
    difficulty: null,
  }));
  const { design } = proposeDesign({
    ...references,
    workload: readWorkload(items, references.catalog, references.profile),
    strategy: 'access-pattern',
    limits,
    directives: [],
  });
  expect(design.collections.some(({ attributes }) => attributes)).toBe(false);
  expect(design.patterns.find(({ pattern }) => pattern === 'Attribute')).toMatchObject({
    status: 'considered',
    reason: expect.stringContaining('Left: it would spare 0 indexes of a single column') as string,
  });
});

test('a reviewer can do without it, and is told of a table that is none', () => {
  const sql = by(...PLAYERS);
  const without = propose(sql, [{ kind: 'without_attributes', table: 'game' }]);
  expect(without.attributes).toBeUndefined();
  expect(without.keys).toHaveLength(6);
  expect(without.pattern).toMatchObject({
    status: 'considered',
    reason: expect.stringContaining('Left: a reviewer directed to do without it.') as string,
  });
  expect(propose(sql, [{ kind: 'without_attributes', table: 'nothing' }])).toMatchObject({
    attributes: { columns: PLAYERS },
    cannotAct: [{ reason: 'there is no table nothing' }],
  });
});

test('the estimate knows what it saves only with its index, and what-if keeps it', () => {
  const { workload, conceptual, design } = propose([ANY, ANY, ANY]);
  const cost = (indexes: Parameters<CostModel['withIndexes']>[0]): number =>
    score(new CostModel(design, indexes, profile).workload(workload));
  const served = cost({ game: [{ key: { 'attributes.k': 1, 'attributes.v': 1 }, reason: '' }] });
  expect(served).toBeLessThan(cost({ game: [] }) / 20);
  expect(cost({ game: [{ key: { 'attributes.v': 1 }, reason: '' }] })).toBe(cost({ game: [] }));
  // Six players, each in one of 400 games.
  expect(
    new CostModel(
      design,
      { game: [{ key: { 'attributes.k': 1, 'attributes.v': 1 }, reason: '' }] },
      profile,
    ).workload(workload).documents / 3,
  ).toBeCloseTo(6 * (ROWS / 400), -1);
  const other = profiledSource(
    `${DDL} CREATE TABLE note (game_id INTEGER NOT NULL REFERENCES game(id), body TEXT); INSERT ` +
      `INTO note VALUES (1, 'x'), (2, 'y');`,
  );
  const wider = proposeDesign({
    ...other,
    workload: { ...workload },
    strategy: 'access-pattern',
    limits,
    directives: [],
  }).design;
  expect(wider.collections.find(({ rootTable }) => rootTable === 'game')!.attributes).toEqual(
    conceptual.collections[0]!.attributes,
  );
  const { before, after } = whatIf({
    ...other,
    workload,
    design: wider,
    directives: [],
    limits,
    change: {
      relationship: 'note(game_id)->game(id)',
      choice: wider.relationships[0]!.choice === 'embed' ? 'reference' : 'embed',
    },
  });
  expect(before.cost.documents).toBeLessThan(200);
  expect(after!.cost.documents).toBeLessThan(200);
});

test.each<[string, object]>([
  [
    'home_player_1 = 5 OR home_player_2 = 5',
    {
      equality: [],
      other: ['home_player_1', 'home_player_2'],
      anyOf: [['home_player_1', 'home_player_2']],
    },
  ],
  [
    '(home_player_2 = 5 OR 5 = home_player_1) AND (away_player_1 = 3 OR away_player_2 = 3)',
    {
      anyOf: [
        ['away_player_1', 'away_player_2'],
        ['home_player_1', 'home_player_2'],
      ],
    },
  ],
  ["'x' IN (isbn, shelf)", { anyOf: [['isbn', 'shelf']] }],
])('a block says which columns are asked for the same value: %s', (where, expected) => {
  expect(
    queryBlocks(
      bindSelect(parseSelect(`SELECT season FROM game WHERE ${where}`), catalog).query,
    )[0]!.sources[0],
  ).toMatchObject(expected);
});

test.each([
  'home_player_1 = 5 OR home_player_2 = 6',
  'home_player_1 = 5 OR home_player_2 > 5',
  'home_player_1 = 5 OR season',
  'home_player_1 = NULL OR home_player_2 = NULL',
  '5 NOT IN (home_player_1, home_player_2)',
  'home_player_1 IN (5, 5)',
])('and not of others: %s', (where) => {
  expect(
    queryBlocks(
      bindSelect(parseSelect(`SELECT season FROM game WHERE ${where}`), catalog).query,
    )[0]!.sources[0],
  ).not.toHaveProperty('anyOf');
});
