import { tokenize, type Token } from './lexer';
import { SqlSyntaxError } from './syntax-error';

/**
 * Words that cannot name anything unquoted; SQLite lets every other keyword fall back to an
 * identifier.
 */
const RESERVED = new Set(
  `ADD ALL ALTER AND AS AUTOINCREMENT BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE DEFAULT DEFERRABLE DELETE
  DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IN INDEX INSERT INTERSECT INTO IS ISNULL JOIN LIMIT
  NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY REFERENCES RETURNING SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE
  UPDATE USING VALUES WHEN WHERE`.split(/\s+/),
);
export const JOIN_WORDS: ReadonlySet<string> = new Set([
  'CROSS',
  'FULL',
  'INNER',
  'LEFT',
  'NATURAL',
  'OUTER',
  'RIGHT',
]);

/** SQLITE_MAX_EXPR_DEPTH. */
export const MAX_DEPTH = 1000;

/** Walks over the tokens of one statement. */
export class TokenCursor {
  private readonly tokens: readonly Token[];
  private index = 0;
  private depth = 0;

  constructor(readonly sql: string) {
    this.tokens = tokenize(sql);
  }

  get current(): Token {
    return this.peek(0);
  }

  /** End of the token before the current one: where a node that has just been read ends. */
  get lastEnd(): number {
    return this.tokens[this.index - 1]?.end ?? 0;
  }

  peek(distance: number): Token {
    const token = this.tokens[Math.min(this.index + distance, this.tokens.length - 1)];
    if (!token) throw new Error('a token list always ends with an end token');
    return token;
  }

  next(): Token {
    const token = this.current;
    this.index++;
    return token;
  }

  isKeyword(word: string, distance = 0): boolean {
    return this.peek(distance).keyword === word;
  }

  isSymbol(symbol: string, distance = 0): boolean {
    const token = this.peek(distance);
    return token.kind === 'symbol' && token.value === symbol;
  }

  takeKeyword(...words: string[]): boolean {
    if (!words.every((word, distance) => this.isKeyword(word, distance))) return false;
    this.index += words.length;
    return true;
  }

  takeSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.index++;
    return true;
  }

  expectKeyword(word: string): void {
    if (!this.takeKeyword(word)) this.fail(`expected ${word}`);
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) this.fail(`expected ${symbol}`);
  }

  /** Can the token stand where a name is wanted? Join words can, except as an alias without AS. */
  isName(token: Token = this.current, joinWords: 'allowed' | 'excluded' = 'allowed'): boolean {
    if (token.kind === 'quoted') return true;
    if (token.kind !== 'word' || RESERVED.has(token.keyword)) return false;
    return joinWords === 'allowed' || !JOIN_WORDS.has(token.keyword);
  }

  name(): string {
    if (this.current.kind !== 'text' && !this.isName()) this.fail('expected a name');
    return this.next().value;
  }

  startsQuery(distance = 0): boolean {
    return ['SELECT', 'VALUES', 'WITH'].includes(this.peek(distance).keyword);
  }

  /**
   * Reads something that may contain itself. Throws beyond SQLite's own limit, so that no stack
   * overflows.
   */
  nested<T>(read: () => T): T {
    if (++this.depth > MAX_DEPTH) this.fail('nested too deeply');
    const result = read();
    this.depth--;
    return result;
  }

  fail(message: string): never {
    const { kind, value, start } = this.current;
    throw new SqlSyntaxError(
      kind === 'end' ? `${message}, but the text ends` : `${message} near ${JSON.stringify(value)}`,
      start,
    );
  }
}
