'use client';
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'next/navigation';
import { useState } from 'react';
import type {
  ArtefactDiff,
  ArtefactRow,
  VersionDetail,
  VersionRow,
} from '../../lib/artefacts/artefact-api';
import { api } from '../api';
import { when } from '../format';
import { Page } from '../shell/page';
import { CodeBlock } from '../text/code-block';
import { CodeDiff } from '../text/code-diff';
import { Card } from '../ui/card';
import { Select } from '../ui/field';
import { ErrorNote, Loading } from '../ui/notes';

// Diff models of very large texts take the editor seconds; beyond this the versions are shown one
// at a time.
const DIFF_LIMIT = 200_000;

/** Any artefact: its versions, one of them whole, or two compared. */
export function ArtefactPage({ id }: { readonly id: string }) {
  const search = useSearchParams();
  const [to, setTo] = useState<number | null>(Number(search.get('to')) || null);
  const [from, setFrom] = useState<number | null>(Number(search.get('from')) || null);
  const artefact = useQuery({
    queryKey: ['artefacts', id],
    queryFn: () => api<{ artefact: ArtefactRow; versions: VersionRow[] }>(`/api/artefacts/${id}`),
  });
  const newest =
    artefact.data?.versions.reduce((max, version) => Math.max(max, version.seq), 0) ?? 0;
  const shown = to ?? newest;
  const version = useQuery({
    queryKey: ['artefacts', id, shown],
    queryFn: () => api<{ version: VersionDetail }>(`/api/artefacts/${id}/versions/${shown}`),
    enabled: shown > 0 && from === null,
  });
  const diff = useQuery({
    queryKey: ['artefacts', id, from, shown],
    queryFn: () => api<ArtefactDiff>(`/api/artefacts/${id}/diff?from=${from}&to=${shown}`),
    enabled: shown > 0 && from !== null,
  });
  if (artefact.isPending) return <Loading what="the artefact" of={artefact} />;
  if (artefact.error)
    return (
      <div className="p-4">
        <ErrorNote error={artefact.error} />
      </div>
    );
  const { versions } = artefact.data;
  const text = (content: unknown): string => JSON.stringify(content, null, 1);
  return (
    <Page
      title={`${artefact.data.artefact.kind.replaceAll('_', ' ')}: ${artefact.data.artefact.key}`}
    >
      <Card
        actions={
          <>
            <label className="text-[13px] text-muted">
              compare{' '}
              <Select
                value={from ?? ''}
                onChange={(event) =>
                  setFrom(event.target.value === '' ? null : Number(event.target.value))
                }
              >
                <option value="">nothing</option>
                {versions.map((row) => (
                  <option key={row.id} value={row.seq}>
                    version {row.seq}
                  </option>
                ))}
              </Select>
            </label>
            <label className="text-[13px] text-muted">
              with{' '}
              <Select value={shown} onChange={(event) => setTo(Number(event.target.value))}>
                {versions.map((row) => (
                  <option key={row.id} value={row.seq}>
                    version {row.seq}, {row.author.name}, {when(row.createdAt)}
                  </option>
                ))}
              </Select>
            </label>
          </>
        }
      >
        {version.error || diff.error ? <ErrorNote error={version.error ?? diff.error} /> : null}
        {from === null && version.data ? (
          <CodeBlock text={text(version.data.version.content)} label="Content" tall />
        ) : null}
        {from !== null && diff.data ? (
          <Difference before={text(diff.data.from.content)} after={text(diff.data.to.content)} />
        ) : null}
      </Card>
    </Page>
  );
}

function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  if (after.length > DIFF_LIMIT)
    return (
      <p className="text-muted">
        These versions are too long to be compared here; look at one at a time.
      </p>
    );
  return <CodeDiff before={before} after={after} language="mql" label="Content" />;
}
