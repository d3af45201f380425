import type {
  Expression,
  FrameBound,
  FromItem,
  FunctionCall,
  NameReference,
  OrderTerm,
  SelectBody,
  SelectCore,
  SelectStatement,
  WindowDefinition,
} from './ast';
import { quoteName } from '../catalog';

/**
 * Prints a statement with every operator in parentheses, so that its meaning no longer depends on
 * precedence. Names keep their kind of quoting, because SQLite may read `"x"` as a string.
 */
export function printSelect(statement: SelectStatement): string {
  const { recursive, with: tables, body, orderBy, limit, offset } = statement;
  const common = tables.map(({ name, columns, query, materialized }) => {
    const word = materialized ? 'MATERIALIZED ' : 'NOT MATERIALIZED ';
    const hint = materialized === undefined ? '' : word;
    return (
      `${quoteName(name)}${columns ? `(${columns.map(quoteName).join(', ')})` : ''} AS ` +
      `${hint}(${printSelect(query)})`
    );
  });
  return [
    tables.length > 0 && `WITH ${recursive ? 'RECURSIVE ' : ''}${common.join(', ')}`,
    printBody(body),
    orderBy.length > 0 && `ORDER BY ${orderTerms(orderBy)}`,
    limit && `LIMIT ${printExpression(limit)}`,
    offset && `OFFSET ${printExpression(offset)}`,
  ]
    .filter(Boolean)
    .join(' ');
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const list = (items: readonly Expression[]): string => items.map(printExpression).join(', ');

export function printExpression(node: Expression): string {
  switch (node.kind) {
    case 'number':
    case 'parameter':
      return node.text;
    case 'text':
      return text(node.value);
    case 'blob':
      return `x'${node.hex}'`;
    case 'null':
      return 'NULL';
    case 'clock':
      return node.name;
    case 'name':
      return printName(node);
    case 'unary':
      return `(${node.operator} ${printExpression(node.operand)})`;
    case 'binary':
      return `(${printExpression(node.left)} ${node.operator} ${printExpression(node.right)})`;
    case 'collate':
      return `(${printExpression(node.operand)} COLLATE ${quoteName(node.collation)})`;
    case 'nullTest':
      return `(${printExpression(node.operand)} ${node.negated ? 'NOTNULL' : 'ISNULL'})`;
    case 'is':
      return (
        `(${printExpression(node.left)} IS ` +
        `${node.negated ? 'NOT ' : ''}${printExpression(node.right)})`
      );
    case 'pattern': {
      const escape = node.escape ? ` ESCAPE ${printExpression(node.escape)}` : '';
      return (
        `(${printExpression(node.operand)} ${not(node.negated)}${node.operator} ` +
        `${printExpression(node.pattern)}${escape})`
      );
    }
    case 'between':
      return (
        `(${printExpression(node.operand)} ${not(node.negated)}BETWEEN ` +
        `${printExpression(node.low)} AND ${printExpression(node.high)})`
      );
    case 'in':
      return `(${printExpression(node.operand)} ${not(node.negated)}IN ${printSet(node.set)})`;
    case 'case': {
      const branches = node.branches
        .map(({ when, then }) => `WHEN ${printExpression(when)} THEN ${printExpression(then)}`)
        .join(' ');
      const otherwise = node.otherwise ? ` ELSE ${printExpression(node.otherwise)}` : '';
      return `CASE ${node.subject ? `${printExpression(node.subject)} ` : ''}${branches}${otherwise} END`;
    }
    case 'cast':
      return `CAST(${printExpression(node.operand)} AS ${node.type})`;
    case 'exists':
      return `EXISTS (${printSelect(node.query)})`;
    case 'subquery':
      return `(${printSelect(node.query)})`;
    case 'row':
      return `(${list(node.items)})`;
    case 'call':
      return printCall(node);
  }
}

const not = (negated: boolean): string => (negated ? 'NOT ' : '');

function printSet(set: Extract<Expression, { kind: 'in' }>['set']): string {
  if (set.kind === 'list') return `(${list(set.items)})`;
  return set.kind === 'query' ? `(${printSelect(set.query)})` : printFrom(set.source);
}

function printName({ schema, table, name, quote }: NameReference): string {
  const bare = quote === 'none' && /^(true|false)$/i.test(name);
  // A name written as 'x' or "x" keeps double quotes; any other gets quotes that can never mean a
  // string.
  const quoted = quote === '"' || quote === "'" ? quoteName(name) : backtick(name);
  const last = bare ? name : quoted;
  return (
    [schema, table]
      .filter((part) => part !== undefined)
      .map((part) => `${backtick(part)}.`)
      .join('') + last
  );
}
const backtick = (name: string): string => '`' + name.replaceAll('`', '``') + '`';

function printCall({ name, star, distinct, args, orderBy, filter, over }: FunctionCall): string {
  const inner = star
    ? '*'
    : `${distinct ? 'DISTINCT ' : ''}${list(args)}${orderBy.length > 0 ? ` ORDER BY ${orderTerms(orderBy)}` : ''}`;
  const where = filter ? ` FILTER (WHERE ${printExpression(filter)})` : '';
  const window = over
    ? ` OVER ${over.kind === 'named' ? quoteName(over.name) : `(${printWindow(over.window)})`}`
    : '';
  return `${quoteName(name)}(${inner})${where}${window}`;
}

const orderTerms = (terms: readonly OrderTerm[]): string =>
  terms
    .map(
      ({ expression, direction, nulls }) =>
        `${printExpression(expression)} ${direction}${nulls ? ` NULLS ${nulls}` : ''}`,
    )
    .join(', ');

function printWindow({ base, partitionBy, orderBy, frame }: WindowDefinition): string {
  const bound = (b: FrameBound): string =>
    'offset' in b ? `${printExpression(b.offset)} ${b.kind}` : b.kind;
  return [
    base !== undefined && quoteName(base),
    partitionBy.length > 0 && `PARTITION BY ${list(partitionBy)}`,
    orderBy.length > 0 && `ORDER BY ${orderTerms(orderBy)}`,
    frame &&
      `${frame.unit} ${frame.end ? `BETWEEN ${bound(frame.start)} AND ${bound(frame.end)}` : bound(frame.start)}`,
    frame?.exclude && `EXCLUDE ${frame.exclude}`,
  ]
    .filter(Boolean)
    .join(' ');
}

function printFrom(item: FromItem): string {
  const named = (body: string, alias: string | undefined): string =>
    alias === undefined ? body : `${body} AS ${quoteName(alias)}`;
  switch (item.kind) {
    case 'table': {
      const hint = indexHint(item.indexedBy);
      return (
        named(
          (item.schema === undefined ? '' : `${quoteName(item.schema)}.`) + quoteName(item.name),
          item.alias,
        ) + hint
      );
    }
    case 'tableFunction':
      return named(`${quoteName(item.name)}(${list(item.args)})`, item.alias);
    case 'derived':
      return named(`(${printSelect(item.query)})`, item.alias);
    case 'nested':
      return named(`(${printFrom(item.from)})`, item.alias);
    case 'join': {
      const operator =
        item.join === 'COMMA' ? ', ' : ` ${item.natural ? 'NATURAL ' : ''}${item.join} JOIN `;
      const using = item.using ? ` USING (${item.using.map(quoteName).join(', ')})` : '';
      const condition = item.on ? ` ON ${printExpression(item.on)}` : using;
      return printFrom(item.left) + operator + printFrom(item.right) + condition;
    }
  }
}

function printBody(body: SelectBody): string {
  if (body.kind === 'compound')
    return `${printBody(body.left)} ${body.operator} ${printBody(body.right)}`;
  if (body.kind === 'values')
    return `VALUES ${body.rows.map((row) => `(${list(row)})`).join(', ')}`;
  return printCore(body);
}

function printCore({ distinct, items, from, where, groupBy, having, windows }: SelectCore): string {
  const columns = items.map((item) => {
    if (item.kind === 'star')
      return `${item.table === undefined ? '' : `${quoteName(item.table)}.`}*`;
    return (
      printExpression(item.expression) +
      (item.alias === undefined ? '' : ` AS ${quoteName(item.alias)}`)
    );
  });
  return [
    `SELECT ${distinct ? 'DISTINCT ' : ''}${columns.join(', ')}`,
    from && `FROM ${printFrom(from)}`,
    where && `WHERE ${printExpression(where)}`,
    groupBy.length > 0 && `GROUP BY ${list(groupBy)}`,
    having && `HAVING ${printExpression(having)}`,
    windows.length > 0 &&
      `WINDOW ${windows.map(({ name, window }) => `${quoteName(name)} AS (${printWindow(window)})`).join(', ')}`,
  ]
    .filter(Boolean)
    .join(' ');
}

function indexHint(indexedBy: string | null | undefined): string {
  if (indexedBy === undefined) return '';
  return indexedBy === null ? ' NOT INDEXED' : ` INDEXED BY ${quoteName(indexedBy)}`;
}
