import { isCondition, type Call, type Formula } from './formula';
import type { FormulaCursor } from './formula-cursor';
import { functionNamed } from './functions';
import type { Productions } from './grammar';
import { parseArgument } from './parse-argument';

/** Of two values, of which one is often behind the parenthesis that closes the call. */
const OF_TWO = new Set(['divide', 'multiply', 'subtract', 'add']);

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
      const arg = parseArgument(this.productions, this.name);
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
}
