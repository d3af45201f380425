import { isCondition, type ColumnName, type Comparison, type Formula } from './formula';
import type { Token } from './tokens';

/** The column that tokens name from here on, with how many they are. */
export type ColumnAt = (
  tokens: readonly Token[],
  index: number,
) => { readonly column: ColumnName; readonly length: number } | undefined;

export interface Parsed {
  readonly formula: Formula;
  /** Behind its last token. */
  readonly end: number;
}

const FUNCTIONS = new Set([
  ...['count', 'sum', 'avg', 'average', 'max', 'min', 'total', 'distinct'],
  ...['divide', 'multiply', 'subtract', 'add', 'percentage', 'ratio'],
  ...['year', 'month', 'day', 'date', 'strftime', 'substr', 'substring', 'instr', 'length'],
  ...['cast', 'abs', 'round', 'upper', 'lower', 'trim', 'replace', 'iif', 'if', 'ifnull'],
  ...['coalesce', 'nullif', 'julianday', 'now', 'rank'],
]);

/** Words and spaces that stand for a column. */
const MOST_PROSE = 12;

/** Nested deeper, a hint is not written by people. */
const MOST_DEPTH = 60;

/**
 * The longest formula that begins at a token; undefined where none does. Words that name no column
 * end it: what follows is prose.
 */
export function parseFormula(
  tokens: readonly Token[],
  index: number,
  columnAt: ColumnAt,
): Parsed | undefined {
  const parser = new FormulaParser(tokens, index, columnAt);
  const formula = parser.whole();
  return formula && { formula, end: parser.position };
}

class FormulaParser {
  private depth = 0;

  constructor(
    private readonly tokens: readonly Token[],
    public position: number,
    private readonly columnAt: ColumnAt,
  ) {}

  /** A formula, and the condition that it is limited to. */
  whole(): Formula | undefined {
    if (this.depth > MOST_DEPTH) return undefined;
    this.depth++;
    const value = this.disjunction();
    this.depth--;
    return value && this.limited(value);
  }

  private limited(value: Formula): Formula {
    return (
      this.attempt(() => {
        if (!this.takeWord('where', 'when')) return undefined;
        const condition = this.disjunction();
        return condition && { kind: 'where', value, condition };
      }) ?? value
    );
  }

  private disjunction(): Formula | undefined {
    return this.logic('or', () => this.logic('and', () => this.condition()));
  }

  private logic(operator: 'and' | 'or', operand: () => Formula | undefined): Formula | undefined {
    const first = operand();
    if (!first || !isCondition(first)) return first;
    const operands = [first];
    for (;;) {
      // "a = 1 and the others": only another condition belongs to it.
      const next = this.attempt(() => {
        if (!this.takeWord(operator)) return undefined;
        const found = operand();
        return found && isCondition(found) ? found : undefined;
      });
      if (!next) break;
      operands.push(next);
    }
    return operands.length === 1 ? first : { kind: 'logic', operator, operands };
  }

  private condition(): Formula | undefined {
    let left = this.sum();
    if (!left) return undefined;
    for (;;) {
      const operand: Formula = left;
      const more: Formula | undefined =
        this.attempt(() => this.comparison(operand)) ?? this.attempt(() => this.test(operand));
      if (!more) return left;
      left = more;
    }
  }

  private comparison(left: Formula): Formula | undefined {
    const token = this.peek();
    const operator = token && comparisonOf(token);
    if (!token || !operator) return undefined;
    this.next();
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
    const isIs = this.takeWord('is', 'are');
    const negated = this.takeWord('not');
    if (isIs) {
      if (this.takeWord('null', 'empty')) return { kind: 'null', operand, negated };
      const token = this.peek();
      if (token?.kind !== 'literal') return undefined;
      this.next();
      return {
        kind: 'compare',
        left: operand,
        operator: negated ? '!=' : '=',
        source: negated ? 'is not' : 'is',
        right: { kind: 'literal', source: token.source, value: token.value },
      };
    }
    if (this.takeWord('like')) {
      const token = this.peek();
      if (token?.kind !== 'literal') return undefined;
      this.next();
      const pattern = { kind: 'literal', source: token.source, value: token.value } as const;
      return { kind: 'pattern', operand, pattern, negated };
    }
    if (this.takeWord('between')) {
      const low = this.sum();
      const high = low && this.takeWord('and', 'to') ? this.sum() : undefined;
      return low && high && { kind: 'range', operand, low, high, negated };
    }
    return this.takeWord('in') ? this.list(operand, negated) : undefined;
  }

  private list(operand: Formula, negated: boolean): Formula | undefined {
    const closing = this.takeMark('(') ? ')' : ']';
    if (closing === ']' && !this.takeMark('[')) return undefined;
    const items: Formula[] = [];
    do {
      const item = this.sum() ?? this.bareValue();
      if (!item) return undefined;
      items.push(item);
    } while (this.takeMark(','));
    return this.takeMark(closing) ? { kind: 'list', operand, items, negated } : undefined;
  }

  private sum(): Formula | undefined {
    return this.arithmetic(['+', '-', '||'], () => this.arithmetic(['*', '/'], () => this.unary()));
  }

  private arithmetic(
    operators: readonly string[],
    operand: () => Formula | undefined,
  ): Formula | undefined {
    let left = operand();
    while (left) {
      const sofar: Formula = left;
      const more = this.attempt((): Formula | undefined => {
        const token = this.peek();
        if (token?.kind !== 'operator' || !operators.includes(token.value)) return undefined;
        this.next();
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
    const token = this.peek();
    if (token?.kind === 'operator' && token.value === '-') {
      this.next();
      const operand = this.unary();
      return operand && { kind: 'negate', operand };
    }
    return this.primary();
  }

  private primary(): Formula | undefined {
    const token = this.peek();
    if (!token) return undefined;
    if (token.kind === 'literal') {
      this.next();
      return { kind: 'literal', source: token.source, value: token.value };
    }
    if (token.kind === 'number') return this.number(token);
    if (token.kind === 'mark' && '(['.includes(token.value)) return this.group(token.value);
    const call = this.attempt(() => this.call()) ?? this.attempt(() => this.caseOf());
    if (call) return call;
    const here = this.skipSpace();
    const found = this.columnAt(this.tokens, here);
    if (!found) return undefined;
    this.position = here + found.length;
    return found.column;
  }

  private number(token: Token): Formula {
    this.next();
    const percent = this.tokens[this.position];
    if (percent?.source !== '%') return { kind: 'number', source: token.source };
    this.position++;
    return { kind: 'number', source: `${token.source}%` };
  }

  private group(opening: string): Formula | undefined {
    return this.attempt(() => {
      this.next();
      const operand = this.whole();
      return operand && this.takeMark(opening === '(' ? ')' : ']')
        ? { kind: 'group', operand }
        : undefined;
    });
  }

  private call(): Formula | undefined {
    const token = this.peek();
    if (token?.kind !== 'word' || !FUNCTIONS.has(token.value.toLowerCase())) return undefined;
    this.next();
    // "the sum (of all)" is prose.
    const isApart = this.tokens[this.position]?.kind === 'space';
    if (isApart && /^[a-z]/.test(token.value)) return undefined;
    if (!this.takeMark('(')) return undefined;
    const distinct = this.takeWord('distinct');
    const args: Formula[] = [];
    if (!this.takeMark(')')) {
      do {
        const arg = this.argument();
        if (!arg) return undefined;
        args.push(arg);
        // A missing comma is often a semicolon.
      } while (this.takeMark(',') || this.takeMark(';'));
      if (!this.takeMark(')')) return undefined;
    }
    const name = token.value.toLowerCase();
    return { kind: 'call', name, source: token.source, args, distinct };
  }

  /** `CASE WHEN c THEN x ELSE y END` says the same as `IIF(c, x, y)`. */
  private caseOf(): Formula | undefined {
    const source = this.peek()?.source ?? '';
    if (!this.takeWord('case') || !this.takeWord('when')) return undefined;
    const when = this.disjunction();
    const then = when && this.takeWord('then') ? this.sum() : undefined;
    const otherwise = then && this.takeWord('else') ? (this.sum() ?? this.bareValue()) : undefined;
    if (!when || !then || !this.takeWord('end')) return undefined;
    const args = [when, then, ...(otherwise ? [otherwise] : [])];
    return { kind: 'call', name: 'iif', source, args, distinct: false };
  }

  private argument(): Formula | undefined {
    const token = this.peek();
    if (token?.kind === 'operator' && token.value === '*') {
      this.next();
      return { kind: 'bare', source: '*' };
    }
    const value = this.attempt(() => this.wholeArgument()) ?? this.prose();
    if (!value) return undefined;
    // CAST(x AS type)
    const type = this.attempt(() => (this.takeWord('as') ? this.bareValue() : undefined));
    return type
      ? { kind: 'call', name: 'as', source: 'AS', args: [value, type], distinct: false }
      : value;
  }

  private wholeArgument(): Formula | undefined {
    const value = this.whole();
    const behind = this.peek();
    const isWhole =
      (behind?.kind === 'mark' && [',', ';', ')'].includes(behind.value)) ||
      (behind?.kind === 'word' && behind.value.toLowerCase() === 'as');
    return isWhole ? value : undefined;
  }

  /** Words in place of a column: `COUNT(all heroes)`, `YEAR(CURRENT_TIMESTAMP)`. */
  private prose(): Formula | undefined {
    const words: string[] = [];
    for (;;) {
      const token = this.tokens[this.position];
      const isWord = token && ['word', 'number', 'space', 'name'].includes(token.kind);
      if (!isWord || words.length > MOST_PROSE) break;
      words.push(token.source);
      this.position++;
    }
    const source = words.join('').trim();
    return source === '' ? undefined : { kind: 'bare', source };
  }

  /** A value that lacks its quotes. */
  private bareValue(): Formula | undefined {
    const token = this.peek();
    if (token?.kind !== 'word' && token?.kind !== 'name') return undefined;
    if (FUNCTIONS.has(token.value.toLowerCase()) && this.tokens[this.position + 1]?.source === '(')
      return undefined;
    this.next();
    return { kind: 'bare', source: token.source };
  }

  // ---- tokens

  private skipSpace(): number {
    let index = this.position;
    while (this.tokens[index]?.kind === 'space') index++;
    return index;
  }

  private peek(): Token | undefined {
    return this.tokens[this.skipSpace()];
  }

  private next(): void {
    this.position = this.skipSpace() + 1;
  }

  private takeWord(...words: readonly string[]): boolean {
    const token = this.peek();
    if (token?.kind !== 'word' || !words.includes(token.value.toLowerCase())) return false;
    this.next();
    return true;
  }

  private takeMark(mark: string): boolean {
    if (this.peek()?.kind !== 'mark' || this.peek()?.value !== mark) return false;
    this.next();
    return true;
  }

  private attempt<T>(parse: () => T | undefined): T | undefined {
    const before = this.position;
    const found = parse();
    if (found === undefined) this.position = before;
    return found;
  }
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
