'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Download, PackagePlus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../api';
import { bytes, when } from '../format';
import { useBenchmarks, useBundles, useSession } from '../queries';
import { Page } from '../shell/page';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { Select } from '../ui/field';
import { EmptyNote, ErrorNote, Loading } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';
import { ProgressBar } from '../ui/progress-bar';

/** Finalised bundles for everyone; drafts for those who make them. */
export function DownloadsPage() {
  const { data: user } = useSession();
  const bundles = useBundles();
  const benchmarks = useBenchmarks();
  const client = useQueryClient();
  const [benchmark, setBenchmark] = useState('');
  const leads = user?.role === 'admin' || user?.role === 'lead';
  const chosen = benchmark || benchmarks.data?.[0]?.id;
  const row = benchmarks.data?.find((candidate) => candidate.id === chosen);
  const finalised =
    row !== undefined && row.databases > 0 && row.finalisedDatabases === row.databases;
  const make = useMutation({
    mutationFn: (draft: boolean) =>
      api('/api/bundles', { method: 'POST', body: { benchmarkId: chosen, draft } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['bundles'] }),
  });
  return (
    <Page
      title="Downloads"
      actions={
        chosen ? (
          <>
            <Select
              aria-label="Benchmark"
              value={chosen}
              onChange={(event) => setBenchmark(event.target.value)}
            >
              {benchmarks.data?.map((row) => (
                <option key={row.id} value={row.id}>
                  {row.name}
                </option>
              ))}
            </Select>
            {leads ? (
              <Button disabled={make.isPending} onClick={() => make.mutate(true)}>
                Make a draft bundle
              </Button>
            ) : null}
            <Button
              look="primary"
              icon={<PackagePlus className="size-4" />}
              disabled={make.isPending || !finalised}
              title={
                finalised ? undefined : 'Every database of the benchmark must be finalised first.'
              }
              onClick={() => make.mutate(false)}
            >
              Build release
            </Button>
          </>
        ) : null
      }
    >
      {make.error ? <ErrorNote error={make.error} /> : null}
      <Card padded={false}>
        {bundles.isPending ? <Loading what="the bundles" of={bundles} /> : null}
        {bundles.error ? (
          <div className="p-3">
            <ErrorNote error={bundles.error} retry={() => void bundles.refetch()} />
          </div>
        ) : null}
        {bundles.data?.length === 0 ? (
          <EmptyNote>
            No bundle yet. A final one can be made when every database of a benchmark is finalised.
          </EmptyNote>
        ) : null}
        {bundles.data && bundles.data.length > 0 ? (
          <PlainTable
            label="Bundles"
            rows={bundles.data}
            rowKey={(row) => row.id}
            columns={[
              {
                head: 'Benchmark',
                cell: (row) => <span className="font-medium">{row.benchmarkName}</span>,
              },
              {
                head: 'Kind',
                cell: (row) =>
                  row.draft ? <Badge tone="warn">draft</Badge> : <Badge tone="good">final</Badge>,
              },
              { head: 'Made', cell: (row) => when(row.createdAt) },
              {
                head: 'State',
                cell: (row) => {
                  if (row.state === 'failed')
                    return (
                      <span className="whitespace-pre-wrap wrap-anywhere text-bad">
                        {row.failure}
                      </span>
                    );
                  return row.state === 'done' ? (
                    'ready'
                  ) : (
                    <span className="block w-40 space-y-1">
                      {row.state}
                      <ProgressBar done={row.done} total={row.total} label="Making the bundle" />
                    </span>
                  );
                },
              },
              {
                head: 'Size',
                numeric: true,
                cell: (row) => (row.bytes === null ? '' : bytes(row.bytes)),
              },
              {
                head: 'SHA-256',
                cell: (row) => (
                  <code className="font-mono text-xs break-all text-muted">{row.sha256}</code>
                ),
              },
              {
                head: '',
                cell: (row) =>
                  row.state === 'done' ? (
                    <a
                      className="inline-flex items-center gap-1.5 font-medium text-accent hover:underline"
                      href={`/api/bundles/${row.id}/download`}
                      download={row.fileName ?? true}
                    >
                      <Download className="size-4" aria-hidden /> Download
                    </a>
                  ) : null,
              },
            ]}
          />
        ) : null}
      </Card>
      <Card title="Contents and verification">
        <p className="max-w-3xl text-[13px]">
          A bundle holds the items with their gold MQL, the expected rows, every document as
          Extended JSON and as a dump for mongorestore, designs, indexes, validation reports and
          decisions. Unpack it, then run{' '}
          <code className="rounded bg-surface-2 px-1 font-mono">
            npm run aptmql -- verify &lt;folder&gt;
          </code>
          : it checks every hash and the signature, restores the databases into an empty MongoDB and
          runs all gold.
        </p>
      </Card>
    </Page>
  );
}
