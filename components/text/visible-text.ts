export interface TextPart {
  readonly text: string;
  /** What stands in the place of something that would not be seen, and its name. */
  readonly mark?: string;
  readonly name?: string;
}

const MARKS: Readonly<Record<string, readonly [mark: string, name: string]>> = {
  ' ': ['␣', 'blank'],
  '\u00a0': ['⍽', 'no-break space'],
  '\t': ['⇥', 'tab'],
  '\n': ['⏎', 'line feed'],
  '\r': ['␍', 'carriage return'],
};
// Single blanks between words are what a reader expects; every other blank or control character is
// told. Joiners are seen by what they do in scripts other than Latin and in emoji.
const UNSEEN =
  /^ +| {2,}| +$|(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?<![^\0-\x7f])[\u200c\u200d]|(?! )\p{Zs}/gmu;

/**
 * A text taken apart where something in it would not be seen: a value that begins with a blank is
 * another value.
 */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(UNSEEN)) {
    if (index > at) parts.push({ text: text.slice(at, index) });
    for (const character of found) {
      const code = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
      const [mark, name] = MARKS[character] ?? [`‹${code}›`, code];
      parts.push({ text: character, mark, name });
    }
    at = index + found.length;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}
