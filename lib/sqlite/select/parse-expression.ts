import type {
  BinaryOperator,
  CaseExpression,
  Expression,
  FrameBound,
  FunctionCall,
  InExpression,
  OrderTerm,
  SelectStatement,
  WindowDefinition,
  WindowFrame,
  WindowReference,
} from './ast';
import { MAX_DEPTH, type TokenCursor } from './token-cursor';

/**
 * Reads a nested query; given from outside because statements and expressions contain each other.
 */
export type QueryReader = (cursor: TokenCursor) => SelectStatement;

/**
 * Binding strength, weakest first:
 * https://www.sqlite.org/lang_expr.html#operators_and_parse_affecting_attributes
 */
const Strength = {
  or: 1,
  and: 2,
  not: 3,
  equality: 4,
  relation: 5,
  bits: 6,
  sum: 7,
  product: 8,
  concat: 9,
  collate: 10,
  prefix: 11,
} as const;

const SYMBOLS: Readonly<Record<string, readonly [BinaryOperator, number]>> = {
  '=': ['=', Strength.equality],
  '==': ['=', Strength.equality],
  '<>': ['<>', Strength.equality],
  '!=': ['<>', Strength.equality],
  '<': ['<', Strength.relation],
  '<=': ['<=', Strength.relation],
  '>': ['>', Strength.relation],
  '>=': ['>=', Strength.relation],
  '&': ['&', Strength.bits],
  '|': ['|', Strength.bits],
  '<<': ['<<', Strength.bits],
  '>>': ['>>', Strength.bits],
  '+': ['+', Strength.sum],
  '-': ['-', Strength.sum],
  '*': ['*', Strength.product],
  '/': ['/', Strength.product],
  '%': ['%', Strength.product],
  '||': ['||', Strength.concat],
  '->': ['->', Strength.concat],
  '->>': ['->>', Strength.concat],
};

type PatternOperator = 'LIKE' | 'GLOB' | 'REGEXP' | 'MATCH';
const PATTERN_OPERATORS: readonly string[] = ['LIKE', 'GLOB', 'REGEXP', 'MATCH'];

export class ExpressionParser {
  constructor(
    private readonly cursor: TokenCursor,
    private readonly readQuery: QueryReader,
  ) {}

  expression(weakest: number = Strength.or): Expression {
    const start = this.cursor.current.start;
    return this.cursor.nested(() => {
      let left = this.operand();
      // A chain of operators leans to the left: each adds a level to the tree.
      for (let depth = 0; ; depth++) {
        if (depth > MAX_DEPTH) this.cursor.fail('too many operators in a row');
        const longer = this.continued(left, start, weakest);
        if (!longer) return left;
        left = longer;
      }
    });
  }

  list(): Expression[] {
    const items = [this.expression()];
    while (this.cursor.takeSymbol(',')) items.push(this.expression());
    return items;
  }

  /** After ORDER BY. */
  orderTerms(): OrderTerm[] {
    const terms: OrderTerm[] = [];
    do terms.push(this.orderTerm());
    while (this.cursor.takeSymbol(','));
    return terms;
  }

  window(): WindowDefinition {
    const { cursor } = this;
    const opening = ['PARTITION', 'ORDER', 'ROWS', 'RANGE', 'GROUPS'];
    const base =
      cursor.isName() && !opening.includes(cursor.current.keyword) ? cursor.name() : undefined;
    const partitionBy = cursor.takeKeyword('PARTITION', 'BY') ? this.list() : [];
    const orderBy = cursor.takeKeyword('ORDER', 'BY') ? this.orderTerms() : [];
    const frame = this.frame();
    return { ...(base !== undefined && { base }), partitionBy, orderBy, ...(frame && { frame }) };
  }

  private orderTerm(): OrderTerm {
    const expression = this.expression();
    const direction = this.cursor.takeKeyword('DESC')
      ? 'DESC'
      : (this.cursor.takeKeyword('ASC'), 'ASC');
    if (this.cursor.takeKeyword('NULLS', 'FIRST')) return { expression, direction, nulls: 'FIRST' };
    if (this.cursor.takeKeyword('NULLS', 'LAST')) return { expression, direction, nulls: 'LAST' };
    return { expression, direction };
  }

  // One more operator behind `left`, or undefined when the next one binds less than `weakest`.
  private continued(left: Expression, start: number, weakest: number): Expression | undefined {
    const { cursor } = this;
    const token = cursor.current;
    if (token.kind === 'symbol') {
      const entry = SYMBOLS[token.value];
      if (!entry || entry[1] < weakest) return undefined;
      cursor.next();
      const right = this.expression(entry[1] + 1);
      return { kind: 'binary', operator: entry[0], left, right, ...this.span(start) };
    }
    if (token.kind !== 'word') return undefined;
    if (token.keyword === 'OR' || token.keyword === 'AND') {
      const strength = token.keyword === 'OR' ? Strength.or : Strength.and;
      if (strength < weakest) return undefined;
      cursor.next();
      const right = this.expression(strength + 1);
      return { kind: 'binary', operator: token.keyword, left, right, ...this.span(start) };
    }
    if (token.keyword === 'COLLATE') {
      if (Strength.collate < weakest) return undefined;
      cursor.next();
      const collation = cursor.name();
      return { kind: 'collate', operand: left, collation, ...this.span(start) };
    }
    return Strength.equality < weakest ? undefined : this.predicate(left, start);
  }

  // The operators written as words, all of the strength of `=`.
  private predicate(left: Expression, start: number): Expression | undefined {
    const { cursor } = this;
    if (cursor.takeKeyword('ISNULL'))
      return { kind: 'nullTest', operand: left, negated: false, ...this.span(start) };
    if (cursor.takeKeyword('NOTNULL') || cursor.takeKeyword('NOT', 'NULL')) {
      return { kind: 'nullTest', operand: left, negated: true, ...this.span(start) };
    }
    if (cursor.takeKeyword('IS')) return this.isOperator(left, start);
    const word = cursor.isKeyword('NOT') ? cursor.peek(1).keyword : cursor.current.keyword;
    if (word !== 'IN' && word !== 'BETWEEN' && !PATTERN_OPERATORS.includes(word)) return undefined;
    const negated = cursor.takeKeyword('NOT');
    cursor.next();
    if (word === 'IN') return this.inOperator(left, negated, start);
    if (word === 'BETWEEN') {
      const low = this.expression(Strength.not);
      cursor.expectKeyword('AND');
      const high = this.expression(Strength.relation);
      return { kind: 'between', negated, operand: left, low, high, ...this.span(start) };
    }
    const pattern = this.expression(Strength.relation);
    const escape = cursor.takeKeyword('ESCAPE') ? this.expression(Strength.relation) : undefined;
    const operator = word as PatternOperator;
    return {
      kind: 'pattern',
      operator,
      negated,
      operand: left,
      pattern,
      ...(escape && { escape }),
      ...this.span(start),
    };
  }

  private isOperator(left: Expression, start: number): Expression {
    const not = this.cursor.takeKeyword('NOT');
    const negated = this.cursor.takeKeyword('DISTINCT', 'FROM') ? !not : not;
    const right = this.expression(Strength.relation);
    if (right.kind === 'null')
      return { kind: 'nullTest', operand: left, negated, ...this.span(start) };
    return { kind: 'is', left, right, negated, ...this.span(start) };
  }

  private inOperator(operand: Expression, negated: boolean, start: number): InExpression {
    const { cursor } = this;
    let set: InExpression['set'];
    if (cursor.takeSymbol('(')) {
      if (cursor.startsQuery()) set = { kind: 'query', query: this.readQuery(cursor) };
      else set = { kind: 'list', items: cursor.isSymbol(')') ? [] : this.list() };
      cursor.expectSymbol(')');
    } else {
      const at = cursor.current.start;
      const first = cursor.name();
      const qualified = cursor.takeSymbol('.') ? cursor.name() : undefined;
      if (cursor.takeSymbol('(')) {
        const args = cursor.isSymbol(')') ? [] : this.list();
        cursor.expectSymbol(')');
        set = {
          kind: 'table',
          source: { kind: 'tableFunction', name: qualified ?? first, args, ...this.span(at) },
        };
      } else {
        const schema = qualified === undefined ? {} : { schema: first };
        set = {
          kind: 'table',
          source: { kind: 'table', ...schema, name: qualified ?? first, ...this.span(at) },
        };
      }
    }
    return { kind: 'in', negated, operand, set, ...this.span(start) };
  }

  private operand(): Expression {
    const { cursor } = this;
    const { kind, value, start, keyword } = cursor.current;
    switch (kind) {
      case 'number':
        cursor.next();
        return { kind, text: value, ...this.span(start) };
      case 'blob':
        cursor.next();
        return { kind, hex: value, ...this.span(start) };
      case 'parameter':
        cursor.next();
        return { kind, text: value, ...this.span(start) };
      case 'text':
        if (cursor.isSymbol('.', 1)) return this.nameOrCall();
        cursor.next();
        return { kind, value, ...this.span(start) };
      case 'symbol':
        return this.symbolOperand();
      case 'quoted':
        return this.nameOrCall();
      case 'word':
        return this.keywordOperand(keyword, start) ?? this.nameOrCall();
      case 'end':
        return cursor.fail('expected an expression');
    }
  }

  private symbolOperand(): Expression {
    const { cursor } = this;
    const { value, start } = cursor.current;
    if (value === '-' || value === '+' || value === '~') {
      cursor.next();
      const operand = this.expression(Strength.prefix);
      return { kind: 'unary', operator: value, operand, ...this.span(start) };
    }
    if (value !== '(') return cursor.fail('expected an expression');
    cursor.next();
    if (cursor.startsQuery()) {
      const query = this.readQuery(cursor);
      cursor.expectSymbol(')');
      return { kind: 'subquery', query, ...this.span(start) };
    }
    const items = this.list();
    cursor.expectSymbol(')');
    const [only] = items;
    if (items.length === 1 && only) return only;
    return { kind: 'row', items, ...this.span(start) };
  }

  private keywordOperand(keyword: string, start: number): Expression | undefined {
    const { cursor } = this;
    switch (keyword) {
      case 'NULL':
        cursor.next();
        return { kind: 'null', ...this.span(start) };
      case 'CURRENT_DATE':
      case 'CURRENT_TIME':
      case 'CURRENT_TIMESTAMP':
        cursor.next();
        return { kind: 'clock', name: keyword, ...this.span(start) };
      case 'NOT': {
        cursor.next();
        const operand = this.expression(Strength.not);
        return { kind: 'unary', operator: 'NOT', operand, ...this.span(start) };
      }
      case 'EXISTS': {
        cursor.next();
        cursor.expectSymbol('(');
        const query = this.readQuery(cursor);
        cursor.expectSymbol(')');
        return { kind: 'exists', query, ...this.span(start) };
      }
      case 'CASE':
        return this.caseExpression(start);
      case 'CAST':
        return cursor.isSymbol('(', 1) ? this.castExpression(start) : undefined;
      default:
        return undefined;
    }
  }

  private caseExpression(start: number): CaseExpression {
    const { cursor } = this;
    cursor.expectKeyword('CASE');
    const subject = cursor.isKeyword('WHEN') ? undefined : this.expression();
    const branches: { when: Expression; then: Expression }[] = [];
    while (cursor.takeKeyword('WHEN')) {
      const when = this.expression();
      cursor.expectKeyword('THEN');
      branches.push({ when, then: this.expression() });
    }
    if (branches.length === 0) cursor.fail('expected WHEN');
    const otherwise = cursor.takeKeyword('ELSE') ? this.expression() : undefined;
    cursor.expectKeyword('END');
    return {
      kind: 'case',
      ...(subject && { subject }),
      branches,
      ...(otherwise && { otherwise }),
      ...this.span(start),
    };
  }

  private castExpression(start: number): Expression {
    const { cursor } = this;
    cursor.expectKeyword('CAST');
    cursor.expectSymbol('(');
    const operand = this.expression();
    cursor.expectKeyword('AS');
    const words: string[] = [];
    while (['word', 'quoted', 'text'].includes(cursor.current.kind))
      words.push(cursor.next().value);
    let size = '';
    if (cursor.isSymbol('(')) {
      const open = cursor.next().start;
      while (!cursor.isSymbol(')')) {
        if (cursor.current.kind === 'end') cursor.fail('expected )');
        cursor.next();
      }
      cursor.next();
      size = cursor.sql.slice(open, cursor.lastEnd);
    }
    cursor.expectSymbol(')');
    return { kind: 'cast', operand, type: words.join(' ') + size, ...this.span(start) };
  }

  private nameOrCall(): Expression {
    const { cursor } = this;
    const first = cursor.current;
    if (first.kind !== 'text' && !cursor.isName(first)) cursor.fail('expected an expression');
    if (cursor.isSymbol('(', 1)) return this.call();
    const parts = [first];
    cursor.next();
    while (parts.length < 3 && cursor.takeSymbol('.')) {
      parts.push(cursor.current);
      cursor.name();
    }
    const [name = first, table, schema] = [...parts].reverse();
    return {
      kind: 'name',
      ...(schema && { schema: schema.value }),
      ...(table && { table: table.value }),
      name: name.value,
      quote: name.quote,
      ...this.span(first.start),
    };
  }

  private call(): FunctionCall {
    const { cursor } = this;
    const start = cursor.current.start;
    const name = cursor.name();
    cursor.expectSymbol('(');
    const star = cursor.takeSymbol('*');
    const distinct = !star && cursor.takeKeyword('DISTINCT');
    if (!star && !distinct) cursor.takeKeyword('ALL');
    const args = star || cursor.isSymbol(')') ? [] : this.list();
    const orderBy = cursor.takeKeyword('ORDER', 'BY') ? this.orderTerms() : [];
    cursor.expectSymbol(')');
    const filter = this.filter();
    const over = this.over();
    return {
      kind: 'call',
      name,
      star,
      distinct,
      args,
      orderBy,
      ...(filter && { filter }),
      ...(over && { over }),
      ...this.span(start),
    };
  }

  private filter(): Expression | undefined {
    const { cursor } = this;
    if (!cursor.isKeyword('FILTER') || !cursor.isSymbol('(', 1)) return undefined;
    cursor.next();
    cursor.next();
    cursor.expectKeyword('WHERE');
    const condition = this.expression();
    cursor.expectSymbol(')');
    return condition;
  }

  private over(): WindowReference | undefined {
    const { cursor } = this;
    if (!cursor.isKeyword('OVER') || !(cursor.isSymbol('(', 1) || cursor.isName(cursor.peek(1))))
      return undefined;
    cursor.next();
    if (!cursor.takeSymbol('(')) return { kind: 'named', name: cursor.name() };
    const window = this.window();
    cursor.expectSymbol(')');
    return { kind: 'inline', window };
  }

  private frame(): WindowFrame | undefined {
    const { cursor } = this;
    const unit = cursor.current.keyword;
    if (unit !== 'ROWS' && unit !== 'RANGE' && unit !== 'GROUPS') return undefined;
    cursor.next();
    const between = cursor.takeKeyword('BETWEEN');
    const start = this.frameBound();
    let end: FrameBound | undefined;
    if (between) {
      cursor.expectKeyword('AND');
      end = this.frameBound();
    }
    const exclude = this.frameExclusion();
    return { unit, start, ...(end && { end }), ...(exclude && { exclude }) };
  }

  private frameBound(): FrameBound {
    const { cursor } = this;
    if (cursor.takeKeyword('UNBOUNDED', 'PRECEDING')) return { kind: 'UNBOUNDED PRECEDING' };
    if (cursor.takeKeyword('UNBOUNDED', 'FOLLOWING')) return { kind: 'UNBOUNDED FOLLOWING' };
    if (cursor.takeKeyword('CURRENT', 'ROW')) return { kind: 'CURRENT ROW' };
    const offset = this.expression();
    if (cursor.takeKeyword('PRECEDING')) return { kind: 'PRECEDING', offset };
    cursor.expectKeyword('FOLLOWING');
    return { kind: 'FOLLOWING', offset };
  }

  private frameExclusion(): WindowFrame['exclude'] {
    const { cursor } = this;
    if (!cursor.takeKeyword('EXCLUDE')) return undefined;
    if (cursor.takeKeyword('NO', 'OTHERS')) return 'NO OTHERS';
    if (cursor.takeKeyword('CURRENT', 'ROW')) return 'CURRENT ROW';
    if (cursor.takeKeyword('GROUP')) return 'GROUP';
    cursor.expectKeyword('TIES');
    return 'TIES';
  }

  private span(start: number): { start: number; end: number } {
    return { start, end: this.cursor.lastEnd };
  }
}
