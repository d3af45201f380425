'use client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CHOICES, type Choice } from '../../../lib/design/model/document-design';
import type { DesignFigures, WhatIf } from '../../../lib/design/propose/what-if';
import { api } from '../../api';
import { bytes, counted, number } from '../../format';
import { Name } from '../../text/name';
import { RelationshipName, WithArrows } from '../../text/relationship-name';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { ErrorNote, Loading } from '../../ui/notes';
import { PlainTable } from '../../ui/plain-table';

const NOW: Readonly<Record<Choice, string>> = {
  embed: 'embedded',
  reference: 'referenced',
  copy: 'referenced with a copy',
  bucket: 'referenced from buckets',
};

interface WhatIfDialogProps {
  readonly databaseId: string;
  readonly relationship: string;
  readonly now: Choice;
  readonly onClose: () => void;
  readonly onRequest: (choice: Choice) => void;
}

/**
 * One choice changed: what the workload would cost, how large the collections would be, and whether
 * anything would be lost.
 */
export function WhatIfDialog({
  databaseId,
  relationship,
  now,
  onClose,
  onRequest,
}: WhatIfDialogProps) {
  const others = CHOICES.filter((choice) => choice !== now);
  const [choice, setChoice] = useState<Choice>(others[0]!);
  const answer = useQuery({
    queryKey: ['what-if', databaseId, relationship, choice],
    queryFn: ({ signal }) =>
      api<WhatIf>(`/api/databases/${databaseId}/what-if`, {
        method: 'POST',
        body: { relationship, choice },
        signal,
      }),
  });
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="What if?"
      description={
        <>
          <RelationshipName name={relationship} /> is {NOW[now]} now. Asking changes nothing.
        </>
      }
    >
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          onRequest(choice);
        }}
      >
        <fieldset className="flex gap-4">
          <legend className="sr-only">Choice</legend>
          {others.map((other) => (
            <label key={other} className="flex items-center gap-1.5">
              <input
                type="radio"
                name="what-if"
                checked={choice === other}
                onChange={() => setChoice(other)}
              />{' '}
              {other}
            </label>
          ))}
        </fieldset>
        {answer.error ? <ErrorNote error={answer.error} /> : null}
        {answer.isPending ? <Loading what="the estimate" of={answer} /> : null}
        {answer.data ? <Answer answer={answer.data} /> : null}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button
            type="submit"
            look="primary"
            disabled={!answer.data || answer.data.obstacle !== undefined}
          >
            Request {choice}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Answer({ answer }: { readonly answer: WhatIf }) {
  const { before, after, obstacle, advice, problems, moved, repeated } = answer;
  if (obstacle !== undefined || !after) {
    return <p role="status">Not allowed: {obstacle}. Cost and sizes cannot be estimated.</p>;
  }
  return (
    <div className="space-y-3" role="status">
      <p className="flex flex-wrap gap-2">
        <CostBadge before={before.score} after={after.score} />
        <Badge tone={problems.length === 0 ? 'good' : 'bad'}>
          {problems.length === 0 ? 'nothing would be lost' : counted(problems.length, 'problem')}
        </Badge>
        {moved.map(({ relationship, from, to }) => (
          <Badge key={relationship} tone="warn">
            <WithArrows text={relationship} />: {from} → {to}
          </Badge>
        ))}
      </p>
      {repeated ? (
        <p className="wrap-anywhere">
          Repeated of <Name text={repeated.table} />:{' '}
          {repeated.columns.map((column, at) => (
            <span key={column}>
              {at > 0 ? ', ' : ''}
              <Name text={`${repeated.field}.${column}`} />
            </span>
          ))}
        </p>
      ) : null}
      {advice ? <p>The guidebook advises against it: {advice}.</p> : null}
      {problems.length > 0 ? (
        <ul className="list-disc pl-5 text-bad">
          {problems.map(({ subject, detail }) => (
            <li key={`${subject} ${detail}`}>
              <span className="wrap-anywhere">
                <code>{subject}</code>: {detail}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
      <FiguresTable
        figures={[
          { label: 'Now', figures: before },
          { label: 'Then', figures: after },
        ]}
      />
      <SizesTable before={before} after={after} />
    </div>
  );
}

export function CostBadge({ before, after }: { readonly before: number; readonly after: number }) {
  const change = before === 0 ? 0 : Math.round((100 * (after - before)) / before);
  return (
    <Badge tone={toneOf(change)}>
      {change === 0
        ? 'costs the same'
        : `costs ${Math.abs(change)} % ${change > 0 ? 'more' : 'less'}`}
    </Badge>
  );
}

/** The workload's estimated cost on one or more designs, a column each. */
export function FiguresTable({
  figures,
}: {
  readonly figures: readonly { readonly label: string; readonly figures: DesignFigures }[];
}) {
  const rows: readonly {
    readonly name: string;
    readonly of: (design: DesignFigures) => string | number;
  }[] = [
    { name: 'Cost, in documents', of: ({ score }) => number(score) },
    { name: 'Documents fetched', of: ({ cost }) => number(cost.documents) },
    { name: 'Lookups', of: ({ cost }) => number(cost.lookups) },
    { name: 'Array entries unwound', of: ({ cost }) => number(cost.entries) },
    { name: 'Read', of: ({ cost }) => bytes(cost.bytes) },
    { name: 'Collections', of: ({ collections }) => collections.length },
    { name: 'Indexes', of: ({ indexes }) => indexes },
  ];
  return (
    <PlainTable
      label="Estimated cost of the workload"
      rows={rows}
      rowKey={(row) => row.name}
      columns={[
        { head: 'The whole workload, estimated', cell: (row) => row.name },
        ...figures.map(({ label, figures: design }) => ({
          head: label,
          numeric: true,
          cell: (row: (typeof rows)[number]) => row.of(design),
        })),
      ]}
    />
  );
}

/** The forecast of each collection; `before` adds what it would change from. */
export function SizesTable({
  before,
  after,
}: {
  readonly before?: DesignFigures;
  readonly after: DesignFigures;
}) {
  const names = [
    ...new Set(
      [...after.collections, ...(before?.collections ?? [])].map(({ collection }) => collection),
    ),
  ];
  const rows = names.map((name) => ({
    name,
    now: before?.collections.find(({ collection }) => collection === name),
    then: after.collections.find(({ collection }) => collection === name),
  }));
  const both = (
    row: (typeof rows)[number],
    pick: (forecast: NonNullable<(typeof row)['then']>) => string,
  ): string => {
    const absent = before ? '–' : undefined;
    const now = row.now ? pick(row.now) : absent;
    const then = row.then ? pick(row.then) : '–';
    return now === undefined || now === then ? then : `${now} → ${then}`;
  };
  return (
    <PlainTable
      label="Forecast of collections"
      rows={rows}
      rowKey={(row) => row.name}
      columns={[
        { head: 'Collection', cell: (row) => <Name text={row.name} /> },
        {
          head: 'Documents',
          numeric: true,
          cell: (row) => both(row, ({ documents }) => number(documents)),
        },
        {
          head: 'Mean document',
          numeric: true,
          cell: (row) => both(row, ({ meanBytes }) => bytes(meanBytes)),
        },
        {
          head: 'Largest at most',
          numeric: true,
          cell: (row) => both(row, ({ largestBytes }) => bytes(largestBytes)),
        },
        {
          head: 'Longest arrays',
          cell: (row) =>
            both(
              row,
              ({ longestArrays }) =>
                Object.entries(longestArrays)
                  .map(([path, entries]) => `${path}: ${number(entries)}`)
                  .join(', ') || 'none',
            ),
        },
      ]}
    />
  );
}

function toneOf(change: number): 'bad' | 'good' | 'neutral' {
  if (change === 0) return 'neutral';
  return change > 0 ? 'bad' : 'good';
}
