import { ServerError, unsupported } from '../errors';
import { Binary, isNullish, isNumeric, toDouble, typeName, type Value } from '../bson/value';

/**
 * Binary data as text and back, for `$convert`, `$toString` and `$toUUID`.
 * Rules: https://www.mongodb.com/docs/v8.0/reference/operator/aggregation/convert/
 */

export const UUID_SUBTYPE = 4;

const formats = ['auto', 'base64', 'base64url', 'hex', 'utf8', 'uuid'] as const;
export type BinaryFormat = (typeof formats)[number];
export interface BinaryOptions {
  readonly subtype: number;
  readonly format: BinaryFormat | undefined;
}

const failure = (what: string): ServerError =>
  new ServerError(241, `${what} in $convert with no onError value`);

export function parseFormat(v: Value): BinaryFormat | undefined {
  if (isNullish(v)) return undefined;
  if (typeof v !== 'string')
    throw new ServerError(
      4341114,
      `$convert requires that 'format' be a string, found: ${typeName(v)}`,
    );
  const known = formats.find((f) => f === v);
  if (!known) throw new ServerError(4341125, `Invalid 'format' argument for $convert: ${v}`);
  return known;
}

/** The `subtype` of a target of type binData. */
export function subtypeOf(v: Value): number {
  if (isNullish(v)) return 0;
  const n = isNumeric(v) ? toDouble(v) : NaN;
  if (!Number.isInteger(n))
    throw new ServerError(
      4341108,
      `In $convert, 'subtype' must be an integer, found: ${typeName(v)}`,
    );
  // The server's own subtypes, whose bytes have a structure.
  if (n >= 6 && n <= 9) throw unsupported(`$convert to binData of subtype ${n}`);
  if (!(n >= 0 && n <= 5) && !(n >= 128 && n <= 255))
    throw new ServerError(
      4341107,
      `In $convert, numeric value for 'subtype' does not correspond to a BinData type: ${n}`,
    );
  return n;
}

function required(format: BinaryFormat | undefined, from: string, to: string): BinaryFormat {
  if (!format)
    throw new ServerError(
      4341115,
      `Format must be specified when converting from '${from}' to '${to}' in $convert`,
    );
  return format;
}

export function binaryToText({ subtype, bytes }: Binary, given: BinaryFormat | undefined): string {
  const format = required(given, 'binData', 'string');
  const buffer = Buffer.from(bytes);
  switch (format) {
    case 'auto':
      return subtype === UUID_SUBTYPE ? uuidText(subtype, buffer) : buffer.toString('base64');
    case 'uuid':
      return uuidText(subtype, buffer);
    case 'hex':
      return buffer.toString('hex').toUpperCase();
    case 'utf8':
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(buffer);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        throw failure('BinData does not represent a valid UTF-8 string');
      }
    default:
      return buffer.toString(format);
  }
}

function uuidText(subtype: number, bytes: Buffer): string {
  if (subtype !== UUID_SUBTYPE || bytes.length !== 16)
    throw failure(
      'Conversion to a UUID string needs binary data of the UUID subtype, 16 bytes long',
    );
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function textToBinary(
  text: string,
  subtype: number,
  given: BinaryFormat | undefined,
): Binary {
  const format = required(given, 'string', 'binData');
  if (format === 'auto' || (format === 'uuid') !== (subtype === UUID_SUBTYPE))
    throw failure(
      `Cannot convert a string in the '${format}' format to binary data of subtype ${subtype}`,
    );
  const invalid = (): ServerError => failure(`Input is not a valid ${format} string`);
  switch (format) {
    case 'uuid':
      if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw invalid();
      return new Binary(subtype, Buffer.from(text.replaceAll('-', ''), 'hex'));
    case 'hex':
      if (!/^(?:[0-9a-f]{2})*$/i.test(text)) throw invalid();
      return new Binary(subtype, Buffer.from(text, 'hex'));
    case 'base64':
      if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
        throw invalid();
      return new Binary(subtype, Buffer.from(text, 'base64'));
    case 'base64url':
      if (/^[A-Za-z0-9_-]+={1,2}$/.test(text))
        throw unsupported('$convert of a padded base64url string');
      if (!/^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?$/.test(text)) throw invalid();
      return new Binary(subtype, Buffer.from(text, 'base64url'));
    case 'utf8':
      return new Binary(subtype, Buffer.from(text, 'utf8'));
  }
}
