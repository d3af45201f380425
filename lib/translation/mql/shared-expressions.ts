import { BSON } from 'mongodb';
import { isDocument, type Mql } from './mql';

/** An expression that a stage writes several times, and reads nothing but the document. */
export interface SharedExpression {
  readonly expression: Mql;
  readonly times: number;
  /** Characters of one of them. */
  readonly size: number;
}

interface Occurrences {
  readonly expression: Mql;
  readonly size: number;
  times: number;
  /** One of them is evaluated for every document: computing it before can raise no new error. */
  isAlways: boolean;
}

/**
 * Expressions that occur more than once in these, the largest first. An expression that is only
 * evaluated under a condition is left: on other documents it could fail.
 */
export function sharedExpressions(within: readonly Mql[]): SharedExpression[] {
  const found = new Map<string, Occurrences>();
  for (const expression of within) collect(expression, true, found);
  return [...found.values()]
    .filter(({ times, isAlways }) => times > 1 && isAlways)
    .sort((a, b) => b.size - a.size);
}

/** The same tree with a path in place of an expression. */
export function replaceExpression(tree: Mql, expression: Mql, path: string): Mql {
  const key = keyOf(expression);
  const walk = (value: Mql): Mql => {
    if (typeof value !== 'object' || value === null) return value;
    if (isOperation(value) && keyOf(value) === key) return path;
    if (Array.isArray(value)) return (value as readonly Mql[]).map(walk);
    if (!isDocument(value) || '$literal' in value) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]));
  };
  return walk(tree);
}

const keyOf = (value: Mql): string => BSON.EJSON.stringify(value, { relaxed: false });

const isOperation = (value: Mql): boolean => {
  if (!isDocument(value)) return false;
  const [name, ...more] = Object.keys(value);
  return name !== undefined && name.startsWith('$') && name !== '$literal' && more.length === 0;
};

function collect(value: Mql, isAlways: boolean, found: Map<string, Occurrences>): void {
  if (typeof value !== 'object' || value === null) return;
  if (isOperation(value) && freeVariables(value).size === 0) {
    const key = keyOf(value);
    const known = found.get(key);
    if (known) {
      known.times++;
      known.isAlways ||= isAlways;
    } else found.set(key, { expression: value, size: key.length, times: 1, isAlways });
  }
  for (const { part, isGuarded } of partsOf(value)) collect(part, isAlways && !isGuarded, found);
}

interface Part {
  readonly part: Mql;
  /** It is evaluated on some documents alone. */
  readonly isGuarded: boolean;
}

const all = (parts: readonly Mql[], isGuarded = false): Part[] =>
  parts.map((part) => ({ part, isGuarded }));
const firstOf = (parts: readonly Mql[]): Part[] =>
  parts.map((part, index) => ({ part, isGuarded: index > 0 }));

/** The operands of an expression; which of them MongoDB may leave out. */
function partsOf(value: Mql): Part[] {
  if (Array.isArray(value)) return all(value as readonly Mql[]);
  if (!isDocument(value)) return [];
  const [[name, operand] = ['', null]] = Object.entries(value);
  if (name === '$literal') return [];
  if (['$cond', '$ifNull', '$and', '$or'].includes(name) && Array.isArray(operand))
    return firstOf(operand as readonly Mql[]);
  if (name === '$switch' && isDocument(operand)) {
    const branches = (operand['branches'] ?? []) as readonly Mql[];
    const tests = branches.flatMap((branch) =>
      isDocument(branch) ? [branch['case'] ?? null] : [],
    );
    const results = branches.flatMap((branch) =>
      isDocument(branch) ? [branch['then'] ?? null] : [],
    );
    return [...firstOf(tests), ...all([...results, operand['default'] ?? null], true)];
  }
  if (['$map', '$filter', '$reduce'].includes(name) && isDocument(operand)) {
    const { input = null, ...rest } = operand;
    return [...all([input]), ...all(Object.values(rest), true)];
  }
  return all(Object.values(value));
}

/** Variables that an expression reads and does not bind itself; `$$NOW` is one for all. */
function freeVariables(value: Mql): Set<string> {
  if (typeof value === 'string') {
    const name = /^\$\$([^.]+)/.exec(value)?.[1];
    return new Set(name === undefined || name === 'NOW' ? [] : [name]);
  }
  if (Array.isArray(value)) return union((value as readonly Mql[]).map(freeVariables));
  if (!isDocument(value) || '$literal' in value) return new Set();
  const [[name, operand] = ['', null]] = Object.entries(value);
  if (!isDocument(operand) || !BINDING.has(name))
    return union(Object.values(value).map(freeVariables));
  if (name === '$let') {
    const vars = isDocument(operand['vars']) ? operand['vars'] : {};
    const inside = freeVariables(operand['in'] ?? null);
    for (const bound of Object.keys(vars)) inside.delete(bound);
    return union([inside, ...Object.values(vars).map(freeVariables)]);
  }
  const { input = null, as = 'this', ...rest } = operand;
  const inside = union(Object.values(rest).map(freeVariables));
  for (const bound of [String(as as string), 'this', 'value']) inside.delete(bound);
  return union([inside, freeVariables(input)]);
}

const BINDING = new Set(['$let', '$map', '$filter', '$reduce']);

const union = (sets: readonly ReadonlySet<string>[]): Set<string> =>
  new Set(sets.flatMap((set) => [...set]));
