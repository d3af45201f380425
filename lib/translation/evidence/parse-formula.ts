import { isCondition, type Comparison, type Formula } from './formula';
import { FormulaCursor } from './formula-cursor';
import { functionNamed, parseCall, type FormulaNames, type Productions } from './parse-call';
import type { Token } from './tokens';

export interface Parsed {
  readonly formula: Formula;
  /** Behind its last token. */
  readonly end: number;
  /** A parenthesis was missing, or stood elsewhere than it should. */
  readonly isRepaired: boolean;
}

/** Nested deeper, a hint is not written by people. */
const MOST_DEPTH = 60;
const MOST_CALLS = 20;

/** Finds the formulas of a hint. */
export class FormulaParser implements Productions {
  cursor: FormulaCursor;
  private depth = 0;
  /** Calls by their first token: alternatives that fail look at the same ones again. */
  private readonly calls = new Map<string, Parsed | undefined>();

  constructor(
    private readonly tokens: readonly Token[],
    readonly names: FormulaNames,
  ) {
    this.cursor = new FormulaCursor(tokens, 0);
  }

  /**
   * The longest formula that begins at a token; undefined where none does. Words that name no
   * column end it: what follows is prose.
   */
  parse(index: number): Parsed | undefined {
    this.cursor = new FormulaCursor(this.tokens, index);
    const formula = this.whole();
    const { position: end, isRepaired } = this.cursor;
    return formula && { formula, end, isRepaired };
  }

  /** A formula, and the condition that it is limited to. */
  readonly whole = (): Formula | undefined => {
    if (this.depth > MOST_DEPTH) return undefined;
    this.depth++;
    const value = this.disjunction();
    this.depth--;
    return value && this.limited(value);
  };

  private limited(value: Formula): Formula {
    return (
      this.cursor.attempt(() => {
        if (!this.cursor.takeWord('where', 'when')) return undefined;
        const condition = this.disjunction();
        return condition && { kind: 'where', value, condition };
      }) ?? value
    );
  }

  readonly disjunction = (): Formula | undefined =>
    this.logic('or', () => this.logic('and', () => this.condition()));

  private logic(operator: 'and' | 'or', operand: () => Formula | undefined): Formula | undefined {
    const first = operand();
    if (!first || !isCondition(first)) return first;
    const operands = [first];
    for (;;) {
      // "a = 1 and the others": only another condition belongs to it.
      const next = this.cursor.attempt(() => {
        if (!this.cursor.takeWord(operator)) return undefined;
        const found = operand();
        return found && (isCondition(found) || this.isExtreme(found)) ? found : undefined;
      });
      if (!next) break;
      operands.push(next);
    }
    return operands.length === 1 ? first : { kind: 'logic', operator, operands };
  }

  /** `a = 1 and MAX(b)` says in a call that b is the largest. */
  private isExtreme(formula: Formula): boolean {
    return (
      this.cursor.calls > 0 && formula.kind === 'call' && ['max', 'min'].includes(formula.name)
    );
  }

  private condition(): Formula | undefined {
    let left = this.sum();
    if (!left) return undefined;
    for (;;) {
      const operand: Formula = left;
      const more: Formula | undefined =
        this.cursor.attempt(() => this.comparison(operand)) ??
        this.cursor.attempt(() => this.test(operand));
      if (!more) return left;
      left = more;
    }
  }

  private comparison(left: Formula): Formula | undefined {
    const token = this.cursor.peek();
    const operator = token && comparisonOf(token);
    if (!token || !operator) return undefined;
    this.cursor.next();
    const right = this.sum() ?? this.bareValue();
    if (!right) return undefined;
    const source = token.source;
    // `a = b = 7` says two things of b.
    if (left.kind === 'compare')
      return {
        kind: 'logic',
        operator: 'and',
        operands: [left, { kind: 'compare', left: left.right, operator, source, right }],
      };
    return { kind: 'compare', left, operator, source, right } satisfies Comparison;
  }

  /** IS NULL, LIKE, IN, BETWEEN, and `is 'x'`, each with NOT. */
  private test(operand: Formula): Formula | undefined {
    const { cursor } = this;
    const verb = cursor.peek()?.source.toLowerCase() ?? '';
    const isIs = cursor.takeWord('is', 'are');
    const negated = cursor.takeWord('not');
    if (isIs) {
      const word = cursor.peek()?.source.toLowerCase() ?? '';
      const source = [verb, ...(negated ? ['not'] : []), word].join(' ');
      if (cursor.takeWord('null', 'empty')) return { kind: 'null', operand, source };
      return this.isLiteral(operand, negated);
    }
    if (cursor.takeWord('like')) {
      const token = cursor.peek();
      if (token?.kind !== 'literal') return undefined;
      cursor.next();
      const pattern = { kind: 'literal', source: token.source, value: token.value } as const;
      return { kind: 'pattern', operand, pattern, negated };
    }
    if (cursor.takeWord('between')) {
      const low = this.sum();
      const high = low && cursor.takeWord('and', 'to') ? this.sum() : undefined;
      return low && high && { kind: 'range', operand, low, high, negated };
    }
    return cursor.takeWord('in') ? this.list(operand, negated) : undefined;
  }

  private isLiteral(left: Formula, negated: boolean): Formula | undefined {
    const token = this.cursor.peek();
    if (token?.kind !== 'literal') return undefined;
    this.cursor.next();
    return {
      kind: 'compare',
      left,
      operator: negated ? '!=' : '=',
      source: negated ? 'is not' : 'is',
      right: { kind: 'literal', source: token.source, value: token.value },
    };
  }

  private list(operand: Formula, negated: boolean): Formula | undefined {
    const closing = this.cursor.takeMark('(') ? ')' : ']';
    if (closing === ']' && !this.cursor.takeMark('[')) return undefined;
    const items: Formula[] = [];
    do {
      const item = this.sum() ?? this.bareValue();
      if (!item) return undefined;
      items.push(item);
    } while (this.cursor.takeMark(','));
    return this.cursor.takeMark(closing) ? { kind: 'list', operand, items, negated } : undefined;
  }

  readonly sum = (): Formula | undefined =>
    this.arithmetic(['+', '-', '||'], () => this.arithmetic(['*', '/'], () => this.unary()));

  private arithmetic(
    operators: readonly string[],
    operand: () => Formula | undefined,
  ): Formula | undefined {
    let left = operand();
    while (left) {
      const sofar: Formula = left;
      const more = this.cursor.attempt((): Formula | undefined => {
        const token = this.cursor.peek();
        if (token?.kind !== 'operator' || !operators.includes(token.value)) return undefined;
        this.cursor.next();
        const right = operand();
        const operator = token.value as '+';
        return right && { kind: 'arithmetic', operator, left: sofar, right };
      });
      if (!more) break;
      left = more;
    }
    return left;
  }

  private unary(): Formula | undefined {
    const token = this.cursor.peek();
    if (token?.kind === 'operator' && token.value === '-') {
      this.cursor.next();
      const operand = this.unary();
      return operand && { kind: 'negate', operand };
    }
    return this.primary();
  }

  private primary(): Formula | undefined {
    const { cursor } = this;
    const token = cursor.peek();
    if (!token) return undefined;
    if (token.kind === 'literal')
      return cursor.attempt(() => this.quotedColumn()) ?? this.literal(token);
    if (token.kind === 'number') return this.number(token);
    if (token.kind === 'mark' && '(['.includes(token.value)) return this.group(token.value);
    const call = this.call();
    if (call) return call;
    const here = cursor.skipSpace();
    const found = this.names.columnAt(cursor.tokens, here);
    if (!found) return cursor.attempt(() => this.unknownOperand());
    cursor.position = here + found.length;
    return found.column;
  }

  private literal(token: Token): Formula {
    this.cursor.next();
    return { kind: 'literal', source: token.source, value: token.value };
  }

  /** `"Order Quantity" > 5`: double quotes are those of a name where a comparison follows. */
  private quotedColumn(): Formula | undefined {
    const { cursor } = this;
    const found = this.names.columnAt(cursor.tokens, cursor.skipSpace());
    if (!found || !this.names.isUsed(found.column.column)) return undefined;
    cursor.next();
    const operator = cursor.peek();
    const isCompared =
      (operator !== undefined && comparisonOf(operator) !== undefined) ||
      cursor.isAtWord('between', 'like', 'in', 'not') ||
      (cursor.calls > 0 && cursor.isAtMark(')', ','));
    return isCompared ? found.column : undefined;
  }

  private call(): Formula | undefined {
    const { cursor } = this;
    if (cursor.calls >= MOST_CALLS) return undefined;
    const key = `${cursor.skipSpace()} ${cursor.calls > 0}`;
    if (!this.calls.has(key)) {
      const wasRepaired = cursor.isRepaired;
      cursor.isRepaired = false;
      const formula = parseCall(this);
      const { position: end, isRepaired } = cursor;
      this.calls.set(key, formula && { formula, end, isRepaired });
      cursor.isRepaired = wasRepaired;
    }
    const parsed = this.calls.get(key);
    if (!parsed) return undefined;
    cursor.position = parsed.end;
    cursor.isRepaired ||= parsed.isRepaired;
    return parsed.formula;
  }

  /** Within a call, what is compared is an operand although no column is called so. */
  private unknownOperand(): Formula | undefined {
    const word = this.cursor.calls > 0 ? this.bareValue() : undefined;
    const operator = this.cursor.peek();
    return operator && comparisonOf(operator) ? word : undefined;
  }

  private number(token: Token): Formula {
    const { cursor } = this;
    cursor.next();
    const percent = cursor.tokens[cursor.position];
    if (percent?.source !== '%') return { kind: 'number', source: token.source };
    cursor.position++;
    return { kind: 'number', source: `${token.source}%` };
  }

  private group(opening: string): Formula | undefined {
    return this.cursor.attempt(() => {
      this.cursor.next();
      const operand = this.whole();
      return operand && this.cursor.takeMark(opening === '(' ? ')' : ']')
        ? { kind: 'group', operand }
        : undefined;
    });
  }

  /** A value that lacks its quotes. */
  readonly bareValue = (): Formula | undefined => {
    const { cursor } = this;
    const token = cursor.peek();
    if (token?.kind !== 'word' && token?.kind !== 'name') return undefined;
    if (
      functionNamed(token.value) !== undefined &&
      cursor.tokens[cursor.skipSpace() + 1]?.source === '('
    )
      return undefined;
    cursor.next();
    return { kind: 'bare', source: token.source };
  };
}

function comparisonOf(token: Token): Comparison['operator'] | undefined {
  if (token.kind !== 'operator') return undefined;
  switch (token.value) {
    case '=':
    case '==':
      return '=';
    case '!=':
    case '<>':
      return '!=';
    case '<':
    case '<=':
    case '>':
    case '>=':
      return token.value;
    default:
      return undefined;
  }
}
