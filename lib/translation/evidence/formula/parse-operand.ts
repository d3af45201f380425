import { comparisonOf } from './comparison-operator';
import type { Formula } from './formula';
import type { FormulaCursor } from './formula-cursor';
import { functionNamed } from './functions';
import type { Parsed, Productions } from './grammar';
import { parseCall } from './parse-call';
import type { Token } from './tokens';

/** Calls nested deeper are not written by people. */
const MOST_CALLS = 20;

/** What is compared: sums, products, calls, columns and constants. */
export class OperandParser {
  /** Calls by their first token: alternatives that fail look at the same ones again. */
  private readonly calls = new Map<string, Parsed | undefined>();

  constructor(private readonly grammar: Productions) {}

  private get cursor(): FormulaCursor {
    return this.grammar.cursor;
  }

  sum(): Formula | undefined {
    return this.arithmetic(['+', '-', '||'], () => this.arithmetic(['*', '/'], () => this.unary()));
  }

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
    const found = this.grammar.names.columnAt(cursor.tokens, here);
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
    const found = this.grammar.names.columnAt(cursor.tokens, cursor.skipSpace());
    if (!found || !this.grammar.names.isUsed(found.column.column)) return undefined;
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
      const formula = parseCall(this.grammar);
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
      const operand = this.grammar.whole();
      return operand && this.cursor.takeMark(opening === '(' ? ')' : ']')
        ? { kind: 'group', operand }
        : undefined;
    });
  }

  /** A value that lacks its quotes. */
  bareValue(): Formula | undefined {
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
  }
}
