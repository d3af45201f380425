'use client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SampleDocuments } from '../../../lib/artefacts/artefact-api';
import type { DocumentSource } from '../../../lib/validation/document-sources';
import { api, query } from '../../api';
import { counted, number } from '../../format';
import { CodeBlock } from '../../text/code-block';
import { ResultTable, TypedValue } from '../../text/result-table';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { ErrorNote, Loading } from '../../ui/notes';
import { PlainTable } from '../../ui/plain-table';

interface SamplesProps {
  readonly databaseId: string;
  readonly collection: string;
}

/** The first documents with their source rows, on demand. */
export function Samples({
  databaseId,
  collection,
  title = 'Documents',
}: SamplesProps & { readonly title?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <Card
      title={title}
      actions={
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Hide' : 'Show the first documents'}
        </Button>
      }
    >
      {open ? (
        <FirstDocuments databaseId={databaseId} collection={collection} />
      ) : (
        <p className="text-[13px] text-muted">
          Sample documents with their source rows; long arrays and texts are cut.
        </p>
      )}
    </Card>
  );
}

export function FirstDocuments({ databaseId, collection }: SamplesProps) {
  const answer = useQuery({
    queryKey: ['documents', databaseId, collection],
    queryFn: ({ signal }) =>
      api<SampleDocuments>(`/api/databases/${databaseId}/documents${query({ collection })}`, {
        signal,
      }),
    staleTime: 30_000,
  });
  if (answer.error) return <ErrorNote error={answer.error} />;
  if (answer.isPending) return <Loading what="the documents" of={answer} />;
  const { documents, rootTable, withoutSource } = answer.data;
  if (documents.length === 0) return <p>The collection is empty.</p>;
  if (withoutSource !== null) {
    return (
      <div className="space-y-2">
        <p className="text-[13px] text-muted">{withoutSource}</p>
        <div className="grid gap-2 lg:grid-cols-3">
          {documents.map(({ text }, at) => (
            <CodeBlock key={at} text={text} label={`Document ${at + 1} of ${collection}`} />
          ))}
        </div>
      </div>
    );
  }
  return (
    <ol className="space-y-4">
      {documents.map(({ text, source }, at) => (
        <li key={at} className="grid gap-2 lg:grid-cols-2">
          {source ? (
            <SourceRows
              source={source}
              rootTable={rootTable}
              what={`document ${at + 1} of ${collection}`}
            />
          ) : null}
          <div className="min-w-0 space-y-1">
            <p className="text-xs text-muted">
              Document {at + 1} of {collection}
            </p>
            <CodeBlock text={text} label={`Document ${at + 1} of ${collection}`} />
          </div>
        </li>
      ))}
    </ol>
  );
}

/**
 * The rows that a document was made from; a single one column by column, as the document has its
 * fields.
 */
function SourceRows({
  source: { columns, rows, total, children },
  rootTable,
  what,
}: {
  readonly source: DocumentSource;
  readonly rootTable: string;
  readonly what: string;
}) {
  const [row] = rows;
  return (
    <div className="min-w-0 space-y-2">
      <div className="space-y-1">
        <p className="text-xs text-muted">
          {rowsShown(rows.length, total)} of <code className="font-mono">{rootTable}</code> in the
          source
        </p>
        {total === 0 ? <Badge tone="bad">no source row belongs to this document</Badge> : null}
        {row && total === 1 ? (
          <div className="max-h-72 overflow-auto rounded-md border border-line">
            <PlainTable
              label={`Source of ${what}`}
              rows={columns.map((name, at) => ({ name, value: row[at] }))}
              rowKey={({ name }) => name}
              columns={[
                {
                  head: 'Column',
                  cell: ({ name }) => (
                    <code className="font-mono text-xs wrap-anywhere">{name}</code>
                  ),
                },
                {
                  head: 'Value',
                  cell: ({ value }) => (
                    <span className="font-mono text-xs wrap-anywhere">
                      <TypedValue value={value} />
                    </span>
                  ),
                },
              ]}
            />
          </div>
        ) : null}
        {row && total > 1 ? (
          <ResultTable label={`Source of ${what}`} columns={columns} rows={rows} />
        ) : null}
      </div>
      {children.length > 0 ? (
        <PlainTable
          label={`Child rows of ${what}`}
          rows={children}
          rowKey={({ path }) => path}
          columns={[
            {
              head: 'Array or document',
              cell: ({ path }) => <code className="font-mono text-xs wrap-anywhere">{path}</code>,
            },
            {
              head: 'Rows in the source',
              cell: ({ rows: found, table }) => (
                <>
                  {number(found)} of{' '}
                  <code className="font-mono text-xs wrap-anywhere">{table}</code>
                </>
              ),
            },
            {
              head: 'Held here',
              cell: ({ rows: found, expected, entries }) => (
                <Held rows={found} expected={expected} entries={entries} />
              ),
            },
          ]}
        />
      ) : null}
    </div>
  );
}

function Held({
  rows,
  expected,
  entries,
}: {
  readonly rows: number;
  readonly expected: number;
  readonly entries: number;
}) {
  if (entries !== expected)
    return (
      <Badge tone="bad">
        {number(entries)}, not {number(expected)}
      </Badge>
    );
  if (expected === rows) return number(entries);
  return expected === 0 ? <>none: an outlier, flagged</> : <>the first {number(entries)}</>;
}

function rowsShown(shown: number, total: number): string {
  if (total === 1) return 'The row';
  return total > shown
    ? `The first ${number(shown)} of ${counted(total, 'row')}`
    : counted(total, 'row');
}
