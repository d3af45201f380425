import Database from 'better-sqlite3';
import type { BoundExpression, BoundLiteral } from '../../sqlite/select/bound';
import { replaceIn, walkBound } from '../../sqlite/select/bound-walk';

/**
 * Functions that give the same for the same arguments: https://www.sqlite.org/deterministic.html.
 */
const FIXED = new Set([
  'date',
  'time',
  'datetime',
  'julianday',
  'unixepoch',
  'strftime',
  'substr',
  'substring',
  'lower',
  'upper',
  'length',
  'replace',
  'instr',
  'trim',
  'ltrim',
  'rtrim',
  'hex',
  'printf',
  'format',
  'char',
  'unicode',
]);
const OF_THE_MOMENT = /^(now|localtime|utc|auto|subsec(ond)?)$/i;
const DATES = new Set(['date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime']);

/**
 * The tree with `date('1980-01-01', '+1 year')` and `'a' || 'b'` worked out by SQLite. A value can
 * be compared by a plain predicate; and a server that works constants out beforehand fails on
 * conversions in branches that are never taken.
 */
export function withConstantCalls<T>(tree: T): T {
  for (let folded = tree; ;) {
    const found = new Map<object, BoundLiteral>();
    walkBound(folded, (node) => {
      const call = fixedCall(node);
      const value = call && valueOf(call);
      if (value !== undefined) found.set(node, { kind: 'literal', value });
    });
    if (found.size === 0) return folded;
    folded = replaceIn(folded, found);
  }
}

interface FixedCall {
  readonly sql: string;
  readonly args: readonly BoundLiteral[];
}

function fixedCall(node: object): FixedCall | undefined {
  const expression = node as BoundExpression;
  if (expression.kind === 'concat') {
    const args = [expression.left, expression.right];
    return args.every((arg) => arg.kind === 'literal') ? { sql: '? || ?', args } : undefined;
  }
  if (expression.kind !== 'call' || !FIXED.has(expression.name)) return undefined;
  const { name, args } = expression;
  if (!args.every((arg) => arg.kind === 'literal')) return undefined;
  // Without a moment it is now.
  if (DATES.has(name) && args.length < (name === 'strftime' ? 2 : 1)) return undefined;
  if (
    DATES.has(name) &&
    args.some(({ value }) => typeof value === 'string' && OF_THE_MOMENT.test(value.trim()))
  )
    return undefined;
  return { sql: `${name}(${args.map(() => '?').join(', ')})`, args };
}

let sqlite: Database.Database | undefined;

function valueOf({ sql, args }: FixedCall): BoundLiteral['value'] | undefined {
  sqlite ??= new Database(':memory:');
  try {
    const value = sqlite
      .prepare(`SELECT ${sql}`)
      .pluck()
      .safeIntegers()
      .get(...args.map((arg) => arg.value)) as BoundLiteral['value'];
    return typeof value === 'object' && value !== null ? undefined : value;
  } catch {
    // A call that SQLite refuses stays: the query will say so.
    return undefined;
  }
}
