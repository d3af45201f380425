import type { Catalog } from '../sqlite/catalog';
import type { ColumnProfile, Profile } from '../sqlite/profile';
import type { ConceptualDesign, DesignDocument } from './document-design';
import type { Workload } from './workload';

/** The four parts of the paper's §3.1, each Markdown. Names come from the source: they are escaped. */
export function describeDesign(design: Omit<ConceptualDesign, 'document'>, catalog: Catalog, profile: Profile, workload: Workload): DesignDocument {
  return {
    source: describeSource(catalog, profile),
    accessPatterns: describeWorkload(workload),
    decisions: describeDecisions(design),
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
export const text = (name: string): string => name.replace(/[\\`*_{}[\]<>()#+!|~&]/g, (c) => (c === '<' ? '&lt;' : c === '>' ? '&gt;' : c === '&' ? '&amp;' : `\\${c}`)).replace(/[\r\n]+/g, ' ');

function describeSource(catalog: Catalog, profile: Profile): string {
  const rows = profile.tables.reduce((sum, table) => sum + table.rowCount, 0);
  const lines = [`${catalog.tables.length} tables, ${rows.toLocaleString('en')} rows.`, '', '| table | rows | columns | keys that hold |', '|---|---:|---:|---|'];
  for (const table of profile.tables) {
    const keys = table.keys.map((key) => text(key.join(' + '))).join(', ') || 'none';
    lines.push(`| ${text(table.table)} | ${table.rowCount.toLocaleString('en')} | ${table.columns.length} | ${keys} |`);
  }
  lines.push('', '| relationship | declared | orphans | null keys | children: mean | p99 | max |', '|---|---|---:|---:|---:|---:|---:|');
  for (const r of profile.relationships) {
    lines.push(`| ${text(r.id)} | ${r.declared ? 'yes' : `no: ${text(r.evidence ?? '')}`} | ${r.orphans} | ${r.nullKeys} | ${r.fanOut.mean.toFixed(2)} | ${r.fanOut.p99} | ${r.fanOut.max} |`);
  }
  lines.push(...describeValues(profile));
  return lines.join('\n');
}

/** What the values say beyond their storage class: formats, dependencies, circles. */
function describeValues(profile: Profile): string[] {
  const lines: string[] = [];
  const formatted = profile.tables.flatMap(({ table, columns }) => columns.filter(({ formats }) => formats.length > 0).map((column) => `${text(`${table}.${column.column}`)} (${column.formats.join(', ')})`));
  if (formatted.length > 0) lines.push('', `Text in one format throughout: ${formatted.slice(0, MAX_LISTED).join(', ')}${more(formatted)}.`);
  const partly = profile.tables.flatMap(({ table, columns }) => columns.flatMap((column) => partialFormat(column).map((share) => `${text(`${table}.${column.column}`)}: ${share}`)));
  if (partly.length > 0) lines.push('', `Text mostly in one format, and therefore left as it is: ${partly.slice(0, MAX_LISTED).join('; ')}${more(partly)}.`);
  const dependencies = profile.tables.flatMap(({ table, functionalDependencies }) => functionalDependencies.map(({ determinant, dependents }) => `${text(`${table}: ${determinant.join(' + ')} → ${dependents.join(', ')}`)}`));
  if (dependencies.length > 0) lines.push('', `Functional dependencies: ${dependencies.slice(0, MAX_LISTED).join('; ')}${more(dependencies)}.`);
  if (profile.cycles.length > 0) lines.push('', `Circles of relationships: ${profile.cycles.slice(0, MAX_LISTED).map((cycle) => text(cycle.join(', '))).join('; ')}.`);
  return lines;
}

const MAX_LISTED = 40;
const more = (list: readonly unknown[]): string => (list.length > MAX_LISTED ? `, and ${list.length - MAX_LISTED} more` : '');

/** Formats that most texts of a column have, but not all. */
function partialFormat({ stored, formatCounts }: ColumnProfile): string[] {
  return Object.entries(formatCounts)
    .filter(([format, count]) => format !== 'empty' && stored.text > 0 && count < stored.text && count / stored.text >= 0.8)
    .map(([format, count]) => `${((100 * count) / stored.text).toFixed(1)} % ${format}`);
}

function describeWorkload(workload: Workload): string {
  if (workload.patterns.length === 0) return 'No access pattern is known.';
  const origin = workload.assumed ? '**Assumed**: no item asks this database. One row of each table by its key, and the two sides of each relationship together.' : 'Taken from the benchmark’s own queries.';
  const lines = [origin, '', '| tables read together | queries | filtered by | sorted by |', '|---|---:|---|---|'];
  for (const pattern of workload.patterns.slice(0, 40)) {
    const uses = (list: readonly { table: string; column: string }[]): string => [...new Set(list.map((use) => text(`${use.table}.${use.column}`)))].join(', ');
    lines.push(`| ${text(pattern.tables.join(', '))} | ${pattern.frequency} | ${uses(pattern.filtered)} | ${uses(pattern.sorted)} |`);
  }
  if (workload.patterns.length > 40) lines.push('', `… and ${workload.patterns.length - 40} rarer patterns.`);
  if (workload.unread.length > 0) lines.push('', `${workload.unread.length} queries could not be read: ${workload.unread.slice(0, 10).map((item) => text(`${item.questionId} (${item.reason})`)).join('; ')}.`);
  return lines.join('\n');
}

function describeDecisions(design: Omit<ConceptualDesign, 'document'>): string {
  if (design.relationships.length === 0) return 'There are no relationships between the tables.';
  return design.relationships.map((choice) => `- **${text(choice.relationship)}: ${choice.choice}**${choice.field ? ` as \`${choice.field}\`` : ''}${choice.columns ? ` (${choice.columns.map(text).join(', ')})` : ''}. ${text(choice.reason)}`).join('\n');
}

function describeResult(design: Omit<ConceptualDesign, 'document'>, profile: Profile): string {
  const lines = ['| table | disposition | collection |', '|---|---|---|'];
  for (const row of dispositions(design, profile)) lines.push(`| ${text(row.table)} | ${row.disposition} | ${text(row.collections.join(', '))} |`);
  return lines.join('\n');
}

export interface Disposition {
  readonly table: string;
  readonly disposition: 'standalone' | 'embedded' | 'missing';
  readonly collections: readonly string[];
}

/** The paper's Table 6: every source table with its destination. */
export function dispositions(design: Omit<ConceptualDesign, 'document'>, profile: Profile): Disposition[] {
  const embeds = new Map(
    design.relationships.flatMap((choice) => {
      const relationship = choice.choice === 'embed' ? profile.relationships.find((candidate) => candidate.id === choice.relationship) : undefined;
      return relationship ? [[relationship.childTable, relationship.parentTable] as const] : [];
    }),
  );
  return profile.tables.map(({ table }) => {
    let root = table;
    for (let steps = 0; embeds.has(root) && steps < 10; steps++) root = embeds.get(root)!;
    const collections = design.collections.filter((collection) => collection.rootTable === root).map((collection) => collection.name);
    return { table, disposition: collections.length === 0 ? 'missing' : root === table ? 'standalone' : 'embedded', collections };
  });
}
