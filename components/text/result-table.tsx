import { printExtendedValue } from '../../lib/mql/print-extended-json';
import { visibleParts } from './visible-text';

type Cell = unknown;

/**
 * Rows with a badge for each value's type; nulls are visible. Long results are cut by the server.
 */
export function ResultTable({
  columns,
  rows,
  label,
}: {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly label: string;
}) {
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label={label}
      className="max-h-72 overflow-auto rounded-md border border-line"
    >
      <table aria-label={label} className="w-full border-collapse text-[12.5px]">
        <thead className="sticky top-0 bg-surface-2">
          <tr>
            {columns.map((name, at) => (
              <th key={at} scope="col" className="px-2 py-1 text-left font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, r) => (
            <tr key={r} className="border-t border-line/60">
              {row.map((value, c) => (
                <td key={c} className="px-2 py-1 align-top font-mono wrap-break-word">
                  <TypedValue value={value} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A value with its type; what of a text would not be seen is marked. */
export function TypedValue({ value }: { readonly value: unknown }) {
  const type = typeOf(value);
  return (
    <span className="inline-flex items-baseline gap-1.5">
      {type === 'null' ? <span className="text-muted italic">null</span> : null}
      {type === 'string' ? <VisibleText text={String(value)} /> : null}
      {type === 'null' || type === 'string' ? null : <span>{printExtendedValue(value)}</span>}
      {type === 'null' ? null : (
        <span className="shrink-0 text-[10px] whitespace-nowrap text-muted">{type}</span>
      )}
    </span>
  );
}

/** The marks are drawn beside what they stand for: who copies the text copies it as it is. */
function VisibleText({ text }: { readonly text: string }) {
  if (text === '') return <span className="text-muted italic">empty</span>;
  return (
    <span className="min-w-0 wrap-break-word whitespace-pre-wrap">
      {visibleParts(text).map(({ text: part, mark, name }, at) =>
        mark === undefined ? (
          part
        ) : (
          <span
            key={at}
            title={name}
            data-mark={mark}
            className="rounded-sm bg-warn-soft text-warn before:content-[attr(data-mark)]"
          >
            {/* The mark takes a blank's room: both together would look like two. */}
            {part === ' ' ? <span className="text-[0px]"> </span> : part}
          </span>
        ),
      )}
    </span>
  );
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'double';
  if (Array.isArray(value)) return 'array';
  const [key] = Object.keys(value);
  const wrapped: Record<string, string> = {
    $numberLong: 'long',
    $numberInt: 'int',
    $numberDouble: 'double',
    $numberDecimal: 'decimal',
    $date: 'date',
    $binary: 'binary',
    $oid: 'objectId',
  };
  return (key && wrapped[key]) || 'document';
}
