import { describe, expect, it } from 'vitest';
import { rewriteEvidence } from '../evidence';
import { catalog, design, rewrite } from './shop';

const PRODUCTS = `SELECT "Product Name" FROM product WHERE Price > 3`;
const SALES =
  'SELECT T1."Product Name" FROM product AS T1 JOIN sale AS T2 ON T2.product_id = T1.id ' +
  `WHERE T2."Order Quantity" > 5 AND T2.buyer = 'Ann'`;

describe('names', () => {
  it.each([
    ['name of the thing refers to Product Name', 'product.productName'],
    ['name of the thing refers to product name', 'product.productName'],
    ['name of the thing refers to `Product Name`', 'product.productName'],
    ['name of the thing refers to [Product Name]', 'product.productName'],
    ["called refers to Product Name = 'Bear'", "product.productName = 'Bear'"],
    ['meals refers to Free Meal Count (K-12) > 3', 'product.freeMealCountK12 > 3'],
    ['bilirubin refers to MAX(T-BIL)', 'the largest product.tBIL'],
    ['size refers to unit.size = 5', 'product.unitSize = 5'],
    ['cost refers to Price', 'product.Price'],
    ['cost refers to product.Price', 'product.Price'],
  ])('%s', (evidence, expected) => {
    const name = (text: string): string => text.replace(/[^a-z0-9.]/gi, '').toLowerCase();
    const sql = `SELECT "Product Name", "unit.size", "T-BIL" FROM product WHERE Price > 3`;
    expect(name(rewrite(evidence, sql).text)).toContain(name(expected));
  });

  it('of several tables, that of the table that the SQL asks', () => {
    const sql =
      'SELECT T2.Description FROM product AS T1 JOIN category AS T2 ON T1.category_id = T2.id ' +
      'WHERE T1.Price > 3';
    const { text } = rewrite('kind refers to Description; dear refers to Price > 3', sql);
    expect(text).toBe('kind refers to category.Description; dear refers to product.Price > 3');
  });

  it('a second time as well, and in a list', () => {
    expect(rewrite('amount refers to Order Quantity; Order Quantity > 5', SALES).text).toMatch(
      /^amount refers to (sale\.\w+); \1 > 5$/,
    );
    expect(rewrite('both refers to buyer, sale_id', SALES).text).toBe(
      'both refers to sale.buyer, sale._id',
    );
  });

  it('are no words of a sentence', () => {
    const text = 'the description of a price; the buyer says sold';
    expect(rewrite(text, SALES)).toMatchObject({ text, paths: [], unmatched: [] });
  });

  it('that nothing decides stay, and are reported', () => {
    const sql =
      'SELECT T1.Description, T2.Description FROM product AS T1 ' +
      'JOIN category AS T2 ON T1.category_id = T2.id';
    const { text, unmatched } = rewrite('text refers to Description', sql);
    expect(text).toBe('text refers to Description');
    expect(unmatched).toEqual(['Description: product.Description or category.Description']);
  });

  it('are said to have a value', () => {
    expect(rewrite('Ann is the buyer; Bob is the buyer', SALES).text).toBe(
      'Ann is the sale.buyer; Bob is the buyer',
    );
  });
});

describe('roles', () => {
  const sql =
    'SELECT T1."Product Name" FROM product AS T1 JOIN shade AS T2 ON T1.body_shade_id = T2.id ' +
    `JOIN shade AS T3 ON T1.lid_shade_id = T3.id WHERE T2.shade = 'Red' AND T3.shade = 'Blue'`;
  const copies: typeof design = {
    ...design,
    logical: design.logical.map((logical) =>
      logical.rootTable === 'product'
        ? {
            ...logical,
            fields: [
              ...logical.fields,
              ...(['body', 'lid'] as const).map((role) => ({
                kind: 'extendedReference' as const,
                name: `${role}_shade`,
                table: 'shade',
                relationship: `product(${role}_shade_id)->shade(id)`,
                join: [{ parent: 'id', child: `${role}_shade_id` }],
                fields: [
                  {
                    kind: 'column' as const,
                    name: 'shade',
                    column: 'shade',
                    transform: { kind: 'identity' as const },
                  },
                ],
              })),
            ],
          }
        : logical,
    ),
  };
  const pipeline = [
    { $match: { 'body_shade.shade': 'Red', 'lid_shade.shade': 'Blue' } },
    { $project: { _id: 0, productName: 1 } },
  ];
  it.each([
    ['by the value', "one refers to shade = 'Red'", 'body_shade'],
    ['by the value', "one refers to shade = 'blue'", 'lid_shade'],
    ['by the key beside it', 'shade where lid_shade_id = shade.id', 'lid_shade'],
    ['by the words around it', 'shade of the lid refers to shade.shade', 'lid_shade'],
    ['by the words around it', 'the body refers to shade.shade', 'body_shade'],
  ])('%s: %s', (_, evidence, role) => {
    const context = { catalog, design: copies, collection: 'product', pipeline, sql };
    expect(rewriteEvidence(evidence, context).text).toContain(`product.${role}.shade`);
  });
});

describe('formulas', () => {
  it.each([
    ["SUM(Order Quantity WHERE buyer = 'Ann')", "the sum of Q where B = 'Ann'"],
    ["SUM(IIF(buyer = 'Ann', Order Quantity, 0))", "the sum of Q where B = 'Ann'"],
    ["SUM(CASE WHEN buyer = 'Ann' THEN 1 ELSE 0 END)", "the number of documents where B = 'Ann'"],
    ["Count(sale_id where buyer = 'Ann')", "the number of S where B = 'Ann'"],
    ["COUNT(buyer = 'Ann')", "the number of documents where B = 'Ann'"],
    ['COUNT(DISTINCT buyer)', 'the number of distinct B'],
    ['COUNT(*)', 'the number of documents'],
    ['MAX(COUNT(buyer))', 'the largest number of B'],
    [
      'ADD(SUM(Order Quantity), 1) / SUBTRACT(MAX(Order Quantity), MIN(Order Quantity) - 1)',
      '((the sum of Q) plus 1) / ((the largest Q) minus ((the smallest Q) - 1))',
    ],
    [
      "DIVIDE(SUM(buyer = 'Ann') * 100, COUNT(sale_id))",
      "((the number of documents where B = 'Ann') * 100) divided by (the number of S)",
    ],
    ['MULTIPLY(DIVIDE(1, 2), Order Quantity)', '(1 divided by 2) times Q'],
    ['DIVIDE(COUNT(buyer) / COUNT(sale_id))', '(the number of B) / (the number of S)'],
    ['CAST(Order Quantity AS INTEGER)', 'the whole part of Q'],
    ['CAST(Order Quantity AS REAL) * 100', 'Q * 100'],
    ["SUBSTR(buyer, 2, 3) = 'nn'", "characters 2 to 4 of B = 'nn'"],
    ['Order Quantity BETWEEN 1 AND 5', 'Q >= 1 and Q <= 5'],
    ['Order Quantity NOT BETWEEN 1 AND 5', 'Q < 1 or Q > 5'],
    ["buyer IN ('Ann', 'Bob')", "B is in ['Ann', 'Bob']"],
    ['buyer IS NOT NULL', 'B is not null'],
    ['buyer = NULL', 'B is null'],
    ["buyer LIKE 'An%'", 'B matches /^An/i'],
    ["buyer NOT LIKE '%n'", 'B does not match /n\\z/i'],
    ["buyer = 'Ann' AND Order Quantity > = 3", "B = 'Ann' and Q >= 3"],
    ["buyer <> 'Ann' OR buyer = 'Bob'", "B != 'Ann' or B = 'Bob'"],
    ['ORDER BY Order Quantity DESC', 'sorted by Q in descending order'],
    // Quoted text is never touched, whatever is in it.
    ["buyer = 'LAW AND ORDER BY NIGHT'", "B = 'LAW AND ORDER BY NIGHT'"],
    ["buyer = 'see buyer; SUM(buyer)'", "B = 'see buyer; SUM(buyer)'"],
    ["buyer = 'Ann''s'", "B = 'Ann''s'"],
    // A quote that nobody closes takes nothing else with it.
    [
      "SUM(buyer = 'Ann); count(sale_id)",
      "the number of documents where B = 'Ann'; the number of S",
    ],
    // Prose beside formulas stays.
    ['average buyer = COUNT(buyer)', 'average buyer = the number of B'],
    ['the sum (of all) and DIVIDE(1) stay', 'the sum (of all) and DIVIDE(1) stay'],
    ['COUNT(all of them) / 12', '(the number of all of them) / 12'],
  ])('%s', (evidence, expected) => {
    const fields = design.logical.find(({ rootTable }) => rootTable === 'sale')!.fields;
    const path = (column: string): string =>
      `sale.${fields.find((field) => field.kind === 'column' && field.column === column)!.name}`;
    const named = expected
      .replace(/\bQ\b/g, path('Order Quantity'))
      .replace(/\bB\b/g, path('buyer'))
      .replace(/\bS\b/g, 'sale._id');
    expect(rewrite(evidence, SALES).text).toBe(named);
  });
});

describe('uses of paths', () => {
  const use = (evidence: string, sql = SALES): string[] =>
    rewrite(evidence, sql).paths.map((path) => path.use);
  it.each([
    ['the same field and value', "buyer = 'Ann'", ['used']],
    ['another value than the SQL has', "buyer = 'ann'", ['source_flaw']],
    ['one of several values', "buyer = 'Ann' means a; buyer = 'Bob' means b", ['used']],
    ['a column that the SQL does not use', 'Price > 3', ['source_flaw']],
    ['counting rows by their key', 'COUNT(sale_id)', ['used']],
    ['a key that only joins', 'sale.product_id = product.id', ['used', 'used']],
  ])('%s: %s', (_, evidence, expected) => {
    expect(use(evidence)).toEqual(expected);
  });

  it('a count of another column than the SQL counts is a flaw of the source', () => {
    const sql = 'SELECT buyer FROM sale GROUP BY buyer HAVING COUNT(product_id) > 1';
    expect(use('COUNT(buyer) > 1', sql)).toEqual(['source_flaw']);
    expect(use('COUNT(product_id) > 1', sql)).toEqual(['used']);
  });

  it('a field that the gold leaves out although the SQL reads it is doubtful', () => {
    const sql = 'SELECT sale_id FROM sale WHERE buyer = 3';
    const context = { catalog, design, collection: 'sale', pipeline: [{ $limit: 1 }], sql };
    expect(rewriteEvidence('buyer refers to buyer', context).paths).toEqual([
      { path: 'sale.buyer', use: 'doubt' },
    ]);
  });
});

it('does not take long for what only looks like a formula', () => {
  const started = performance.now();
  for (const text of ['SUM('.repeat(1200), 'buyer = '.repeat(600), '(buyer'.repeat(800)])
    rewrite(text, PRODUCTS);
  expect(performance.now() - started).toBeLessThan(4_000);
});
