import { hasAggregate } from './bound-references';
import { findTable, sameName, type Catalog, type View } from '../catalog';
import type {
  Expression,
  FromItem,
  FunctionCall,
  InExpression,
  NameReference,
  OrderTerm,
  SelectBody,
  SelectCore,
  SelectItem,
  SelectStatement,
  Span,
  WindowDefinition,
} from './ast';
import { SqlBindError } from './bind-error';
import type {
  Binding,
  BoundBody,
  BoundExpression,
  BoundFrame,
  BoundFrom,
  BoundItem,
  BoundOrder,
  BoundOutput,
  BoundQuery,
  BoundSelect,
  BoundSource,
  BoundWindow,
  CompareOperator,
} from './bound';
import {
  affinityOfExpression,
  castAffinity,
  collationOfExpression,
  comparisonAffinity,
  comparisonCollation,
  outputOf,
} from './expression-type';
import { isAggregateName } from './function-names';
import { numberValue } from './literal';
import { parseSelect } from './parse-select';
import { Scope, type CommonTableEntry } from './scope';

/**
 * Binds a parsed SELECT to a schema. Throws `SqlBindError` where a table or column does not exist
 * or a name is ambiguous; a double-quoted name that nothing answers to is a string, as in SQLite.
 */
export function bindSelect(statement: SelectStatement, catalog: Catalog): Binding {
  const binder = new Binder(catalog);
  const query = binder.statement(statement, undefined, []);
  return { query, strings: binder.strings, queries: binder.queries, selects: binder.selects };
}

interface SelectNames {
  readonly columns: readonly BoundOutput[];
}

/**
 * The ON of an inner join, bound once all sources of its FROM are known; `names` are those of
 * USING.
 */
interface PendingCondition {
  readonly join: { on: BoundExpression | undefined };
  readonly names: readonly BoundExpression[];
  readonly on: Expression;
}

function hasRightJoin(item: FromItem): boolean {
  if (item.kind === 'nested') return hasRightJoin(item.from);
  if (item.kind !== 'join') return false;
  return (
    item.join === 'RIGHT' ||
    item.join === 'FULL' ||
    hasRightJoin(item.left) ||
    hasRightJoin(item.right)
  );
}

const TRUE_OR_FALSE = /^(true|false)$/i;

class Binder {
  readonly strings: (Span & { readonly value: string })[] = [];
  readonly queries = new Map<SelectStatement, BoundQuery>();
  readonly selects = new Map<SelectCore, BoundSelect>();
  /** Named windows of the SELECT that is being bound. */
  private windows: SelectCore['windows'] = [];
  /** Aliases that are being resolved, so that `SELECT x + 1 AS x … WHERE x` cannot loop. */
  private readonly resolving = new Set<Expression>();

  constructor(
    private readonly catalog: Catalog,
    private readonly openViews = new Set<View>(),
    private nextSource = 0,
  ) {}

  statement(
    statement: SelectStatement,
    parent: Scope | undefined,
    inherited: readonly CommonTableEntry[],
  ): BoundQuery {
    const commonTables = [...inherited];
    const shell = new Scope(parent, commonTables);
    for (const table of statement.with) commonTables.push(this.commonTable(table, shell));
    const scope = new Scope(shell, []);
    const { body, columns } = this.body(statement.body, scope);
    const orderBy = statement.orderBy.map((term) =>
      this.queryOrder(term, statement.body, body, columns, scope),
    );
    const bound = (expression: Expression | undefined): BoundExpression | undefined =>
      expression && this.expression(expression, shell);
    const limit = bound(statement.limit);
    const offset = bound(statement.offset);
    const outer = [...new Set([...scope.outer, ...shell.outer])];
    const query = {
      body,
      orderBy,
      ...(limit && { limit }),
      ...(offset && { offset }),
      columns,
      outer,
    };
    this.queries.set(statement, query);
    return query;
  }

  private commonTable(
    { name, columns, query }: SelectStatement['with'][number],
    scope: Scope,
  ): CommonTableEntry {
    let open: CommonTableEntry['open'] | undefined;
    const self = (): ReturnType<CommonTableEntry['open']> => ({
      kind: 'recursive',
      name,
      columns: this.recursiveColumns(name, columns, query, scope),
    });
    return {
      name,
      open: () => {
        if (open) return open();
        open = self;
        const inner: CommonTableEntry[] = [{ name, open: self }];
        const bound = this.statement(query, scope, inner);
        const renamed = columns
          ? bound.columns.map((column, index) => ({
              ...column,
              name: columns[index] ?? column.name,
            }))
          : bound.columns;
        open = () => ({ kind: 'query', query: bound, columns: renamed });
        return open();
      },
    };
  }

  // The first part of a recursive common table does not refer to itself and so gives the columns.
  private recursiveColumns(
    name: string,
    names: readonly string[] | undefined,
    query: SelectStatement,
    scope: Scope,
  ): BoundOutput[] {
    let first = query.body;
    while (first.kind === 'compound') first = first.left;
    if (first === query.body) throw new SqlBindError('unsupported', `circular reference: ${name}`);
    const { columns } = this.body(first, new Scope(scope, []));
    return columns.map((column, index) => ({ ...column, name: names?.[index] ?? column.name }));
  }

  private body(body: SelectBody, scope: Scope): { body: BoundBody } & SelectNames {
    switch (body.kind) {
      case 'select':
        return this.select(body, scope);
      case 'values': {
        const rows = body.rows.map((row) => row.map((cell) => this.expression(cell, scope)));
        const columns = (rows[0] ?? []).map((cell, index) =>
          outputOf(`column${String(index + 1)}`, cell),
        );
        return { body: { kind: 'values', rows }, columns };
      }
      case 'compound': {
        const left = this.body(body.left, this.sibling(scope));
        const right = this.body(body.right, this.sibling(scope));
        if (left.columns.length !== right.columns.length) {
          throw new SqlBindError(
            'misplaced',
            `the SELECTs to the left and right of ${body.operator} do not have the same number ` +
              'of result columns',
          );
        }
        return {
          body: { kind: 'compound', operator: body.operator, left: left.body, right: right.body },
          columns: left.columns,
        };
      }
    }
  }

  // The parts of a compound do not see each other's tables.
  private sibling(scope: Scope): Scope {
    return new Scope(scope, []);
  }

  private select(core: SelectCore, scope: Scope): { body: BoundSelect } & SelectNames {
    const outerWindows = this.windows;
    this.windows = core.windows;
    const from = core.from && this.from(core.from, scope);
    scope.aliases = core.items.flatMap((item) =>
      item.kind === 'expression' && item.alias !== undefined
        ? [{ name: item.alias, expression: item.expression }]
        : [],
    );
    const items = core.items.flatMap((item) => this.item(item, scope));
    const where = core.where && this.expression(core.where, scope);
    const groupBy = core.groupBy.map((term) => this.groupTerm(term, items, scope));
    const having = core.having && this.expression(core.having, scope);
    this.windows = outerWindows;
    const aggregated =
      groupBy.length > 0 ||
      having !== undefined ||
      items.some((item) => hasAggregate(item.expression));
    const body: BoundSelect = {
      kind: 'select',
      distinct: core.distinct,
      from,
      where,
      groupBy,
      having,
      items,
      aggregated,
    };
    this.selects.set(core, body);
    return {
      body,
      columns: items.map(({ name, expression }) => outputOf(name, expression)),
    };
  }

  private item(item: SelectItem, scope: Scope): BoundItem[] {
    if (item.kind === 'star') return this.star(item.table, scope);
    const expression = this.expression(item.expression, scope);
    if (item.alias !== undefined) return [{ name: item.alias, expression }];
    if (expression.kind === 'column')
      return [{ name: expression.source.columns[expression.index]?.name ?? item.text, expression }];
    return [{ name: item.text, expression }];
  }

  private star(table: string | undefined, scope: Scope): BoundItem[] {
    const sources = scope.sources.filter(
      (source) => table === undefined || sameName(source.name, table),
    );
    if (sources.length === 0)
      throw new SqlBindError(
        'unknown_table',
        table === undefined ? 'no tables specified' : `no such table: ${table}`,
      );
    const items: BoundItem[] = [];
    const named = new Set<string>();
    for (const source of sources) {
      source.columns.forEach((column, index) => {
        const shared =
          table === undefined
            ? scope.shared.find((entry) => sameName(entry.name, column.name))
            : undefined;
        if (!shared)
          items.push({ name: column.name, expression: { kind: 'column', source, index } });
        else if (!named.has(shared.name.toLowerCase())) {
          named.add(shared.name.toLowerCase());
          items.push({ name: column.name, expression: shared.expression });
        }
      });
    }
    return items;
  }

  // GROUP BY 2 and GROUP BY alias; a column of the sources goes before an alias.
  private groupTerm(term: Expression, items: readonly BoundItem[], scope: Scope): BoundExpression {
    return this.positional(term, items) ?? this.expression(term, scope);
  }

  private positional(term: Expression, items: readonly BoundItem[]): BoundExpression | undefined {
    if (term.kind !== 'number' || !/^\d+$/.test(term.text)) return undefined;
    const item = items[Number(term.text) - 1];
    if (!item)
      throw new SqlBindError(
        'misplaced',
        `term ${term.text} is out of range - should be between 1 and ${String(items.length)}`,
        term,
      );
    return item.expression;
  }

  private queryOrder(
    term: OrderTerm,
    ast: SelectBody,
    body: BoundBody,
    columns: readonly BoundOutput[],
    scope: Scope,
  ): BoundOrder {
    const { collation, inner } = splitCollation(term.expression);
    if (body.kind === 'select') {
      const alias =
        inner.kind === 'name' && inner.table === undefined
          ? scope.aliases.find((entry) => sameName(entry.name, inner.name))
          : undefined;
      const expression =
        (alias ? this.expression(alias.expression, scope) : this.positional(inner, body.items)) ??
        this.expression(inner, scope);
      return ordered(
        term,
        { kind: 'expression', expression },
        collation ?? collationOfExpression(expression),
      );
    }
    const index = this.compoundColumn(inner, ast, columns, body, scope);
    return ordered(
      term,
      { kind: 'column', index },
      collation ?? columns[index]?.collation ?? 'BINARY',
    );
  }

  // ORDER BY of a compound names a result column: by position, by name, or by repeating its
  // expression.
  private compoundColumn(
    term: Expression,
    ast: SelectBody,
    columns: readonly BoundOutput[],
    body: BoundBody,
    scope: Scope,
  ): number {
    if (term.kind === 'number' && /^\d+$/.test(term.text)) {
      const index = Number(term.text) - 1;
      if (columns[index]) return index;
    }
    if (term.kind === 'name') {
      const byName = columns.findIndex((column) => sameName(column.name, term.name));
      if (byName >= 0) return byName;
    }
    for (const { select, bound } of simpleParts(ast, body)) {
      const part = this.sibling(scope);
      if (select.from) this.from(select.from, part);
      try {
        const wanted = comparable(this.expression(term, part));
        const index = bound.items.findIndex((item) => comparable(item.expression) === wanted);
        if (index >= 0) return index;
      } catch (error) {
        if (!(error instanceof SqlBindError)) throw error;
      }
    }
    throw new SqlBindError(
      'misplaced',
      'ORDER BY term does not match any column in the result set',
      term,
    );
  }

  private order(term: OrderTerm, scope: Scope): BoundOrder {
    const expression = this.expression(term.expression, scope);
    return ordered(term, { kind: 'expression', expression }, collationOfExpression(expression));
  }

  // ---- FROM
  // -------------------------------------------------------------------------------------------------

  /**
   * Sources first: the ON of an inner join may name a table to its right, as long as no RIGHT or
   * FULL JOIN takes part (https://www.sqlite.org/lang_select.html#inner_joins).
   */
  private from(item: FromItem, scope: Scope): BoundFrom {
    const conditions: PendingCondition[] = [];
    const bound = this.fromItem(item, scope, hasRightJoin(item) ? undefined : conditions);
    for (const { join, names, on } of conditions)
      join.on = conjunction([...names, this.expression(on, scope)]);
    return bound;
  }

  private fromItem(
    item: FromItem,
    scope: Scope,
    pending: PendingCondition[] | undefined,
  ): BoundFrom {
    switch (item.kind) {
      case 'table': {
        const { content, columns } = this.tableContent(item.name, item.schema, scope, item);
        return this.source(item.alias ?? item.name, content, columns, scope);
      }
      case 'derived': {
        const query = this.statement(item.query, scope.parent, []);
        return this.source(
          item.alias ?? '',
          { kind: 'query', query },
          distinctNames(query.columns),
          scope,
        );
      }
      case 'nested': {
        if (item.alias === undefined) return this.from(item.from, scope);
        return this.from(
          {
            kind: 'derived',
            query: selectAll(item.from, item),
            alias: item.alias,
            start: item.start,
            end: item.end,
          },
          scope,
        );
      }
      case 'join':
        return this.join(item, scope, pending);
      case 'tableFunction':
        throw new SqlBindError('unsupported', `table-valued function ${item.name}`, item);
    }
  }

  private tableContent(
    name: string,
    schema: string | undefined,
    scope: Scope,
    span: Span,
  ): { content: BoundSource['content']; columns: readonly BoundOutput[] } {
    const common = schema === undefined ? scope.commonTable(name) : undefined;
    if (common) {
      const { columns, ...content } = common.open();
      return { content, columns };
    }
    const table = findTable(this.catalog, name);
    const view = table
      ? undefined
      : this.catalog.views?.find((candidate) => sameName(candidate.name, name));
    if (view) return this.view(view);
    const virtual = table
      ? undefined
      : this.catalog.leftOut?.find((candidate) => sameName(candidate, name));
    if (virtual !== undefined)
      throw new SqlBindError('unsupported', `the virtual table ${virtual}`, span);
    if (!table) throw new SqlBindError('unknown_table', `no such table: ${name}`, span);
    const columns = table.columns.map(({ name: column, affinity, collation }) => ({
      name: column,
      affinity,
      collation,
    }));
    return { content: { kind: 'table', table }, columns };
  }

  // A view sees nothing of the query that names it; double-quoted strings in its text are none of
  // the query's.
  private view(view: View): { content: BoundSource['content']; columns: readonly BoundOutput[] } {
    if (this.openViews.has(view))
      throw new SqlBindError('unsupported', `the view ${view.name} is defined by itself`);
    this.openViews.add(view);
    try {
      const binder = new Binder(this.catalog, this.openViews, this.nextSource);
      const query = binder.statement(parseSelect(view.select), undefined, []);
      this.nextSource = binder.nextSource;
      const columns = query.columns.map((column, index) => ({
        ...column,
        name: view.columns[index] ?? column.name,
      }));
      return { content: { kind: 'query', query }, columns };
    } finally {
      this.openViews.delete(view);
    }
  }

  private source(
    name: string,
    content: BoundSource['content'],
    columns: readonly BoundOutput[],
    scope: Scope,
  ): BoundFrom {
    const source: BoundSource = { id: this.nextSource++, name, content, columns };
    scope.sources.push(source);
    return { kind: 'source', source };
  }

  private join(
    item: Extract<FromItem, { kind: 'join' }>,
    scope: Scope,
    pending: PendingCondition[] | undefined,
  ): BoundFrom {
    const left = this.fromItem(item.left, scope, pending);
    const leftSources = [...scope.sources];
    const right = this.fromItem(item.right, scope, pending);
    const rightSources = scope.sources.slice(leftSources.length);
    const join =
      item.join === 'LEFT' || item.join === 'RIGHT' || item.join === 'FULL' ? item.join : 'INNER';
    const names = item.natural ? commonNames(leftSources, rightSources) : (item.using ?? []);
    const conditions = names.map((name) =>
      this.sharedColumn(name, join, leftSources, rightSources, scope, item),
    );
    if (item.on && pending && join === 'INNER') {
      const unfinished = { kind: 'join', join, left, right, on: conjunction(conditions) } as const;
      pending.push({ join: unfinished, names: conditions, on: item.on });
      return unfinished;
    }
    if (item.on) conditions.push(this.expression(item.on, scope));
    return { kind: 'join', join, left, right, on: conjunction(conditions) };
  }

  private sharedColumn(
    name: string,
    join: string,
    left: readonly BoundSource[],
    right: readonly BoundSource[],
    scope: Scope,
    span: Span,
  ): BoundExpression {
    const before = scope.shared.find((entry) => sameName(entry.name, name));
    const a = before?.expression ?? findIn(left, name);
    const b = findIn(right, name);
    if (!a || !b)
      throw new SqlBindError(
        'unknown_column',
        `cannot join using column ${name} - column not present in both tables`,
        span,
      );
    const expression: BoundExpression =
      join === 'RIGHT' || join === 'FULL' ? { kind: 'call', name: 'coalesce', args: [a, b] } : a;
    scope.shared.unshift({ name, expression });
    return compare('=', a, b);
  }

  // ---- expressions
  // ------------------------------------------------------------------------------------------

  private expression(node: Expression, scope: Scope): BoundExpression {
    switch (node.kind) {
      case 'number':
        return { kind: 'literal', value: numberValue(node.text) };
      case 'text':
        return { kind: 'literal', value: node.value };
      case 'blob':
        return { kind: 'literal', value: new Uint8Array(Buffer.from(node.hex, 'hex')) };
      case 'null':
        return { kind: 'literal', value: null };
      case 'parameter':
        throw new SqlBindError('unsupported', `the parameter ${node.text} has no value`, node);
      case 'clock':
        return { kind: 'clock', name: node.name };
      case 'name':
        return this.name(node, scope);
      case 'unary': {
        const operand = this.expression(node.operand, scope);
        return node.operator === 'NOT' ? { kind: 'not', operand } : negate(node.operator, operand);
      }
      case 'binary':
        return this.binary(node, scope);
      case 'collate':
        return {
          kind: 'collate',
          operand: this.expression(node.operand, scope),
          collation: node.collation.toUpperCase(),
        };
      case 'nullTest':
        return {
          kind: 'nullTest',
          operand: this.expression(node.operand, scope),
          negated: node.negated,
        };
      case 'is':
        return this.is(this.expression(node.left, scope), this.expression(node.right, scope), node);
      case 'pattern':
        return {
          kind: 'pattern',
          operator: node.operator,
          negated: node.negated,
          operand: this.expression(node.operand, scope),
          pattern: this.expression(node.pattern, scope),
          escape: node.escape && this.expression(node.escape, scope),
        };
      case 'between':
        return this.between(node, scope);
      case 'in':
        return this.in(node, scope);
      case 'case':
        return this.caseOf(node, scope);
      case 'cast':
        return {
          kind: 'cast',
          operand: this.expression(node.operand, scope),
          to: castAffinity(node.type),
        };
      case 'exists':
        return { kind: 'exists', query: this.statement(node.query, scope, []) };
      case 'subquery':
        return { kind: 'subquery', query: this.statement(node.query, scope, []) };
      case 'row':
        throw new SqlBindError('misplaced', 'row value misused', node);
      case 'call':
        return this.call(node, scope);
    }
  }

  private between(node: Extract<Expression, { kind: 'between' }>, scope: Scope): BoundExpression {
    const operand = this.expression(node.operand, scope);
    const low = compare('>=', operand, this.expression(node.low, scope));
    const high = compare('<=', operand, this.expression(node.high, scope));
    return negatedIf(node.negated, { kind: 'logic', operator: 'AND', operands: [low, high] });
  }

  private caseOf(node: Extract<Expression, { kind: 'case' }>, scope: Scope): BoundExpression {
    const subject = node.subject && this.expression(node.subject, scope);
    const branches = node.branches.map((branch) => {
      const when = this.expression(branch.when, scope);
      return {
        when: subject ? compare('=', subject, when) : when,
        then: this.expression(branch.then, scope),
      };
    });
    const otherwise: BoundExpression = node.otherwise
      ? this.expression(node.otherwise, scope)
      : { kind: 'literal', value: null };
    return { kind: 'case', branches, otherwise };
  }

  private name(node: NameReference, scope: Scope): BoundExpression {
    for (let at: Scope | undefined = scope; at; at = at.parent) {
      const found = at.find(node);
      if (found) {
        if (found.kind === 'column') Scope.noteOuter(scope, at, found);
        return found;
      }
      const alias =
        node.table === undefined
          ? at.aliases.find((entry) => sameName(entry.name, node.name))
          : undefined;
      if (alias && !this.resolving.has(alias.expression)) {
        this.resolving.add(alias.expression);
        try {
          return this.expression(alias.expression, at);
        } finally {
          this.resolving.delete(alias.expression);
        }
      }
    }
    if (node.table === undefined && (node.quote === '"' || node.quote === "'")) {
      if (node.quote === '"' && !this.strings.some(({ start }) => start === node.start))
        this.strings.push({ start: node.start, end: node.end, value: node.name });
      return { kind: 'literal', value: node.name };
    }
    if (node.table === undefined && node.quote === 'none' && TRUE_OR_FALSE.test(node.name)) {
      return { kind: 'literal', value: node.name.toLowerCase() === 'true' ? 1n : 0n };
    }
    const full = node.table === undefined ? node.name : `${node.table}.${node.name}`;
    throw new SqlBindError('unknown_column', `no such column: ${full}`, node);
  }

  private binary(node: Extract<Expression, { kind: 'binary' }>, scope: Scope): BoundExpression {
    if (node.left.kind === 'row' && node.right.kind === 'row' && isComparison(node.operator)) {
      const left = node.left.items.map((item) => this.expression(item, scope));
      const right = node.right.items.map((item) => this.expression(item, scope));
      if (left.length !== right.length)
        throw new SqlBindError('misplaced', 'row value misused', node);
      return compareRows(node.operator, left, right);
    }
    const left = this.expression(node.left, scope);
    const right = this.expression(node.right, scope);
    switch (node.operator) {
      case 'AND':
      case 'OR':
        return logic(node.operator, [left, right]);
      case '=':
      case '<>':
      case '<':
      case '<=':
      case '>':
      case '>=':
        return compare(node.operator, left, right);
      case '||':
        return { kind: 'concat', left, right };
      case '->':
      case '->>':
        return { kind: 'call', name: node.operator, args: [left, right] };
      default:
        return { kind: 'arithmetic', operator: node.operator, left, right };
    }
  }

  private is(
    left: BoundExpression,
    right: BoundExpression,
    node: Extract<Expression, { kind: 'is' }>,
  ): BoundExpression {
    // `x IS TRUE` asks for truth, not for equality with 1.
    if (
      node.right.kind === 'name' &&
      node.right.quote === 'none' &&
      TRUE_OR_FALSE.test(node.right.name) &&
      right.kind === 'literal'
    ) {
      const wanted: BoundExpression = right.value === 1n ? left : { kind: 'not', operand: left };
      const truth: BoundExpression = {
        kind: 'case',
        branches: [{ when: wanted, then: literal(1n) }],
        otherwise: literal(0n),
      };
      return negatedIf(node.negated, truth);
    }
    return { ...compare(node.negated ? '<>' : '=', left, right), nullSafe: true };
  }

  private in(node: InExpression, scope: Scope): BoundExpression {
    if (node.set.kind === 'list') {
      if (node.operand.kind === 'row') {
        const left = node.operand.items.map((item) => this.expression(item, scope));
        const rows = node.set.items.map((row) => {
          if (row.kind !== 'row' || row.items.length !== left.length)
            throw new SqlBindError('misplaced', 'row value misused', row);
          return compareRows(
            '=',
            left,
            row.items.map((item) => this.expression(item, scope)),
          );
        });
        return negatedIf(node.negated, rows.length === 0 ? literal(0n) : logic('OR', rows));
      }
      const operand = this.expression(node.operand, scope);
      const items = node.set.items.map((item) => this.expression(item, scope));
      const affinity = comparisonAffinity(affinityOfExpression(operand), undefined);
      return {
        kind: 'inList',
        negated: node.negated,
        operand,
        items,
        affinity,
        collation: collationOfExpression(operand),
      };
    }
    const query =
      node.set.kind === 'query'
        ? this.statement(node.set.query, scope, [])
        : this.statement(selectAll(node.set.source, node.set.source), scope, []);
    const nodes = node.operand.kind === 'row' ? node.operand.items : [node.operand];
    const operands = nodes.map((item) => this.expression(item, scope));
    if (operands.length !== query.columns.length) {
      throw new SqlBindError(
        'misplaced',
        `sub-select returns ${String(query.columns.length)} columns - expected ` +
          `${String(operands.length)}`,
        node,
      );
    }
    const affinities = operands.map((operand, index) =>
      comparisonAffinity(affinityOfExpression(operand), query.columns[index]?.affinity),
    );
    return {
      kind: 'inQuery',
      negated: node.negated,
      operands,
      query,
      affinities,
      collations: operands.map(collationOfExpression),
    };
  }

  private call(node: FunctionCall, scope: Scope): BoundExpression {
    const name = node.name.toLowerCase();
    const args = node.args.map((arg) => this.expression(arg, scope));
    const filter = node.filter && this.expression(node.filter, scope);
    const orderBy = node.orderBy.map((term) => this.order(term, scope));
    if (node.over) return this.windowCall(name, args, filter, this.windowOf(node.over), scope);
    if (isAggregateName(name, node.args.length, node.star))
      return { kind: 'aggregate', name, distinct: node.distinct, args, filter, orderBy };
    return { kind: 'call', name, args };
  }

  private windowOf(over: NonNullable<FunctionCall['over']>): WindowDefinition {
    const base = over.kind === 'named' ? over.name : over.window.base;
    if (base === undefined)
      return over.kind === 'inline' ? over.window : { partitionBy: [], orderBy: [] };
    const found = this.windows.find((entry) => sameName(entry.name, base));
    if (!found) throw new SqlBindError('misplaced', `no such window: ${base}`);
    const resolved =
      found.window.base === undefined
        ? found.window
        : this.windowOf({ kind: 'inline', window: found.window });
    if (over.kind === 'named') return resolved;
    const frame = over.window.frame ?? resolved.frame;
    return {
      partitionBy: resolved.partitionBy,
      orderBy: over.window.orderBy.length > 0 ? over.window.orderBy : resolved.orderBy,
      ...(frame && { frame }),
    };
  }

  private windowCall(
    name: string,
    args: BoundExpression[],
    filter: BoundExpression | undefined,
    window: WindowDefinition,
    scope: Scope,
  ): BoundWindow {
    const partitionBy = window.partitionBy.map((term) => this.expression(term, scope));
    const orderBy = window.orderBy.map((term) => this.order(term, scope));
    return {
      kind: 'window',
      name,
      args,
      filter,
      partitionBy,
      orderBy,
      frame: window.frame && this.frame(window.frame, scope),
    };
  }

  private frame(frame: NonNullable<WindowDefinition['frame']>, scope: Scope): BoundFrame {
    const bound = (end: typeof frame.start): BoundFrame['start'] =>
      'offset' in end ? { kind: end.kind, offset: this.expression(end.offset, scope) } : end;
    return {
      unit: frame.unit,
      start: bound(frame.start),
      end: bound(frame.end ?? { kind: 'CURRENT ROW' }),
      exclude: frame.exclude ?? 'NO OTHERS',
    };
  }
}

const literal = (value: bigint | null): BoundExpression => ({ kind: 'literal', value });

const isComparison = (operator: string): operator is CompareOperator =>
  ['=', '<>', '<', '<=', '>', '>='].includes(operator);

function compare(
  operator: CompareOperator,
  left: BoundExpression,
  right: BoundExpression,
): Extract<BoundExpression, { kind: 'compare' }> {
  const affinity = comparisonAffinity(affinityOfExpression(left), affinityOfExpression(right));
  return {
    kind: 'compare',
    operator,
    left,
    right,
    affinity,
    collation: comparisonCollation(left, right),
    nullSafe: false,
  };
}

// https://www.sqlite.org/rowvalue.html §2.1: from left to right, the first difference decides.
function compareRows(
  operator: CompareOperator,
  left: readonly BoundExpression[],
  right: readonly BoundExpression[],
): BoundExpression {
  const pairs = left.map((item, index) => [item, right[index] ?? literal(null)] as const);
  if (operator === '=')
    return logic(
      'AND',
      pairs.map(([a, b]) => compare('=', a, b)),
    );
  if (operator === '<>')
    return logic(
      'OR',
      pairs.map(([a, b]) => compare('<>', a, b)),
    );
  const strict = operator.startsWith('<') ? '<' : '>';
  return (
    pairs.reduceRight<BoundExpression | undefined>((rest, [a, b]) => {
      if (!rest) return compare(operator, a, b);
      return logic('OR', [compare(strict, a, b), logic('AND', [compare('=', a, b), rest])]);
    }, undefined) ?? literal(1n)
  );
}

// Chains of one operator become one node, so that predicates lie side by side.
function logic(operator: 'AND' | 'OR', operands: readonly BoundExpression[]): BoundExpression {
  const flat = operands.flatMap((operand) =>
    operand.kind === 'logic' && operand.operator === operator ? operand.operands : [operand],
  );
  const [only] = flat;
  return flat.length === 1 && only ? only : { kind: 'logic', operator, operands: flat };
}

const conjunction = (conditions: readonly BoundExpression[]): BoundExpression | undefined =>
  conditions.length === 0 ? undefined : logic('AND', conditions);

const negatedIf = (negated: boolean, operand: BoundExpression): BoundExpression =>
  negated ? { kind: 'not', operand } : operand;

// -5 is one literal, so that later layers see a constant.
function negate(operator: '-' | '+' | '~', operand: BoundExpression): BoundExpression {
  if (
    operator === '-' &&
    operand.kind === 'literal' &&
    (typeof operand.value === 'bigint' || typeof operand.value === 'number')
  ) {
    if (operand.value === 9223372036854775808)
      return { kind: 'literal', value: -9223372036854775808n };
    // The least integer has no counterpart.
    if (operand.value === -9223372036854775808n)
      return { kind: 'literal', value: 9223372036854775808 };
    return { kind: 'literal', value: -operand.value };
  }
  return { kind: 'negate', operator, operand };
}

function splitCollation(expression: Expression): {
  collation: string | undefined;
  inner: Expression;
} {
  if (expression.kind !== 'collate') return { collation: undefined, inner: expression };
  return { collation: expression.collation.toUpperCase(), inner: expression.operand };
}

const ordered = (
  { direction, nulls }: OrderTerm,
  key: BoundOrder['key'],
  collation: string,
): BoundOrder => ({
  key,
  direction,
  // SQLite takes null for the smallest value.
  nulls: nulls ?? (direction === 'ASC' ? 'FIRST' : 'LAST'),
  collation,
});

const findIn = (sources: readonly BoundSource[], name: string): BoundExpression | undefined => {
  for (const source of sources) {
    const index = source.columns.findIndex((column) => sameName(column.name, name));
    if (index >= 0) return { kind: 'column', source, index };
  }
  return undefined;
};

function commonNames(left: readonly BoundSource[], right: readonly BoundSource[]): string[] {
  const names = new Map<string, string>();
  for (const { name } of right.flatMap((source) => source.columns))
    if (findIn(left, name)) names.set(name.toLowerCase(), name);
  return [...names.values()];
}

// A derived table with two columns of one name calls the second `name:1`.
function distinctNames(columns: readonly BoundOutput[]): BoundOutput[] {
  const seen = new Set<string>();
  return columns.map((column) => {
    let name = column.name;
    for (let count = 1; seen.has(name.toLowerCase()); count++)
      name = `${column.name}:${String(count)}`;
    seen.add(name.toLowerCase());
    return { ...column, name };
  });
}

const selectAll = (from: FromItem, span: Span): SelectStatement => ({
  recursive: false,
  with: [],
  body: {
    kind: 'select',
    distinct: false,
    items: [{ kind: 'star' }],
    from,
    groupBy: [],
    windows: [],
  },
  orderBy: [],
  start: span.start,
  end: span.end,
});

function* simpleParts(
  ast: SelectBody,
  body: BoundBody,
): Generator<{ select: SelectCore; bound: BoundSelect }> {
  if (ast.kind === 'compound' && body.kind === 'compound') {
    yield* simpleParts(ast.left, body.left);
    yield* simpleParts(ast.right, body.right);
  } else if (ast.kind === 'select' && body.kind === 'select') yield { select: ast, bound: body };
}

// Equal for expressions that read the same columns of the same-named sources in the same way.
const comparable = (expression: BoundExpression): string =>
  JSON.stringify(expression, (key, value: unknown) => {
    if (key === 'source') return (value as BoundSource).name.toLowerCase();
    return typeof value === 'bigint' ? value.toString() : value;
  });
