import {
  Binary,
  BSON,
  BSONRegExp,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'mongodb';
import { MqlSyntaxError } from './mql-syntax-error';
import { defineKey } from '../results/value';

/**
 * Reads literals of the shell's JavaScript. Nothing is evaluated: constructors are a fixed list.
 */
export class ValueReader {
  private at = 0;

  constructor(readonly text: string) {}

  get offset(): number {
    return this.at;
  }

  fail(message: string, offset = this.at): never {
    throw new MqlSyntaxError(message, offset);
  }

  /** White space and comments. */
  skip(): void {
    for (;;) {
      const blank = /^(?:[\s\uFEFF]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/.exec(
        this.text.slice(this.at, this.at + 4096),
      );
      if (!blank) {
        if (this.text.startsWith('/*', this.at)) {
          const end = this.text.indexOf('*/', this.at + 2);
          if (end < 0) this.fail('this comment is never closed');
          this.at = end + 2;
          continue;
        }
        return;
      }
      this.at += blank[0].length;
    }
  }

  peek(symbol: string): boolean {
    this.skip();
    return this.text.startsWith(symbol, this.at);
  }

  take(symbol: string): boolean {
    if (!this.peek(symbol)) return false;
    this.at += symbol.length;
    return true;
  }

  expect(symbol: string): void {
    if (!this.take(symbol))
      this.fail(`expected ${symbol}${this.at >= this.text.length ? ', but the text ends' : ''}`);
  }

  get atEnd(): boolean {
    this.skip();
    return this.at >= this.text.length;
  }

  word(): string {
    this.skip();
    const found = /^[\p{L}_$][\p{L}\p{N}_$]*/u.exec(this.text.slice(this.at, this.at + 512));
    if (!found) this.fail('expected a name');
    this.at += found[0].length;
    return found[0];
  }

  value(depth = 0): unknown {
    if (depth > 180) this.fail('nested too deeply');
    this.skip();
    const character = this.text[this.at] ?? '';
    if (character === '{') return this.object(depth);
    if (character === '[') return this.array(depth);
    if (character === '"' || character === "'" || character === '`') return this.string();
    if (character === '/') return this.regex();
    if (/[-+.\d]/.test(character)) return this.number();
    if (/[\p{L}_$]/u.test(character)) return this.named();
    return this.fail(character === '' ? 'expected a value, but the text ends' : 'expected a value');
  }

  /** Values in parentheses. */
  args(): unknown[] {
    this.expect('(');
    const items: unknown[] = [];
    while (!this.take(')')) {
      items.push(this.value());
      if (!this.take(',') && !this.peek(')')) this.fail('expected , or )');
    }
    return items;
  }

  string(): string {
    this.skip();
    const open = this.at;
    const quote = this.text[this.at++] ?? '';
    let out = '';
    for (;;) {
      const character = this.text[this.at++];
      if (character === undefined || (character === '\n' && quote !== '`'))
        this.fail('this string is never closed', open);
      if (character === quote) return out;
      if (character === '$' && quote === '`' && this.text[this.at] === '{')
        this.fail('an expression in a template is not evaluated', this.at - 1);
      out += character === '\\' ? this.escape() : character;
    }
  }

  private escape(): string {
    const character = this.text[this.at++] ?? '';
    const simple: Record<string, string> = {
      n: '\n',
      t: '\t',
      r: '\r',
      b: '\b',
      f: '\f',
      v: '\v',
      '0': '\0',
      '\n': '',
    };
    if (character === 'u' || character === 'x') {
      const found = (
        character === 'x' ? /^[0-9a-f]{2}/i : /^(?:[0-9a-f]{4}|\{[0-9a-f]{1,6}\})/i
      ).exec(this.text.slice(this.at, this.at + 8));
      if (!found) this.fail('a malformed escape');
      this.at += found[0].length;
      const code = Number.parseInt(found[0].replace(/[{}]/g, ''), 16);
      if (code > 0x10ffff) return this.fail('a malformed escape');
      return character === 'u' && found[0].startsWith('{')
        ? String.fromCodePoint(code)
        : String.fromCharCode(code);
    }
    return simple[character] ?? character;
  }

  private array(depth: number): unknown[] {
    this.expect('[');
    const items: unknown[] = [];
    while (!this.take(']')) {
      items.push(this.value(depth + 1));
      if (!this.take(',') && !this.peek(']')) this.fail('expected , or ]');
    }
    return items;
  }

  private object(depth: number): unknown {
    const open = this.at;
    this.expect('{');
    const out: Record<string, unknown> = {};
    while (!this.take('}')) {
      const key = this.key();
      this.expect(':');
      defineKey(out, key, this.value(depth + 1));
      if (!this.take(',') && !this.peek('}')) this.fail('expected , or }');
    }
    return this.extended(out, open);
  }

  private key(): string {
    this.skip();
    const character = this.text[this.at] ?? '';
    if (character === '"' || character === "'") return this.string();
    const number = /^\d+/.exec(this.text.slice(this.at, this.at + 32));
    if (number) {
      this.at += number[0].length;
      return number[0];
    }
    return this.word();
  }

  // Extended JSON's wrappers are objects with these keys alone; `$regex` stays, because it is an
  // operator too.
  private extended(object: Record<string, unknown>, open: number): unknown {
    const keys = Object.keys(object);
    const [first = ''] = keys;
    if (keys.length !== 1 || !WRAPPERS.has(first)) return object;
    try {
      const [value] = BSON.EJSON.deserialize({ value: [plain(object)] }, { relaxed: false })[
        'value'
      ] as unknown[];
      if (value instanceof Date && Number.isNaN(value.getTime())) throw new Error('it is no date');
      if (value instanceof Int32) return value.value;
      return value instanceof Double && !Number.isInteger(value.value) ? value.value : value;
    } catch (error) {
      return this.fail(
        `malformed ${first}: ${error instanceof Error ? error.message : String(error)}`,
        open,
      );
    }
  }

  private regex(): BSONRegExp {
    const found = /^\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([a-z]*)/.exec(
      this.text.slice(this.at, this.at + 8192),
    );
    if (!found) this.fail('a malformed regular expression');
    this.at += found[0].length;
    return this.makeRegex(found[1] ?? '', found[2] ?? '');
  }

  private makeRegex(pattern: string, options: string): BSONRegExp {
    if (/[^imsuxg]/.test(options))
      this.fail(`the regular expression options "${options}" do not exist`);
    return new BSONRegExp(pattern, options.replace(/[gu]/g, ''));
  }

  private number(): number | Double {
    const found = /^[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/.exec(
      this.text.slice(this.at, this.at + 400),
    );
    if (!found) this.fail('a malformed number');
    this.at += found[0].length;
    if (/[\p{L}\p{N}_$]/u.test(this.text[this.at] ?? '')) this.fail('a number runs into a word');
    const value = Number(found[0]);
    if (Number.isNaN(value)) {
      return found[0].startsWith('-') ? -Number(found[0].slice(1)) : Number(found[0].slice(1));
    }
    return value;
  }

  private named(): unknown {
    const start = this.at;
    let name = this.word();
    const isNew = name === 'new';
    if (isNew) name = this.word();
    if (name === 'Date' && !isNew)
      this.fail('Date() without new is the current time as text; write new Date("…")', start);
    if (Object.hasOwn(CONSTANTS, name)) return CONSTANTS[name];
    while (this.peek('.')) {
      this.take('.');
      name += `.${this.word()}`;
    }
    const build = Object.hasOwn(CONSTRUCTORS, name) ? CONSTRUCTORS[name] : undefined;
    if (!build) this.fail(`${name} is not a value`, start);
    const args = this.args();
    try {
      return build(args);
    } catch (error) {
      return this.fail(
        `${name}(): ${error instanceof Error ? error.message : String(error)}`,
        start,
      );
    }
  }
}

const CONSTANTS: Readonly<Record<string, unknown>> = {
  true: true,
  false: false,
  null: null,
  undefined: null,
  Infinity: Infinity,
  NaN: NaN,
};

const WRAPPERS = new Set([
  '$oid',
  '$date',
  '$numberInt',
  '$numberLong',
  '$numberDouble',
  '$numberDecimal',
  '$binary',
  '$uuid',
  '$regularExpression',
  '$timestamp',
  '$minKey',
  '$maxKey',
  '$symbol',
]);

// The inner wrappers of {$date: {$numberLong}} have been read already; EJSON wants them as they
// were.
function plain(value: unknown): unknown {
  if (value instanceof Long) return { $numberLong: value.toString() };
  if (value instanceof Double) return { $numberDouble: String(value.value) };
  if (typeof value !== 'object' || value === null || Array.isArray(value) || '_bsontype' in value)
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** ISODate("…"): a time without a zone is UTC, as in the shell. */
function isoDate(args: readonly unknown[]): Date {
  const [text] = args;
  if (typeof text !== 'string') return date(args);
  if (!ISO_TIME.test(text)) throw new Error(`${JSON.stringify(text)} is not an ISO 8601 date`);
  return validDate(new Date(isUtcWithoutZone(text) ? `${text.replace(' ', 'T')}Z` : text), text);
}

/**
 * new Date(milliseconds) and new Date("…"), where they mean the same moment everywhere. The other
 * forms depend on the time zone of the machine that the shell runs on: refused, with what to write
 * instead.
 */
function date(args: readonly unknown[]): Date {
  const [first, ...more] = args;
  if (first === undefined) throw new Error('the current time is not a constant; write "$$NOW"');
  if (more.length > 0) throw dependsOnZone('a date in parts is in the time zone of the shell');
  if (first instanceof Date) return first;
  if (typeof first === 'number') return validDate(new Date(first), String(first));
  if (first instanceof Long) return validDate(new Date(first.toNumber()), first.toString());
  if (typeof first !== 'string') throw new Error(`${JSON.stringify(first)} is not a date`);
  if (!ISO_TIME.test(first))
    throw dependsOnZone(`${JSON.stringify(first)} is not an ISO 8601 date`);
  if (isUtcWithoutZone(first)) {
    throw dependsOnZone(`${JSON.stringify(first)} is in the time zone of the shell`);
  }
  return validDate(new Date(first), first);
}

const dependsOnZone = (reason: string): Error =>
  new Error(`${reason}; write ISODate("2012-01-31T00:00:00Z") with your date`);

function validDate(moment: Date, text: string): Date {
  if (Number.isNaN(moment.getTime())) throw new Error(`${text} is not a date`);
  return moment;
}

const ISO_TIME =
  /^[+-]?\d{4,6}(?:-\d{2}(?:-\d{2})?)?(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

const isUtcWithoutZone = (text: string): boolean =>
  /\d{2}:\d{2}/.test(text) && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(text);

const long = ([value]: readonly unknown[]): Long => {
  if (!/^-?\d+$/.test(String(value))) throw new Error(`${JSON.stringify(value)} is no integer`);
  return Long.fromString(String(value));
};
const int = ([value]: readonly unknown[]): number => {
  if (!/^-?\d+$/.test(String(value))) throw new Error(`${JSON.stringify(value)} is no integer`);
  return Number(value);
};
const double = ([value]: readonly unknown[]): Double => {
  const number = Number(value);
  if (Number.isNaN(number) && String(value) !== 'NaN')
    throw new Error(`${JSON.stringify(value)} is no number`);
  return new Double(number);
};
const decimal = ([value]: readonly unknown[]): Decimal128 => Decimal128.fromString(String(value));
const objectId = ([value]: readonly unknown[]): ObjectId => {
  if (typeof value !== 'string') throw new Error('an ObjectId needs its 24 hexadecimal digits');
  return ObjectId.createFromHexString(value);
};

const CONSTRUCTORS: Readonly<Record<string, (args: readonly unknown[]) => unknown>> = {
  ObjectId: objectId,
  ISODate: isoDate,
  Date: date,
  NumberLong: long,
  Long: long,
  'Long.fromString': long,
  'Long.fromNumber': long,
  NumberInt: int,
  Int32: int,
  Double: double,
  NumberDouble: double,
  NumberDecimal: decimal,
  Decimal128: decimal,
  'Decimal128.fromString': decimal,
  BinData: ([type, data]) => new Binary(Buffer.from(String(data), 'base64'), Number(type)),
  HexData: ([type, data]) => new Binary(Buffer.from(String(data), 'hex'), Number(type)),
  UUID: ([value]) => new UUID(String(value)),
  Timestamp: ([t, i]) => new Timestamp({ t: Number(t), i: Number(i) }),
  MinKey: () => new MinKey(),
  MaxKey: () => new MaxKey(),
  RegExp: ([pattern, options]) =>
    new BSONRegExp(String(pattern), String(options ?? '').replace(/[gu]/g, '')),
};
