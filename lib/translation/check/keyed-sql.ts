import type { Catalog } from '../../sqlite/catalog';
import { bindSelect } from '../../sqlite/select/bind';
import type { BoundQuery } from '../../sqlite/select/bound';
import type { SelectStatement } from '../../sqlite/select/ast';
import { parseSelect } from '../../sqlite/select/parse-select';
import { printExpression, printSelect } from '../../sqlite/select/print-select';
import { runnableSql } from '../../sqlite/select/runnable-sql';
import { SqlBindError } from '../../sqlite/select/bind-error';
import { SqlSyntaxError } from '../../sqlite/select/syntax-error';

/**
 * A query without its LIMIT whose rows end with the values it is sorted by: what tells a tie from
 * an order.
 */
export interface KeyedSql {
  readonly sql: string;
  /** Result columns of the original query. */
  readonly width: number;
  /** Positions of the sort keys in the rows. */
  readonly keys: readonly number[];
  readonly limit: number | undefined;
  readonly offset: number;
  readonly ordered: boolean;
  /** Null comes before every other value of the first sort key. */
  readonly nullsFirst: boolean;
}

/** Undefined where the sort keys cannot be read off: DISTINCT sorted by what it does not return. */
export function keyedSql(sql: string, catalog: Catalog): KeyedSql | undefined {
  const runnable = runnableSql(sql, catalog);
  let statement: SelectStatement;
  let query: BoundQuery;
  try {
    statement = parseSelect(runnable);
    ({ query } = bindSelect(statement, catalog));
  } catch (error) {
    if (error instanceof SqlSyntaxError || error instanceof SqlBindError) return undefined;
    throw error;
  }
  const { body, orderBy, limit, offset, ...rest } = statement;
  const bounds = [constant(limit), constant(offset)];
  if ((limit && bounds[0] === undefined) || (offset && bounds[1] === undefined)) return undefined;
  const width = query.columns.length;
  const nullsFirst = query.orderBy[0]?.nulls === 'FIRST';
  const common = {
    width,
    limit: bounds[0],
    offset: bounds[1] ?? 0,
    ordered: orderBy.length > 0,
    nullsFirst,
  };
  if (orderBy.length === 0)
    return { ...common, sql: printSelect({ ...rest, body, orderBy }), keys: [] };

  if (body.kind !== 'select') {
    // A compound is sorted by what it returns.
    const keys = query.orderBy.flatMap(({ key }) => (key.kind === 'column' ? [key.index] : []));
    return { ...common, sql: printSelect({ ...rest, body, orderBy }), keys };
  }
  const items = [...body.items];
  const keys: number[] = [];
  for (const { expression } of orderBy) {
    const at = outputPosition(expression, body.items, width);
    if (at !== undefined) keys.push(at);
    else if (body.distinct) return undefined;
    else {
      keys.push(width + items.length - body.items.length);
      items.push({ kind: 'expression', expression, alias: `key?${items.length}`, text: '' });
    }
  }
  return { ...common, sql: printSelect({ ...rest, body: { ...body, items }, orderBy }), keys };
}

type Items = Extract<SelectStatement['body'], { kind: 'select' }>['items'];

/** `ORDER BY 2`, and `ORDER BY alias`: the result column that is meant. */
function outputPosition(
  expression: SelectStatement['orderBy'][number]['expression'],
  items: Items,
  width: number,
): number | undefined {
  if (items.some((item) => item.kind === 'star')) return undefined;
  if (expression.kind === 'number' && /^\d+$/.test(expression.text)) {
    const at = Number(expression.text) - 1;
    return at >= 0 && at < width ? at : undefined;
  }
  const named =
    expression.kind === 'name' && expression.table === undefined
      ? items.findIndex(
          (item) =>
            item.kind === 'expression' &&
            item.alias?.toLowerCase() === expression.name.toLowerCase(),
        )
      : -1;
  if (named >= 0) return named;
  const text = printExpression(expression).toLowerCase();
  const same = items.findIndex(
    (item) => item.kind === 'expression' && printExpression(item.expression).toLowerCase() === text,
  );
  return same < 0 ? undefined : same;
}

const constant = (expression: SelectStatement['limit']): number | undefined =>
  expression?.kind === 'number' && /^\d+$/.test(expression.text)
    ? Number(expression.text)
    : undefined;
