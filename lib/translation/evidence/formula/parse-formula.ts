import { comparisonOf } from './comparison-operator';
import { isCondition, type Comparison, type Formula } from './formula';
import { FormulaCursor } from './formula-cursor';
import type { FormulaNames, Parsed, Productions } from './grammar';
import { OperandParser } from './parse-operand';
import type { Token } from './tokens';

/** Nested deeper, a hint is not written by people. */
const MOST_DEPTH = 60;

/** Finds the formulas of a hint. */
export class FormulaParser implements Productions {
  cursor: FormulaCursor;
  private depth = 0;
  private readonly operands: OperandParser;

  constructor(
    private readonly tokens: readonly Token[],
    readonly names: FormulaNames,
  ) {
    this.cursor = new FormulaCursor(tokens, 0);
    this.operands = new OperandParser(this);
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

  readonly sum = (): Formula | undefined => this.operands.sum();

  readonly bareValue = (): Formula | undefined => this.operands.bareValue();
}
