import { useMemo } from 'react';

interface Piece {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Words that went and words that came, marked by colour and by line-through or underline. */
export function WordDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const pieces = useMemo(() => diffWords(before, after), [before, after]);
  return (
    <p className="leading-7 wrap-anywhere">
      {pieces.map((piece, at) => {
        if (piece.kind === 'same') return <span key={at}>{piece.text}</span>;
        return piece.kind === 'gone' ? (
          <del key={at} className="rounded bg-bad-soft px-0.5 text-bad">
            {piece.text}
          </del>
        ) : (
          <ins
            key={at}
            className="rounded bg-good-soft px-0.5 text-good decoration-dotted underline-offset-4"
          >
            {piece.text}
          </ins>
        );
      })}
    </p>
  );
}

/**
 * Longest common subsequence over words and the gaps between them; hints are short, so the table
 * stays small.
 */
export function diffWords(before: string, after: string): Piece[] {
  const a = before.match(/\s+|[\p{L}\p{N}_.$]+|[^\s\p{L}\p{N}_.$]/gu) ?? [];
  const b = after.match(/\s+|[\p{L}\p{N}_.$]+|[^\s\p{L}\p{N}_.$]/gu) ?? [];
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--)
      length[i]![j] =
        a[i] === b[j]
          ? length[i + 1]![j + 1]! + 1
          : Math.max(length[i + 1]![j]!, length[i]![j + 1]!);
  }
  const pieces: Piece[] = [];
  const push = (kind: Piece['kind'], text: string): void => {
    const last = pieces.at(-1);
    if (last?.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text };
    else pieces.push({ kind, text });
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) [push('same', a[i]!), i++, j++];
    else if (i < a.length && (j >= b.length || length[i + 1]![j]! >= length[i]![j + 1]!))
      push('gone', a[i++]!);
    else push('new', b[j++]!);
  }
  return pieces;
}
