import { columnsIn, isCondition, type Call, type ColumnName, type Formula } from './formula';
import type { FormulaCursor } from './formula-cursor';
import { isNear, LEAST_LETTERS } from './near-name';
import type { Token } from './tokens';

/** The column that tokens name from here on, with how many they are. */
export type ColumnAt = (
  tokens: readonly Token[],
  index: number,
) => { readonly column: ColumnName; readonly length: number } | undefined;

/** What a parser has to know of the names of the source. */
export interface FormulaNames {
  readonly columnAt: ColumnAt;
  /** A table that the SQL asks has a column of this name. */
  isUsed(column: string): boolean;
  /** The word is a column of such a table, and no word of a sentence. */
  isPlain(word: string): boolean;
}

/** What a call is made of. */
export interface Productions {
  readonly cursor: FormulaCursor;
  readonly names: FormulaNames;
  whole(): Formula | undefined;
  disjunction(): Formula | undefined;
  sum(): Formula | undefined;
  bareValue(): Formula | undefined;
}

const FUNCTIONS = new Set([
  ...['count', 'sum', 'avg', 'average', 'max', 'min', 'total', 'distinct'],
  ...['divide', 'multiply', 'subtract', 'add', 'percentage', 'ratio'],
  ...['year', 'month', 'day', 'date', 'datetime', 'strftime', 'substr', 'substring', 'instr'],
  ...['length', 'cast', 'abs', 'round', 'upper', 'lower', 'trim', 'replace', 'iif', 'if', 'ifnull'],
  ...['coalesce', 'nullif', 'julianday', 'now', 'curdate', 'rank'],
]);

/** The function that a word names, in lower case; in capitals one letter may be wrong: `DIVDE`. */
export function functionNamed(word: string): string | undefined {
  const written = word.toLowerCase();
  if (FUNCTIONS.has(written)) return written;
  if (word.length < LEAST_LETTERS || word !== word.toUpperCase()) return undefined;
  return [...FUNCTIONS].find((name) => name.length >= LEAST_LETTERS && isNear(name, written));
}

/** Of two values, of which one is often behind the parenthesis that closes the call. */
const OF_TWO = new Set(['divide', 'multiply', 'subtract', 'add']);

const WHERE = ['where', 'when'];

/** Words, spaces and marks that stand for a column or a condition. */
const MOST_PROSE = 48;

/** A call at the cursor; undefined where none is, or where its arguments are no formulas. */
export function parseCall(productions: Productions): Formula | undefined {
  const { cursor } = productions;
  return (
    cursor.attempt(() => new CallParser(productions).call()) ??
    cursor.attempt(() => caseOf(productions))
  );
}

/** `CASE WHEN c THEN x ELSE y END` says the same as `IIF(c, x, y)`. */
function caseOf({ cursor, disjunction, sum, bareValue }: Productions): Formula | undefined {
  const source = cursor.peek()?.source ?? '';
  if (!cursor.takeWord('case') || !cursor.takeWord('when')) return undefined;
  const when = disjunction();
  const then = when && cursor.takeWord('then') ? sum() : undefined;
  const otherwise = then && cursor.takeWord('else') ? (sum() ?? bareValue()) : undefined;
  if (!when || !then || !cursor.takeWord('end')) return undefined;
  const args = [when, then, ...(otherwise ? [otherwise] : [])];
  return { kind: 'call', name: 'iif', source, args, distinct: false };
}

class CallParser {
  private name = '';
  private readonly cursor: FormulaCursor;

  constructor(private readonly productions: Productions) {
    this.cursor = productions.cursor;
  }

  call(): Formula | undefined {
    const { cursor } = this;
    const token = cursor.peek();
    const name = token?.kind === 'word' ? functionNamed(token.value) : undefined;
    if (!token || name === undefined) return undefined;
    cursor.next();
    const isApart = cursor.tokens[cursor.position]?.kind === 'space';
    const before = cursor.tokens
      .slice(0, cursor.position - 1)
      .findLast(({ kind }) => kind !== 'space');
    // "the sum (of all)" is prose.
    const isProse = isApart && /^[a-z]/.test(token.value);
    if (isProse && /^(?:the|an?)$/i.test(before?.value ?? '')) return undefined;
    if (!cursor.takeMark('(')) return undefined;
    this.name = name;
    cursor.calls++;
    const isDoubled = this.isDoubled() && cursor.takeMark('(');
    const distinct = cursor.takeWord('distinct');
    const args = cursor.isAtMark(')') ? [] : this.args();
    if (!args || !this.close() || (isDoubled && !this.close())) return undefined;
    cursor.calls--;
    if (isProse && args.every(({ kind }) => kind === 'prose' || kind === 'literal'))
      return undefined;
    const call: Call = { kind: 'call', name: this.name, source: token.source, args, distinct };
    return this.comparedOutside(call) ?? this.completed(call);
  }

  /** `SUBTRACT(a, b < 31)`: the difference is what is compared. */
  private comparedOutside(call: Call): Formula | undefined {
    const [first, last] = call.args;
    const isMeant =
      call.name === 'subtract' &&
      call.args.length === 2 &&
      last?.kind === 'compare' &&
      !isCondition(first!);
    if (!isMeant) return undefined;
    this.cursor.isRepaired = true;
    return { ...last, left: { ...call, args: [first!, last.left] } };
  }

  private args(): readonly Formula[] | undefined {
    const args: Formula[] = [];
    for (;;) {
      const arg = this.argument();
      if (!arg) return undefined;
      args.push(arg);
      if (this.cursor.takeMark(',')) continue;
      // A semicolon is often meant as a comma; else the clause ends there.
      const rest = this.cursor.attempt(() =>
        this.cursor.takeMark(';') ? this.closedArgs() : undefined,
      );
      return rest ? [...args, ...rest] : args;
    }
  }

  private closedArgs(): readonly Formula[] | undefined {
    const args = this.args();
    return args && this.cursor.isAtMark(')') ? args : undefined;
  }

  /** The closing parenthesis; nobody wrote it where the clause ends before. */
  private close(): boolean {
    const { cursor } = this;
    if (cursor.takeMark(')')) return true;
    if (!cursor.isAtEnd() && !cursor.isAtWord('as')) return false;
    cursor.isRepaired = true;
    return true;
  }

  /** `SUBTRACT((a, b))`: the list of arguments has two pairs of parentheses. */
  private isDoubled(): boolean {
    const { cursor } = this;
    if (!cursor.isAtMark('(')) return false;
    let depth = 0;
    let isList = false;
    for (let index = cursor.skipSpace(); index < cursor.tokens.length; index++) {
      const { kind, value } = cursor.tokens[index]!;
      if (kind !== 'mark') continue;
      if (value === ';') return false;
      if (value === '(') depth++;
      if (value === ',' && depth === 1) isList = true;
      if (value !== ')' || --depth > 0) continue;
      const behind = cursor.tokens.slice(index + 1).find((token) => token.kind !== 'space');
      return isList && behind?.value === ')';
    }
    return false;
  }

  /** `DIVIDE(a), (b)`: the second value stands behind the parenthesis. */
  private completed(call: Call): Call {
    const { cursor } = this;
    const [only] = call.args;
    if (!OF_TWO.has(call.name) || call.args.length !== 1 || only?.kind === 'arithmetic')
      return call;
    const second = cursor.attempt(() => {
      if (!cursor.takeMark(',')) return undefined;
      const operand = this.productions.sum();
      return operand && ['call', 'group'].includes(operand.kind) ? operand : undefined;
    });
    if (!second) return call;
    cursor.isRepaired = true;
    return { ...call, args: [...call.args, second] };
  }

  // ---- arguments

  private argument(): Formula | undefined {
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
    if (!value || this.name !== 'cast') return value;
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
