import { Fragment } from 'react';
import { namePieces } from './name-pieces';

/** A name of the source or of a design: it may break between its words, not within one. */
export function Name({
  text,
  className = 'text-xs',
}: {
  readonly text: string;
  readonly className?: string;
}) {
  return (
    <code className={`font-mono wrap-break-word ${className}`}>
      <NamePieces text={text} />
    </code>
  );
}

export function NamePieces({ text }: { readonly text: string }) {
  return namePieces(text).map((piece, at) => (
    <Fragment key={at}>
      {at > 0 ? <wbr /> : null}
      {piece}
    </Fragment>
  ));
}
