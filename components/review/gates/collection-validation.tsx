'use client';
import { useState } from 'react';
import { BUCKET, entryPaths, isEmbed, type Field, type LogicalDesign } from '../../../lib/design/document-design';
import { describe } from '../../../lib/design/transform-name';
import type { CollectionValidation } from '../../../lib/validation/collection-validation';
import type { MappingResult } from '../../../lib/validation/mapping';
import { counted, number } from '../../format';
import { CodeBlock } from '../../text/code-block';
import { mqlText } from '../../text/mql-text';
import { ResultTable } from '../../text/result-table';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { ErrorNote, Loading } from '../../ui/notes';
import { PlainTable } from '../../ui/plain-table';
import type { GateProps } from '../gate-props';
import { RenameControl } from './rename-control';
import { Samples } from './sample-documents';
import { useArtefact } from './use-artefact';

interface FieldRow {
  readonly path: string;
  readonly source: string;
  readonly type: string;
  readonly covered: readonly string[] | null;
  /** The source column whose values the field holds. */
  readonly column?: { readonly table: string; readonly column: string };
  /** Its type is not the source's. */
  readonly retyped?: boolean;
}

export function CollectionValidationGate({ task, content, edit, directives, setDirectives }: GateProps<CollectionValidation>) {
  const design = useArtefact<LogicalDesign>(task.databaseId, 'logical_design', task.key);
  const failing = content.mappings.filter((mapping) => mapping.verdict.kind !== 'equal');
  const holes = Object.entries(content.coverage).filter(([, mappings]) => mappings.length === 0);
  const ordered = [...failing, ...content.mappings.filter((mapping) => mapping.verdict.kind === 'equal')];
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap gap-2">
        <Badge tone={failing.length === 0 ? 'good' : 'bad'}>
          {content.mappings.length - failing.length} of {counted(content.mappings.length, 'mapping')} {content.mappings.length === 1 ? 'passes' : 'pass'}
        </Badge>
        <Badge tone={holes.length === 0 ? 'good' : 'bad'}>{holes.length === 0 ? 'every field is covered' : `${counted(holes.length, 'field')} covered by no mapping: ${holes.map(([path]) => path).join(', ')}`}</Badge>
        <Badge tone={content.faults.holes.length === 0 ? 'good' : 'bad'} title={Object.entries(content.faults.caught).map(([name, n]) => `${name}: ${n}`).join('\n')}>
          {content.faults.holes.length === 0 ? content.faults.planted === 1 ? 'the planted fault was caught' : `all ${number(content.faults.planted)} planted faults were caught` : `${content.faults.holes.length} of ${content.faults.planted} planted faults were not caught: ${content.faults.holes.map((fault) => `${fault.kind} at ${fault.path}`).join(', ')}`}
        </Badge>
      </div>
      <Card title="Fields" padded={false} actions={edit ? <Button onClick={() => edit()}>Edit as CSV</Button> : null}>
        {design.error ? <ErrorNote error={design.error} /> : null}
        {design.isPending ? <Loading what="the logical design" /> : null}
        {design.data ? (
          <PlainTable
            label="Fields"
            align="middle"
            rows={fieldRows(design.data, content)}
            rowKey={(row) => row.path}
            columns={[
              {
                head: 'Field',
                cell: (row) => {
                  const { column, path } = row;
                  const name = path.slice(path.lastIndexOf('.') + 1);
                  const wanted = column && directives.find((entry) => entry.kind === 'rename_field' && entry.table === column.table && entry.column === column.column);
                  return (
                    <span className="flex flex-wrap items-center gap-x-2">
                      <code className="font-mono text-xs wrap-anywhere">{path}</code>
                      {column && path !== '_id' ? (
                        <RenameControl
                          what={path}
                          current={name}
                          wanted={wanted?.kind === 'rename_field' ? wanted.name : null}
                          onRequest={(to) => setDirectives([...directives, { kind: 'rename_field', ...column, name: to }])}
                          onTakeBack={() => setDirectives(directives.filter((entry) => entry !== wanted))}
                        />
                      ) : null}
                    </span>
                  );
                },
              },
              { head: 'Source', cell: (row) => <code className="font-mono text-xs">{row.source}</code> },
              {
                head: 'Transform',
                cell: (row) => {
                  const { column, retyped = false } = row;
                  if (!column || !retyped) return row.type;
                  const wanted = directives.find((entry) => entry.kind === 'keep_type' && entry.table === column.table && entry.column === column.column);
                  return (
                    <span className="flex flex-wrap items-center gap-2">
                      {row.type}
                      {wanted ? <Badge tone="accent">requested</Badge> : null}
                      <Button look="quiet" aria-label={`${wanted ? 'Take back' : 'Keep the type'}: ${row.path}`} onClick={() => setDirectives(wanted ? directives.filter((entry) => entry !== wanted) : [...directives, { kind: 'keep_type', ...column }])}>
                        {wanted ? 'Take back' : 'Keep the type'}
                      </Button>
                    </span>
                  );
                },
              },
              { head: 'Covered by', cell: (row) => (row.covered === null ? <span className="text-muted">its fields</span> : row.covered.length === 0 ? <Badge tone="bad">nothing</Badge> : <span className="text-xs text-muted" title={row.covered.join('\n')}>{counted(row.covered.length, 'mapping')}</span>) },
            ]}
          />
        ) : null}
      </Card>
      <Samples databaseId={task.databaseId} collection={task.key.slice(task.key.indexOf('/') + 1)} />
      <Card title="Mappings" padded={false}>
        {ordered.map((mapping, at) => (
          <Mapping key={mapping.name} mapping={mapping} initiallyOpen={mapping.verdict.kind !== 'equal' && at < 3} />
        ))}
      </Card>
    </div>
  );
}

function Mapping({ mapping, initiallyOpen }: { readonly mapping: MappingResult; readonly initiallyOpen: boolean }) {
  const [open, setOpen] = useState(initiallyOpen);
  const { verdict } = mapping;
  const retyped = Object.entries(mapping.transforms);
  return (
    <section className="border-b border-line last:border-0">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex w-full flex-wrap items-center gap-2 px-3 py-2 text-left hover:bg-surface-2">
        <Badge tone={verdict.kind === 'equal' ? 'good' : 'bad'}>{verdict.kind === 'equal' ? 'equal' : verdict.kind.replaceAll('_', ' ')}</Badge>
        <span className="font-medium">{mapping.name}</span>
        <span className="text-[13px] text-muted">{mapping.description}</span>
        <span className="ml-auto text-xs text-muted">{verdict.detail}</span>
      </button>
      {open ? (
        <div className="grid gap-2 p-3 pt-0 lg:grid-cols-2">
          <div className="min-w-0 space-y-1">
            <p className="text-xs text-muted">SQL over the source{retyped.length > 0 ? `; compared after ${retyped.map(([name, transform]) => `${name}: ${describe(transform)}`).join(', ')}` : ''}</p>
            <CodeBlock text={mapping.sql} label="SQL" />
          </div>
          <div className="min-w-0 space-y-1">
            <p className="text-xs text-muted">MQL over the documents</p>
            <CodeBlock text={mqlText(mapping)} label="MQL" />
          </div>
          {verdict.kind !== 'equal' ? <Difference verdict={verdict} columns={verdict.mapping.map((name, at) => name ?? `column ${at + 1}`)} /> : null}
        </div>
      ) : null}
    </section>
  );
}

/** The rows that only one side has. */
export function Difference({ verdict, columns }: { readonly verdict: Pick<MappingResult['verdict'], 'onlyExpected' | 'onlyActual' | 'expectedRows' | 'actualRows'>; readonly columns: readonly string[] }) {
  return (
    <div className="col-span-full grid gap-2 lg:grid-cols-2">
      <div>
        <p className="text-xs text-muted">Only in the source ({counted(verdict.expectedRows, 'row')} in all)</p>
        <ResultTable label="Rows only in the source" columns={columns} rows={verdict.onlyExpected} />
      </div>
      <div>
        <p className="text-xs text-muted">Only in the documents ({counted(verdict.actualRows, 'row')} in all)</p>
        <ResultTable label="Rows only in the documents" columns={columns} rows={verdict.onlyActual} />
      </div>
    </div>
  );
}

function fieldRows(design: LogicalDesign, content: CollectionValidation): FieldRow[] {
  const visit = (fields: readonly Field[], table: string, prefix: string): FieldRow[] =>
    fields.flatMap((field): FieldRow[] => {
      const path = prefix + field.name;
      if (isEmbed(field)) {
        const on = field.relationship === BUCKET ? 'of the bucket' : `on ${field.join.map(({ parent, child }) => `${child} = ${parent}`).join(', ')}`;
        return [{ path, source: `${field.table} ${on}`, type: field.kind === 'embedMany' ? 'array of documents' : 'document', covered: null }, ...visit(field.fields, field.table, `${path}.`)];
      }
      if (field.kind === 'column') return [{ path, source: `${table}.${field.column}`, type: describe(field.transform), covered: content.coverage[path] ?? [], column: { table, column: field.column }, retyped: field.transform.kind !== 'identity' }];
      if (field.kind === 'subset') {
        const order = field.orderBy.map(({ column, direction }) => `${column} ${direction}`).join(', ');
        return [{ path, source: `${field.table}, first ${field.limit} by ${order}`, type: 'array of copied rows', covered: null }, ...visit(field.fields, field.table, `${path}.`)];
      }
      if (field.kind === 'outlier') {
        const array: FieldRow = { path, source: `${field.table}, all up to ${field.limit}`, type: 'array of copied rows', covered: null };
        const flag = prefix + field.flag;
        return [array, ...visit(field.fields, field.table, `${path}.`), { path: flag, source: `${table}.${field.join[0]!.parent}`, type: `key where there are more than ${field.limit}`, covered: content.coverage[flag] ?? [] }];
      }
      if (field.kind === 'extendedReference') {
        const on = field.join.map(({ parent, child }) => `${parent} = ${child}`).join(', ');
        return [{ path, source: `${field.table} on ${on}`, type: 'copy of the referenced row', covered: null }, ...visit(field.fields, field.table, `${path}.`)];
      }
      if (field.kind === 'attribute') {
        const covered = (path: string): readonly string[] => content.coverage[path] ?? [];
        const [k, v] = entryPaths(path);
        return [
          { path, source: `${table}: ${field.fields.map(({ column }) => column).join(', ')}`, type: 'array of names and values', covered: null },
          { path: k, source: 'name of the field', type: 'identity', covered: covered(k) },
          { path: v, source: 'value of the field', type: [...new Set(field.fields.map(({ transform }) => describe(transform)))].join(', '), covered: covered(v) },
        ];
      }
      return [{ path, source: `${field.table}${field.column === undefined ? '' : `.${field.column}`}`, type: field.aggregate, covered: content.coverage[path] ?? [] }];
    });
  const id: FieldRow = design.id.kind === 'column' ? { path: '_id', source: `${design.rootTable}.${design.id.column}`, type: describe(design.id.transform), covered: content.coverage._id ?? [] } : { path: '_id', source: design.rootTable, type: `ordinal of the ${design.id.kind === 'bucket' ? `bucket, up to ${design.id.size} rows with the same ${design.id.columns.join(', ')}` : 'row'}`, covered: content.coverage._id ?? [] };
  return [id, ...visit(design.fields, design.rootTable, '')];
}
