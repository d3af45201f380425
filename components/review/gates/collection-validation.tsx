'use client';
import { useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { LogicalDesign } from '../../../lib/design/model/document-design';
import type { ProfileContent } from '../../../lib/pipeline/stages/design-stages';
import type { CollectionValidation } from '../../../lib/validation/collection-validation';
import { counted, number } from '../../format';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { ErrorNote, Loading } from '../../ui/notes';
import { PlainTable } from '../../ui/plain-table';
import { readCsvFile } from '../csv-file';
import type { GateProps } from '../gate-props';
import { fieldRows, type FieldRow } from './field-rows';
import { MappingLink } from './mapping-link';
import { MappingSection } from './mapping-section';
import { FaultList, faultsInShort } from './planted-faults';
import { RenameControl } from './rename-control';
import { Samples } from './sample-documents';
import { useArtefact } from './use-artefact';

export function CollectionValidationGate(props: GateProps<CollectionValidation>) {
  // What is open belongs to one version of one task.
  return <Validation key={props.task.current.id} {...props} />;
}

function Validation({
  task,
  content,
  edit,
  directives,
  setDirectives,
}: GateProps<CollectionValidation>) {
  const design = useArtefact<LogicalDesign>(task.databaseId, 'logical_design', task.key);
  const cut = task.key.indexOf('/');
  const profile = useArtefact<ProfileContent>(task.databaseId, 'profile', task.key.slice(0, cut));
  const failing = content.mappings.filter((mapping) => mapping.verdict.kind !== 'equal');
  const holes = Object.entries(content.coverage).filter(([, mappings]) => mappings.length === 0);
  const ordered = [
    ...failing,
    ...content.mappings.filter((mapping) => mapping.verdict.kind === 'equal'),
  ];
  const { faults } = content;
  const caughtAll = faults.holes.length === 0;
  const [openMappings, setOpenMappings] = useState<ReadonlySet<string>>(
    new Set(failing.slice(0, 3).map(({ name }) => name)),
  );
  const [faultsOpen, setFaultsOpen] = useState(!caughtAll);
  const [uploadFailed, setUploadFailed] = useState<unknown>(null);
  const prefix = useId();
  const idOf = (mapping: string): string =>
    `${prefix}${ordered.findIndex(({ name }) => name === mapping)}`;
  const focus = (id: string): void => {
    const element = document.getElementById(id);
    element?.scrollIntoView({ block: 'start' });
    element?.focus({ preventScroll: true });
  };
  const toggle = (mapping: string): void => {
    const next = new Set(openMappings);
    if (!next.delete(mapping)) next.add(mapping);
    setOpenMappings(next);
  };
  const goTo = (mapping: string): void => {
    flushSync(() => setOpenMappings(new Set([...openMappings, mapping])));
    focus(idOf(mapping));
  };
  const goToFaults = (): void => {
    flushSync(() => setFaultsOpen(true));
    focus(`${prefix}faults`);
  };
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={failing.length === 0 ? 'good' : 'bad'}>
          {content.mappings.length - failing.length} of{' '}
          {counted(content.mappings.length, 'mapping')}{' '}
          {content.mappings.length === 1 ? 'passes' : 'pass'}
        </Badge>
        <Badge tone={holes.length === 0 ? 'good' : 'bad'}>
          {holes.length === 0
            ? 'every field is covered'
            : `${counted(holes.length, 'field')} not covered: ` +
              `${holes.map(([path]) => path).join(', ')}`}
        </Badge>
        <button
          type="button"
          onClick={goToFaults}
          className="rounded underline-offset-2 hover:underline"
        >
          <Badge tone={caughtAll ? 'good' : 'bad'}>{faultsInShort(faults)}</Badge>
        </button>
      </div>
      <Card
        title="Fields"
        padded={false}
        actions={<CsvActions taskId={task.id} edit={edit} setFailed={setUploadFailed} />}
      >
        {uploadFailed ? <ErrorNote error={uploadFailed} /> : null}
        {design.error ? <ErrorNote error={design.error} /> : null}
        {design.isPending ? <Loading what="the logical design" of={design} /> : null}
        {design.data ? (
          <FieldTable
            rows={fieldRows(design.data, content.coverage, profile.data?.profile)}
            directives={directives}
            setDirectives={setDirectives}
            goTo={goTo}
          />
        ) : null}
      </Card>
      <Samples databaseId={task.databaseId} collection={task.key.slice(cut + 1)} />
      <Card title="Mappings" padded={false}>
        {ordered.map((mapping) => (
          <MappingSection
            key={mapping.name}
            taskId={task.id}
            mapping={mapping}
            open={openMappings.has(mapping.name)}
            toggle={() => toggle(mapping.name)}
            id={idOf(mapping.name)}
          />
        ))}
      </Card>
      <Card
        title={`Mutation tests (${number(faults.planted)})`}
        padded={false}
        actions={
          <Button
            id={`${prefix}faults`}
            className="scroll-mt-14"
            aria-expanded={faultsOpen}
            onClick={() => setFaultsOpen(!faultsOpen)}
          >
            {faultsOpen ? 'Hide' : 'Show each'}
          </Button>
        }
      >
        {faultsOpen ? (
          <FaultList faults={faults} goTo={goTo} />
        ) : (
          <p className="p-3 text-[13px] text-muted">
            Mutations of a copy of some documents show that the mappings can fail:{' '}
            {faultsInShort(faults)}.
          </p>
        )}
      </Card>
    </div>
  );
}

type Directives = Pick<GateProps<CollectionValidation>, 'directives' | 'setDirectives'>;

function FieldTable({
  rows,
  directives,
  setDirectives,
  goTo,
}: Directives & {
  readonly rows: readonly FieldRow[];
  readonly goTo: (mapping: string) => void;
}) {
  return (
    <PlainTable
      label="Fields"
      align="middle"
      rows={rows}
      rowKey={(row) => row.path}
      columns={[
        {
          head: 'Field',
          cell: (row) => (
            <FieldName row={row} directives={directives} setDirectives={setDirectives} />
          ),
        },
        {
          head: 'Source',
          cell: (row) => <code className="font-mono text-xs wrap-anywhere">{row.source}</code>,
        },
        {
          head: 'Type',
          cell: (row) => <span className="font-mono text-xs text-muted">{row.types}</span>,
        },
        {
          head: 'Transform',
          cell: (row) => (
            <FieldTransform row={row} directives={directives} setDirectives={setDirectives} />
          ),
        },
        { head: 'Covered by', cell: (row) => <Coverage row={row} goTo={goTo} /> },
      ]}
    />
  );
}

/** A field's path, and the request for another name. */
function FieldName({
  row: { column, path },
  directives,
  setDirectives,
}: Directives & { readonly row: FieldRow }) {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const wanted =
    column &&
    directives.find(
      (entry) =>
        entry.kind === 'rename_field' &&
        entry.table === column.table &&
        entry.column === column.column,
    );
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <code className="font-mono text-xs wrap-anywhere">{path}</code>
      {column && path !== '_id' ? (
        <RenameControl
          what={path}
          current={name}
          wanted={wanted?.kind === 'rename_field' ? wanted.name : null}
          onRequest={(to) =>
            setDirectives([...directives, { kind: 'rename_field', ...column, name: to }])
          }
          onTakeBack={() => setDirectives(directives.filter((entry) => entry !== wanted))}
        />
      ) : null}
    </span>
  );
}

/** How a field is retyped, and the request to keep the source's type. */
function FieldTransform({
  row: { column, retyped = false, transform, path },
  directives,
  setDirectives,
}: Directives & { readonly row: FieldRow }) {
  if (!column || !retyped) return transform;
  const wanted = directives.find(
    (entry) =>
      entry.kind === 'keep_type' && entry.table === column.table && entry.column === column.column,
  );
  return (
    <span className="flex flex-wrap items-center gap-2">
      {transform}
      {wanted ? <Badge tone="accent">requested</Badge> : null}
      <Button
        look="quiet"
        aria-label={`${wanted ? 'Cancel request' : 'Keep type'}: ${path}`}
        onClick={() =>
          setDirectives(
            wanted
              ? directives.filter((entry) => entry !== wanted)
              : [...directives, { kind: 'keep_type', ...column }],
          )
        }
      >
        {wanted ? 'Cancel request' : 'Keep type'}
      </Button>
    </span>
  );
}

function CsvActions({
  taskId,
  edit,
  setFailed,
}: {
  readonly taskId: string;
  readonly edit: GateProps<CollectionValidation>['edit'];
  readonly setFailed: (error: unknown) => void;
}) {
  const picker = useRef<HTMLInputElement>(null);
  const upload = async (input: HTMLInputElement): Promise<void> => {
    const [file] = input.files ?? [];
    if (!file) return;
    try {
      const read = await readCsvFile(file);
      setFailed(null);
      edit?.(read);
    } catch (error) {
      setFailed(error);
    } finally {
      input.value = ''; // the same file, once mended, is another choice
    }
  };
  return (
    <>
      <a
        className="text-[13px] text-accent hover:underline"
        href={`/api/tasks/${taskId}/logical.csv`}
        download
      >
        Download CSV
      </a>
      {edit ? (
        <>
          <input
            ref={picker}
            type="file"
            accept=".csv,text/csv"
            aria-label="CSV of the logical design"
            className="hidden"
            onChange={(event) => void upload(event.target)}
          />
          <Button onClick={() => picker.current?.click()}>Upload CSV</Button>
          <Button onClick={() => edit()}>Edit as CSV</Button>
        </>
      ) : null}
    </>
  );
}

/** The mappings that cover a field; of many the first, the others on demand. */
function Coverage({
  row: { path, covered },
  goTo,
}: {
  readonly row: FieldRow;
  readonly goTo: (mapping: string) => void;
}) {
  const [whole, setWhole] = useState(false);
  if (covered === null) return <span className="text-muted">its fields</span>;
  if (covered.length === 0) return <Badge tone="bad">Not covered</Badge>;
  return (
    <span className="flex flex-col items-start">
      {(whole ? covered : covered.slice(0, 1)).map((name) => (
        <MappingLink key={name} name={name} goTo={goTo} />
      ))}
      {covered.length > 1 ? (
        <button
          type="button"
          aria-expanded={whole}
          aria-label={`${whole ? 'Only the first mapping' : 'All mappings'} of ${path}`}
          onClick={() => setWhole(!whole)}
          className="text-xs text-muted underline-offset-2 hover:underline"
        >
          {whole ? 'only the first' : `and ${number(covered.length - 1)} more`}
        </button>
      ) : null}
    </span>
  );
}
