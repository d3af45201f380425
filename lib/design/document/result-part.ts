import type { Profile } from '../../sqlite/profile/profile';
import type { DocumentDesign, Field, IndexDesign } from '../model/document-design';
import { describe } from '../model/transform-kind';
import { chosenIn, dispositions, homesOf, type Draft } from './disposition';
import { listed, text } from './markdown';

/** What a design becomes: absent for what is not known yet. */
export interface DesignOutcome {
  readonly whole?: DocumentDesign | undefined;
  readonly indexes?: IndexDesign | undefined;
}

/** The collections with their tables, their indexes, and the fields whose type is another. */
export function describeResult(
  design: Draft,
  profile: Profile,
  { whole, indexes }: DesignOutcome,
): string {
  const homes = homesOf(design, profile);
  const lines: string[] = [];
  for (const { name, rootTable, id } of design.collections) {
    lines.push(`- **${text(name)}**, ${text('_id')} ${describeId(id)}`);
    for (const { table, rowCount } of profile.tables) {
      const { root, steps } = homes.get(table)!;
      if (root !== rootTable) continue;
      const path = steps.map(({ field }) => text(field)).join('.');
      const rootPlace =
        id.kind === 'bucket'
          ? `in ${text(bucketName(design, profile, table))}, an array`
          : 'each a document';
      const isOne = steps.at(-1)?.cardinality === 'one';
      const below = `in ${path}, ${isOne ? 'one document at most for each parent' : 'an array'}`;
      const place = steps.length === 0 ? rootPlace : below;
      lines.push(
        `  - ${text(table)}: ${rowCount.toLocaleString('en')} ` +
          `${rowCount === 1 ? 'row' : 'rows'}, ${place}`,
      );
    }
  }
  lines.push(
    '',
    'Every table of the source. Ret.: all its rows remain retrievable. Copies repeat some ' +
      'columns of a table’s rows, beside a reference, in the array of a parent, or as names ' +
      'and values.',
    '',
  );
  lines.push('| table | disposition | collection | Ret. | copies in |', '|---|---|---|:---:|---|');
  for (const row of dispositions(design, profile)) {
    lines.push(
      `| ${text(row.table)} | ${row.disposition} | ${text(row.collections.join(', '))} | ` +
        `${row.disposition === 'missing' ? 'no' : '✓'} | ${text(row.copies.join(', '))} |`,
    );
  }
  if (whole) lines.push('', describeTransforms(whole));
  lines.push('', describeIndexes(indexes));
  lines.push(
    '',
    'All fields of a collection, with their names and transformations, stand in its logical design.',
  );
  return lines.join('\n');
}

const bucketName = (design: Draft, profile: Profile, table: string): string =>
  chosenIn(design, profile).find(
    ({ choice, relationship }) => choice.choice === 'bucket' && relationship.childTable === table,
  )?.choice.field ?? table;

function describeTransforms({ logical }: DocumentDesign): string {
  const retyped = logical.flatMap(({ collection, id, fields }) => [
    ...(id.kind === 'column' && id.transform.kind !== 'identity'
      ? [`${text(`${collection}._id`)}: ${text(describe(id.transform))}`]
      : []),
    ...retypedFields(fields, collection),
  ]);
  if (retyped.length === 0) return 'Transformations: none, every value keeps its type.';
  return `Transformations: ${listed(retyped, '; ')}. Every other value keeps its type.`;
}

const retypedFields = (fields: readonly Field[], path: string): string[] =>
  fields.flatMap((field) => {
    const target = `${path}.${field.name}`;
    if (field.kind !== 'column')
      return 'fields' in field ? retypedFields(field.fields, target) : [];
    return field.transform.kind === 'identity'
      ? []
      : [`${text(target)}: ${text(describe(field.transform))}`];
  });

function describeIndexes(indexes: IndexDesign | undefined): string {
  if (!indexes) return 'Indexes are an artefact of their own, the index design.';
  const all = Object.entries(indexes).flatMap(([collection, list]) =>
    list.map((index) => {
      const key = Object.entries(index.key).map(
        ([path, direction]) => `${path}${direction === 1 ? '' : ' descending'}`,
      );
      return `${text(`${collection}: ${key.join(', ')}`)}${index.unique ? ' (unique)' : ''}`;
    }),
  );
  return all.length === 0
    ? 'Indexes: none.'
    : `Indexes, as proposed (the index design is an artefact of its own): ${listed(all, '; ')}.`;
}

function describeId(id: Draft['collections'][number]['id']): string {
  if (id.kind === 'column') return `from ${text(id.column)}`;
  return id.kind === 'bucket'
    ? `counts the buckets from 1: up to ${id.size} rows with the same ` +
        `${text(id.columns.join(', '))} in each`
    : 'counts the rows from 1';
}
