import { ServerError, unsupported } from '../errors';

/**
 * MongoDB's regular expressions are PCRE's; JavaScript's differ in what `.`, `^`, `$` and `\s`
 * mean, in inline options and in syntax. A pattern is translated construct by construct into one
 * that JavaScript reads the same way over code points; what has no equal is refused.
 */
export function compileRegex(pattern: string, options: string): RegExp {
  const key = `${options}/${pattern}`;
  let regex = cache.get(key);
  if (!regex) {
    regex = new Translator(pattern, options).compile();
    if (cache.size > 2000) cache.clear();
    cache.set(key, regex);
  }
  return regex;
}
const cache = new Map<string, RegExp>();

/**
 * A regular expression that backtracks without end cannot be interrupted from within. Odd while one
 * runs: whoever watches the thread sees that it does not come back.
 */
let watch: Int32Array<ArrayBufferLike> = new Int32Array(1);
export function watchRegexes(shared: Int32Array<ArrayBufferLike>): void {
  watch = shared;
}
export function testRegex(regex: RegExp, text: string): boolean {
  watch[0] = ((watch[0] as number) + 1) | 0;
  try {
    return regex.test(text);
  } finally {
    watch[0] = ((watch[0] as number) + 1) | 0;
  }
}
export function execRegex(regex: RegExp, text: string): RegExpExecArray | null {
  watch[0] = ((watch[0] as number) + 1) | 0;
  try {
    return regex.exec(text);
  } finally {
    watch[0] = ((watch[0] as number) + 1) | 0;
  }
}

const START = '(?<![^])';
const END = '(?![^])';
const SPACE = ' \\t\\n\\v\\f\\r';
const posix: Record<string, string> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: SPACE,
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`\\{-~',
  xdigit: '0-9A-Fa-f',
  word: 'A-Za-z0-9_',
  cntrl: '\\x00-\\x1f\\x7f',
  print: ' -~',
  graph: '!-~',
};
const generalCategories = /^(?:C[cfnos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/;

interface Flags {
  m: boolean;
  s: boolean;
  x: boolean;
}

class Translator {
  private at = 0;
  private ignoreCase = false;
  private readonly stack: Flags[] = [];
  private flags: Flags = { m: false, s: false, x: false };

  constructor(
    private readonly source: string,
    options: string,
  ) {
    for (const option of options) {
      if (option === 'i') this.ignoreCase = true;
      else if (option === 'm' || option === 's' || option === 'x') this.flags[option] = true;
      else if (option !== 'u')
        throw new ServerError(51108, `invalid flag in regex options: ${option}`);
    }
  }

  compile(): RegExp {
    if (this.source.includes('\0'))
      throw new ServerError(51109, 'regular expression cannot contain an embedded null byte');
    const text = this.translate();
    try {
      return new RegExp(text, this.ignoreCase ? 'iu' : 'u');
    } catch (error) {
      throw new ServerError(51091, `Regular expression is invalid: ${(error as Error).message}`);
    }
  }

  private refuse(what: string): ServerError {
    return unsupported(`regular expression syntax ${what}`);
  }

  private translate(): string {
    let out = '';
    while (this.at < this.source.length) out += this.next();
    return out;
  }

  private next(): string {
    const c = String.fromCodePoint(this.source.codePointAt(this.at) as number);
    switch (c) {
      case '\\':
        return this.escape(false);
      case '[':
        return this.characterClass();
      case '(':
        return this.group();
      case ')':
        this.at++;
        this.flags = this.stack.pop() ?? this.flags;
        return ')';
      case '^':
        this.at++;
        return this.flags.m ? `(?:${START}|(?<=\\n)(?=[^]))` : START;
      case '$':
        this.at++;
        return this.flags.m ? `(?=\\n|${END})` : `(?=\\n?${END})`;
      case '.':
        this.at++;
        return this.flags.s ? '[^]' : '[^\\n]';
      case '*':
      case '+':
      case '?':
        this.at++;
        return c + this.afterQuantifier();
      case '{':
        return this.brace();
      case '}':
      case ']':
        this.at++;
        return `\\${c}`;
      default:
        this.at += c.length;
        if (this.flags.x) {
          if (/[ \t\n\v\f\r]/.test(c)) return '';
          if (c === '#') {
            const end = this.source.indexOf('\n', this.at);
            this.at = end < 0 ? this.source.length : end + 1;
            return '';
          }
        }
        return c === '/' ? '\\/' : c;
    }
  }

  private afterQuantifier(): string {
    if (this.source[this.at] === '+') throw this.refuse('possessive quantifier');
    if (this.source[this.at] === '?') {
      this.at++;
      return '?';
    }
    return '';
  }

  private brace(): string {
    const match = /^\{\d+(?:,\d*)?\}/.exec(this.source.slice(this.at));
    if (!match) {
      this.at++;
      return '\\{';
    }
    this.at += match[0].length;
    return match[0] + this.afterQuantifier();
  }

  private group(): string {
    const rest = this.source.slice(this.at);
    const saved = { ...this.flags };
    const open = (length: number, text: string): string => {
      this.stack.push(saved);
      this.at += length;
      return text;
    };
    if (rest.startsWith('(?#')) {
      const end = rest.indexOf(')');
      this.at += end < 0 ? rest.length : end + 1;
      return '';
    }
    const plain = /^\(\?(?::|=|!|<=|<!)/.exec(rest);
    if (plain) return open(plain[0].length, plain[0]);
    const namedGroup = /^\(\?(?:P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')/.exec(rest);
    if (namedGroup) return open(namedGroup[0].length, `(?<${namedGroup[1] ?? namedGroup[2]}>`);
    const inline = /^\(\?([imsx]*)(?:-([imsx]*))?([:)])/.exec(rest);
    if (inline) {
      const [all, on = '', off = '', end] = inline;
      // Ignoring case is a property of the whole JavaScript expression.
      if (
        (on.includes('i') && !this.ignoreCase && (this.at > 0 || end === ':')) ||
        (off.includes('i') && this.ignoreCase)
      ) {
        throw this.refuse('(?i) for a part of the pattern');
      }
      if (on.includes('i')) this.ignoreCase = true;
      if (end === ':') this.stack.push(saved);
      for (const f of ['m', 's', 'x'] as const) {
        if (on.includes(f)) this.flags = { ...this.flags, [f]: true };
        if (off.includes(f)) this.flags = { ...this.flags, [f]: false };
      }
      this.at += all.length;
      if (end === ':') return '(?:';
      return /^[*+?{]/.test(this.source.slice(this.at)) ? '(?:)' : '';
    }
    if (rest.startsWith('(?') || rest.startsWith('(*')) throw this.refuse(rest.slice(0, 4));
    return open(1, '(');
  }

  private escape(inClass: boolean): string {
    const c = this.source[this.at + 1];
    if (c === undefined)
      throw new ServerError(51091, 'Regular expression is invalid: \\ at end of pattern');
    this.at += 2;
    switch (c) {
      case 'd':
      case 'D':
      case 'w':
      case 'W':
      case 't':
      case 'n':
      case 'r':
      case 'f':
        return `\\${c}`;
      case 's':
        return inClass ? SPACE : `[${SPACE}]`;
      case 'S':
        if (inClass) throw this.refuse('\\S in a class');
        return `[^${SPACE}]`;
      case 'h':
        return inClass
          ? ' \\t\\u00a0'
          : '[ \\t\\u00a0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000]';
      case 'v':
        return inClass ? '\\n\\v\\f\\r\\x85\\u2028\\u2029' : '[\\n\\v\\f\\r\\x85\\u2028\\u2029]';
      case 'e':
        return '\\x1b';
      case 'a':
        return '\\x07';
      case 'x':
        return this.hex();
      case 'p':
      case 'P':
        return this.property(c);
      case 'Q': {
        const end = this.source.indexOf('\\E', this.at);
        const literal = this.source.slice(this.at, end < 0 ? undefined : end);
        this.at = end < 0 ? this.source.length : end + 2;
        return literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/-/g, inClass ? '\\-' : '-');
      }
      case 'E':
        return '';
      default:
        if (!inClass) {
          const assertion = this.assertion(c);
          if (assertion !== undefined) return assertion;
        } else if (c === 'b') return '\\b';
        if (c === '0') return '\\0';
        if (/[A-Za-z0-9]/.test(c)) throw this.refuse(`\\${c}`);
        return /[\\^$.*+?()[\]{}|/]/.test(c) || (inClass && c === '-') ? `\\${c}` : this.literal(c);
    }
  }
  // An escaped character beyond the basic plane is two code units here.
  private literal(c: string): string {
    const code = this.source.codePointAt(this.at - 1);
    if (code !== undefined && code > 0xffff) {
      this.at++;
      return String.fromCodePoint(code);
    }
    return c;
  }

  private assertion(c: string): string | undefined {
    switch (c) {
      case 'b':
      case 'B':
        return `\\${c}`;
      case 'A':
        return START;
      case 'z':
        return END;
      case 'Z':
        return `(?=\\n?${END})`;
      case 'N':
        return '[^\\n]';
      case 'R':
        return '(?:\\r\\n|[\\n\\v\\f\\r\\x85\\u2028\\u2029])';
      case 'k': {
        const name = /^(?:<(\w+)>|\{(\w+)\}|'(\w+)')/.exec(this.source.slice(this.at));
        if (!name) throw this.refuse('\\k');
        this.at += name[0].length;
        return `\\k<${name[1] ?? name[2] ?? name[3]}>`;
      }
      default: {
        if (!/[1-9]/.test(c)) return undefined;
        const more = /^\d*/.exec(this.source.slice(this.at))?.[0] ?? '';
        this.at += more.length;
        return `(?:\\${c}${more})`;
      }
    }
  }

  private hex(): string {
    const match = /^(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{1,2}))/.exec(this.source.slice(this.at));
    if (!match) return '\\0';
    this.at += match[0].length;
    return `\\u{${match[1] ?? match[2]}}`;
  }

  private property(c: string): string {
    const match = /^(?:\{(\^?)(\w+)\}|([A-Z]))/.exec(this.source.slice(this.at));
    if (!match) throw this.refuse(`\\${c}`);
    this.at += match[0].length;
    const name = match[2] ?? match[3] ?? '';
    const opposite = c === 'p' ? 'P' : 'p';
    const letter = match[1] === '^' ? opposite : c;
    return generalCategories.test(name) ? `\\${letter}{${name}}` : `\\${letter}{Script=${name}}`;
  }

  private characterClass(): string {
    this.at++;
    let out = '[';
    if (this.source[this.at] === '^') {
      out += '^';
      this.at++;
    }
    let first = true;
    for (;;) {
      if (this.at >= this.source.length)
        throw new ServerError(
          51091,
          'Regular expression is invalid: missing terminating ] for character class',
        );
      const c = String.fromCodePoint(this.source.codePointAt(this.at) as number);
      if (c === ']' && !first) {
        this.at++;
        return `${out}]`;
      }
      first = false;
      if (c === '\\') {
        out += this.escape(true);
        continue;
      }
      const name = /^\[:(\^?)(\w+):\]/.exec(this.source.slice(this.at));
      if (name) {
        const set = posix[name[2] as string];
        if (!set || name[1]) throw this.refuse(name[0]);
        out += set;
        this.at += name[0].length;
        continue;
      }
      this.at += c.length;
      if (c === '-') {
        // A hyphen after a class like \d is literal in PCRE and an error in JavaScript.
        out +=
          /\\[dwDW]$/.test(out) || out === '[' || out === '[^' || this.source[this.at] === ']'
            ? '\\-'
            : '-';
      } else out += /[[\]/^]/.test(c) ? `\\${c}` : c;
    }
  }
}
