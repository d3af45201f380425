import { columnsIn, isCondition, type Formula } from './formula';
import type { FormulaCursor } from './formula-cursor';
import { functionNamed } from './functions';
import type { Productions } from './grammar';

const WHERE = ['where', 'when'];

/** Words, spaces and marks that stand for a column or a condition. */
const MOST_PROSE = 48;

/** An argument of a function: a formula, words in place of one, or both. */
export const parseArgument = (
  productions: Productions,
  functionName: string,
): Formula | undefined => new ArgumentParser(productions, functionName).argument();

class ArgumentParser {
  private readonly cursor: FormulaCursor;

  constructor(
    private readonly productions: Productions,
    private readonly functionName: string,
  ) {
    this.cursor = productions.cursor;
  }

  argument(): Formula | undefined {
    const { cursor } = this;
    const token = cursor.peek();
    if (token?.kind === 'operator' && token.value === '*') {
      cursor.next();
      return { kind: 'bare', source: '*' };
    }
    const value =
      cursor.attempt(() => this.quotedColumn()) ??
      cursor.attempt(() => this.complete(this.productions.whole())) ??
      cursor.attempt(() => this.complete(this.valueOfCondition())) ??
      cursor.attempt(() => this.complete(this.limitedByProse())) ??
      this.prose();
    if (!value || this.functionName !== 'cast') return value;
    const type = cursor.attempt(() =>
      cursor.takeWord('as') ? this.productions.bareValue() : undefined,
    );
    return type
      ? { kind: 'call', name: 'as', source: 'AS', args: [value, type], distinct: false }
      : value;
  }

  /** Nothing of the argument is left behind the value. */
  private complete(value: Formula | undefined): Formula | undefined {
    const { cursor } = this;
    const isWhole = cursor.isAtMark(',', ')') || cursor.isAtWord('as') || cursor.isAtEnd();
    return isWhole ? value : undefined;
  }

  /** `MAX('First Date')`: a column in the quotes of a text. */
  private quotedColumn(): Formula | undefined {
    const { cursor } = this;
    const token = cursor.peek();
    if (token?.kind !== 'literal' || !this.productions.names.isPlain(token.value)) return undefined;
    cursor.next();
    const { source, value: column, start } = token;
    return this.complete({ kind: 'column', source, column, start });
  }

  /** `c THEN x`, `x AND c`, `x HAVING c`: x, limited to where c is true. */
  private valueOfCondition(): Formula | undefined {
    const { cursor } = this;
    const first = this.productions.disjunction();
    if (!first) return undefined;
    if (isCondition(first)) {
      const value = cursor.takeWord('then') ? this.productions.sum() : undefined;
      return value && { kind: 'where', value, condition: first };
    }
    const condition = cursor.takeWord('and', 'having', 'if')
      ? this.productions.disjunction()
      : undefined;
    return condition && isCondition(condition)
      ? { kind: 'where', value: first, condition }
      : undefined;
  }

  /** `driverid when time has value`, `races where name = 'x'`: words, or limited by words. */
  private limitedByProse(): Formula | undefined {
    const { cursor } = this;
    const value =
      cursor.attempt(() => {
        const found = this.productions.sum();
        return cursor.isAtWord(...WHERE) ? found : undefined;
      }) ?? this.prose();
    if (!value || !cursor.takeWord(...WHERE)) return undefined;
    const condition =
      cursor.attempt(() => this.complete(this.productions.disjunction())) ?? this.prose();
    return condition && { kind: 'where', value, condition };
  }

  /** Words in place of a formula: `COUNT(all heroes)`, with the conditions and columns in them. */
  private prose(): Formula | undefined {
    const { cursor } = this;
    const parts: (string | Formula)[] = [];
    const first = cursor.skipSpace();
    cursor.position = first;
    while (cursor.position - first < MOST_PROSE && this.isProse(parts.length > 0)) {
      const part =
        cursor.attempt(() => this.conditionInProse()) ?? cursor.attempt(() => this.columnInProse());
      parts.push(part ?? cursor.tokens[cursor.position++]!.source);
    }
    while (typeof parts.at(-1) === 'string' && /^\s+$/.test(parts.at(-1) as string)) parts.pop();
    return parts.length === 0 ? undefined : { kind: 'prose', parts };
  }

  private isProse(isBegun: boolean): boolean {
    const { cursor } = this;
    const token = cursor.tokens[cursor.position];
    if (!token || cursor.isAtEnd()) return false;
    if (token.kind === 'mark') return isBegun && /^['’.:/]$/.test(token.value);
    // What has a call of its own is no prose.
    if (
      functionNamed(token.value) !== undefined &&
      cursor.tokens[cursor.position + 1]?.source === '('
    )
      return false;
    return !(token.kind === 'word' && cursor.isAtWord(...WHERE, 'as') && isBegun);
  }

  private conditionInProse(): Formula | undefined {
    const found = this.productions.disjunction();
    const isMeant =
      found !== undefined &&
      isCondition(found) &&
      [...columnsIn(found)].every(({ column }) => this.productions.names.isUsed(column));
    return isMeant ? found : undefined;
  }

  private columnInProse(): Formula | undefined {
    const { cursor, productions } = this;
    const found = productions.names.columnAt(cursor.tokens, cursor.position);
    if (!found || !productions.names.isPlain(found.column.column)) return undefined;
    cursor.position += found.length;
    return found.column;
  }
}
