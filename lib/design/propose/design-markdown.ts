import type { Catalog } from '../../sqlite/catalog';
import {
  relationshipById,
  type ColumnProfile,
  type Profile,
  type Relationship,
} from '../../sqlite/profile/profile';
import type {
  ConceptualDesign,
  DesignDocument,
  RelationshipChoice,
} from '../model/document-design';
import { numberChoice, type TypeSettings } from '../logical/retype';
import type { Workload } from '../model/workload';

type Draft = Omit<ConceptualDesign, 'document'>;

export interface DesignContext {
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly workload: Workload;
  /** Absent: every value keeps its type. */
  readonly types?: TypeSettings | undefined;
}

/**
 * The four parts of the paper's §3.1, each Markdown. Names come from the source: they are escaped.
 */
export function describeDesign(
  design: Draft,
  { catalog, profile, workload, types }: DesignContext,
): DesignDocument {
  return {
    source: describeSource(catalog, profile),
    accessPatterns: describeWorkload(workload),
    decisions: describeDecisions(design, numberChoices(profile, types)),
    result: describeResult(design, profile),
  };
}

/** The whole document. */
export const designMarkdown = (design: ConceptualDesign): string =>
  [
    `# Document design of ${text(design.database)}`,
    `## 1. Source schema\n\n${design.document.source}`,
    `## 2. Access patterns\n\n${design.document.accessPatterns}`,
    `## 3. Modelling decisions\n\n${design.document.decisions}`,
    `## 4. Collections\n\n${design.document.result}`,
  ].join('\n\n') + '\n';

/** Escapes what Markdown or HTML would read as markup. */
export const text = (name: string): string =>
  name
    .replace(/[\\`*_{}[\]<>()#+!|~&]/g, (c) => {
      if (c === '<') return '&lt;';
      if (c === '>') return '&gt;';
      return c === '&' ? '&amp;' : `\\${c}`;
    })
    .replace(/[\r\n]+/g, ' ');

function describeSource(catalog: Catalog, profile: Profile): string {
  const rows = profile.tables.reduce((sum, table) => sum + table.rowCount, 0);
  const lines = [
    `${catalog.tables.length} tables, ${rows.toLocaleString('en')} rows.`,
    '',
    '| table | rows | columns | keys that hold |',
    '|---|---:|---:|---|',
  ];
  for (const table of profile.tables) {
    const keys = table.keys.map((key) => text(key.join(' + '))).join(', ') || 'none';
    lines.push(
      `| ${text(table.table)} | ${table.rowCount.toLocaleString('en')} | ${table.columns.length} ` +
        `| ${keys} |`,
    );
  }
  lines.push(
    '',
    '| relationship | declared | orphans | null keys | children: mean | p99 | max |',
    '|---|---|---:|---:|---:|---:|---:|',
  );
  for (const r of profile.relationships) {
    lines.push(
      `| ${text(r.id)} | ${r.declared ? 'yes' : `no: ${text(r.evidence ?? '')}`} | ${r.orphans} ` +
        `| ${r.nullKeys} | ${r.fanOut.mean.toFixed(2)} | ${r.fanOut.p99} | ${r.fanOut.max} |`,
    );
  }
  lines.push(...describeValues(profile));
  return lines.join('\n');
}

/** What the values say beyond their storage class: formats, dependencies, circles. */
function describeValues(profile: Profile): string[] {
  const lines: string[] = [];
  const formatted = profile.tables.flatMap(({ table, columns }) =>
    columns
      .filter(({ formats }) => formats.length > 0)
      .map((column) => `${text(`${table}.${column.column}`)} (${column.formats.join(', ')})`),
  );
  if (formatted.length > 0)
    lines.push(
      '',
      'Text in one format throughout: ' +
        `${formatted.slice(0, MAX_LISTED).join(', ')}${more(formatted)}.`,
    );
  const partly = profile.tables.flatMap(({ table, columns }) =>
    columns.flatMap((column) =>
      partialFormat(column).map((share) => `${text(`${table}.${column.column}`)}: ${share}`),
    ),
  );
  if (partly.length > 0)
    lines.push(
      '',
      'Text mostly in one format, and therefore left as it is: ' +
        `${partly.slice(0, MAX_LISTED).join('; ')}${more(partly)}.`,
    );
  const dependencies = profile.tables.flatMap(({ table, functionalDependencies }) =>
    functionalDependencies.map(
      ({ determinant, dependents }) =>
        `${text(`${table}: ${determinant.join(' + ')} → ${dependents.join(', ')}`)}`,
    ),
  );
  if (dependencies.length > 0)
    lines.push(
      '',
      'Functional dependencies: ' +
        `${dependencies.slice(0, MAX_LISTED).join('; ')}${more(dependencies)}.`,
    );
  if (profile.cycles.length > 0)
    lines.push(
      '',
      `Circles of relationships: ${profile.cycles
        .slice(0, MAX_LISTED)
        .map((cycle) => text(cycle.join(', ')))
        .join('; ')}.`,
    );
  return lines;
}

const MAX_LISTED = 40;
const more = (list: readonly unknown[]): string =>
  list.length > MAX_LISTED ? `, and ${list.length - MAX_LISTED} more` : '';

/** Formats that most texts of a column have, but not all. */
function partialFormat({ stored, formatCounts }: ColumnProfile): string[] {
  return Object.entries(formatCounts)
    .filter(
      ([format, count]) =>
        format !== 'empty' && stored.text > 0 && count < stored.text && count / stored.text >= 0.8,
    )
    .map(([format, count]) => `${((100 * count) / stored.text).toFixed(1)} % ${format}`);
}

function describeWorkload(workload: Workload): string {
  if (workload.patterns.length === 0) return 'No access pattern is known.';
  const origin = workload.assumed
    ? '**Assumed**: no item asks this database. One row of each table by its key, and the two ' +
      'sides of each relationship together.'
    : 'Taken from the benchmark’s own queries.';
  const lines = [
    origin,
    '',
    '| tables read together | queries | filtered by | sorted by |',
    '|---|---:|---|---|',
  ];
  for (const pattern of workload.patterns.slice(0, 40)) {
    const uses = (list: readonly { table: string; column: string }[]): string =>
      [...new Set(list.map((use) => text(`${use.table}.${use.column}`)))].join(', ');
    lines.push(
      `| ${text(pattern.tables.join(', '))} | ${pattern.frequency} | ${uses(pattern.filtered)} | ` +
        `${uses(pattern.sorted)} |`,
    );
  }
  if (workload.patterns.length > 40)
    lines.push('', `… and ${workload.patterns.length - 40} rarer patterns.`);
  if (workload.unread.length > 0)
    lines.push(
      '',
      `${workload.unread.length} queries could not be read: ${workload.unread
        .slice(0, 10)
        .map((item) => text(`${item.questionId} (${item.reason})`))
        .join('; ')}.`,
    );
  return lines.join('\n');
}

/** Columns of numbers written as text, with what becomes of each. */
function numberChoices(profile: Profile, types: TypeSettings | undefined): string[] {
  if (types?.retype !== 'proven') return [];
  return profile.tables.flatMap(({ table, columns }) =>
    columns.flatMap((column) => {
      const choice = numberChoice(profile, table, column, types.textUses);
      if (!choice) return [];
      const stored = choice.stored === 'number' ? 'become numbers' : 'stay text';
      return [
        `- **${text(`${table}.${column.column}`)}** (${text(choice.format)}): the values ` +
          `${stored}: ${text(choice.reason)}.`,
      ];
    }),
  );
}

function describeDecisions(design: Draft, numbers: readonly string[]): string {
  const choices = design.relationships.map((choice) => {
    const kept = keptOfChildren(choice);
    const field = choice.field ? ` as ${text(choice.field)}` : '';
    const columns = choice.columns ? ` (${choice.columns.map(text).join(', ')})` : '';
    const keeps = kept.length > 0 ? ` The parents keep ${kept.join('; ')}.` : '';
    return (
      `- **${text(choice.relationship)}: ${choice.choice}**${field}${columns}. ` +
      `${text(choice.reason)}${keeps}`
    );
  });
  const attributes = design.collections.flatMap(({ name, attributes: repeated }) =>
    repeated
      ? [
          `- **${text(name)}: attribute** as ${text(repeated.field)}. The documents repeat the ` +
            `names and values of ${repeated.columns.map(text).join(', ')} as an array, each of ` +
            'which keeps its own field.',
        ]
      : [],
  );
  const patterns = PATTERN_GROUPS.flatMap(({ status, title }) => {
    const uses = design.patterns.filter((use) => (use.status ?? 'applied') === status);
    return uses.length > 0
      ? [
          [
            `${title}:`,
            '',
            ...uses.map(
              ({ pattern, target, reason }) =>
                `- **${text(pattern)}** (${text(target)}). ${text(reason)}`,
            ),
          ].join('\n'),
        ]
      : [];
  });
  return [
    choices.length > 0 ? choices.join('\n') : 'There are no relationships between the tables.',
    ...(attributes.length > 0 ? [attributes.join('\n')] : []),
    ...(patterns.length > 0
      ? patterns
      : ['No pattern was applied or considered, no anti-pattern avoided.']),
    ...(numbers.length > 0 ? [`Numbers written as text:\n\n${numbers.join('\n')}`] : []),
  ].join('\n\n');
}

const PATTERN_GROUPS = [
  { status: 'applied', title: 'Patterns applied' },
  { status: 'considered', title: 'Patterns considered and left' },
  { status: 'avoided', title: 'Anti-patterns avoided' },
] as const;

/** What the parents' documents know of children that live elsewhere. */
function keptOfChildren({ computed = [], subset, outlier }: RelationshipChoice): string[] {
  const kept = computed.map(
    ({ field, aggregate, column }) =>
      `${text(field)} (${aggregate} of ${column === undefined ? 'the rows' : text(column)})`,
  );
  if (subset) {
    const order = subset.orderBy
      .map(({ column, direction }) => `${text(column)} ${direction}`)
      .join(', ');
    kept.push(
      `${text(subset.field)} (the first ${subset.limit} rows by ${order}: ` +
        `${subset.columns.map(text).join(', ')})`,
    );
  }
  if (outlier)
    kept.push(
      `${text(outlier.field)} (all rows where there are ${outlier.limit} at most: ` +
        `${outlier.columns.map(text).join(', ')}; with more none, and the key in ` +
        `${text(outlier.flag)})`,
    );
  return kept;
}

function describeResult(design: Draft, profile: Profile): string {
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
  lines.push(
    '',
    'The fields of each collection, with their final names and the transformation of each, stand ' +
      'in its logical design. Indexes are an artefact of their own, the index design.',
  );
  return lines.join('\n');
}

const bucketName = (design: Draft, profile: Profile, table: string): string =>
  chosen(design, profile).find(
    ({ choice, relationship }) => choice.choice === 'bucket' && relationship.childTable === table,
  )?.choice.field ?? table;

/**
 * Where the rows of a table live: as documents of `root`'s collection, or embedded in them along
 * `steps`.
 */
interface Home {
  readonly root: string;
  readonly steps: readonly { readonly field: string; readonly cardinality: 'one' | 'many' }[];
}

function homesOf(design: Draft, profile: Profile): Map<string, Home> {
  const embeds = new Map(
    chosen(design, profile).flatMap(({ choice, relationship }) =>
      choice.choice === 'embed'
        ? [[relationship.childTable, { choice, parent: relationship.parentTable }] as const]
        : [],
    ),
  );
  return new Map(
    profile.tables.map(({ table }) => {
      const steps: Home['steps'][number][] = [];
      let root = table;
      // A circle, which the loss check refuses, ends as well.
      for (
        let embed = embeds.get(root);
        embed && steps.length < embeds.size;
        embed = embeds.get(root)
      ) {
        steps.unshift({
          field: embed.choice.field ?? root,
          cardinality: embed.choice.cardinality ?? 'many',
        });
        root = embed.parent;
      }
      return [table, { root, steps }];
    }),
  );
}

const chosen = (
  design: Draft,
  profile: Profile,
): { choice: RelationshipChoice; relationship: Relationship }[] =>
  design.relationships.flatMap((choice) => {
    const relationship = relationshipById(profile, choice.relationship);
    return relationship ? [{ choice, relationship }] : [];
  });

export interface Disposition {
  readonly table: string;
  readonly disposition: 'standalone' | 'embedded' | 'missing';
  readonly collections: readonly string[];
  /**
   * Collections that repeat some of its columns: beside references to it, of its rows in their
   * parents, or as names and values.
   */
  readonly copies: readonly string[];
}

/** The paper's Table 6: every source table with its destination. */
export function dispositions(design: Draft, profile: Profile): Disposition[] {
  const homes = homesOf(design, profile);
  const collectionsOf = (table: string): string[] =>
    design.collections
      .filter(({ rootTable }) => rootTable === homes.get(table)?.root)
      .map(({ name }) => name);
  const copies = chosen(design, profile).flatMap(
    ({ choice, relationship: { childTable, parentTable } }) => [
      ...(choice.columns ? [{ of: parentTable, within: childTable }] : []),
      ...(choice.subset || choice.outlier ? [{ of: childTable, within: parentTable }] : []),
    ],
  );
  for (const { rootTable, attributes } of design.collections)
    if (attributes) copies.push({ of: rootTable, within: rootTable });
  return profile.tables.map(({ table }) => {
    const collections = collectionsOf(table);
    const placed = homes.get(table)?.root === table ? 'standalone' : 'embedded';
    return {
      table,
      disposition: collections.length === 0 ? 'missing' : placed,
      collections,
      copies: [
        ...new Set(
          copies.filter(({ of }) => of === table).flatMap(({ within }) => collectionsOf(within)),
        ),
      ].sort(),
    };
  });
}

function describeId(id: Draft['collections'][number]['id']): string {
  if (id.kind === 'column') return `from ${text(id.column)}`;
  return id.kind === 'bucket'
    ? `counts the buckets from 1: up to ${id.size} rows with the same ` +
        `${text(id.columns.join(', '))} in each`
    : 'counts the rows from 1';
}
