/**
 * Names that exist in the source but would break a path, a shell or a driver are repaired; all
 * others stay.
 */

const LEGAL_FIELD = /^[\p{L}_][\p{L}\p{N}_]*$/u;
// `_id` is MongoDB's own; the others are properties that JavaScript objects already have.
const RESERVED_FIELDS = new Set(['_id', '__proto__', 'constructor', 'prototype']);

/**
 * A field name for a source column or table: the source's own where it is a plain word, else camel
 * case of its words.
 */
export function legalFieldName(source: string): string {
  return cutToBytes(isPlainWord(source) ? source : camelCase(source), MAX_FIELD_BYTES);
}

/** A collection name. */
export function legalCollectionName(source: string): string {
  return cutToBytes(isPlainWord(source) ? source : camelCase(source), MAX_COLLECTION_BYTES);
}

const isPlainWord = (source: string): boolean =>
  LEGAL_FIELD.test(source) && !RESERVED_FIELDS.has(source);

/**
 * Why nobody may give a field this name; undefined where it is allowed. Allows every
 * `legalFieldName` with a number.
 */
export function fieldNameProblem(name: string): string | undefined {
  if (name === '') return 'a field needs a name';
  if (/[.$\0]/.test(name)) return 'a field name may hold no dot, no $ and no NUL';
  if (name !== '_id' && RESERVED_FIELDS.has(name)) return 'this name is reserved';
  if (/^\d+$/.test(name)) return 'a field name of digits alone would read as an array position';
  return tooLong(name, MAX_FIELD_BYTES);
}

/**
 * Why nobody may give a collection this name; undefined where it is allowed. Allows every
 * `legalCollectionName` with a number. Of names with dots, MongoDB reserves those that begin with
 * `system.`.
 */
export function collectionNameProblem(name: string): string | undefined {
  if (name === '') return 'a collection needs a name';
  if (/[$.\0/\\]/.test(name)) return 'a collection name may hold no dot, no $, no slash and no NUL';
  return tooLong(name, MAX_COLLECTION_BYTES);
}

function tooLong(name: string, most: number): string | undefined {
  const bytes = utf8.encode(name).length;
  const limit = most + NUMBER_BYTES;
  return bytes > limit ? `a name of ${bytes} bytes; at most ${limit} are allowed` : undefined;
}

// MongoDB takes 255 bytes for the names of database and collection together, and notices when the
// first document comes; this leaves room for both and for the number that a `NameSet` appends.
const MAX_COLLECTION_BYTES = 100;
// MongoDB sets no limit for field names; each document repeats them.
const MAX_FIELD_BYTES = 200;
/** What a `NameSet` appends. */
const NUMBER_BYTES = 20;
const utf8 = new TextEncoder();

/** The longest beginning that takes at most so many bytes of UTF-8, in whole characters. */
function cutToBytes(text: string, most: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8.encode(character).length;
    if (bytes > most) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** An abbreviation is a word: `FRPM Count` becomes `frpmCount`. */
const withoutCapital = (word: string): string =>
  word === word.toUpperCase() ? word.toLowerCase() : word[0]!.toLowerCase() + word.slice(1);

function camelCase(source: string): string {
  const words = source.normalize('NFC').match(/[\p{L}\p{N}]+/gu) ?? [];
  const joined = words
    .map((word, index) =>
      index === 0 ? withoutCapital(word) : word[0]!.toUpperCase() + word.slice(1),
    )
    .join('');
  if (joined === '') return 'unnamed';
  const safe = /^\p{N}/u.test(joined) ? `n${joined}` : joined;
  return RESERVED_FIELDS.has(safe) ? `${safe}_` : safe;
}

/**
 * Gives each name of a set one of its own: names that collide, also when they differ in case only
 * (a reader would confuse them), get a number.
 */
export class NameSet {
  readonly #taken = new Set<string>();

  take(wanted: string): string {
    let name = wanted;
    for (let n = 2; this.#taken.has(name.toLowerCase()); n++) name = `${wanted}_${n}`;
    this.#taken.add(name.toLowerCase());
    return name;
  }
}
