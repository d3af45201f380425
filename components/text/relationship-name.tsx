import { NamePieces } from './name';

/** A relationship's name, which may break before its arrow but never inside of it. */
export function RelationshipName({
  name,
  className = 'text-xs',
}: {
  readonly name: string;
  readonly className?: string;
}) {
  const [child = '', ...parents] = name.split('->');
  return (
    <code className={`font-mono wrap-break-word ${className}`}>
      <NamePieces text={child} />
      {parents.map((parent, at) => (
        <span key={at}>
          <wbr />
          <span className="whitespace-nowrap">-&gt;</span>
          <NamePieces text={parent} />
        </span>
      ))}
    </code>
  );
}

/** Text in which relationships are named. */
export function WithArrows({ text }: { readonly text: string }) {
  return text.split('->').flatMap((part, at) =>
    at === 0
      ? [part]
      : [
          <span key={at} className="whitespace-nowrap">
            -&gt;
          </span>,
          part,
        ],
  );
}
