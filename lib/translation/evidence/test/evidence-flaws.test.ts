import { describe, expect, it } from 'vitest';
import { rewriteEvidence } from '../evidence';
import { catalog, design, rewrite } from './shop';

/** What people get wrong when they write hints, and how BIRD's hints read. */

const SALES =
  'SELECT T1."Product Name" FROM product AS T1 JOIN sale AS T2 ON T2.product_id = T1.id ' +
  `WHERE T2."Order Quantity" > 5 AND T2.buyer = 'Ann'`;

const Q = 'sale.orderQuantity';

describe('quotes and parentheses', () => {
  it.each([
    // A quote that nobody closed ends before the parenthesis or the condition that is not its own.
    [
      "DIVIDE(SUM(buyer = 'Ann (Lee)), COUNT(sale_id)) * 100",
      "((the number of documents where sale.buyer = 'Ann (Lee)') divided by (the number of " +
        'sale._id)) * 100',
    ],
    [
      "SUM(buyer = 'Ann and Order Quantity = '5')",
      `the number of documents where sale.buyer = 'Ann' and ${Q} = '5'`,
    ],
    ["'Ann is the buyer; Order Quantity > 5", `'Ann is the sale.buyer; ${Q} > 5`],
    ["buyer = 'Ann'OR buyer = 'Bob'", "sale.buyer = 'Ann' or sale.buyer = 'Bob'"],
    ["buyer BETWEEN'Ann' and 'Bob'", "sale.buyer >= 'Ann' and sale.buyer <= 'Bob'"],
    // Parentheses where they do not belong.
    [
      'DIVIDE(COUNT(buyer)), (COUNT(sale_id))',
      '(the number of sale.buyer) divided by (the number of sale._id)',
    ],
    ['SUBTRACT((Order Quantity, 5))', `${Q} minus 5`],
    ['SUBTRACT(Order Quantity, sale_id < 31)', `${Q} minus sale._id < 31`],
    ['MAX(COUNT(buyer)', 'the largest number of sale.buyer'],
    [
      'MULTIPLY(DIVIDE(SUM(sale_id = 13)), COUNT(sale_id), 100)',
      '((the number of documents where sale._id = 13) divided by (the number of sale._id)) times ' +
        '100',
    ],
    // Marks of other keyboards; a date is one value.
    ['MULTIPLY(Order Quantity，100)', `${Q} times 100`],
    ['Order Quantity BETWEEN 1/1/2012 AND 12/31/2015', `${Q} >= 1/1/2012 and ${Q} <= 12/31/2015`],
    ['DIVDE(COUNT(buyer), 2)', '(the number of sale.buyer) divided by 2'],
  ])('%s', (evidence, expected) => {
    expect(rewrite(evidence, SALES).text).toBe(expected);
  });

  it('that were completed are reported, and so is what stays SQL', () => {
    expect(rewrite('MAX(COUNT(buyer)', SALES).unmatched).toEqual([
      'parentheses: not balanced, completed',
    ]);
    expect(rewrite('DATEDIFF(buyer, sale_id)', SALES).unmatched).toEqual([
      'DATEDIFF(…): not in words',
    ]);
    expect(rewrite('DIVIDE(buyer)', SALES).unmatched).toEqual(['DIVIDE(…): not in words']);
  });
});

describe('formulas', () => {
  it.each([
    ['MAX(Order Quantity < 9)', `the largest ${Q} where ${Q} < 9`],
    [
      "MIN(buyer = 'Ann' and Order Quantity > 1)",
      `the smallest number of documents where sale.buyer = 'Ann' and ${Q} > 1`,
    ],
    ["SUM(buyer = 'Ann' THEN Order Quantity)", `the sum of ${Q} where sale.buyer = 'Ann'`],
    ['SUBTRACT(Order Quantity AND sale_id = 1, 2)', `(${Q} where sale._id = 1) minus 2`],
    ['MAX(SUM(Order Quantity, sale_id))', `the largest sum of (${Q} plus sale._id)`],
    ["COUNT(buyer where it is Ann's)", "the number of sale.buyer where it is Ann's"],
    [
      "COUNT(sales where buyer = 'Ann' and kind = 'x')",
      "the number of sales where sale.buyer = 'Ann' and kind = 'x'",
    ],
    ['SUBTRACT(YEAR(CURDATE()), sale_id)', '(the current year) minus sale._id'],
    [
      "SUBTRACT(DATETIME(CURRENT_TIMESTAMP, 'localtime'), sale_id)",
      '(the current date) minus sale._id',
    ],
    ['when buyer are not null', 'when sale.buyer are not null'],
    ['1 < Order Quantity < 9', `1 < ${Q} and ${Q} < 9`],
    [
      "(buyer = 'Ann' or sale_id = 1) and Order Quantity = 5",
      `(sale.buyer = 'Ann' or sale._id = 1) and ${Q} = 5`,
    ],
  ])('%s', (evidence, expected) => {
    expect(rewrite(evidence, SALES).text).toBe(expected);
  });
});

describe('names', () => {
  it.each([
    // Spelled in words, in double quotes, with the alias of another table, with a slip.
    ['amount refers to order quantity', `amount refers to ${Q}`],
    ['more than 5 refers to "Order Quantity" > 5', `more than 5 refers to ${Q} > 5`],
    ["MAX('Order Quantity')", `the largest ${Q}`],
    ["refers to T1.buyer = 'Ann'", "refers to sale.buyer = 'Ann'"],
    ["refers to buyre = 'Ann'", "refers to sale.buyer = 'Ann'"],
    ["refers to sales.buyer = 'Ann'", "refers to sale.buyer = 'Ann'"],
    ['the thing refers to order quantity; x', `the thing refers to ${Q}; x`],
    // Behind what is said to be its value.
    ['"Ann" is buyer', '"Ann" is sale.buyer'],
    ["buyer of the thing = 'Ann'", "sale.buyer of the thing = 'Ann'"],
    ["buyer that contains 'Ann'", "sale.buyer that contains 'Ann'"],
    ['both = buyer, sale_id', 'both = sale.buyer, sale._id'],
  ])('%s', (evidence, expected) => {
    expect(rewrite(evidence, SALES).text).toBe(expected);
  });

  it.each([
    'total order quantity = SUM(sale_id) where it counts',
    "If A's buyer > B's buyer, A pays",
    'the body shade < 1998 is a word',
    'the buyer/seller refers to someone',
    'both refers to sale_id, buyer of last year refers to another',
    'all that the Product Name refers to',
    'sum for 2013 - buyer for 2012',
  ])('are no words of a sentence: %s', (evidence) => {
    expect(rewrite(evidence, SALES).text).not.toMatch(
      /product\.|shade\.|sale\.buyer|orderQuantity/,
    );
  });

  it('of several tables: that which the SQL aggregates, or of which it asks no value', () => {
    const sql =
      'SELECT T2.Description, MIN(T1.Price) FROM product AS T1 JOIN category AS T2 ON ' +
      "T1.category_id = T2.id WHERE T1.Description = 'soft' AND T2.Price > 1";
    expect(rewrite('cheapest refers to MIN(Price); kind refers to Description', sql).text).toBe(
      'cheapest refers to the smallest product.Price; kind refers to category.Description',
    );
  });

  it.each(['IN', '='])('that a subquery with %s makes equal need no choice', (operator) => {
    const sql =
      `SELECT COUNT(*) FROM category WHERE id ${operator} ` +
      "(SELECT id FROM product WHERE sold = '2012-01-05')";
    expect(rewrite('number refers to COUNT(id)', sql)).toMatchObject({
      text: 'number refers to the number of category._id',
      unmatched: [],
    });
  });

  it('whose constant gold compares on the other side of a join', () => {
    const sql =
      'SELECT buyer FROM product JOIN sale ON product.id = sale.product_id WHERE product_id = 2';
    const context = { catalog, design, collection: 'product', sql };
    const pipeline = [
      { $match: { _id: 2 } },
      { $lookup: { from: 'sale', localField: '_id', foreignField: 'productId', as: 'sale' } },
    ];
    expect(rewriteEvidence('product_id = 2', { ...context, pipeline }).text).toBe(
      'product._id = 2',
    );
  });
});

describe('uses of paths', () => {
  const uses = (evidence: string, sql: string): string[] =>
    rewrite(evidence, sql).paths.map(({ use }) => use);
  const counts = 'SELECT COUNT(product_id) FROM sale';
  it.each([
    [
      'a quote within the value',
      "buyer = 'O''Hara'",
      `SELECT sale_id FROM sale WHERE buyer = 'O''Hara'`,
      ['used'],
    ],
    [
      'a part of a date',
      'MONTH(sold) = 5',
      "SELECT id FROM product WHERE strftime('%m', sold) = '05'",
      ['used'],
    ],
    [
      'after a year is from the next one on',
      'YEAR(sold) > 2012',
      "SELECT id FROM product WHERE strftime('%Y', sold) > '2012'",
      ['used'],
    ],
    [
      'a range',
      'Order Quantity BETWEEN 5 AND 9',
      'SELECT buyer FROM sale WHERE "Order Quantity" BETWEEN 5 AND 9',
      ['used'],
    ],
    [
      'another bound',
      'Order Quantity > 6',
      'SELECT buyer FROM sale WHERE "Order Quantity" > 5',
      ['source_flaw'],
    ],
    [
      'the largest, by sorting',
      'MAX(Order Quantity)',
      'SELECT buyer FROM sale ORDER BY "Order Quantity" DESC LIMIT 1',
      ['used'],
    ],
    [
      'the largest, where the most frequent is meant',
      'MAX(buyer)',
      'SELECT buyer FROM sale GROUP BY buyer ORDER BY COUNT(buyer) DESC LIMIT 1',
      ['source_flaw'],
    ],
    [
      'one use and one other value',
      "buyer refers to buyer; buyer = 'Bob'",
      "SELECT buyer FROM sale WHERE buyer = 'Ann'",
      ['source_flaw'],
    ],
    [
      'what a value means',
      "buyer = 'Bob' means the son",
      "SELECT buyer FROM sale WHERE buyer = 'Ann'",
      ['used'],
    ],
    [
      'a value of what is calculated',
      'SUM(Order Quantity) > 100',
      'SELECT SUM("Order Quantity") FROM sale',
      ['used'],
    ],
    [
      'an identifier that is counted',
      'number refers to sale_id',
      'SELECT COUNT(sale_id) FROM sale',
      ['used'],
    ],
    ['rows of a table that the SQL does not ask', 'COUNT(category.id)', counts, ['source_flaw']],
  ])('%s: %s', (_, evidence, sql, expected) => {
    expect(uses(evidence, sql)).toEqual(expected);
  });
});
