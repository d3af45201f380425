import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DocumentDesign, SubsetField } from '../../design/model/document-design';
import { identity } from '../../design/model/transform';
import { World } from '../test/translation-fixture';

/**
 * A shop with more sales than its subset holds, one with fewer, one with none; ties, nulls, a sale
 * without a shop, text that ignores case.
 */
const DDL = `
PRAGMA foreign_keys = OFF;
CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
INSERT INTO shop VALUES (1, 'A', 'Oslo'), (2, 'B', 'Rome'), (3, 'C', 'Oslo'), (4, 'D', NULL);
CREATE TABLE sale (sid INTEGER PRIMARY KEY, shop_id INTEGER NOT NULL REFERENCES shop(id), price REAL, day TEXT, label TEXT COLLATE NOCASE, note TEXT);
INSERT INTO sale VALUES (1, 1, 5.5, '2024-01-05', 'b', 'x'), (2, 1, 9.0, '2024-01-01', 'A', 'y'), (3, 1, 9.0, '2024-03-01', 'a', 'z'), (4, 1, NULL, NULL, NULL, 'u'), (5, 1, 1.0, '2023-01-05', 'C', 'v'),
  (6, 2, 7.0, '2024-02-05', 'd', 'w'), (7, 2, 2.0, '2022-01-05', 'B', 'x'), (8, 9, 99.0, '2030-01-01', 'zz', 'lost'), (9, 4, 3.0, '2021-01-01', 'k', NULL);`;

const SUBSET: SubsetField = {
  kind: 'subset',
  name: 'sale_by_price',
  table: 'sale',
  relationship: 'sale(shop_id)->shop(id)',
  join: [{ parent: 'id', child: 'shop_id' }],
  limit: 2,
  orderBy: [
    { column: 'price', direction: 'desc' },
    { column: 'day', direction: 'asc' },
  ],
  fields: ['price', 'day', 'label'].map((column) => ({
    kind: 'column',
    name: column,
    column,
    transform: identity,
  })),
};
const withSubset = (design: DocumentDesign): DocumentDesign => ({
  ...design,
  logical: design.logical.map((logical) =>
    logical.rootTable === 'shop' ? { ...logical, fields: [...logical.fields, SUBSET] } : logical,
  ),
});

let world: World;
beforeAll(async () => {
  world = await World.create(DDL, { change: withSubset });
});
afterAll(() => world.close());

const FROM = 'FROM shop s JOIN sale x ON x.shop_id = s.id';
const ORDER = 'ORDER BY x.price DESC, x.day';

it.each([
  `SELECT s.name, x.price ${FROM} ${ORDER} LIMIT 2`,
  `SELECT x.price, x.label ${FROM} WHERE s.city = 'Oslo' ${ORDER} LIMIT 1`,
  `SELECT x.price FROM sale x JOIN shop s ON s.id = x.shop_id WHERE s.name IN ('A', 'B') ORDER ` +
    'BY x.price DESC LIMIT 2',
  'SELECT s.id, x.shop_id, x.day FROM sale AS x, shop AS s WHERE x.shop_id = s.id AND s.city IS ' +
    `NULL ${ORDER} LIMIT 2`,
  `SELECT s.name, x.price * 2 AS twice ${FROM} WHERE s.id < 3 ${ORDER} LIMIT 2`,
  `SELECT x.price AS p ${FROM} ORDER BY p DESC LIMIT 1`,
  `SELECT x.price ${FROM} WHERE s.name = 'nobody' ${ORDER} LIMIT 2`,
])('the subset answers: %s', async (sql) => {
  const translation = world.translate(sql);
  expect(translation.collection).toBe('shop');
  expect(JSON.stringify(translation.pipeline)).toContain('$sale_by_price');
  expect(JSON.stringify(translation.pipeline)).not.toContain('$lookup');
  expect(translation.touches).toMatchObject([{ collection: 'shop' }]);
  const { verdict, detail } = await world.check(sql);
  expect(verdict, detail).toBe('equal');
});

it.each([
  ['more rows than it holds', `SELECT x.price ${FROM} ${ORDER} LIMIT 3`],
  ['rows further down', `SELECT x.price ${FROM} ${ORDER} LIMIT 1 OFFSET 1`],
  ['another order', `SELECT x.price ${FROM} ORDER BY x.price LIMIT 2`],
  ['a finer order', `SELECT x.price ${FROM} ${ORDER}, x.label LIMIT 2`],
  ['an order of the parents', `SELECT x.price ${FROM} ORDER BY s.name, x.price DESC LIMIT 2`],
  ['nulls at the other end', `SELECT x.price ${FROM} ORDER BY x.price DESC NULLS FIRST LIMIT 2`],
  ['a condition on the child', `SELECT x.price ${FROM} WHERE x.label = 'b' ${ORDER} LIMIT 2`],
  ['a condition between both', `SELECT x.price ${FROM} WHERE x.price > s.id ${ORDER} LIMIT 2`],
  ['a column that is not copied', `SELECT x.note ${FROM} ${ORDER} LIMIT 2`],
  ['distinct rows', `SELECT DISTINCT x.price ${FROM} ${ORDER} LIMIT 2`],
  ['groups', `SELECT max(x.price) ${FROM} GROUP BY s.id ORDER BY x.price DESC LIMIT 2`],
  [
    'parents without children',
    `SELECT s.name, x.price FROM shop s LEFT JOIN sale x ON x.shop_id = s.id ${ORDER} LIMIT 2`,
  ],
  ['children without a parent', 'SELECT x.price FROM sale x ORDER BY x.price DESC LIMIT 2'],
  [
    'a subquery',
    `SELECT x.price, (SELECT count(*) FROM sale y WHERE y.price > x.price) ${FROM} ` +
      `${ORDER} LIMIT 2`,
  ],
  ['a window', `SELECT x.price, row_number() OVER (ORDER BY x.day) ${FROM} ${ORDER} LIMIT 2`],
])('the subset does not serve %s', async (_, sql) => {
  expect(JSON.stringify(world.translate(sql).pipeline)).not.toContain('sale_by_price');
  const { verdict, detail } = await world.check(sql);
  expect(['equal', 'order'], detail).toContain(verdict);
});
