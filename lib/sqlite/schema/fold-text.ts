import type { Column } from '../catalog';

/**
 * Texts that are equal under a collation have this in common: NOCASE folds ASCII letters, RTRIM
 * drops trailing spaces.
 */
export function foldText(text: string, collation: Column['collation']): string {
  if (collation === 'NOCASE') return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return collation === 'RTRIM' ? withoutTrailingSpaces(text) : text;
}

// A regular expression would look for the end from every space on.
function withoutTrailingSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === ' ') end--;
  return text.slice(0, end);
}
