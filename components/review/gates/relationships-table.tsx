'use client';
import { useState } from 'react';
import { score } from '../../../lib/design/model/score';
import {
  CHOICES,
  type Choice,
  type ConceptualDesign,
  type RelationshipChoice,
} from '../../../lib/design/model/document-design';
import type { Workload } from '../../../lib/design/model/workload';
import type { ProfileContent } from '../../../lib/pipeline/stages/design-stages';
import type { Relationship } from '../../../lib/sqlite/profile/profile';
import { number } from '../../format';
import { Name } from '../../text/name';
import { RelationshipName, WithArrows } from '../../text/relationship-name';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { KeepFocus } from '../../ui/keep-focus';
import { PlainTable } from '../../ui/plain-table';
import type { GateProps } from '../gate-props';
import { DroppableField } from './droppable-field';
import { keptOf } from '../readable-content';
import { CostBadge, WhatIfDialog } from './what-if-dialog';

type Props = Pick<
  GateProps<ConceptualDesign>,
  'task' | 'content' | 'before' | 'directives' | 'setDirectives'
> & { readonly profile: ProfileContent | undefined; readonly workload: Workload | undefined };

/**
 * Every relationship with its measurements, the choice and why, and what could be chosen instead.
 */
export function RelationshipsTable({
  task,
  content,
  before,
  directives,
  setDirectives,
  profile,
  workload,
}: Props) {
  const [asked, setAsked] = useState<RelationshipChoice | null>(null);
  const request = (relationship: string, choice: Choice): void =>
    setDirectives([
      ...directives.filter(
        (entry) => entry.kind !== 'relationship' || entry.relationship !== relationship,
      ),
      { kind: 'relationship', relationship, choice },
    ]);
  const earlier = (row: RelationshipChoice) =>
    before?.relationships.find((entry) => entry.relationship === row.relationship);
  const measured = (row: RelationshipChoice) =>
    profile?.profile.relationships.find((entry) => entry.id === row.relationship);
  return (
    <>
      <PlainTable
        label="Relationships"
        rows={content.relationships}
        rowKey={(row) => row.relationship}
        columns={[
          {
            head: 'Relationship',
            cell: (row) => (
              <RelationshipCell
                choice={row}
                before={earlier(row)?.choice}
                evidence={undeclaredBy(measured(row))}
              />
            ),
          },
          {
            head: 'Choice',
            cell: (row) => <ChoiceCell choice={row} before={earlier(row)} />,
          },
          {
            head: 'Alternatives',
            cell: (row) => (
              <RequestCell
                choice={row}
                directives={directives}
                setDirectives={setDirectives}
                request={request}
              />
            ),
          },
          {
            head: '',
            cell: (row) => (
              <Button
                look="quiet"
                className="px-1 whitespace-nowrap"
                aria-label={`What if: ${row.relationship}`}
                onClick={() => setAsked(row)}
              >
                What if?
              </Button>
            ),
          },
          {
            head: <Head name="Fan-out" of="mean · p99 · max" title="Children per parent" />,
            numeric: true,
            cell: (row) => {
              const fanOut = measured(row)?.fanOut;
              return (
                <span className="whitespace-nowrap">
                  {fanOut
                    ? `${fanOut.mean.toFixed(1)} · ${number(fanOut.p99)} · ${number(fanOut.max)}`
                    : '–'}
                </span>
              );
            },
          },
          {
            head: (
              <Head
                name="Orphans"
                of="· null FKs"
                title="Child rows without a parent, and with a null foreign key"
              />
            ),
            numeric: true,
            cell: (row) => {
              const found = measured(row);
              return (
                <span className="whitespace-nowrap">
                  {found ? `${number(found.orphans)} · ${number(found.nullKeys)}` : '–'}
                </span>
              );
            },
          },
          {
            head: <Head name="Co-access" of="queries" title="Queries that read both tables" />,
            numeric: true,
            cell: (row) =>
              workload
                ? number(
                    workload.patterns
                      .filter((pattern) => pattern.relationships.includes(row.relationship))
                      .reduce((sum, pattern) => sum + pattern.frequency, 0),
                  )
                : '–',
          },
        ]}
        detail={(row) => (
          <div className="space-y-1">
            <p className="wrap-anywhere">
              <span className="text-muted">Why:</span> <WithArrows text={row.reason} />
            </p>
            <KeptByParents choice={row} directives={directives} setDirectives={setDirectives} />
          </div>
        )}
      />
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
    </>
  );
}

/** What a relationship that the source does not declare was found by. */
const undeclaredBy = (found: Relationship | undefined): string | undefined =>
  found && !found.declared ? (found.evidence ?? '') : undefined;

function RelationshipCell({
  choice,
  before,
  evidence,
}: {
  readonly choice: RelationshipChoice;
  readonly before: Choice | undefined;
  readonly evidence: string | undefined;
}) {
  return (
    <div className="min-w-52 space-y-0.5">
      <RelationshipName name={choice.relationship} className="text-[13px] font-medium" />
      <div className="flex flex-wrap gap-1">
        {evidence !== undefined ? (
          <Badge tone="warn" title={evidence}>
            undeclared
          </Badge>
        ) : null}
        {choice.directed ? <Badge tone="accent">set by reviewer</Badge> : null}
        {before && before !== choice.choice ? <Badge tone="warn">was {before}</Badge> : null}
      </div>
    </div>
  );
}

function ChoiceCell({
  choice,
  before,
}: {
  readonly choice: RelationshipChoice;
  readonly before: RelationshipChoice | undefined;
}) {
  return (
    <div className="min-w-28 space-y-0.5">
      <Badge tone={choice.choice === 'embed' ? 'good' : 'neutral'}>
        {choice.choice}
        {choice.choice === 'embed' ? ` ${choice.cardinality ?? ''}` : ''}
      </Badge>
      {(choice.choice === 'embed' || choice.choice === 'bucket') && choice.field ? (
        <p className="text-xs text-muted">
          as <Name text={choice.field} />
        </p>
      ) : null}
      {choice.columns ? <CopiedColumns choice={choice} before={before} /> : null}
    </div>
  );
}

/** The alternatives, or the one that was requested. */
function RequestCell({
  choice,
  directives,
  setDirectives,
  request,
}: Pick<Props, 'directives' | 'setDirectives'> & {
  readonly choice: RelationshipChoice;
  readonly request: (relationship: string, choice: Choice) => void;
}) {
  const { relationship } = choice;
  const wanted = directives.find(
    (entry) => entry.kind === 'relationship' && entry.relationship === relationship,
  );
  return (
    <KeepFocus className="space-y-1">
      {wanted?.kind === 'relationship' ? (
        <p className="flex items-center gap-1 whitespace-nowrap">
          <Badge tone="accent">{wanted.choice} requested</Badge>
          <Button
            look="quiet"
            aria-label={`Cancel request: ${relationship}`}
            onClick={() => setDirectives(directives.filter((entry) => entry !== wanted))}
          >
            Cancel request
          </Button>
        </p>
      ) : (
        <Alternatives choice={choice} onRequest={(other) => request(relationship, other)} />
      )}
    </KeepFocus>
  );
}

/** A head that says what its numbers are. */
const Head = ({
  name,
  of,
  title,
}: {
  readonly name: string;
  readonly of: string;
  readonly title: string;
}) => (
  <span title={title}>
    {name}
    <span className="block font-normal">{of}</span>
  </span>
);

/**
 * The choices that were not made, each with what the workload would cost under it, or why it cannot
 * be.
 */
function Alternatives({
  choice,
  onRequest,
}: {
  readonly choice: RelationshipChoice;
  readonly onRequest: (other: Choice) => void;
}) {
  const of = (name: Choice) => choice.alternatives?.find((entry) => entry.choice === name);
  const own = of(choice.choice)?.cost;
  return CHOICES.filter((other) => other !== choice.choice).map((other) => {
    const { cost, obstacle } = of(other) ?? {};
    return (
      <div key={other} className="flex items-center gap-x-1.5 whitespace-nowrap" title={obstacle}>
        <Button
          aria-label={`${other} instead: ${choice.relationship}`}
          disabled={obstacle !== undefined}
          onClick={() => onRequest(other)}
        >
          {other}
        </Button>
        {cost && own ? <CostBadge before={score(own)} after={score(cost)} /> : null}
        {obstacle !== undefined ? <span className="text-xs text-muted">not allowed</span> : null}
      </div>
    );
  });
}

/** What a copy repeats beside the reference, with what it did not repeat before. */
function CopiedColumns({
  choice,
  before,
}: {
  readonly choice: RelationshipChoice;
  readonly before: RelationshipChoice | undefined;
}) {
  const columns = choice.columns ?? [];
  return (
    <ul
      aria-label={`Columns copied to ${choice.parentField ?? choice.field ?? ''}`}
      className="text-xs"
    >
      {columns.map((column) => (
        <li key={column}>
          <Name text={`${choice.parentField ?? choice.field ?? ''}.${column}`} />
          {before?.columns && !before.columns.includes(column) ? (
            <Badge tone="warn">new</Badge>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

/**
 * What parents store of children that are not embedded in them, each with a way to remove it.
 */
function KeptByParents({
  choice,
  directives,
  setDirectives,
}: { readonly choice: RelationshipChoice } & Pick<Props, 'directives' | 'setDirectives'>) {
  const { relationship } = choice;
  const kept = keptOf(choice);
  if (kept.length === 0) return null;
  return (
    <div className="flex flex-wrap items-baseline gap-x-2">
      <span className="text-muted">Stored in the parent:</span>
      <ul aria-label="Kept in the parent’s documents" className="flex flex-wrap gap-x-4">
        {kept.map(({ field, what }) => {
          const requested = directives.find(
            (entry) =>
              entry.kind === 'without_field' &&
              entry.relationship === relationship &&
              entry.field === field,
          );
          return (
            <li key={field}>
              <DroppableField
                field={field}
                request={{ kind: 'without_field', relationship, field }}
                requested={requested}
                directives={directives}
                setDirectives={setDirectives}
              >
                {what}
              </DroppableField>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
