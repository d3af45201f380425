import type {
  CommonTable,
  CompoundOperator,
  FromItem,
  JoinKind,
  SelectBody,
  SelectCore,
  SelectItem,
  SelectStatement,
  ValuesBody,
} from './ast';
import { ExpressionParser } from './parse-expression';
import { JOIN_WORDS, TokenCursor } from './token-cursor';

/**
 * Parses one SELECT statement of SQLite's dialect, with optional trailing semicolons.
 * Throws `SqlSyntaxError` with the offset at which the text stops making sense.
 */
export function parseSelect(sql: string): SelectStatement {
  const cursor = new TokenCursor(sql);
  const statement = readStatement(cursor);
  while (cursor.takeSymbol(';'));
  if (cursor.current.kind !== 'end') cursor.fail('expected the end of the statement');
  return statement;
}

const readStatement = (cursor: TokenCursor): SelectStatement =>
  new SelectParser(cursor).statement();

class SelectParser {
  private readonly expressions: ExpressionParser;

  constructor(private readonly cursor: TokenCursor) {
    this.expressions = new ExpressionParser(cursor, readStatement);
  }

  statement(): SelectStatement {
    const { cursor, expressions } = this;
    const start = cursor.current.start;
    const hasWith = cursor.takeKeyword('WITH');
    const recursive = hasWith && cursor.takeKeyword('RECURSIVE');
    const tables = hasWith ? this.separated(() => this.commonTable()) : [];
    const body = this.body();
    const orderBy = cursor.takeKeyword('ORDER', 'BY') ? expressions.orderTerms() : [];
    let limit = cursor.takeKeyword('LIMIT') ? expressions.expression() : undefined;
    let offset;
    if (limit && cursor.takeKeyword('OFFSET')) offset = expressions.expression();
    else if (limit && cursor.takeSymbol(',')) {
      offset = limit;
      limit = expressions.expression();
    }
    return {
      recursive,
      with: tables,
      body,
      orderBy,
      ...(limit && { limit }),
      ...(offset && { offset }),
      start,
      end: cursor.lastEnd,
    };
  }

  /** `INDEXED BY name`; null for `NOT INDEXED`. */
  private indexedBy(): string | null | undefined {
    if (this.cursor.takeKeyword('INDEXED', 'BY')) return this.cursor.name();
    return this.cursor.takeKeyword('NOT', 'INDEXED') ? null : undefined;
  }

  private commonTable(): CommonTable {
    const { cursor } = this;
    const name = cursor.name();
    const columns = cursor.isSymbol('(') ? this.nameList() : undefined;
    cursor.expectKeyword('AS');
    const unmaterialized = cursor.takeKeyword('NOT', 'MATERIALIZED');
    const materialized = !unmaterialized && cursor.takeKeyword('MATERIALIZED');
    cursor.expectSymbol('(');
    const query = this.statement();
    cursor.expectSymbol(')');
    return {
      name,
      ...(columns && { columns }),
      ...((materialized || unmaterialized) && { materialized }),
      query,
    };
  }

  private body(): SelectBody {
    let body: SelectBody = this.simpleBody();
    for (;;) {
      const operator = this.compoundOperator();
      if (!operator) return body;
      body = { kind: 'compound', operator, left: body, right: this.simpleBody() };
    }
  }

  private compoundOperator(): CompoundOperator | undefined {
    const { cursor } = this;
    if (cursor.takeKeyword('UNION', 'ALL')) return 'UNION ALL';
    for (const operator of ['UNION', 'INTERSECT', 'EXCEPT'] as const)
      if (cursor.takeKeyword(operator)) return operator;
    return undefined;
  }

  private simpleBody(): SelectCore | ValuesBody {
    const { cursor, expressions } = this;
    if (cursor.takeKeyword('VALUES')) {
      const rows = this.separated(() => {
        cursor.expectSymbol('(');
        const row = expressions.list();
        cursor.expectSymbol(')');
        return row;
      });
      return { kind: 'values', rows };
    }
    cursor.expectKeyword('SELECT');
    const distinct = cursor.takeKeyword('DISTINCT');
    if (!distinct) cursor.takeKeyword('ALL');
    const items = this.separated(() => this.item());
    const from = cursor.takeKeyword('FROM') ? this.from() : undefined;
    const where = cursor.takeKeyword('WHERE') ? expressions.expression() : undefined;
    const groupBy = cursor.takeKeyword('GROUP', 'BY') ? expressions.list() : [];
    const having = cursor.takeKeyword('HAVING') ? expressions.expression() : undefined;
    const windows = cursor.takeKeyword('WINDOW') ? this.separated(() => this.namedWindow()) : [];
    return {
      kind: 'select',
      distinct,
      items,
      ...(from && { from }),
      ...(where && { where }),
      groupBy,
      ...(having && { having }),
      windows,
    };
  }

  private namedWindow(): { name: string; window: ReturnType<ExpressionParser['window']> } {
    const name = this.cursor.name();
    this.cursor.expectKeyword('AS');
    this.cursor.expectSymbol('(');
    const window = this.expressions.window();
    this.cursor.expectSymbol(')');
    return { name, window };
  }

  private item(): SelectItem {
    const { cursor } = this;
    if (cursor.takeSymbol('*')) return { kind: 'star' };
    if (
      (cursor.isName() || cursor.current.kind === 'text') &&
      cursor.isSymbol('.', 1) &&
      cursor.isSymbol('*', 2)
    ) {
      const table = cursor.name();
      cursor.next();
      cursor.next();
      return { kind: 'star', table };
    }
    const start = cursor.current.start;
    const expression = this.expressions.expression();
    const text = cursor.sql.slice(start, cursor.lastEnd);
    const alias = this.alias();
    return { kind: 'expression', expression, ...(alias !== undefined && { alias }), text };
  }

  private alias(): string | undefined {
    const { cursor } = this;
    if (cursor.takeKeyword('AS')) return cursor.name();
    const token = cursor.current;
    if (token.kind === 'text') return cursor.name();
    if (!cursor.isName(token, 'excluded')) return undefined;
    // These fall back to identifiers, yet here they open a clause.
    const follower = cursor.peek(1).kind;
    if (
      (token.keyword === 'WINDOW' || token.keyword === 'INDEXED') &&
      (follower === 'word' || follower === 'quoted')
    )
      return undefined;
    return token.keyword === 'OFFSET' ? undefined : cursor.name();
  }

  private from(): FromItem {
    const { cursor } = this;
    const start = cursor.current.start;
    let left = this.fromOperand();
    for (;;) {
      const join = this.joinOperator();
      if (!join) return left;
      const right = this.fromOperand();
      const on = cursor.takeKeyword('ON') ? this.expressions.expression() : undefined;
      const using = !on && cursor.takeKeyword('USING') ? this.nameList() : undefined;
      left = {
        kind: 'join',
        ...join,
        left,
        right,
        ...(on && { on }),
        ...(using && { using }),
        start,
        end: cursor.lastEnd,
      };
    }
  }

  private joinOperator(): { join: JoinKind; natural: boolean } | undefined {
    const { cursor } = this;
    if (cursor.takeSymbol(',')) return { join: 'COMMA', natural: false };
    if (cursor.takeKeyword('JOIN')) return { join: 'INNER', natural: false };
    const words = new Set<string>();
    while (JOIN_WORDS.has(cursor.current.keyword)) words.add(cursor.next().keyword);
    if (words.size === 0) return undefined;
    cursor.expectKeyword('JOIN');
    const isFull = words.has('FULL') || (words.has('LEFT') && words.has('RIGHT'));
    const named = (['LEFT', 'RIGHT', 'CROSS'] as const).find((word) => words.has(word));
    const join = isFull ? 'FULL' : (named ?? 'INNER');
    return { join, natural: words.has('NATURAL') };
  }

  private fromOperand(): FromItem {
    const { cursor } = this;
    const start = cursor.current.start;
    if (cursor.takeSymbol('(')) {
      const inner = cursor.startsQuery()
        ? ({ kind: 'derived', query: this.statement() } as const)
        : ({ kind: 'nested', from: this.from() } as const);
      cursor.expectSymbol(')');
      const alias = this.alias();
      return { ...inner, ...(alias !== undefined && { alias }), start, end: cursor.lastEnd };
    }
    const first = cursor.name();
    const second = cursor.takeSymbol('.') ? cursor.name() : undefined;
    const name = second ?? first;
    if (cursor.takeSymbol('(')) {
      const args = cursor.isSymbol(')') ? [] : this.expressions.list();
      cursor.expectSymbol(')');
      const alias = this.alias();
      return {
        kind: 'tableFunction',
        name,
        args,
        ...(alias !== undefined && { alias }),
        start,
        end: cursor.lastEnd,
      };
    }
    const alias = this.alias();
    const indexedBy = this.indexedBy();
    return {
      kind: 'table',
      ...(second !== undefined && { schema: first }),
      name,
      ...(alias !== undefined && { alias }),
      ...(indexedBy !== undefined && { indexedBy }),
      start,
      end: cursor.lastEnd,
    };
  }

  private nameList(): string[] {
    this.cursor.expectSymbol('(');
    const names = this.separated(() => this.cursor.name());
    this.cursor.expectSymbol(')');
    return names;
  }

  private separated<T>(read: () => T): T[] {
    const items = [read()];
    while (this.cursor.takeSymbol(',')) items.push(read());
    return items;
  }
}
