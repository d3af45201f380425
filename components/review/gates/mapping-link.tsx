/** A mapping's name that leads to it. */
export function MappingLink({
  name,
  goTo,
}: {
  readonly name: string;
  readonly goTo: (mapping: string) => void;
}) {
  return (
    <button
      type="button"
      onClick={() => goTo(name)}
      className="text-left text-xs text-accent underline-offset-2 wrap-anywhere hover:underline"
    >
      {name}
    </button>
  );
}
