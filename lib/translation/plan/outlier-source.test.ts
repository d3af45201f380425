import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DocumentDesign, OutlierField } from '../../design/model/document-design';
import { identity } from '../../design/model/transform';
import { optimise } from '../rules/optimise';
import { World } from '../test/translation-fixture';
import { translate, type Translated } from '../translate';

/**
 * Shops with no sale, one, as many as an array takes, and more; nulls, ties, text that ignores
 * case, a sale of no shop.
 */
const DDL = `
PRAGMA foreign_keys = OFF;
CREATE TABLE city (code TEXT PRIMARY KEY, country TEXT);
INSERT INTO city VALUES ('osl', 'NO'), ('rom', 'IT');
CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT REFERENCES city(code), sale TEXT);
INSERT INTO shop VALUES (1, 'A', 'osl', 's1'), (2, 'B', 'rom', 's2'), (3, 'C', 'osl', NULL), (4, 'D', NULL, 's4'), (5, 'E', 'rom', 's5');
CREATE TABLE seller (who TEXT PRIMARY KEY, age INTEGER);
INSERT INTO seller VALUES ('u', 30), ('v', 40);
CREATE TABLE sale (sid INTEGER PRIMARY KEY, shop_id INTEGER NOT NULL REFERENCES shop(id), price REAL, day TEXT, label TEXT COLLATE NOCASE, note TEXT, who TEXT REFERENCES seller(who));
INSERT INTO sale VALUES (1, 1, 5.5, '2024-01-05', 'b', 'x', 'u'), (2, 1, 9.0, '2024-01-01', 'A', 'y', 'v'), (3, 1, 9.0, '2024-03-01', 'a', 'z', 'u'), (4, 1, NULL, NULL, NULL, 'u', NULL), (5, 1, 1.0, '2023-01-05', 'C', 'v', 'v'),
  (6, 2, 7.0, '2024-02-05', 'd', 'w', 'u'), (7, 2, 2.0, '2022-01-05', 'B', 'x', 'u'), (8, 9, 99.0, '2030-01-01', 'zz', 'lost', 'v'), (9, 4, 3.0, '2021-01-01', 'k', NULL, 'v'), (10, 5, NULL, '2021-02-01', 'K', 'q', NULL);
CREATE TABLE item (iid INTEGER PRIMARY KEY, sale_id INTEGER NOT NULL REFERENCES sale(sid), what TEXT);
INSERT INTO item VALUES (1, 1, 'p'), (2, 1, 'q'), (3, 6, 'p');`;

const FIELD: OutlierField = {
  kind: 'outlier',
  name: 'sales',
  flag: 'sales_elsewhere',
  table: 'sale',
  relationship: 'sale(shop_id)->shop(id)',
  join: [{ parent: 'id', child: 'shop_id' }],
  limit: 2,
  fields: ['sid', 'price', 'day', 'label', 'who'].map((column) => ({
    kind: 'column',
    name: column === 'sid' ? '_id' : column,
    column,
    transform: identity,
  })),
};
const withField =
  (field: OutlierField) =>
  (design: DocumentDesign): DocumentDesign => ({
    ...design,
    logical: design.logical.map((logical) =>
      logical.rootTable === 'shop' ? { ...logical, fields: [...logical.fields, field] } : logical,
    ),
  });

let world: World;
beforeAll(async () => {
  world = await World.create(DDL, { change: withField(FIELD) });
});
afterAll(() => world.close());

const FROM = 'FROM shop s JOIN sale x ON x.shop_id = s.id';
const LEFT = 'FROM shop s LEFT JOIN sale x ON x.shop_id = s.id';

it('keeps the children of all shops but the one that has too many', async () => {
  const shops = await world.run('shop', [{ $sort: { _id: 1 } }]);
  expect(
    shops.map(({ sales, sales_elsewhere: flag }) => [
      (sales as { _id: number }[]).map(({ _id }) => _id),
      flag as unknown,
    ]),
  ).toEqual([
    [[], 1],
    [[6, 7], undefined],
    [[], undefined],
    [[9], undefined],
    [[10], undefined],
  ]);
  expect(Object.keys(shops[1]!)).not.toContain('sales_elsewhere');
});

describe('the array and the flag answer', () => {
  it.each([
    `SELECT s.name, x.price ${FROM}`,
    `SELECT s.name, x.sid, x.label ${FROM} ORDER BY x.sid`,
    `SELECT s.name, x.price FROM sale x JOIN shop s ON s.id = x.shop_id`,
    `SELECT s.name, x.price ${FROM} WHERE s.name IN ('A', 'B') ORDER BY x.price DESC, ` +
      'x.sid LIMIT 4',
    `SELECT s.name, x.price, x.day ${FROM} WHERE x.price > 5 AND s.city = 'osl'`,
    `SELECT s.name FROM shop s, sale x WHERE x.shop_id = s.id AND x.label = 'a'`,
    `SELECT s.name, count(x.sid), sum(x.price), max(x.day) ${FROM} GROUP BY s.id`,
    `SELECT s.id, count(*) ${FROM} WHERE x.price > 2 GROUP BY s.id HAVING count(*) > 1 ` +
      'ORDER BY s.id',
    `SELECT x.label, count(DISTINCT s.id) ${FROM} GROUP BY x.label`,
    `SELECT count(*), avg(x.price), min(x.day) ${FROM}`,
    `SELECT DISTINCT s.city, x.price ${FROM}`,
    `SELECT s.name, x.price ${LEFT}`,
    `SELECT s.name, x.price ${LEFT} WHERE x.sid IS NULL`,
    `SELECT s.name, count(x.sid), total(x.price) ${LEFT} GROUP BY s.id, s.name ORDER BY s.name`,
    `SELECT s.name, coalesce(x.price, -1) ${LEFT} WHERE s.id > 2 ORDER BY s.name`,
    `SELECT s.name, c.country, x.price ${FROM} JOIN city c ON c.code = s.city WHERE ` +
      `c.country = 'NO'`,
    'SELECT c.country, sum(x.price) FROM city c JOIN shop s ON s.city = c.code JOIN sale x ON ' +
      'x.shop_id = s.id GROUP BY c.country',
    `SELECT s.name, x.price, w.age ${FROM} JOIN seller w ON w.who = x.who`,
    'SELECT a.name, x.price, y.price FROM shop a JOIN sale x ON x.shop_id = a.id JOIN sale y ON ' +
      'y.shop_id = a.id WHERE x.sid < y.sid',
    `SELECT s.name, x.price ${FROM} WHERE x.price = (SELECT max(price) FROM sale)`,
    `SELECT s.name, sum(CASE WHEN x.price > 5 THEN 1 ELSE 0 END) ${FROM} GROUP BY s.name`,
    `SELECT name FROM (SELECT s.name, x.price ${FROM}) WHERE price > 6`,
    `SELECT s.name, row_number() OVER (PARTITION BY s.id ORDER BY x.sid) ${FROM}`,
  ])('%s', async (sql) => {
    const translation = world.translate(sql);
    expect(JSON.stringify(translation.pipeline)).toMatch(/"localField":"(shop\.)?sales_elsewhere"/);
    expect(translation.touches.find(({ collection }) => collection === 'shop')?.fields).toEqual(
      expect.arrayContaining(['sales.price', 'sales_elsewhere']),
    );
    expect(translation.touches.map(({ collection }) => collection)).toContain('sale');
    const { verdict, detail } = await world.check(sql);
    expect(verdict, detail).toBe('equal');
  });
});

describe('they do not serve', () => {
  it.each([
    ['a column that is not kept', `SELECT s.name, x.note ${FROM}`],
    [
      'the key of the child, which is not kept',
      `SELECT x.shop_id, count(x.price) ${FROM} GROUP BY x.shop_id`,
    ],
    [
      'a further condition of a left join',
      'SELECT s.name, x.price FROM shop s LEFT JOIN sale x ON x.shop_id = s.id AND x.price > 5',
    ],
    ['another join', 'SELECT s.name, x.price FROM shop s JOIN sale x ON x.label = s.name'],
    ['what has the key of no parent', 'SELECT x.price FROM sale x'],
    [
      'a parent that may be missing',
      'SELECT c.code, s.name, x.price FROM city c LEFT JOIN shop s ON s.city = c.code LEFT JOIN ' +
        'sale x ON x.shop_id = s.id',
    ],
    [
      'a subquery over the children',
      'SELECT s.name, (SELECT max(x.price) FROM sale x WHERE x.shop_id = s.id) FROM shop s',
    ],
  ])('%s', async (_, sql) => {
    expect(JSON.stringify(world.translate(sql).pipeline)).not.toContain('sales_elsewhere');
    const { verdict, detail } = await world.check(sql);
    expect(verdict, detail).toBe('equal');
  });

  it('rows that other rows are found in', async () => {
    const sql = `SELECT s.name, x.price, i.what ${FROM} JOIN item i ON i.sale_id = x.sid`;
    const nested = await World.create(DDL, {
      strategy: 'access-pattern',
      directives: [
        { kind: 'relationship', relationship: 'item(sale_id)->sale(sid)', choice: 'embed' },
        ...['sale(shop_id)->shop(id)', 'sale(who)->seller(who)', 'shop(city)->city(code)'].map(
          (relationship) => ({ kind: 'relationship', relationship, choice: 'reference' }) as const,
        ),
      ],
      change: withField(FIELD),
    });
    try {
      expect(JSON.stringify(nested.translate(sql).pipeline)).not.toContain('sales_elsewhere');
      expect((await nested.check(sql)).verdict).toBe('equal');
      const alone = `SELECT s.name, x.price ${FROM}`;
      expect(JSON.stringify(nested.translate(alone).pipeline)).toContain('sales_elsewhere');
      expect((await nested.check(alone)).verdict).toBe('equal');
    } finally {
      await nested.close();
    }
  });

  it('entries that are named or typed otherwise than the documents', async () => {
    for (const change of [
      { name: 'cost' },
      { transform: { kind: 'string', from: 'real' } as never },
    ]) {
      const fields = FIELD.fields.map((field) =>
        field.column === 'price' ? { ...field, ...change } : field,
      );
      const design = withField({ ...FIELD, fields })({
        ...world.design,
        logical: world.design.logical.map((logical) => ({
          ...logical,
          fields: logical.fields.filter(({ kind }) => kind !== 'outlier'),
        })),
      });
      const other = Object.assign(Object.create(World.prototype) as World, world, { design });
      expect(
        JSON.stringify(other.translate(`SELECT s.name, x.price ${FROM}`).pipeline),
      ).not.toContain('sales_elsewhere');
      expect(JSON.stringify(other.translate(`SELECT s.name, x.day ${FROM}`).pipeline)).toContain(
        'sales_elsewhere',
      );
    }
  });
});

describe('rules', () => {
  const KEPT = /"localField":"(shop\.)?sales_elsewhere"/;
  it.each([
    `SELECT s.name, x.price ${FROM}`,
    `SELECT s.name, x.price ${FROM} WHERE s.name = 'B' AND x.price > 2 ORDER BY x.price LIMIT 2`,
    `SELECT count(*) ${FROM}`,
    `SELECT s.name ${FROM} GROUP BY s.id`,
    `SELECT s.id, count(*), sum(x.price) ${FROM} GROUP BY s.id`,
    `SELECT DISTINCT s.id ${FROM} WHERE x.price > 2`,
    `SELECT s.name ${LEFT}`,
    `SELECT s.name, x.sid ${FROM} ORDER BY s.name LIMIT 3`,
  ])('leave the flag and the array together: %s', async (sql) => {
    const optimised = JSON.stringify(world.optimised(sql));
    expect(optimised).toMatch(KEPT);
    expect(optimised).toMatch(
      /\{"\$set":\{"sale_2":\{"\$concatArrays":\["\$sales","\$sale_2"\]\}\}\}/,
    );
    const { verdict, detail } = await world.check(sql);
    expect(['equal', 'order'], detail).toContain(verdict);
  });

  it('a filter on the parent runs before the lookup', () => {
    expect(world.optimised(`SELECT x.price ${FROM} WHERE s.city = 'osl'`)[0]).toEqual({
      $match: { city: 'osl' },
    });
  });

  it('a join of which a filter leaves few children starts from them, where they are many', async () => {
    const sql = `SELECT s.name, x.price ${FROM} WHERE x.day = '2022-01-05' ORDER BY x.sid`;
    const { collection, pipeline } = translate(sql, world) as Translated;
    expect(JSON.stringify(pipeline)).toMatch(KEPT);
    const grown = {
      ...world.profile,
      tables: world.profile.tables.map((table) => ({
        ...table,
        rowCount: table.rowCount * 1000,
        columns: table.columns.map((column) => ({ ...column, distinct: column.distinct * 1000 })),
      })),
    };
    const indexes = { sale: [{ key: { day: 1 as const }, reason: '' }] };
    const turned = optimise({ ...world, collection, pipeline, profile: grown, indexes });
    expect(turned.collection).toBe('sale');
    expect(turned.applied.at(-1)?.rule).toBe('lookup-direction');
    expect(turned.pipeline.slice(0, 3)).toEqual([
      { $match: { day: '2022-01-05' } },
      { $lookup: { from: 'shop', localField: 'shop_id', foreignField: '_id', as: 'shop' } },
      { $unwind: '$shop' },
    ]);
    expect(await world.run(turned.collection, turned.pipeline)).toEqual(
      await world.run(collection, pipeline),
    );
    // A join by the flag that leaves the array out is none of ours.
    const halved = pipeline.filter((stage) => !('$set' in stage));
    expect(
      optimise({ ...world, collection, pipeline: halved, profile: grown, indexes }).collection,
    ).toBe('shop');
  });
});
