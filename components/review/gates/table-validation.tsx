'use client';
import { useState } from 'react';
import type { ConceptualDesign } from '../../../lib/design/model/document-design';
import type {
  ColumnDestination,
  LossFlag,
  TableValidation,
} from '../../../lib/validation/table-validation';
import { counted, number } from '../../format';
import { CodeBlock } from '../../text/code-block';
import { printExtendedMql } from '../../../lib/mql/print-extended-json';
import { Name } from '../../text/name';
import { TypedValue } from '../../text/result-table';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { EmptyNote } from '../../ui/notes';
import { PlainTable } from '../../ui/plain-table';
import type { GateProps } from '../gate-props';
import { bothSides } from './both-sides';
import { Samples } from './sample-documents';
import { useArtefact } from './use-artefact';

type FlagClass = LossFlag['class'];
const groups: readonly {
  readonly name: FlagClass;
  readonly title: string;
  readonly other: FlagClass;
  readonly otherName: string;
}[] = [
  {
    name: 'genuine_loss',
    title: 'Genuine loss',
    other: 'intentional_transformation',
    otherName: 'intentional',
  },
  {
    name: 'intentional_transformation',
    title: 'Intentional transformations',
    other: 'genuine_loss',
    otherName: 'genuine loss',
  },
];

export function TableValidationGate({
  task,
  content,
  directives,
  setDirectives,
  edit,
}: GateProps<TableValidation>) {
  const flagged = (name: FlagClass) => content.flags.filter((flag) => flag.class === name);
  const plain = content.columns.filter(
    ({ column }) => !content.flags.some((flag) => flag.column === column),
  );
  const destination = (column: string): ColumnDestination | undefined =>
    content.columns.find((entry) => entry.column === column);
  const collection = useCollectionOf(task.databaseId, task.key, content.place);
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap gap-2">
        <Badge>{counted(content.rows, 'source row')}</Badge>
        <Badge tone={content.place ? 'neutral' : 'bad'}>
          {content.place ? `found in ${content.place}` : 'found nowhere'}
        </Badge>
        <Badge tone={content.rowsApart === 0 ? 'good' : 'bad'}>
          {content.rowsApart === 0
            ? 'rows hold together'
            : `${counted(content.rowsApart, 'row')} ${content.rowsApart === 1 ? 'does' : 'do'} ` +
              'not hold together'}
        </Badge>
      </div>
      {groups
        .filter(({ name }) => flagged(name).length > 0)
        .map((group) => (
          <FlagGroup
            key={`${group.name} ${task.current.id}`}
            title={group.title}
            flags={flagged(group.name)}
            otherName={group.otherName}
            destination={destination}
            queries={(column) => {
              const found = destination(column)?.destination;
              return collection && content.place && found
                ? bothSides(content.table, column, {
                    collection,
                    place: content.place,
                    destination: found,
                  })
                : null;
            }}
            reclassify={
              edit
                ? (columns) =>
                    edit({
                      ...content,
                      flags: content.flags.map((flag) =>
                        columns.has(flag.column) ? { ...flag, class: group.other } : flag,
                      ),
                    })
                : null
            }
            keepType={
              group.name === 'intentional_transformation'
                ? (column) => {
                    const wanted = directives.find(
                      (entry) =>
                        entry.kind === 'keep_type' &&
                        entry.table === content.table &&
                        entry.column === column,
                    );
                    return (
                      <span className="flex flex-wrap items-center gap-1">
                        {wanted ? <Badge tone="accent">requested</Badge> : null}
                        <Button
                          look="quiet"
                          aria-label={
                            `${wanted ? 'Cancel request: keep type' : 'Keep type'} of ` +
                            `${column}`
                          }
                          onClick={() =>
                            setDirectives(
                              wanted
                                ? directives.filter((entry) => entry !== wanted)
                                : [
                                    ...directives,
                                    { kind: 'keep_type', table: content.table, column },
                                  ],
                            )
                          }
                        >
                          {wanted ? 'Cancel request' : 'Keep type'}
                        </Button>
                      </span>
                    );
                  }
                : null
            }
          />
        ))}
      <Card
        title={`Unchanged (${plain.length} of ${counted(content.columns.length, 'column')})`}
        padded={false}
      >
        {plain.length === 0 ? <EmptyNote>Every column carries a flag.</EmptyNote> : null}
        {plain.length > 0 ? (
          <PlainTable
            label="Columns as they are"
            rows={plain}
            rowKey={(row) => row.column}
            columns={[columnName, ...destinationColumns((row: ColumnDestination) => row)]}
          />
        ) : null}
      </Card>
      {collection ? (
        <Samples
          databaseId={task.databaseId}
          collection={collection}
          title={`Documents of ${collection}, the other side`}
        />
      ) : null}
    </div>
  );
}

interface FlagGroupProps {
  readonly title: string;
  readonly flags: readonly LossFlag[];
  readonly otherName: string;
  readonly destination: (column: string) => ColumnDestination | undefined;
  /** Null where the column went nowhere. */
  readonly queries: (column: string) => ReturnType<typeof bothSides> | null;
  /** Null where nothing can be decided now. */
  readonly reclassify: ((columns: ReadonlySet<string>) => void) | null;
  readonly keepType: ((column: string) => React.ReactNode) | null;
}

/** The flags of one class, chosen one by one or all at once, to be said of the other class. */
function FlagGroup({
  title,
  flags,
  otherName,
  destination,
  queries,
  reclassify,
  keepType,
}: FlagGroupProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const all = chosen.size === flags.length;
  const toggle = (column: string): void => {
    const next = new Set(chosen);
    if (!next.delete(column)) next.add(column);
    setChosen(next);
  };
  return (
    <Card
      title={`${title} (${flags.length})`}
      padded={false}
      actions={
        reclassify ? (
          <Button disabled={chosen.size === 0} onClick={() => reclassify(chosen)}>
            {chosen.size === 0
              ? `Choose what is ${otherName}`
              : `${counted(chosen.size, 'column')}: ${otherName}…`}
          </Button>
        ) : null
      }
    >
      <PlainTable
        label={title}
        rows={flags}
        rowKey={(row) => row.column}
        columns={[
          ...(reclassify
            ? [
                {
                  head: (
                    <input
                      type="checkbox"
                      aria-label={`All of ${title.toLowerCase()}`}
                      checked={all}
                      ref={(box) => {
                        if (box) box.indeterminate = chosen.size > 0 && !all;
                      }}
                      onChange={() =>
                        setChosen(all ? new Set() : new Set(flags.map(({ column }) => column)))
                      }
                    />
                  ),
                  cell: (row: LossFlag) => (
                    <input
                      type="checkbox"
                      aria-label={row.column}
                      checked={chosen.has(row.column)}
                      onChange={() => toggle(row.column)}
                    />
                  ),
                },
              ]
            : []),
          columnName,
          ...destinationColumns((row: LossFlag) => destination(row.column)),
          { head: 'Flagged', numeric: true, cell: (row) => number(row.values) },
          {
            head: 'Explanation',
            cell: (row) => <span className="block min-w-32 wrap-anywhere">{row.explanation}</span>,
          },
          ...(keepType
            ? [{ head: 'Alternatives', cell: (row: LossFlag) => keepType(row.column) }]
            : []),
        ]}
        detail={(row) => (
          <div className="space-y-1.5">
            <FlagSamples flag={row} />
            <BothQueries column={row.column} queries={queries(row.column)} />
          </div>
        )}
      />
    </Card>
  );
}

const SAMPLES_SHOWN = 8;

/**
 * Values of the source, each with what it is stored as; or those of which the documents have
 * nothing.
 */
function FlagSamples({ flag: { samples, stored } }: { readonly flag: LossFlag }) {
  return (
    <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1 wrap-anywhere">
      <span className="text-muted">
        {stored ? 'In the source → in the documents:' : 'In the source:'}
      </span>
      {samples.slice(0, SAMPLES_SHOWN).map((value, at) => (
        <span key={at} className="inline-flex flex-wrap items-baseline gap-x-1.5">
          <TypedValue value={value} />
          {stored ? (
            <>
              <span className="text-muted">→</span> <TypedValue value={stored[at]} />
            </>
          ) : null}
        </span>
      ))}
      {samples.length > SAMPLES_SHOWN ? <span className="text-muted">…</span> : null}
    </div>
  );
}

/** How the values of both sides are counted, for whoever wants to ask themselves. */
function BothQueries({
  column,
  queries,
}: {
  readonly column: string;
  readonly queries: ReturnType<typeof bothSides> | null;
}) {
  if (!queries) return null;
  return (
    <details>
      <summary className="w-fit cursor-pointer text-muted hover:text-text">
        Queries on both sides
      </summary>
      <div className="mt-1.5 grid gap-2 lg:grid-cols-2">
        <CodeBlock label={`Values of ${column} in the source`} text={queries.sql} />
        <CodeBlock
          label={`Values of ${column} in the documents`}
          text={printExtendedMql(queries.mql)}
        />
      </div>
    </details>
  );
}

const columnName = {
  head: 'Column',
  cell: (row: { readonly column: string }) => <Name text={row.column} />,
};

const destinationColumns = <Row,>(of: (row: Row) => ColumnDestination | undefined) => [
  {
    head: 'Most likely destination',
    cell: (row: Row) => <Name text={of(row)?.destination ?? '–'} />,
  },
  { head: 'Matched', numeric: true, cell: (row: Row) => number(of(row)?.matched ?? 0) },
  {
    head: 'Without a match',
    numeric: true,
    cell: (row: Row) => {
      const unmatched = of(row)?.unmatched ?? 0;
      return unmatched > 0 ? <Badge tone="bad">{number(unmatched)}</Badge> : 0;
    },
  },
];

/** The collection of a place: the design's, since names of places are paths. */
function useCollectionOf(
  databaseId: string,
  key: string,
  place: string | null,
): string | undefined {
  const design = useArtefact<ConceptualDesign>(
    databaseId,
    'conceptual_design',
    key.slice(0, key.indexOf('/')),
  );
  return design.data?.collections.find(
    ({ name }) => place === name || place?.startsWith(`${name}.`),
  )?.name;
}
