import type { Token } from './tokens';

/** Reads tokens one after the other, spaces left out, and can go back. */
export class FormulaCursor {
  /** Calls that are open here. */
  calls = 0;
  /** A closing parenthesis was missing, or stood elsewhere than it should. */
  isRepaired = false;

  constructor(
    readonly tokens: readonly Token[],
    public position: number,
  ) {}

  skipSpace(): number {
    let index = this.position;
    while (this.tokens[index]?.kind === 'space') index++;
    return index;
  }

  peek(): Token | undefined {
    return this.tokens[this.skipSpace()];
  }

  next(): void {
    this.position = this.skipSpace() + 1;
  }

  isAtWord(...words: readonly string[]): boolean {
    const token = this.peek();
    return token?.kind === 'word' && words.includes(token.value.toLowerCase());
  }

  takeWord(...words: readonly string[]): boolean {
    if (!this.isAtWord(...words)) return false;
    this.next();
    return true;
  }

  isAtMark(...marks: readonly string[]): boolean {
    const token = this.peek();
    return token?.kind === 'mark' && marks.includes(token.value);
  }

  takeMark(mark: string): boolean {
    if (!this.isAtMark(mark)) return false;
    this.next();
    return true;
  }

  /** The clause of the hint is over: nothing behind belongs to what began before. */
  isAtEnd(): boolean {
    const index = this.skipSpace();
    const spaces = this.tokens.slice(this.position, index);
    return (
      index >= this.tokens.length ||
      this.isAtMark(';') ||
      spaces.some(({ source }) => source.includes('\n'))
    );
  }

  attempt<T>(parse: () => T | undefined): T | undefined {
    const { position, calls, isRepaired } = this;
    const found = parse();
    if (found === undefined) {
      this.position = position;
      this.calls = calls;
      this.isRepaired = isRepaired;
    }
    return found;
  }
}
