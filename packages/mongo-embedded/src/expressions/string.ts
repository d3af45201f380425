import { Doc } from '../bson/doc';
import { ServerError, unsupported } from '../errors';
import { compareUtf8 } from '../values/compare';
import { formatDouble } from '../values/format';
import { isoString } from '../values/dates';
import { Decimal } from '../bson/decimal';
import {
  isIntegral,
  Code,
  DateTime,
  Double,
  isNullish,
  isNumeric,
  Regex,
  Symbol_,
  Timestamp,
  toDouble,
  typeName,
  type Numeric,
  type Value,
} from '../bson/value';
import { checkText } from '../memory';
import { compileRegex, execRegex, testRegex } from '../values/regex';
import { binary, named, unary, variadic, type Family } from './expression';

/** A value as MongoDB converts it where a string is required; null and missing become "". */
export function coerceToString(v: Value, name: string): string {
  if (typeof v === 'string') return v;
  if (isNullish(v)) return '';
  if (v instanceof DateTime) return isoString(v.ms);
  if (typeof v === 'number') return (v | 0) === v ? String(v) : formatDouble(v);
  if (v instanceof Double) return formatDouble(v.value);
  if (typeof v === 'bigint' || v instanceof Decimal) return v.toString();
  if (v instanceof Symbol_) return v.value;
  if (v instanceof Code && !v.scope) return v.code;
  if (v instanceof Timestamp) throw unsupported(`a timestamp as text (in ${name})`);
  throw new ServerError(
    16007,
    `can't convert from BSON type ${typeName(v)} to String (in ${name})`,
  );
}

const asciiLower = (s: string): string => s.replace(/[A-Z]+/g, (c) => c.toLowerCase());
const asciiUpper = (s: string): string => s.replace(/[a-z]+/g, (c) => c.toUpperCase());

export const codePoints = (s: string): string[] => Array.from(s);
const hasSurrogates = (s: string): boolean => /[\ud800-\udfff]/.test(s);

function wholeNumber(v: Value, code: number, what: string): number {
  if (!isNumeric(v))
    throw new ServerError(code, `${what} must be a numeric type (is BSON type ${typeName(v)})`);
  const n = toDouble(v);
  if (!Number.isInteger(n)) throw new ServerError(code + 1, `${what} must be an integral value`);
  return n;
}

const substringByCodePoints = variadic(
  ([text, start, length], name) => {
    const s = coerceToString(text, name);
    const from = wholeNumber(start, 34450, `${name}: starting index`);
    const count = wholeNumber(length, 34452, `${name}: length`);
    if (count < 0) throw new ServerError(34454, `${name}: length must be a nonnegative integer.`);
    if (from < 0)
      throw new ServerError(34455, `${name}: the starting index must be nonnegative integer.`);
    return hasSurrogates(s)
      ? codePoints(s)
          .slice(from, from + count)
          .join('')
      : s.substr(from, count);
  },
  3,
  3,
);

// Doubles lose their fraction, decimals are rounded.
const wholeBytes = (n: Numeric): number =>
  n instanceof Decimal ? n.quantize(0, 'half-even').toNumber() : Math.trunc(toDouble(n));

const substringByBytes = variadic(
  ([text, start, length], name) => {
    const s = coerceToString(text, name);
    if (!isNumeric(start))
      throw new ServerError(
        16034,
        `${name}:  starting index must be a numeric type (is BSON type ${typeName(start)})`,
      );
    if (!isNumeric(length))
      throw new ServerError(
        16035,
        `${name}:  length must be a numeric type (is BSON type ${typeName(length)})`,
      );
    const bytes = Buffer.from(s, 'utf8');
    const from = wholeBytes(start);
    const count = wholeBytes(length);
    if (from < 0)
      throw new ServerError(50752, `${name}: starting index must be non-negative (got: ${from})`);
    const end = count < 0 ? bytes.length : Math.min(bytes.length, from + count);
    const continues = (i: number): boolean =>
      i < bytes.length && ((bytes[i] as number) & 0xc0) === 0x80;
    if (continues(from))
      throw new ServerError(
        28656,
        `${name}:  Invalid range, starting index is a UTF-8 continuation byte.`,
      );
    if (from < end && continues(end))
      throw new ServerError(
        28657,
        `${name}:  Invalid range, ending index is in the middle of a UTF-8 character.`,
      );
    return bytes.toString('utf8', Math.min(from, bytes.length), Math.max(from, end));
  },
  3,
  3,
);

/** Whitespace as `$trim` understands it. */
const BLANKS =
  '\0 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a';

const trimming = (left: boolean, right: boolean) =>
  named(['input'], ['chars'], ({ input, chars }, given, name) => {
    if (isNullish(input)) return null;
    if (typeof input !== 'string')
      throw new ServerError(
        50699,
        `${name} requires its input to be a string, got ${typeName(input)} instead.`,
      );
    if (given.has('chars') && isNullish(chars)) return null;
    if (chars !== undefined && typeof chars !== 'string')
      throw new ServerError(
        50700,
        `${name} requires 'chars' to be a string, got ${typeName(chars)} instead.`,
      );
    const set = new Set(codePoints(chars ?? BLANKS));
    const points = codePoints(input);
    let start = 0;
    let end = points.length;
    if (left) while (start < end && set.has(points[start] as string)) start++;
    if (right) while (end > start && set.has(points[end - 1] as string)) end--;
    return points.slice(start, end).join('');
  });

const replacing = (all: boolean) =>
  named(['input', 'find', 'replacement'], [], ({ input, find, replacement }, _given, name) => {
    for (const [key, v, code] of [
      ['input', input, 51746],
      ['find', find, 51745],
      ['replacement', replacement, 51744],
    ] as const) {
      if (!isNullish(v) && typeof v !== 'string')
        throw new ServerError(
          code,
          `${name} requires that '${key}' be a string, found: ${typeName(v)}`,
        );
    }
    if (typeof input !== 'string' || typeof find !== 'string' || typeof replacement !== 'string')
      return null;
    if (all) {
      const times = find === '' ? input.length + 1 : input.split(find).length - 1;
      checkText(input.length + times * (replacement.length - find.length));
    }
    if (all)
      return find === ''
        ? [...codePoints(input)].map((c) => replacement + c).join('') + replacement
        : input.split(find).join(replacement);
    const i = input.indexOf(find);
    return i < 0 ? input : input.slice(0, i) + replacement + input.slice(i + find.length);
  });

function regexOperands(
  input: Value,
  pattern: Value,
  options: Value,
  given: ReadonlySet<string>,
  name: string,
): { text: string; regex: RegExp } | null {
  if (!isNullish(input) && typeof input !== 'string')
    throw new ServerError(51104, `${name} needs 'input' to be of type string`);
  if (!isNullish(pattern) && typeof pattern !== 'string' && !(pattern instanceof Regex))
    throw new ServerError(51105, `${name} needs 'regex' to be of type string or regex`);
  if (given.has('options') && !isNullish(options) && typeof options !== 'string')
    throw new ServerError(51106, `${name} needs 'options' to be of type string`);
  if (isNullish(input) || isNullish(pattern)) return null;
  let flags = typeof options === 'string' ? options : '';
  if (pattern instanceof Regex && pattern.options !== '') {
    if (flags !== '')
      throw new ServerError(
        51107,
        `${name}: found regex option(s) specified in both 'regex' and 'option' fields`,
      );
    flags = pattern.options;
  }
  return {
    text: input as string,
    regex: compileRegex(typeof pattern === 'string' ? pattern : (pattern as Regex).pattern, flags),
  };
}

const codePointIndex = (s: string, index: number): number =>
  hasSurrogates(s) ? codePoints(s.slice(0, index)).length : index;

function matchDocument(text: string, match: RegExpExecArray): Doc {
  const captures: Value[] = match.slice(1).map((c) => (c === undefined ? null : c));
  return new Doc(
    ['match', 'idx', 'captures'],
    [match[0], codePointIndex(text, match.index), captures],
  );
}

const indexOf = (unit: 'bytes' | 'codePoints') =>
  variadic(
    (values, name) => {
      const [text, find] = values;
      if (isNullish(text)) return null;
      if (typeof text !== 'string')
        throw new ServerError(
          unit === 'bytes' ? 40091 : 40093,
          `${name} requires a string as the first argument, found: ${typeName(text)}`,
        );
      if (typeof find !== 'string')
        throw new ServerError(
          unit === 'bytes' ? 40092 : 40094,
          `${name} requires a string as the second argument, found: ${typeName(find)}`,
        );
      const bound = (i: number): number | undefined => {
        if (values.length <= i) return undefined;
        const v = values[i];
        if (!isIntegral(v))
          throw new ServerError(
            40096,
            `${name} requires an integral ${i === 2 ? 'starting' : 'ending'} index, found a ` +
              `value of type: ${typeName(v)}`,
          );
        if (Number(v) < 0)
          throw new ServerError(
            40097,
            `${name} requires a nonnegative ${i === 2 ? 'starting' : 'ending'} index, found: ` +
              `${String(v)}`,
          );
        return Number(v);
      };
      const haystack: Buffer | string[] =
        unit === 'bytes' ? Buffer.from(text, 'utf8') : codePoints(text);
      const start = bound(2) ?? 0;
      const end = Math.min(bound(3) ?? haystack.length, haystack.length);
      if (start > haystack.length || end < start) return -1;
      if (Buffer.isBuffer(haystack)) {
        const at = haystack.subarray(start, end).indexOf(Buffer.from(find, 'utf8'));
        return at < 0 ? -1 : at + start;
      }
      // By code points a match only has to begin before the end, and the end of a text is no place
      // to begin, unless it is empty.
      if (text === '' && find === '') return 0;
      const at = haystack.slice(start).join('').indexOf(find);
      const found = at < 0 ? -1 : start + codePointIndex(haystack.slice(start).join(''), at);
      return found < end ? found : -1;
    },
    2,
    4,
  );

export const string: Family = {
  $concat: variadic((values) => {
    let out = '';
    for (const v of values) {
      if (isNullish(v)) return null;
      if (typeof v !== 'string')
        throw new ServerError(16702, `$concat only supports strings, not ${typeName(v)}`);
      out += v;
      checkText(out.length);
    }
    return out;
  }),
  $indexOfBytes: indexOf('bytes'),
  $indexOfCP: indexOf('codePoints'),
  $trim: trimming(true, true),
  $ltrim: trimming(true, false),
  $rtrim: trimming(false, true),
  $regexFind: named(['input', 'regex'], ['options'], ({ input, regex, options }, given, name) => {
    const o = regexOperands(input, regex, options, given, name);
    const match = o && execRegex(o.regex, o.text);
    return o && match ? matchDocument(o.text, match) : null;
  }),
  $regexFindAll: named(
    ['input', 'regex'],
    ['options'],
    ({ input, regex, options }, given, name, { checkpoint }) => {
      const o = regexOperands(input, regex, options, given, name);
      const out: Value[] = [];
      if (!o) return out;
      const { text } = o;
      const searching = new RegExp(o.regex.source, `${o.regex.flags}g`);
      // A search starts at every position but the end; one that starts earlier may still match
      // there.
      do {
        const match = execRegex(searching, text);
        if (!match) break;
        out.push(matchDocument(text, match));
        if (match[0] === '')
          searching.lastIndex =
            match.index + ((text.codePointAt(match.index) ?? 0) > 0xffff ? 2 : 1);
        if ((out.length & 255) === 0) checkpoint();
      } while (searching.lastIndex < text.length);
      return out;
    },
  ),
  $regexMatch: named(['input', 'regex'], ['options'], ({ input, regex, options }, given, name) => {
    const o = regexOperands(input, regex, options, given, name);
    return o !== null && testRegex(o.regex, o.text);
  }),
  $replaceOne: replacing(false),
  $replaceAll: replacing(true),
  $split: binary((text, separator, name) => {
    if (isNullish(text) || isNullish(separator)) return null;
    if (typeof text !== 'string')
      throw new ServerError(
        40085,
        `${name} requires an expression that evaluates to a string as a first argument, found: ` +
          `${typeName(text)}`,
      );
    if (typeof separator !== 'string')
      throw new ServerError(
        40086,
        `${name} requires an expression that evaluates to a string as a second argument, found: ` +
          `${typeName(separator)}`,
      );
    if (separator === '') throw new ServerError(40087, `${name} requires a non-empty separator`);
    return text.split(separator);
  }),
  $strLenBytes: unary((v, name) => {
    if (typeof v !== 'string')
      throw new ServerError(34473, `${name} requires a string argument, found: ${typeName(v)}`);
    return Buffer.byteLength(v, 'utf8');
  }),
  $strLenCP: unary((v, name) => {
    if (typeof v !== 'string')
      throw new ServerError(34471, `${name} requires a string argument, found: ${typeName(v)}`);
    return hasSurrogates(v) ? codePoints(v).length : v.length;
  }),
  $strcasecmp: binary((a, b, name) =>
    Math.sign(
      compareUtf8(asciiUpper(coerceToString(a, name)), asciiUpper(coerceToString(b, name))),
    ),
  ),
  $substr: substringByBytes,
  $substrBytes: substringByBytes,
  $substrCP: substringByCodePoints,
  $toLower: unary((v, name) => asciiLower(coerceToString(v, name))),
  $toUpper: unary((v, name) => asciiUpper(coerceToString(v, name))),
};
