'use client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SampleDocuments } from '../../../lib/review/api-types';
import { api, query } from '../../api';
import { CodeBlock } from '../../text/code-block';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { ErrorNote, Loading } from '../../ui/notes';

interface SamplesProps {
  readonly databaseId: string;
  readonly collection: string;
}

/** The first documents as they lie in MongoDB, on demand. */
export function Samples({ databaseId, collection, title = 'Documents' }: SamplesProps & { readonly title?: string }) {
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
      {open ? <FirstDocuments databaseId={databaseId} collection={collection} /> : <p className="text-[13px] text-muted">As they lie in MongoDB; long arrays and texts are cut.</p>}
    </Card>
  );
}

export function FirstDocuments({ databaseId, collection }: SamplesProps) {
  const answer = useQuery({ queryKey: ['documents', databaseId, collection], queryFn: ({ signal }) => api<SampleDocuments>(`/api/databases/${databaseId}/documents${query({ collection })}`, { signal }), staleTime: 30_000 });
  if (answer.error) return <ErrorNote error={answer.error} />;
  if (answer.isPending) return <Loading what="the documents" of={answer} />;
  if (answer.data.documents.length === 0) return <p>The collection is empty.</p>;
  return (
    <div className="grid gap-2 lg:grid-cols-3">
      {answer.data.documents.map((text, at) => (
        <CodeBlock key={at} text={text} label={`Document ${at + 1} of ${collection}`} />
      ))}
    </div>
  );
}
