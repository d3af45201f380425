'use client';
import { DroppableField } from './droppable-field';
import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import type {
  AttributeChoice,
  CollectionDesign,
  ConceptualDesign,
  IndexDesign,
  PatternUse,
} from '../../../lib/design/model/document-design';
import type { Workload } from '../../../lib/design/model/workload';
import type { ProfileContent } from '../../../lib/pipeline/stages/design-stages';
import type { DesignFiguresResponse } from '../../../lib/artefacts/artefact-api';
import { api } from '../../api';
import { counted, number } from '../../format';
import { Markdown, sectionId } from '../../text/markdown';
import { Name } from '../../text/name';
import { WithArrows } from '../../text/relationship-name';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { ErrorNote, Loading } from '../../ui/notes';
import { PlainTable } from '../../ui/plain-table';
import { Tabs } from '../../ui/tabs';
import type { GateProps } from '../gate-props';
import { mqlKey } from './mql-key';
import { RelationshipsTable } from './relationships-table';
import { RenameControl } from './rename-control';
import { FirstDocuments } from './sample-documents';
import { useArtefact } from './use-artefact';
import { FiguresTable, SizesTable } from './what-if-dialog';

const CollectionGraph = dynamic(
  () => import('./collection-graph').then((module) => module.CollectionGraph),
  { ssr: false, loading: () => <Loading what="the graph" /> },
);

export function ConceptualDesignGate({
  task,
  content,
  before,
  directives,
  setDirectives,
}: GateProps<ConceptualDesign>) {
  const profile = useArtefact<ProfileContent>(task.databaseId, 'profile', task.key);
  const workload = useArtefact<Workload>(task.databaseId, 'workload', task.key);
  const indexes = useArtefact<IndexDesign>(task.databaseId, 'index_design', task.key);
  const failed = profile.error ?? workload.error ?? indexes.error;
  const indexRows = Object.entries(indexes.data ?? {}).flatMap(([collection, list]) =>
    list.map((index) => ({ collection, index })),
  );
  const many = (choice: string): number =>
    content.relationships.filter((row) => row.choice === choice).length;
  return (
    <div className="space-y-3">
      {failed ? <ErrorNote error={failed} /> : null}
      <div className="flex flex-wrap gap-2">
        <Badge>
          {profile.data ? `${counted(profile.data.profile.tables.length, 'table')} → ` : ''}
          {counted(content.collections.length, 'collection')}
        </Badge>
        <Badge tone="good">{counted(many('embed'), 'relationship')} embedded</Badge>
        <Badge>{many('reference')} referenced</Badge>
        <Badge>{many('copy')} referenced with a copy</Badge>
        {many('bucket') > 0 ? <Badge>{many('bucket')} in buckets</Badge> : null}
      </div>
      <Card padded={false}>
        <Tabs
          label="Conceptual design"
          tabs={[
            {
              id: 'relationships',
              label: `Relationships (${content.relationships.length})`,
              content: (
                <RelationshipsTable
                  task={task}
                  content={content}
                  before={before}
                  directives={directives}
                  setDirectives={setDirectives}
                  profile={profile.data}
                  workload={workload.data}
                />
              ),
            },
            {
              id: 'collections',
              label: `Collections (${content.collections.length})`,
              content: (
                <div className="space-y-4">
                  <Collections
                    collections={content.collections}
                    directives={directives}
                    setDirectives={setDirectives}
                  />
                  <section>
                    <h3 className="font-semibold">Where each table is stored</h3>
                    <Markdown text={content.document.result} />
                  </section>
                </div>
              ),
            },
            {
              id: 'graph',
              label: 'Graph',
              content: profile.data ? (
                <CollectionGraph design={content} profile={profile.data.profile} />
              ) : (
                <Loading what="the profile" of={profile} />
              ),
            },
            { id: 'cost', label: 'Cost', content: <CostAndSizes databaseId={task.databaseId} /> },
            {
              id: 'indexes',
              label: `Indexes${indexes.data ? ` (${indexRows.length})` : ''}`,
              content: (
                <PlainTable
                  label="Indexes"
                  rows={indexRows}
                  rowKey={(row) => `${row.collection}${JSON.stringify(row.index.key)}`}
                  columns={[
                    { head: 'Collection', cell: (row) => row.collection },
                    { head: 'Key', cell: (row) => <Name text={mqlKey(row.index.key)} /> },
                    { head: 'Unique', cell: (row) => (row.index.unique ? 'yes' : '') },
                    {
                      head: 'Why',
                      cell: (row) => (
                        <span className="block min-w-60 wrap-anywhere">{row.index.reason}</span>
                      ),
                    },
                  ]}
                />
              ),
            },
            {
              id: 'named',
              label: `Patterns (${content.patterns.length})`,
              content: <Patterns patterns={content.patterns} />,
            },
            {
              id: 'documents',
              label: 'Documents',
              content: <Documents databaseId={task.databaseId} collections={content.collections} />,
            },
            {
              id: 'source',
              label: '1 Source',
              content: <Markdown text={content.document.source} />,
            },
            {
              id: 'patterns',
              label: '2 Access patterns',
              content: (
                <AccessPatterns text={content.document.accessPatterns} workload={workload.data} />
              ),
            },
            {
              id: 'decisions',
              label: '3 Decisions',
              content: <Markdown text={content.document.decisions} />,
            },
          ]}
        />
      </Card>
    </div>
  );
}

function Collections({
  collections,
  directives,
  setDirectives,
}: { readonly collections: readonly CollectionDesign[] } & Pick<
  GateProps<ConceptualDesign>,
  'directives' | 'setDirectives'
>) {
  return (
    <PlainTable
      label="Collections"
      align="middle"
      rows={collections}
      rowKey={(row) => row.name}
      columns={[
        {
          head: 'Collection',
          cell: (row) => <Name text={row.name} className="text-xs font-medium" />,
        },
        {
          head: 'A document for each',
          cell: (row) => (
            <>
              {row.id.kind === 'bucket'
                ? `up to ${row.id.size} rows with the same ${row.id.columns.join(', ')} of `
                : 'row of '}
              <Name text={row.rootTable} />
            </>
          ),
        },
        {
          head: '_id',
          cell: (row) =>
            row.id.kind === 'column' ? (
              <Name text={row.id.column} />
            ) : (
              `the ${row.id.kind === 'bucket' ? 'bucket' : 'row'}’s position`
            ),
        },
        {
          head: 'Names and values',
          cell: (row) =>
            row.attributes ? (
              <Attributes
                table={row.rootTable}
                attributes={row.attributes}
                directives={directives}
                setDirectives={setDirectives}
              />
            ) : (
              ''
            ),
        },
        {
          head: 'Name',
          cell: (row) => {
            const wanted = directives.find(
              (entry) => entry.kind === 'rename_collection' && entry.table === row.rootTable,
            );
            return (
              <RenameControl
                what={row.name}
                current={row.name}
                wanted={wanted?.kind === 'rename_collection' ? wanted.name : null}
                onRequest={(name) =>
                  setDirectives([
                    ...directives,
                    { kind: 'rename_collection', table: row.rootTable, name },
                  ])
                }
                onTakeBack={() => setDirectives(directives.filter((entry) => entry !== wanted))}
              />
            );
          },
        },
      ]}
    />
  );
}

/**
 * What the documents repeat of their own columns as names and values, with a way to do without it.
 */
function Attributes({
  table,
  attributes: { field, columns, queries = 0 },
  directives,
  setDirectives,
}: { readonly table: string; readonly attributes: AttributeChoice } & Pick<
  GateProps<ConceptualDesign>,
  'directives' | 'setDirectives'
>) {
  const requested = directives.find(
    (entry) => entry.kind === 'without_attributes' && entry.table === table,
  );
  return (
    <div className="min-w-40">
      <DroppableField
        field={field}
        within={` of ${table}`}
        request={{ kind: 'without_attributes', table }}
        requested={requested}
        directives={directives}
        setDirectives={setDirectives}
      >
        {columns.join(', ')}; for {counted(queries, 'query', 'queries')}
      </DroppableField>
    </div>
  );
}

/** Documents built from real rows, a collection at a time. */
function Documents({
  databaseId,
  collections,
}: {
  readonly databaseId: string;
  readonly collections: readonly CollectionDesign[];
}) {
  const [shown, setShown] = useState(collections[0]?.name);
  return (
    <div className="space-y-3">
      <p className="text-[13px] text-muted">
        The first documents of each collection in the current design; long arrays and texts are
        truncated.
      </p>
      <div role="group" aria-label="Collection" className="flex flex-wrap gap-1">
        {collections.map(({ name }) => (
          <Button
            key={name}
            look={name === shown ? 'primary' : 'plain'}
            aria-pressed={name === shown}
            onClick={() => setShown(name)}
          >
            {name}
          </Button>
        ))}
      </div>
      {shown ? <FirstDocuments databaseId={databaseId} collection={shown} /> : null}
    </div>
  );
}

function CostAndSizes({ databaseId }: { readonly databaseId: string }) {
  const answer = useQuery({
    queryKey: ['design-figures', databaseId],
    queryFn: () => api<DesignFiguresResponse>(`/api/databases/${databaseId}/design-figures`),
    staleTime: 10_000,
  });
  if (answer.error) return <ErrorNote error={answer.error} />;
  if (!answer.data) return <Loading what="the estimates" of={answer} />;
  const { chosen, oneToOne } = answer.data;
  return (
    <div className="space-y-3">
      <p className="text-[13px] text-muted">
        Estimated from the profile; both designs with the indexes that their workload calls for. The
        current design, whatever version is on screen.
      </p>
      <FiguresTable
        figures={[
          { label: 'This design', figures: chosen },
          { label: 'One collection a table', figures: oneToOne },
        ]}
      />
      <SizesTable after={chosen} />
    </div>
  );
}

const PATTERNS_AT_ONCE = 100;

/** The document lists the most frequent patterns; all of them are in the workload. */
function AccessPatterns({
  text,
  workload,
}: {
  readonly text: string;
  readonly workload: Workload | undefined;
}) {
  const [shown, setShown] = useState(0);
  const patterns = workload?.patterns ?? [];
  const left = patterns.length - shown;
  const columns = (list: readonly { readonly table: string; readonly column: string }[]) =>
    [...new Set(list.map((use) => `${use.table}.${use.column}`))].map((name, at) => (
      <span key={name}>
        {at > 0 ? ', ' : ''}
        <Name text={name} />
      </span>
    ));
  return (
    <div className="space-y-3">
      <Markdown text={text} />
      {shown > 0 ? (
        <PlainTable
          label="All access patterns"
          rows={patterns.slice(0, shown).map((pattern, at) => ({ ...pattern, at }))}
          rowKey={(row) => String(row.at)}
          columns={[
            { head: 'Tables read together', cell: (row) => <Name text={row.tables.join(', ')} /> },
            { head: 'Queries', numeric: true, cell: (row) => number(row.frequency) },
            { head: 'Filtered by', cell: (row) => columns(row.filtered) },
            { head: 'Sorted by', cell: (row) => columns(row.sorted) },
          ]}
        />
      ) : null}
      {left > 0 ? (
        <Button onClick={() => setShown(shown + PATTERNS_AT_ONCE)}>
          {shown === 0
            ? `All access patterns (${number(patterns.length)})`
            : `${number(Math.min(left, PATTERNS_AT_ONCE))} more`}
        </Button>
      ) : null}
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
            <Link
              href={`/guidebook#${sectionId(row.pattern)}`}
              target="_blank"
              className="text-accent hover:underline"
            >
              {row.pattern}
            </Link>
          ),
        },
        {
          head: 'Status',
          cell: (row) => (
            <Badge tone={statusTone[row.status ?? 'applied']}>{row.status ?? 'applied'}</Badge>
          ),
        },
        {
          head: 'Where',
          cell: (row) => (
            <code className="block min-w-40 font-mono text-xs wrap-anywhere">
              <WithArrows text={row.target} />
            </code>
          ),
        },
        {
          head: 'Why',
          cell: (row) => (
            <span className="block min-w-60 wrap-anywhere">
              <WithArrows text={row.reason} />
            </span>
          ),
        },
      ]}
    />
  );
}
