import { columnProfile, type Profile } from '../../sqlite/profile/profile';
import { childrenOf } from '../../sqlite/select/bound-walk';
import {
  columnOf,
  type BoundBody,
  type BoundColumn,
  type BoundComparison,
  type BoundExpression,
  type BoundFrom,
  type BoundQuery,
} from '../../sqlite/select/bound';
import { subqueryOf } from '../../sqlite/select/bound-references';
import { columnType, NUMBER, onlyKinds } from '../lower/value-type';

/**
 * Something about the gold SQL that probably is not what its author meant. It is translated as it
 * stands.
 */
export interface SourceDefect {
  readonly kind: 'count_of_else' | 'date_part_as_number' | 'number_as_text' | 'unrelated_join';
  readonly detail: string;
}

export function sourceDefects(query: BoundQuery, profile: Profile): SourceDefect[] {
  const found = new Map<string, SourceDefect>();
  for (const expression of expressionsOf(query)) {
    const defect = defectOf(expression, profile);
    if (defect) found.set(defect.kind + defect.detail, defect);
  }
  return [...found.values()];
}

function defectOf(expression: BoundExpression, profile: Profile): SourceDefect | undefined {
  if (expression.kind === 'aggregate') {
    const [argument] = expression.args;
    if (
      expression.name === 'count' &&
      !expression.distinct &&
      argument?.kind === 'case' &&
      argument.otherwise.kind === 'literal' &&
      argument.otherwise.value !== null
    ) {
      return {
        kind: 'count_of_else',
        detail: 'COUNT(CASE … ELSE value END) counts every row: the ELSE branch is not null',
      };
    }
    return undefined;
  }
  if (expression.kind !== 'compare') return undefined;
  return datePart(expression) ?? numberAsText(expression) ?? unrelatedJoin(expression, profile);
}

function datePart({ left, right, operator }: BoundComparison): SourceDefect | undefined {
  for (const [text, number] of [
    [left, right],
    [right, left],
  ] as const) {
    if (
      text.kind === 'call' &&
      ['strftime', 'date', 'substr'].includes(text.name) &&
      number.kind === 'literal' &&
      (typeof number.value === 'bigint' || typeof number.value === 'number')
    ) {
      const outcomes: Readonly<Record<string, string>> = { '=': 'never true', '<>': 'always true' };
      const outcome =
        outcomes[operator] ?? 'decided by the types alone, text being greater than any number';
      return {
        kind: 'date_part_as_number',
        detail:
          `${text.name}() gives text; compared with the number ${String(number.value)} the ` +
          `condition is ${outcome}`,
      };
    }
  }
  return undefined;
}

// '10' < '9': only the order suffers, equality with the number's text is what was meant.
function numberAsText({
  left,
  right,
  operator,
  affinity,
}: BoundComparison): SourceDefect | undefined {
  if (affinity !== 'TEXT' || operator === '=' || operator === '<>') return undefined;
  const [column, constant] = left.kind === 'column' ? [left, right] : [right, left];
  if (
    column.kind !== 'column' ||
    constant.kind !== 'literal' ||
    typeof constant.value === 'string' ||
    constant.value === null
  )
    return undefined;
  return {
    kind: 'number_as_text',
    detail:
      `${columnOf(column).name} is text: it is compared with ` +
      `${String(constant.value as bigint)} letter by letter`,
  };
}

function unrelatedJoin(
  { left, right, operator }: BoundComparison,
  profile: Profile,
): SourceDefect | undefined {
  if (
    operator !== '=' ||
    left.kind !== 'column' ||
    right.kind !== 'column' ||
    left.source === right.source
  )
    return undefined;
  const a = place(left);
  const b = place(right);
  if (!a || !b) return undefined;
  const related = profile.relationships.some(
    ({ childTable, childColumns, parentTable, parentColumns }) =>
      childColumns.some(
        (column, at) =>
          (childTable === a.table &&
            column === a.column &&
            parentTable === b.table &&
            parentColumns[at] === b.column) ||
          (childTable === b.table &&
            column === b.column &&
            parentTable === a.table &&
            parentColumns[at] === a.column),
      ),
  );
  const [x, y] = [
    columnType(columnProfile(profile, a.table, a.column)),
    columnType(columnProfile(profile, b.table, b.column)),
  ];
  if (related || x.kinds === 0 || y.kinds === 0) return undefined;
  const disjoint =
    onlyKinds(x, NUMBER) &&
    onlyKinds(y, NUMBER) &&
    x.min !== undefined &&
    x.max !== undefined &&
    y.min !== undefined &&
    y.max !== undefined &&
    (x.max < y.min || y.max < x.min);
  return disjoint
    ? {
        kind: 'unrelated_join',
        detail:
          `${a.table}.${a.column} and ${b.table}.${b.column} have no value in common: ` +
          'their ranges do not meet',
      }
    : undefined;
}

const place = (column: BoundColumn): { table: string; column: string } | undefined =>
  column.source.content.kind === 'table'
    ? { table: column.source.content.table.name, column: columnOf(column).name }
    : undefined;

function* expressionsOf(query: BoundQuery): Generator<BoundExpression> {
  yield* inBody(query.body);
  for (const { key } of query.orderBy) if (key.kind === 'expression') yield* within(key.expression);
}

function* inBody(body: BoundBody): Generator<BoundExpression> {
  if (body.kind === 'compound') {
    yield* inBody(body.left);
    yield* inBody(body.right);
  } else if (body.kind === 'select') {
    if (body.from) yield* inFrom(body.from);
    for (const expression of [...body.items.map((item) => item.expression), ...body.groupBy])
      yield* within(expression);
    if (body.where) yield* within(body.where);
    if (body.having) yield* within(body.having);
  }
}

function* inFrom(from: BoundFrom): Generator<BoundExpression> {
  if (from.kind === 'join') {
    yield* inFrom(from.left);
    yield* inFrom(from.right);
    if (from.on) yield* within(from.on);
  } else if (from.source.content.kind === 'query') yield* expressionsOf(from.source.content.query);
}

function* within(expression: BoundExpression): Generator<BoundExpression> {
  yield expression;
  const query = subqueryOf(expression);
  if (query) yield* expressionsOf(query);
  for (const child of childrenOf(expression)) yield* within(child);
}
