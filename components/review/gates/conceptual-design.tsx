'use client';
import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import { score } from '../../../lib/design/cost';
import type { ConceptualDesign, IndexDesign, PatternUse, RelationshipChoice } from '../../../lib/design/document-design';
import type { ProfileContent } from '../../../lib/pipeline/stages/design-stages';
import type { Relationship } from '../../../lib/sqlite/profile';
import type { Workload } from '../../../lib/design/workload';
import type { ArtefactKind, DesignFiguresResponse, VersionDetail } from '../../../lib/review/api-types';
import { api, query } from '../../api';
import { Markdown, sectionId } from '../../text/markdown';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { ErrorNote, Loading } from '../../ui/notes';
import { PlainTable } from '../../ui/plain-table';
import { Tabs } from '../../ui/tabs';
import type { GateProps } from '../gate-props';
import { mqlKey } from './mql-key';
import { CostBadge, FiguresTable, SizesTable, WhatIfDialog } from './what-if-dialog';

const CollectionGraph = dynamic(() => import('./collection-graph').then((module) => module.CollectionGraph), { ssr: false, loading: () => <Loading what="the graph" /> });

/** The content of another artefact of the same database. */
export function useArtefact<T>(databaseId: string, kind: ArtefactKind, key: string) {
  return useQuery({
    queryKey: ['artefact', databaseId, kind, key],
    queryFn: () => api<{ current: VersionDetail }>(`/api/artefacts${query({ databaseId, kind, key })}`).then(({ current }) => current.content as T),
    staleTime: 10_000,
  });
}

export function ConceptualDesignGate({ task, content, before, directives, setDirectives }: GateProps<ConceptualDesign>) {
  const profile = useArtefact<ProfileContent>(task.databaseId, 'profile', task.key);
  const workload = useArtefact<Workload>(task.databaseId, 'workload', task.key);
  const indexes = useArtefact<IndexDesign>(task.databaseId, 'index_design', task.key);
  const [asked, setAsked] = useState<RelationshipChoice | null>(null);
  const request = (relationship: string, choice: RelationshipChoice['choice']): void =>
    setDirectives([...directives.filter((entry) => entry.kind !== 'relationship' || entry.relationship !== relationship), { kind: 'relationship', relationship, choice }]);
  const failed = profile.error ?? workload.error ?? indexes.error;
  const part = (text: string) => (
    <div className="max-w-5xl">
      <Markdown text={text} />
    </div>
  );
  return (
    <div className="space-y-3">
      {failed ? <ErrorNote error={failed} /> : null}
      <Card title={`Relationships and their choices (${content.relationships.length})`} padded={false}>
        <PlainTable
          label="Relationships"
          rows={content.relationships}
          rowKey={(row) => row.relationship}
          columns={[
            {
              head: 'Relationship',
              cell: (row) => {
                const measured = profile.data?.profile.relationships.find((entry) => entry.id === row.relationship);
                const earlier = before?.relationships.find((entry) => entry.relationship === row.relationship)?.choice;
                return (
                  <div className="space-y-0.5">
                    <code className="font-mono text-xs break-words">{row.relationship}</code>
                    <div className="flex flex-wrap gap-1">
                      {measured && !measured.declared ? <Badge tone="warn" title={measured.evidence ?? ''}>undeclared</Badge> : null}
                      {row.directed ? <Badge tone="accent">directed</Badge> : null}
                      {earlier && earlier !== row.choice ? <Badge tone="warn">was {earlier}</Badge> : null}
                    </div>
                  </div>
                );
              },
            },
            {
              head: 'Choice',
              cell: (row) => (
                <div className="space-y-1">
                  <Badge tone={row.choice === 'embed' ? 'good' : 'neutral'}>
                    {row.choice}
                    {row.choice === 'embed' ? ` ${row.cardinality ?? ''}` : ''}
                  </Badge>
                  {row.choice === 'copy' ? <CopiedColumns choice={row} before={before?.relationships.find((entry) => entry.relationship === row.relationship)} /> : null}
                  <KeptByParents choice={row} directives={directives} setDirectives={setDirectives} />
                </div>
              ),
            },
            {
              head: 'Instead',
              cell: (row) => {
                const wanted = directives.find((entry) => entry.kind === 'relationship' && entry.relationship === row.relationship);
                return (
                  <div className="w-40 space-y-1">
                    {wanted?.kind === 'relationship' ? (
                      <Button aria-label={`Take back: ${row.relationship}`} onClick={() => setDirectives(directives.filter((entry) => entry !== wanted))}>
                        → {wanted.choice} requested; take back
                      </Button>
                    ) : (
                      <Alternatives choice={row} onRequest={(other) => request(row.relationship, other)} />
                    )}
                    <Button look="quiet" aria-label={`What if: ${row.relationship}`} onClick={() => setAsked(row)}>
                      What if?
                    </Button>
                  </div>
                );
              },
            },
            { head: <span title="Rows of the child table for each parent: mean, 99 %, most">Children</span>, numeric: true, cell: (row) => nowrap(fan(profile.data, row.relationship, ({ fanOut }) => `${fanOut.mean.toFixed(1)} · ${fanOut.p99} · ${fanOut.max}`)) },
            { head: <span title="Child rows without a parent, and without a key">Orphans · nulls</span>, numeric: true, cell: (row) => fan(profile.data, row.relationship, ({ orphans, nullKeys }) => `${orphans} · ${nullKeys}`) },
            { head: <span title="Queries of the workload that read both tables">Together</span>, numeric: true, cell: (row) => workload.data?.patterns.filter((pattern) => pattern.relationships.includes(row.relationship)).reduce((sum, pattern) => sum + pattern.frequency, 0) ?? '–' },
            { head: 'Why', cell: (row) => <span className="block max-w-2xl min-w-48">{row.reason}</span> },
          ]}
        />
      </Card>
      <Card padded={false}>
        <Tabs
          label="Design document"
          tabs={[
            { id: 'result', label: 'Tables and collections', content: part(content.document.result) },
            { id: 'cost', label: 'Cost and sizes', content: <CostAndSizes databaseId={task.databaseId} /> },
            { id: 'named', label: `Patterns (${content.patterns.length})`, content: <Patterns patterns={content.patterns} /> },
            { id: 'graph', label: 'Graph', content: profile.data ? <CollectionGraph design={content} profile={profile.data.profile} /> : <Loading what="the profile" /> },
            { id: 'source', label: '1 Source', content: part(content.document.source) },
            { id: 'patterns', label: '2 Access patterns', content: part(content.document.accessPatterns) },
            { id: 'decisions', label: '3 Decisions', content: part(content.document.decisions) },
            {
              id: 'indexes',
              label: 'Indexes',
              content: (
                <PlainTable
                  label="Indexes"
                  rows={Object.entries(indexes.data ?? {}).flatMap(([collection, list]) => list.map((index) => ({ collection, index })))}
                  rowKey={(row) => `${row.collection}${JSON.stringify(row.index.key)}`}
                  columns={[
                    { head: 'Collection', cell: (row) => row.collection },
                    { head: 'Key', cell: (row) => <code className="font-mono text-xs">{mqlKey(row.index.key)}</code> },
                    { head: 'Unique', cell: (row) => (row.index.unique ? 'yes' : '') },
                    { head: 'Why', cell: (row) => row.index.reason },
                  ]}
                />
              ),
            },
          ]}
        />
      </Card>
      {asked ? (
        <WhatIfDialog
          databaseId={task.databaseId}
          relationship={asked.relationship}
          now={asked.choice}
          onClose={() => setAsked(null)}
          onRequest={(choice) => {
            request(asked.relationship, choice);
            setAsked(null);
          }}
        />
      ) : null}
    </div>
  );
}

/** The choices that were not made, each with what the workload would cost under it, or why it cannot be. */
function Alternatives({ choice, onRequest }: { readonly choice: RelationshipChoice; readonly onRequest: (other: RelationshipChoice['choice']) => void }) {
  const of = (name: RelationshipChoice['choice']) => choice.alternatives?.find((entry) => entry.choice === name);
  const own = of(choice.choice)?.cost;
  return (['embed', 'reference', 'copy'] as const)
    .filter((other) => other !== choice.choice)
    .map((other) => {
      const { cost, obstacle } = of(other) ?? {};
      return (
        <div key={other} className="flex flex-wrap items-center gap-x-1.5" title={obstacle}>
          <Button aria-label={`${other} instead: ${choice.relationship}`} disabled={obstacle !== undefined} onClick={() => onRequest(other)}>
            {other} instead
          </Button>
          {cost && own ? <CostBadge before={score(own)} after={score(cost)} /> : null}
          {obstacle !== undefined ? <span className="text-xs text-muted">not possible</span> : null}
        </div>
      );
    });
}

function CostAndSizes({ databaseId }: { readonly databaseId: string }) {
  const answer = useQuery({ queryKey: ['design-figures', databaseId], queryFn: () => api<DesignFiguresResponse>(`/api/databases/${databaseId}/design-figures`), staleTime: 10_000 });
  if (answer.error) return <ErrorNote error={answer.error} />;
  if (!answer.data) return <Loading what="the estimates" />;
  const { chosen, oneToOne } = answer.data;
  return (
    <div className="space-y-3">
      <p className="text-[13px] text-muted">Estimated from the profile; both designs with the indexes that their workload calls for. The current design, whatever version is on screen.</p>
      <FiguresTable figures={[{ label: 'This design', figures: chosen }, { label: 'One collection a table', figures: oneToOne }]} />
      <SizesTable after={chosen} />
    </div>
  );
}

const statusTone = { applied: 'good', considered: 'neutral', avoided: 'warn' } as const;

function Patterns({ patterns }: { readonly patterns: readonly PatternUse[] }) {
  return (
    <PlainTable
      label="Patterns"
      rows={patterns}
      rowKey={(row) => `${row.pattern} ${row.target} ${row.reason}`}
      columns={[
        {
          head: 'Pattern',
          cell: (row) => (
            <Link href={`/guidebook#${sectionId(row.pattern)}`} target="_blank" className="text-accent hover:underline">
              {row.pattern}
            </Link>
          ),
        },
        { head: 'Status', cell: (row) => <Badge tone={statusTone[row.status ?? 'applied']}>{row.status ?? 'applied'}</Badge> },
        { head: 'Where', cell: (row) => <code className="font-mono text-xs">{row.target}</code> },
        { head: 'Why', cell: (row) => <span className="block max-w-2xl">{row.reason}</span> },
      ]}
    />
  );
}

/** What a copy repeats beside the reference, with what it did not repeat before. */
function CopiedColumns({ choice, before }: { readonly choice: RelationshipChoice; readonly before: RelationshipChoice | undefined }) {
  const columns = choice.columns ?? [];
  return (
    <ul aria-label={`Columns copied to ${choice.field ?? ''}`} className="font-mono text-xs">
      {columns.map((column) => (
        <li key={column}>
          {choice.field}.{column}
          {before?.choice === 'copy' && !before.columns?.includes(column) ? <Badge tone="warn">new</Badge> : null}
        </li>
      ))}
    </ul>
  );
}

/** What the parents keep of their children without holding them, each with a way to do without it. */
function KeptByParents({ choice, directives, setDirectives }: { readonly choice: RelationshipChoice } & Pick<GateProps<ConceptualDesign>, 'directives' | 'setDirectives'>) {
  const { relationship, computed = [], subset } = choice;
  const kept = [
    ...computed.map(({ field, aggregate, column }) => ({ field, what: `${aggregate}${column === undefined ? '' : ` of ${column}`}` })),
    ...(subset ? [{ field: subset.field, what: `first ${subset.limit} by ${subset.orderBy.map(({ column, direction }) => `${column} ${direction}`).join(', ')}: ${subset.columns.join(', ')}` }] : []),
  ];
  if (kept.length === 0) return null;
  return (
    <ul aria-label="Kept in the parent’s documents" className="space-y-0.5 text-xs">
      {kept.map(({ field, what }) => {
        const dropped = directives.find((entry) => entry.kind === 'without_field' && entry.relationship === relationship && entry.field === field);
        return (
          <li key={field}>
            <code className={`font-mono break-words ${dropped ? 'line-through' : ''}`}>{field}</code> <span className="text-muted">{what}</span>{' '}
            <Button look="quiet" aria-label={`${dropped ? 'Take back: without' : 'Without'} ${field}`} onClick={() => setDirectives(dropped ? directives.filter((entry) => entry !== dropped) : [...directives, { kind: 'without_field', relationship, field }])}>
              {dropped ? 'Take back' : 'Without'}
            </Button>
          </li>
        );
      })}
    </ul>
  );
}

const nowrap = (text: string | number) => <span className="whitespace-nowrap">{text}</span>;

const fan = (profile: ProfileContent | undefined, id: string, pick: (relationship: Relationship) => string | number): string | number => {
  const found = profile?.profile.relationships.find((relationship) => relationship.id === id);
  return found ? pick(found) : '–';
};
