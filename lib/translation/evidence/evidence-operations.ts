/**
 * What a hint calculates, in words: `DIVIDE(SUM(a = 'x'), COUNT(b))` → `the number of entries where
 * a = 'x' divided by the number of b`. The words are those of the pipeline: it groups, counts,
 * sorts and divides; it has no such functions. What does not read as a call with the right number
 * of arguments stays as it was.
 */
export function operationsInWords(text: string): string {
  let out = '';
  let at = 0;
  while (at < text.length) {
    const call = callAt(text, at);
    const words =
      call &&
      wordsOf(
        call.name,
        call.args.map((arg) => operationsInWords(arg.trim())),
      );
    if (call && words !== undefined) {
      out += words;
      at = call.end;
      continue;
    }
    const phrase = phraseAt(text, at);
    if (phrase) {
      out += phrase.words;
      at += phrase.length;
      continue;
    }
    // Whole words together, so that a name that ends like a function is none.
    const step = /^(?:[\p{L}\p{N}_.]+|[\s\S])/u.exec(text.slice(at))?.[0] ?? '';
    out += step;
    at += step.length;
  }
  return out;
}

interface Call {
  readonly name: string;
  readonly args: readonly string[];
  readonly end: number;
}

const NAMES =
  /(divide|multiply|subtract|add|sum|count|avg|max|min|distinct|cast|year|month)\s*\(/iy;

function callAt(text: string, at: number): Call | undefined {
  NAMES.lastIndex = at;
  const found = NAMES.exec(text);
  // "the sum (of all)" is prose.
  if (!found || (/[a-z]/.test(found[1] ?? '') && /\s/.test(found[0]))) return undefined;
  const args: string[] = [];
  let depth = 0;
  let quote = '';
  let start = at + found[0].length;
  for (let position = start; position < text.length; position++) {
    const character = text[position] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === "'" || character === '"' || character === '`') quote = character;
    else if (character === '(') depth++;
    else if (character === ',' && depth === 0) {
      args.push(text.slice(start, position));
      start = position + 1;
    } else if (character === ')') {
      if (depth === 0)
        return {
          name: (found[1] ?? '').toLowerCase(),
          args: [...args, text.slice(start, position)],
          end: position + 1,
        };
      depth--;
    }
  }
  return undefined;
}

const isCondition = (text: string): boolean =>
  /(?:[<>=]|\bis (?:not )?null\b|\b(?:like|matches|between|in)\b)/i.test(
    text.replace(/'[^']*'|"[^"]*"/g, ''),
  );
const apart = (text: string): string =>
  / (?:divided by|times|minus|plus) /.test(text) ? `(${text})` : text;

function wordsOf(name: string, args: readonly string[]): string | undefined {
  const [first = '', second = ''] = args;
  if (args.some((arg) => arg === '')) return undefined;
  const infix = { divide: 'divided by', multiply: 'times', subtract: 'minus', add: 'plus' }[name];
  if (infix !== undefined)
    return args.length === 2 ? `${apart(first)} ${infix} ${apart(second)}` : undefined;
  if (args.length !== 1) return undefined;
  switch (name) {
    case 'cast':
      return /^(.+?)\s+as\s+\w+$/i.exec(first)?.[1];
    case 'distinct':
      return `distinct ${first}`;
    case 'count':
      if (first === '*') return 'the number of documents';
      return isCondition(first)
        ? `the number of entries where ${first}`
        : `the number of ${first.replace(/^distinct\s+/i, 'distinct ')}`;
    case 'sum':
      return isCondition(first)
        ? `the number of entries where ${first}`
        : `the sum of ${apart(first)}`;
    case 'avg':
      return `the average of ${apart(first)}`;
    case 'max':
      return `the largest ${first.replace(/^the /, '')}`;
    case 'year':
    case 'month':
      return /^[\p{L}\p{N}_.]+$/u.test(first) && first.slice(1, -1).includes('.')
        ? `the ${name} of ${first}`
        : undefined;
    case 'min':
      return `the smallest ${first.replace(/^the /, '')}`;
    default:
      return undefined;
  }
}

const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/(?:PARTITION|GROUP)\s+BY\b/y, 'grouped by'],
  [/ORDER\s+BY\b/y, 'sorted by'],
  [/(?:>\s+=)/y, '>='],
  [/(?:<\s+=)/y, '<='],
  [/(?:!\s+=)/y, '!='],
];

function phraseAt(
  text: string,
  at: number,
): { readonly words: string; readonly length: number } | undefined {
  if (at > 0 && /[\p{L}\p{N}_]/u.test(text[at - 1] ?? '') && /[\p{L}]/u.test(text[at] ?? ''))
    return undefined;
  for (const [pattern, words] of PHRASES) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return { words, length: found[0].length };
  }
  return undefined;
}
