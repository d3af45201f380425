import type { Catalog } from '../../sqlite/catalog';
import type { ColumnProfile, Profile } from '../../sqlite/profile/profile';
import type { Workload } from '../model/workload';
import { describeEntity, entitiesOf, type Entity, type Role } from './entity-part';
import { count, listed, MAX_LISTED, text } from './markdown';

const MAX_ENTITIES = 60;
const MAX_MAIN = 3;

/** What the database is about, its tables and relationships, and each entity's columns. */
export function describeSource(catalog: Catalog, profile: Profile, workload: Workload): string {
  const rows = profile.tables.reduce((sum, table) => sum + table.rowCount, 0);
  const entities = entitiesOf(profile, workload);
  const lines = [
    `${count(catalog.tables.length, 'table')}, ${count(rows, 'row')}. ${domain(entities)}`,
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
  lines.push('', '### Entities');
  for (const entity of entities.slice(0, MAX_ENTITIES))
    lines.push('', describeEntity(entity, catalog, profile));
  const rest = entities.length - MAX_ENTITIES;
  if (rest > 0) lines.push('', `… and ${count(rest, 'table')} that fewer queries read.`);
  return lines.join('\n');
}

const and = (parts: readonly string[]): string =>
  parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)!}` : parts.join('');

/** In a sentence: what most queries are about, and what surrounds it. */
function domain(entities: readonly Entity[]): string {
  const named = (role: Role): string[] =>
    entities.filter((entity) => entity.role === role).map(({ table }) => text(table.table));
  const own = named('entity');
  const main = (own.length > 0 ? own : named('lookup')).slice(0, MAX_MAIN);
  if (main.length === 0) return '';
  const others = own.length - main.length;
  const parts = [
    ...(others > 0 ? [`${count(others, 'other entity', 'other entities')}`] : []),
    ...(named('lookup').length > 0 && own.length > 0
      ? [`${count(named('lookup').length, 'lookup table')}`]
      : []),
    ...(named('link').length > 0 ? [`${count(named('link').length, 'link table')}`] : []),
  ];
  const around = parts.length > 0 ? `, with ${and(parts)} around it` : '';
  return `It is about ${and(main)}${around}.`;
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
    lines.push('', 'Text in one format throughout: ' + `${listed(formatted, ', ')}.`);
  const partly = profile.tables.flatMap(({ table, columns }) =>
    columns.flatMap((column) =>
      partialFormat(column).map((share) => `${text(`${table}.${column.column}`)}: ${share}`),
    ),
  );
  if (partly.length > 0)
    lines.push(
      '',
      'Text mostly in one format, and therefore left as it is: ' + `${listed(partly, '; ')}.`,
    );
  const dependencies = profile.tables.flatMap(({ table, functionalDependencies }) =>
    functionalDependencies.map(
      ({ determinant, dependents }) =>
        `${text(`${table}: ${determinant.join(' + ')} → ${dependents.join(', ')}`)}`,
    ),
  );
  if (dependencies.length > 0)
    lines.push('', 'Functional dependencies: ' + `${listed(dependencies, '; ')}.`);
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

/** Formats that most texts of a column have, but not all. */
function partialFormat({ stored, formatCounts }: ColumnProfile): string[] {
  return Object.entries(formatCounts)
    .filter(
      ([format, count]) =>
        format !== 'empty' && stored.text > 0 && count < stored.text && count / stored.text >= 0.8,
    )
    .map(([format, count]) => `${((100 * count) / stored.text).toFixed(1)} % ${format}`);
}
