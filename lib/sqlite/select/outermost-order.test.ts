import { describe, expect, it, test } from 'vitest';
import { benchmarkData } from './test/benchmark-fixture';
import { isOutermostOrdered } from './outermost-order';
import { parseSelect } from './parse-select';
import { SqlSyntaxError } from './syntax-error';

test.each([
  ['SELECT a FROM t ORDER BY a', true],
  ['SELECT a FROM t ORDER /* why */ BY a', true],
  ['SELECT a FROM t order\n-- by\nby a LIMIT 1', true],
  ['SELECT a FROM t UNION SELECT b FROM u ORDER BY 1', true],
  ['WITH c AS (SELECT a FROM t) SELECT a FROM c ORDER BY a', true],
  ['SELECT rank() OVER (ORDER BY age) FROM t', false],
  ['SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY a)', false],
  ['SELECT a FROM (SELECT a FROM t ORDER BY a)', false],
  ['SELECT a FROM t WHERE a IN (SELECT b FROM u ORDER BY b LIMIT 1)', false],
  ['WITH c AS (SELECT a FROM t ORDER BY a) SELECT a FROM c', false],
  ["SELECT a FROM t WHERE a = 'x ORDER BY y'", false],
  ['SELECT a AS "order by" FROM t', false],
  ['SELECT a FROM t -- ORDER BY a', false],
  ['SELECT a FROM t /* ORDER BY a */', false],
  ['SELECT "order", [by] FROM t', false],
  ['PIVOT t ORDER BY a', true],
  ["SELECT 'never closed ORDER BY a", false],
])('%s: %s', (sql, ordered) => {
  expect(isOutermostOrdered(sql)).toBe(ordered);
});

const data = benchmarkData();
describe.skipIf(!data)('gold queries of BIRD and Spider', () => {
  it('agree with the parser', () => {
    const differing = data!.items.filter(({ sql }) => {
      try {
        return parseSelect(sql).orderBy.length > 0 !== isOutermostOrdered(sql);
      } catch (error) {
        if (error instanceof SqlSyntaxError) return false;
        throw error;
      }
    });
    expect(differing).toEqual([]);
  });
});
