import { Copy } from './copy';

/** Text to read: no editor is loaded for it. */
export function CodeBlock({
  text,
  label,
  tall = false,
}: {
  readonly text: string;
  readonly label: string;
  readonly tall?: boolean;
}) {
  return (
    <figure className="group relative min-w-0">
      <figcaption className="sr-only">{label}</figcaption>
      <pre
        aria-label={label}
        tabIndex={0}
        className={
          'overflow-auto rounded-md border border-line bg-bg p-2 font-mono ' +
          'text-[12.5px] leading-snug whitespace-pre-wrap wrap-anywhere ' +
          `${tall ? 'max-h-[70vh]' : 'max-h-72'}`
        }
      >
        {text}
      </pre>
      <Copy text={text} what={label} />
    </figure>
  );
}
