import { expect, it } from 'vitest';
import { profiledSource } from '../../design/test/design-fixture';
import { readSql } from './read-sql';
import { textUses, type TextUse } from './text-uses';

const { catalog } = profiledSource(`
CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT, y TEXT, n INTEGER);
CREATE TABLE u (id INTEGER PRIMARY KEY, x TEXT, loose);
CREATE VIEW v AS SELECT id, x AS seen FROM t;`);

/** What a query asks of `t.x`, in short. */
function usesOf(sql: string): string[] {
  return textUses(readSql(sql, catalog).binding.query)
    .filter(({ table, column }) => table === 't' && column === 'x')
    .map(({ use }) => inShort(use));
}

function inShort(use: TextUse): string {
  switch (use.kind) {
    case 'text':
      return `text: ${use.construct}`;
    case 'order':
      return ['order', ...use.beside].join(' ');
    default: {
      const removed = use.removed.map((removal) =>
        removal.kind === 'all' ? removal.text : removal.kind,
      );
      return [use.kind, ...removed].join(' ');
    }
  }
}

it.each<[string, string[]]>([
  ['SELECT x FROM t', ['same']],
  ['SELECT DISTINCT x FROM t GROUP BY x', ['same', 'same']],
  ['SELECT COUNT(x), COUNT(DISTINCT x) FROM t', ['same', 'same']],
  ["SELECT id FROM t WHERE x = '5' OR x <> '6' OR x IS NULL", ['same', 'same', 'same']],
  ['SELECT id FROM t WHERE x = 5', ['same']],
  ["SELECT id FROM t WHERE x IN ('1', 2)", ['same']],
  ['SELECT SUM(x), AVG(x), TOTAL(x) FROM t', ['number', 'number', 'number']],
  ['SELECT x + 1, -x, CAST(x AS REAL), ROUND(x), ABS(x) FROM t', Array(5).fill('number')],
  ['SELECT id FROM t WHERE x', ['number']],
  ['SELECT id FROM t WHERE x > n', ['number']],
  ["SELECT SUM(CASE WHEN y = 'a' THEN x ELSE 0 END) FROM t", ['number']],
  ['SELECT SUM(COALESCE(x, 0)), SUM(IIF(n > 1, x, 0)) FROM t', ['number', 'number']],
  ["SELECT CAST(REPLACE(REPLACE(x, '$', ''), ',', '') AS REAL) FROM t", ['number $ ,']],
  [
    "SELECT REPLACE(x, ',', ''), SUBSTR(x, 2), RTRIM(x, '%') FROM t",
    ['same ,', 'same before', 'same ends'],
  ],
  ['SELECT MIN(x), MAX(x) FROM t ORDER BY x', ['order', 'order', 'order']],
  ["SELECT id FROM t WHERE x BETWEEN '1' AND 20", ['order 1', 'order 20']],
  ['SELECT id, RANK() OVER (PARTITION BY x ORDER BY x) FROM t', ['same', 'order']],
  ["SELECT id FROM t WHERE x LIKE '1%'", ['text: LIKE']],
  [
    "SELECT x || 'a', LENGTH(x), CAST(x AS TEXT) FROM t",
    ['text: ||', 'text: LENGTH()', 'text: CAST AS TEXT'],
  ],
  ["SELECT REPLACE(x, '1', '2'), SUBSTR(x, 1, 2) FROM t", ['text: REPLACE()', 'text: SUBSTR()']],
  ['SELECT COALESCE(x, 0), GROUP_CONCAT(x) FROM t', ['text: COALESCE', 'text: GROUP_CONCAT()']],
  ["SELECT id FROM t WHERE x = '5' COLLATE NOCASE", ['text: a comparison of texts']],
  ['SELECT id FROM t WHERE x = y', ['text: a comparison of texts']],
  ['SELECT x FROM t UNION SELECT y FROM t', ['text: a set operation']],
  ['SELECT id FROM t WHERE x IN (SELECT y FROM t)', ['text: IN']],
  ['SELECT id FROM u WHERE loose IN (SELECT x FROM t)', ['text: IN']],
  ['SELECT (SELECT x FROM t LIMIT 1) + 1', ['number']],
  ['SELECT id FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.x + 1 = u.id)', ['number']],
  // Through derived tables and views: as they are shown there, and as they are used outside.
  ['SELECT SUM(a) FROM (SELECT x AS a FROM t)', ['same', 'number']],
  ['SELECT seen FROM v ORDER BY seen', ['same', 'same', 'order']],
  ["WITH c AS (SELECT x FROM t) SELECT x || '' FROM c", ['same', 'text: ||']],
])('%s', (sql, uses) => {
  expect(usesOf(sql).sort()).toEqual([...uses].sort());
});
