import type { Catalog } from '../lib/sqlite/catalog';
import { sameName } from '../lib/sqlite/catalog';
import type {
  Expression,
  FromItem,
  SelectBody,
  SelectCore,
  SelectStatement,
} from '../lib/sqlite/select/ast';
import { parseSelect } from '../lib/sqlite/select/parse-select';
import { printExpression } from '../lib/sqlite/select/print-select';
import { runnableSql } from '../lib/sqlite/select/runnable-sql';

/**
 * SQL as @synatic/noql wants it, by the rules that its error messages ask for: names in the case of
 *   the schema and in backticks, columns of joins qualified, joined tables unwound, strings in single
 *   quotes, every calculated column named, `INNER JOIN … ON` for commas, sort keys and groups'
 *   conditions among the columns, BETWEEN as two comparisons, no CAST to REAL. Everything else stays
 *   as it is.
 */
export function repairForPeer(sql: string, catalog: Catalog): string {
  return new Repair(catalog).statement(parseSelect(runnableSql(sql, catalog)));
}

const tick = (name: string): string => `\`${name}\``;

class Repair {
  private scopes: { readonly alias: string; readonly table: string }[][] = [];
  private named = 0;

  constructor(private readonly catalog: Catalog) {}

  statement({ with: tables, body, orderBy, limit, offset }: SelectStatement): string {
    const common =
      tables.length > 0
        ? `WITH ${tables.map(({ name, query }) => `${name} AS (${this.statement(query)})`).join(', ')} `
        : '';
    const names = new Map<string, string>();
    const { text, order } = this.body(body, names, orderBy);
    const ordered = order.length > 0 ? ` ORDER BY ${order.join(', ')}` : '';
    return `${common}${text}${ordered}${limit ? ` LIMIT ${printExpression(limit)}` : ''}${offset ? ` OFFSET ${printExpression(offset)}` : ''}`;
  }

  private body(
    body: SelectBody,
    names: Map<string, string>,
    orderBy: SelectStatement['orderBy'],
  ): { text: string; order: string[] } {
    if (body.kind === 'values') throw new Error('VALUES');
    if (body.kind === 'compound') {
      const left = this.body(body.left, new Map(), []);
      const right = this.body(body.right, new Map(), []);
      return {
        text: `${left.text} ${body.operator} ${right.text}`,
        order: orderBy.map(
          ({ expression, direction }) => `${this.expression(expression)} ${direction}`,
        ),
      };
    }
    return this.select(body, names, orderBy);
  }

  private select(
    core: SelectCore,
    names: Map<string, string>,
    orderBy: SelectStatement['orderBy'],
  ): { text: string; order: string[] } {
    const sources: { alias: string; table: string }[] = [];
    collect(core.from, sources, this.catalog);
    this.scopes.push(sources);
    const conditions: Expression[] = conjuncts(core.where);
    const from = core.from ? ` FROM ${this.from(core.from, conditions)}` : '';
    const items = core.items.map((item) => {
      if (item.kind === 'star') return item.table === undefined ? '*' : `${item.table}.*`;
      const text = this.expression(item.expression);
      const alias =
        item.alias ?? (item.expression.kind === 'name' ? undefined : `c${String(++this.named)}`);
      if (alias !== undefined) names.set(text, alias);
      return alias === undefined ? text : `${text} AS ${tick(alias)}`;
    });
    const order = orderBy.map(({ expression, direction }) => {
      const text = this.expression(expression);
      if (expression.kind === 'name' || expression.kind === 'number') return `${text} ${direction}`;
      if (!names.has(text)) {
        const alias = `c${String(++this.named)}`;
        names.set(text, alias);
        items.push(`${text} AS ${tick(alias)}`);
      }
      return `${tick(names.get(text) ?? '')} ${direction}`;
    });
    const where = core.where ? ` WHERE ${this.expression(core.where)}` : '';
    const group =
      core.groupBy.length > 0
        ? ` GROUP BY ${core.groupBy.map((key) => this.expression(key)).join(', ')}`
        : '';
    const having = core.having ? ` HAVING ${this.groupCondition(core.having, names, items)}` : '';
    this.scopes.pop();
    return {
      text: `SELECT ${core.distinct ? 'DISTINCT ' : ''}${items.join(', ')}${from}${where}${group}${having}`,
      order,
    };
  }

  /** HAVING may only name what is selected. */
  private groupCondition(having: Expression, names: Map<string, string>, items: string[]): string {
    const text = this.expression(having);
    if (having.kind !== 'binary' || having.left.kind !== 'call') return text;
    const call = this.expression(having.left);
    if (!names.has(call)) {
      const alias = `c${String(++this.named)}`;
      names.set(call, alias);
      items.push(`${call} AS ${tick(alias)}`);
    }
    return (
      `${tick(names.get(call) ?? '')} ${having.operator === '<>' ? '!=' : having.operator} ` +
      `${this.expression(having.right)}`
    );
  }

  private from(item: FromItem, conditions: readonly Expression[]): string {
    switch (item.kind) {
      case 'table': {
        const table =
          this.catalog.tables.find(({ name }) => sameName(name, item.name))?.name ?? item.name;
        return item.alias === undefined ? tick(table) : `${tick(table)} AS ${tick(item.alias)}`;
      }
      case 'derived':
        return (
          `(${this.statement(item.query)}) AS ` +
          `${tick(item.alias ?? `t${String(++this.named)}`)}`
        );
      case 'join': {
        // Without this hint what is joined stays an array.
        const right =
          `${item.right.kind === 'table' && item.right.alias === undefined ? `${this.from(item.right, conditions)} AS ${this.from(item.right, conditions)}` : this.from(item.right, conditions)}`.replace(
            /`$/,
            '|unwind`',
          );
        const aliases: { alias: string; table: string }[] = [];
        collect(item.right, aliases, this.catalog);
        const linked =
          item.on ??
          conditions.find(
            (condition) =>
              condition.kind === 'binary' &&
              condition.operator === '=' &&
              [condition.left, condition.right].every(({ kind }) => kind === 'name') &&
              aliases.some(({ alias }) =>
                printExpression(condition).toLowerCase().includes(`\`${alias.toLowerCase()}\``),
              ),
          );
        const on = linked ? ` ON ${this.expression(linked)}` : '';
        return (
          `${this.from(item.left, conditions)} ${item.join === 'LEFT' ? 'LEFT' : 'INNER'} ` +
          `JOIN ${right}${on}`
        );
      }
      default:
        throw new Error(`no repair for ${item.kind}`);
    }
  }

  private expression(node: Expression): string {
    const inner = (operand: Expression): string => this.expression(operand);
    switch (node.kind) {
      case 'name':
        return this.name(node.table, node.name);
      case 'binary': {
        const text =
          `${inner(node.left)} ${node.operator === '<>' ? '!=' : node.operator} ` +
          `${inner(node.right)}`;
        return node.operator === 'AND' ? text : `(${text})`;
      }
      case 'unary':
        return `${node.operator} ${inner(node.operand)}`;
      case 'nullTest':
        return `${inner(node.operand)} IS ${node.negated ? 'NOT ' : ''}NULL`;
      case 'pattern':
        return (
          `${inner(node.operand)} ${node.negated ? 'NOT ' : ''}${node.operator} ` +
          `${inner(node.pattern)}`
        );
      case 'between':
        if (node.negated)
          return (
            `(${inner(node.operand)} < ${inner(node.low)} OR ${inner(node.operand)} > ` +
            `${inner(node.high)})`
          );
        return (
          `(${inner(node.operand)} >= ${inner(node.low)} AND ${inner(node.operand)} <= ` +
          `${inner(node.high)})`
        );
      case 'in': {
        const query = node.set.kind === 'query' ? this.statement(node.set.query) : '';
        const set = node.set.kind === 'list' ? node.set.items.map(inner).join(', ') : query;
        return `${inner(node.operand)} ${node.negated ? 'NOT ' : ''}IN (${set})`;
      }
      case 'case':
        return `CASE ${node.branches.map(({ when, then }) => `WHEN ${node.subject ? `${inner(node.subject)} = ` : ''}${inner(when)} THEN ${inner(then)}`).join(' ')}${node.otherwise ? ` ELSE ${inner(node.otherwise)}` : ''} END`;
      case 'cast':
        // Its division is one of reals in any case, and a cast inside an expression is beyond it.
        return /real|double|float/i.test(node.type)
          ? inner(node.operand)
          : `CAST(${inner(node.operand)} AS ${/int/i.test(node.type) ? 'INT' : node.type})`;
      case 'call':
        return `${node.name.toUpperCase()}(${node.star ? '*' : `${node.distinct ? 'DISTINCT ' : ''}${node.args.map(inner).join(', ')}`})`;
      case 'subquery':
        return `(${this.statement(node.query)})`;
      case 'exists':
        return `EXISTS (${this.statement(node.query)})`;
      case 'number':
        return node.text;
      default:
        return printExpression(node);
    }
  }

  private name(table: string | undefined, name: string): string {
    for (const sources of [...this.scopes].reverse()) {
      for (const source of sources) {
        if (table !== undefined && !sameName(source.alias, table)) continue;
        const column = this.catalog.tables
          .find((entry) => sameName(entry.name, source.table))
          ?.columns.find((entry) => sameName(entry.name, name));
        if (column)
          return sources.length > 1 || table !== undefined
            ? `${tick(source.alias)}.${tick(column.name)}`
            : tick(column.name);
      }
    }
    return table === undefined ? tick(name) : `${tick(table)}.${tick(name)}`;
  }
}

function collect(
  item: FromItem | undefined,
  into: { alias: string; table: string }[],
  catalog: Catalog,
): void {
  if (item?.kind === 'join') {
    collect(item.left, into, catalog);
    collect(item.right, into, catalog);
  } else if (item?.kind === 'table') {
    const table = catalog.tables.find(({ name }) => sameName(name, item.name))?.name ?? item.name;
    into.push({ alias: item.alias ?? table, table });
  }
}

const conjuncts = (expression: Expression | undefined): Expression[] => {
  if (expression === undefined) return [];
  return expression.kind === 'binary' && expression.operator === 'AND'
    ? [...conjuncts(expression.left), ...conjuncts(expression.right)]
    : [expression];
};
