import type { Document } from 'mongodb';
import type { FunctionCall, Span } from '../../sqlite/select/ast';
import { parseSelect } from '../../sqlite/select/parse-select';
import { SqlSyntaxError } from '../../sqlite/select/syntax-error';
import { isDocument, type Mql } from '../mql/mql';

/**
 * The clock stands still while gold runs: SQL and MQL say "now", and both get this moment in its
 * place, so that the rows are the same in any year. `clock` is an ISO time with a zone, e.g.
 * `2026-01-01T00:00:00Z`.
 */
export function pinSql(sql: string, clock: string): string {
  const found: (Span & { readonly text: string })[] = [];
  let tree: unknown;
  try {
    tree = parseSelect(sql);
  } catch (error) {
    // What cannot be parsed does not run either: SQLite says why.
    if (error instanceof SqlSyntaxError) return sql;
    throw error;
  }
  const at = momentText(clock);
  visit(tree, (node) => {
    if (node.kind === 'clock')
      found.push({
        ...node,
        text: `'${{ CURRENT_DATE: at.slice(0, 10), CURRENT_TIME: at.slice(11, 19), CURRENT_TIMESTAMP: at.slice(0, 19) }[node.name]}'`,
      });
    else if (isDateCall(node)) found.push(...pinnedCall(node, sql, at));
  });
  return found
    .sort((a, b) => b.start - a.start)
    .reduce(
      (text, { start, end, text: pinned }) => text.slice(0, start) + pinned + text.slice(end),
      sql,
    );
}

/** The pipeline with the moment in place of every `$$NOW`. */
export function pinPipeline(pipeline: readonly Document[], clock: string): Document[] {
  const now = new Date(clock);
  const inStage = (key: string, inner: unknown): unknown => {
    if (key === '$literal') return inner;
    return key === '$match' ? predicate(inner as Mql) : expression(inner);
  };
  const inPredicate = (key: string, inner: Mql): unknown => {
    if (key === '$expr') return expression(inner);
    return ['$and', '$or', '$nor'].includes(key) ? predicate(inner) : inner;
  };
  const expression = (value: unknown): unknown => {
    if (value === '$$NOW') return now;
    if (Array.isArray(value)) return value.map(expression);
    if (!isDocument(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, inStage(key, inner)]),
    );
  };
  // In a predicate a text is a text, whatever it looks like; only $expr evaluates.
  const predicate = (value: Mql): unknown => {
    if (Array.isArray(value)) return (value as readonly Mql[]).map(predicate);
    if (!isDocument(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, inPredicate(key, inner)]),
    );
  };
  return pipeline.map((stage) => expression(stage) as Document);
}

const DATE_FUNCTIONS = ['strftime', 'date', 'time', 'datetime', 'julianday', 'unixepoch'];

type Node =
  | ({
      readonly kind: 'clock';
      readonly name: 'CURRENT_DATE' | 'CURRENT_TIME' | 'CURRENT_TIMESTAMP';
    } & Span)
  | FunctionCall;
const isDateCall = (node: Node): node is FunctionCall =>
  node.kind === 'call' && DATE_FUNCTIONS.includes(node.name.toLowerCase());

/**
 * `date('now')` and, with the argument left out, `date()`:
 * https://www.sqlite.org/lang_datefunc.html.
 */
function pinnedCall(
  { name, args, start, end }: FunctionCall,
  sql: string,
  at: string,
): readonly (Span & { readonly text: string })[] {
  const place = name.toLowerCase() === 'strftime' ? 1 : 0;
  const value = args[place];
  if (value)
    return value.kind === 'text' && value.value.toLowerCase() === 'now'
      ? [{ start: value.start, end: value.end, text: `'${at}'` }]
      : [];
  const format = args[0];
  if (place === 1) return format ? [{ start: format.end, end: format.end, text: `, '${at}'` }] : [];
  const open = sql.indexOf('(', start) + 1;
  return open > 0 && open < end ? [{ start: open, end: open, text: `'${at}'` }] : [];
}

// SQLite's text of the moment, in UTC.
const momentText = (clock: string): string =>
  new Date(clock).toISOString().replace('T', ' ').replace('Z', '');

function visit(value: unknown, found: (node: Node) => void): void {
  if (value === null || typeof value !== 'object') return;
  const kind = (value as { kind?: unknown }).kind;
  if (kind === 'clock' || kind === 'call') found(value as Node);
  for (const inner of Object.values(value)) visit(inner, found);
}
