import type { Catalog } from '../../sqlite/catalog';
import type { SelectStatement } from '../../sqlite/select/ast';
import { printExpression, printSelect } from '../../sqlite/select/print-select';
import { runnableSql } from '../../sqlite/select/runnable-sql';
import { tryReadSql } from '../../sqlite/select/read-sql';

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
  /**
   * DISTINCT sorted by what it does not return: a row of the result stands for several rows here,
   * one for each of its sort keys.
   */
  readonly isHidden: boolean;
}

/**
 * Undefined where the sort keys cannot be read off: a LIMIT that is no number, or DISTINCT over
 * texts that a collation treats as equal, sorted by what it does not return.
 */
export function keyedSql(sql: string, catalog: Catalog): KeyedSql | undefined {
  const runnable = runnableSql(sql, catalog);
  const read = tryReadSql(runnable, catalog);
  if (!read) return undefined;
  const { statement } = read;
  const { query } = read.binding;
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
    isHidden: false,
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
    else {
      keys.push(width + items.length - body.items.length);
      items.push({ kind: 'expression', expression, alias: `key?${items.length}`, text: '' });
    }
  }
  const isHidden = body.distinct && items.length > body.items.length;
  if (isHidden && query.columns.some(({ collation }) => collation !== 'BINARY')) return undefined;
  const keyed = printSelect({ ...rest, body: { ...body, items }, orderBy });
  return { ...common, sql: keyed, keys, isHidden };
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
