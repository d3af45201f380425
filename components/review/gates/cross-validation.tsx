'use client';
import {
  CHOICES,
  type ConceptualDesign,
  type RelationshipChoice,
} from '../../../lib/design/model/document-design';
import type { CrossValidation, ReferenceCheck } from '../../../lib/validation/cross-validation';
import { counted, number } from '../../format';
import { CodeBlock } from '../../text/code-block';
import { printExtendedMql } from '../../../lib/mql/print-extended-json';
import { Name } from '../../text/name';
import { RelationshipName } from '../../text/relationship-name';
import { TypedValue } from '../../text/result-table';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { KeepFocus } from '../../ui/keep-focus';
import { PlainTable } from '../../ui/plain-table';
import type { GateProps } from '../gate-props';
import { useArtefact } from './use-artefact';

export function CrossValidationGate({
  task,
  content,
  directives,
  setDirectives,
}: GateProps<CrossValidation>) {
  const design = useArtefact<ConceptualDesign>(
    task.databaseId,
    'conceptual_design',
    task.key.slice(0, task.key.indexOf('/')),
  );
  // What is claimed of a relationship follows its name.
  const choiceOf = (claimed: string): RelationshipChoice | undefined =>
    design.data?.relationships.find(
      ({ relationship }) => claimed === relationship || claimed.startsWith(`${relationship}, `),
    );
  return (
    <div className="space-y-3">
      {[...content.references]
        .sort((a, b) => Number(a.holds) - Number(b.holds))
        .map((reference) => (
          <Card
            key={reference.relationship}
            title={<RelationshipName name={reference.relationship} className="text-[13px]" />}
            actions={
              <>
                <KeepFocus className="flex flex-wrap items-center gap-1">
                  <OtherChoices
                    choice={choiceOf(reference.relationship)}
                    directives={directives}
                    setDirectives={setDirectives}
                  />
                </KeepFocus>
                <Standing reference={reference} />
              </>
            }
          >
            <p className="mb-2 text-[13px]">
              <Name text={reference.from} className="" /> against{' '}
              <Name text={reference.to} className="" />:{' '}
              {counted(reference.distinctValues, 'distinct value')}; {number(reference.violations)}{' '}
              {reference.violations === 1 ? 'violates' : 'violate'} it in the documents,{' '}
              {number(reference.sourceViolations)} in the source.{' '}
              {isOwnOfSource(reference) ? 'Equal: the orphans of the source were kept.' : ''}
            </p>
            <div className="grid gap-2 lg:grid-cols-2">
              <CodeBlock
                label="Referring side"
                text={printExtendedMql({
                  collection: reference.from.split('.')[0]!,
                  pipeline: reference.fromPipeline,
                })}
              />
              <CodeBlock
                label="Target side"
                text={printExtendedMql({
                  collection: reference.to.split('.')[0]!,
                  pipeline: reference.toPipeline,
                })}
              />
            </div>
            {reference.samples.length > 0 ? (
              <div className="mt-2">
                <PlainTable
                  label={`Violations of ${reference.relationship}`}
                  rows={reference.samples}
                  rowKey={(row) => JSON.stringify(row)}
                  columns={[
                    {
                      head: 'Violating value',
                      cell: (row) =>
                        row.value.map((value, at) => <TypedValue key={at} value={value} />),
                    },
                    {
                      head: 'Found',
                      cell: (row) => (row.side === 'both' ? 'in the source too' : row.side),
                    },
                  ]}
                />
                <Unlisted reference={reference} />
              </div>
            ) : null}
          </Card>
        ))}
    </div>
  );
}

/** The documents violate it, exactly where the source does. */
const isOwnOfSource = ({ holds, violations }: ReferenceCheck): boolean => holds && violations > 0;

function Standing({ reference }: { readonly reference: ReferenceCheck }) {
  if (!reference.holds) return <Badge tone="bad">violated</Badge>;
  return isOwnOfSource(reference) ? (
    <Badge tone="warn">violated exactly as in the source</Badge>
  ) : (
    <Badge tone="good">holds</Badge>
  );
}

/** Says how many values the table above leaves out. */
function Unlisted({
  reference: { samples, violations, sourceViolations, holds },
}: {
  readonly reference: ReferenceCheck;
}) {
  const more = Math.max(violations, sourceViolations) - samples.length;
  if (more <= 0) return null;
  // Where both sides violate it, but not by the same values, together they are as many as the
  // larger of them or more.
  const atLeast = !holds && sourceViolations > 0 ? 'at least ' : '';
  return (
    <p className="px-2 pt-1.5 text-xs text-muted">
      {counted(samples.length, 'violating value')} listed; {atLeast}
      {number(more)} more {more === 1 ? 'is' : 'are'} not.
    </p>
  );
}

/** Another choice for the relationship: the agent goes back to the conceptual design for it. */
function OtherChoices({
  choice,
  directives,
  setDirectives,
}: { readonly choice: RelationshipChoice | undefined } & Pick<
  GateProps<CrossValidation>,
  'directives' | 'setDirectives'
>) {
  if (!choice) return null;
  const { relationship } = choice;
  const wanted = directives.find(
    (entry) => entry.kind === 'relationship' && entry.relationship === relationship,
  );
  if (wanted?.kind === 'relationship') {
    return (
      <>
        <Badge tone="accent">{wanted.choice} requested</Badge>
        <Button
          look="quiet"
          aria-label={`Cancel request: ${relationship}`}
          onClick={() => setDirectives(directives.filter((entry) => entry !== wanted))}
        >
          Cancel request
        </Button>
      </>
    );
  }
  return CHOICES.filter((other) => other !== choice.choice).map((other) => {
    const obstacle = choice.alternatives?.find((entry) => entry.choice === other)?.obstacle;
    return (
      <Button
        key={other}
        look="quiet"
        title={obstacle}
        disabled={obstacle !== undefined}
        aria-label={`${other} instead: ${relationship}`}
        onClick={() =>
          setDirectives([...directives, { kind: 'relationship', relationship, choice: other }])
        }
      >
        {other} instead
      </Button>
    );
  });
}
