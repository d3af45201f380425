/** A sentence in which backticks mark names of stages and fields. */
export function InlineCode({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) =>
    index % 2 === 1 ? (
      <code key={index} className="font-mono text-[0.9em]">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
