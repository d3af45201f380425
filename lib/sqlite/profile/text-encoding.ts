import { isUtf8 } from 'node:buffer';

/** As `PRAGMA encoding` names them. */
export const TEXT_ENCODINGS = ['UTF-8', 'UTF-16le', 'UTF-16be'] as const;
export type TextEncoding = (typeof TEXT_ENCODINGS)[number];

const utf16 = {
  'UTF-16le': new TextDecoder('utf-16le', { fatal: true }),
  'UTF-16be': new TextDecoder('utf-16be', { fatal: true }),
};

/** Are these the bytes of a text? SQLite stores whatever it is given as one. */
export function isValidText(encoding: TextEncoding, bytes: Uint8Array): boolean {
  if (encoding === 'UTF-8') return isUtf8(bytes);
  try {
    utf16[encoding].decode(bytes);
    return true;
  } catch {
    return false;
  }
}
