'use client';
import Link from 'next/link';
import { useMemo, useState } from 'react';
import type { DatabaseDetail } from '../../lib/benchmarks/benchmark-api';
import { gateLabel, number } from '../format';
import { Badge, type Tone } from '../ui/badge';
import { Card } from '../ui/card';
import { Input } from '../ui/field';
import { EmptyNote } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';

const SHOWN = 100;
export const taskTone: Readonly<Record<string, Tone>> = {
  open: 'accent',
  stale: 'warn',
  waiting: 'neutral',
  done: 'good',
  closed: 'neutral',
};

/**
 * Everything that the agents and reviewers have made of this database; payloads are loaded one at a
 * time.
 */
export function ArtefactList({ database }: { readonly database: DatabaseDetail }) {
  const [search, setSearch] = useState('');
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return database.artefacts.filter((artefact) =>
      words.every((word) =>
        `${artefact.kind} ${artefact.key}`
          .replaceAll('_', ' ')
          .toLowerCase()
          .includes(word.replaceAll('_', ' ')),
      ),
    );
  }, [database.artefacts, search]);
  return (
    <Card
      title={`Artefacts (${number(database.artefacts.length)})`}
      padded={false}
      actions={
        <Input
          aria-label="Search artefacts"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          className="w-56"
        />
      }
    >
      {found.length === 0 ? (
        <EmptyNote>
          {database.artefacts.length === 0 ? 'The agents have made nothing yet.' : 'No match.'}
        </EmptyNote>
      ) : null}
      {found.length > 0 ? (
        <PlainTable
          label="Artefacts"
          rows={found.slice(0, SHOWN)}
          rowKey={(row) => row.id}
          columns={[
            { head: 'Kind', cell: (row) => row.kind.replaceAll('_', ' ') },
            {
              head: 'Key',
              cell: (row) => (
                <Link
                  className="font-mono text-xs text-accent hover:underline"
                  href={row.taskId ? `/tasks/${row.taskId}` : `/artefacts/${row.id}`}
                >
                  {row.key}
                </Link>
              ),
            },
            { head: 'Version', numeric: true, cell: (row) => row.seq },
            {
              head: 'Gate',
              cell: (row) =>
                row.gate ? gateLabel[row.gate] : <span className="text-muted">recorded</span>,
            },
            {
              head: 'Task',
              cell: (row) =>
                row.taskState ? (
                  <Badge tone={taskTone[row.taskState] ?? 'neutral'}>{row.taskState}</Badge>
                ) : null,
            },
          ]}
        />
      ) : null}
      {found.length > SHOWN ? (
        <p className="border-t border-line p-2 text-xs text-muted">
          The first {SHOWN} of {number(found.length)}: search to narrow them down.
        </p>
      ) : null}
    </Card>
  );
}
