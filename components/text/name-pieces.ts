/**
 * Longer than words are; what is longer still may break anywhere, so that it does not widen a
 * table.
 */
const LONGEST = 28;

/**
 * A name taken apart where it may break: after what separates its words, and before the humps of
 * one without separators.
 */
export function namePieces(name: string): string[] {
  return name
    .split(/(?<=[_.,:;()[\]{}/\\|-])(?![_.,:;()[\]{}/\\|-])|(?<=\p{Ll})(?=\p{Lu})/u)
    .flatMap((piece) =>
      piece.length <= LONGEST ? [piece] : (piece.match(new RegExp(`.{1,${LONGEST}}`, 'gsu')) ?? []),
    );
}
