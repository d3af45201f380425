/** A LIKE or GLOB pattern as a regular expression of MongoDB (PCRE). */
export interface PatternRegex {
  readonly regex: string;
  readonly options: string;
}

export const escapeRegex = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'one' }
  | { readonly kind: 'many' }
  | { readonly kind: 'class'; readonly source: string };

/**
 * `%` and `_` span line ends; ASCII letters match in both cases, others only as they are
 * (https://www.sqlite.org/lang_expr.html#like). `\z`, because `$` would also match before a final
 * line end.
 */
export function likeRegex(pattern: string, escapeCharacter?: string): PatternRegex {
  const pieces: Piece[] = [];
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? '';
    if (character === escapeCharacter)
      pieces.push({ kind: 'text', text: characters[++index] ?? '' });
    else if (character === '%') pieces.push({ kind: 'many' });
    else if (character === '_') pieces.push({ kind: 'one' });
    else pieces.push({ kind: 'text', text: character });
  }
  // The option `i` folds all of Unicode; SQLite folds A to Z only.
  const foldable = !/[^\p{ASCII}]/u.test(pattern);
  const letters = /[a-z]/i.test(pattern);
  const text = foldable
    ? escapeRegex
    : (value: string): string =>
        /[a-z]/i.test(value)
          ? `[${value.toLowerCase()}${value.toUpperCase()}]`
          : escapeRegex(value);
  return assemble(pieces, text, foldable && letters ? 'i' : '');
}

/** https://www.sqlite.org/lang_corefunc.html#glob: `*`, `?`, `[…]`, `[^…]`, case-sensitive. */
export function globRegex(pattern: string): PatternRegex {
  const pieces: Piece[] = [];
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index] ?? '';
    if (character === '*') pieces.push({ kind: 'many' });
    else if (character === '?') pieces.push({ kind: 'one' });
    else if (character === '[') {
      const negated = pattern[index + 1] === '^';
      const first = index + (negated ? 2 : 1);
      const end = pattern.indexOf(']', first + 1);
      if (end < 0) return { regex: '(?!)', options: '' };
      const body = pattern.slice(first, end).replace(/[\\\]^[]/g, '\\$&');
      pieces.push({ kind: 'class', source: `[${negated ? '^' : ''}${body}]` });
      index = end;
    } else pieces.push({ kind: 'text', text: character });
  }
  return assemble(pieces, escapeRegex, '');
}

function assemble(
  pieces: readonly Piece[],
  text: (value: string) => string,
  options: string,
): PatternRegex {
  const opens = pieces[0]?.kind === 'many';
  const closes = pieces.at(-1)?.kind === 'many';
  const inner = pieces.slice(opens ? 1 : 0, closes && pieces.length > 1 ? -1 : undefined);
  const body = inner
    .map((piece) => {
      if (piece.kind === 'many') return '.*';
      if (piece.kind === 'one') return '.';
      return piece.kind === 'class' ? piece.source : text(piece.text);
    })
    .join('');
  const dots = inner.some(({ kind }) => kind === 'many' || kind === 'one');
  return {
    regex: `${opens ? '' : '^'}${body}${closes ? '' : '\\z'}`,
    options: options + (dots ? 's' : ''),
  };
}
