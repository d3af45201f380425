'use client';
import { Upload } from 'lucide-react';
import Link from 'next/link';
import { useEffect, useState } from 'react';
import { Page } from '../shell/page';
import { number, sentence, when } from '../format';
import { useBenchmarks, useImports, useSession } from '../queries';
import { TasksMeter } from '../tasks-meter';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { EmptyNote, ErrorNote, Loading } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';
import { ProgressBar } from '../ui/progress-bar';
import { UploadDialog } from './upload-dialog';

const DISMISSED = 'aptmql.dismissed-imports';

export function BenchmarksPage() {
  const { data: user } = useSession();
  const mayImport = user?.role === 'admin' || user?.role === 'lead';
  const benchmarks = useBenchmarks();
  const imports = useImports(mayImport);
  const [uploading, setUploading] = useState(false);
  const [dismissed, setDismissed] = useState<readonly string[]>([]);
  useEffect(
    () => setDismissed(JSON.parse(localStorage.getItem(DISMISSED) ?? '[]') as string[]),
    [],
  );
  const dismiss = (id: string): void => {
    const next = [...dismissed, id].slice(-200);
    localStorage.setItem(DISMISSED, JSON.stringify(next));
    setDismissed(next);
  };
  const running =
    imports.data?.filter((entry) => entry.state !== 'done' && !dismissed.includes(entry.id)) ?? [];
  return (
    <Page
      title="Benchmarks"
      actions={
        mayImport ? (
          <Button
            look="primary"
            icon={<Upload className="size-4" />}
            onClick={() => setUploading(true)}
          >
            Import a benchmark
          </Button>
        ) : null
      }
    >
      {running.length > 0 ? (
        <Card title="Imports">
          <ul className="space-y-2">
            {running.slice(0, 8).map((entry) => (
              <li key={entry.id} className="grid grid-cols-[1fr_auto] gap-x-4">
                <span className="font-medium">{entry.name}</span>
                <span className="text-muted">
                  {entry.phase} · {entry.state}
                </span>
                {entry.failure ? (
                  <p className="col-span-2 text-bad wrap-anywhere">
                    {sentence(entry.failure)} Nothing was imported.{' '}
                    <Button look="quiet" onClick={() => dismiss(entry.id)}>
                      Dismiss
                    </Button>
                  </p>
                ) : (
                  <div className="col-span-2">
                    <ProgressBar
                      done={entry.done}
                      total={entry.total}
                      label={`Import of ${entry.name}`}
                    />
                  </div>
                )}
              </li>
            ))}
          </ul>
        </Card>
      ) : null}
      <Card padded={false}>
        {benchmarks.isPending ? <Loading what="benchmarks" of={benchmarks} /> : null}
        {benchmarks.error ? (
          <div className="p-3">
            <ErrorNote error={benchmarks.error} retry={() => void benchmarks.refetch()} />
          </div>
        ) : null}
        {benchmarks.data?.length === 0 ? (
          <EmptyNote>
            No benchmark yet.{' '}
            {mayImport
              ? 'Import a BIRD or Spider folder as a .zip file.'
              : 'A lead can import one.'}
          </EmptyNote>
        ) : null}
        {benchmarks.data && benchmarks.data.length > 0 ? (
          <PlainTable
            label="Benchmarks"
            rows={benchmarks.data}
            rowKey={(row) => row.id}
            columns={[
              {
                head: 'Name',
                cell: (row) => (
                  <Link
                    className="font-medium text-accent hover:underline"
                    href={`/benchmarks/${row.id}`}
                  >
                    {row.name}
                  </Link>
                ),
              },
              { head: 'Layout', cell: (row) => (row.kind === 'bird' ? 'BIRD' : 'Spider') },
              { head: 'Databases', numeric: true, cell: (row) => number(row.databases) },
              { head: 'Items', numeric: true, cell: (row) => number(row.items) },
              { head: 'Tasks', cell: (row) => <TasksMeter tasks={row.tasks} /> },
              {
                head: 'Finalised',
                cell: (row) => (
                  <Badge
                    tone={
                      row.databases > 0 && row.finalisedDatabases === row.databases
                        ? 'good'
                        : 'neutral'
                    }
                  >
                    {row.finalisedDatabases} of {row.databases}
                  </Badge>
                ),
              },
              {
                head: 'Imported',
                cell: (row) => <span className="text-muted">{when(row.createdAt)}</span>,
              },
            ]}
          />
        ) : null}
      </Card>
      <UploadDialog open={uploading} onClose={() => setUploading(false)} />
    </Page>
  );
}
