import type { AccessPattern, ColumnUse, Workload } from '../model/workload';
import { count, table, text } from './markdown';

const MAX_PATTERNS = 40;
const MAX_QUERIES = 5;
const MAX_UNREAD = 10;

/** Queries of the same shape, the most frequent first: what they do, how often, and which they are. */
export function describeWorkload(workload: Workload): string {
  const { patterns, unread, assumed } = workload;
  if (patterns.length === 0) return 'No access pattern is known.';
  const all = patterns.reduce((sum, { frequency }) => sum + frequency, 0);
  const origin = assumed
    ? '**Assumed**: no item asks this database. One row of each table by its key, and the two ' +
      'sides of each relationship together.'
    : `Taken from the benchmark’s own ${count(all, 'query', 'queries')}; each counts alike.`;
  const rows = patterns
    .slice(0, MAX_PATTERNS)
    .map((pattern) => [
      text(pattern.tables.join(', ')),
      operationsOf(pattern).join(', '),
      String(pattern.frequency),
      `${((100 * pattern.frequency) / all).toFixed(1)} %`,
      columns(pattern.filtered),
      columns(pattern.grouped),
      columns(pattern.sorted),
      queriesOf(pattern),
    ]);
  const headings = [
    'tables read together',
    'operation',
    'queries:',
    'share:',
    'filtered by',
    'grouped by',
    'sorted by',
    'which',
  ];
  const lines = [origin, '', shares(patterns, all), '', table(headings, rows)];
  if (patterns.length > MAX_PATTERNS)
    lines.push('', `… and ${String(patterns.length - MAX_PATTERNS)} rarer patterns.`);
  if (unread.length > 0)
    lines.push(
      '',
      `${count(unread.length, 'query', 'queries')} could not be read: ${unread
        .slice(0, MAX_UNREAD)
        .map((item) => text(`${item.questionId} (${item.reason})`))
        .join('; ')}.`,
    );
  return lines.join('\n');
}

const OPERATIONS = ['read', 'join', 'aggregate', 'sort'] as const;

/** A query that does none of the others reads. */
function operationsOf(pattern: AccessPattern): (typeof OPERATIONS)[number][] {
  const blocks = pattern.variants.flatMap((variant) => variant.blocks);
  const joins = blocks.some((block) => block.sources.length > 1);
  const aggregates =
    pattern.grouped.length > 0 || blocks.some((block) => block.aggregates.length > 0);
  const sorts = pattern.sorted.length > 0;
  const done = [
    ...(joins ? (['join'] as const) : []),
    ...(aggregates ? (['aggregate'] as const) : []),
    ...(sorts ? (['sort'] as const) : []),
  ];
  return done.length > 0 ? done : ['read'];
}

function shares(patterns: readonly AccessPattern[], all: number): string {
  const parts = OPERATIONS.map((operation) => {
    const asking = patterns
      .filter((pattern) => operationsOf(pattern).includes(operation))
      .reduce((sum, { frequency }) => sum + frequency, 0);
    return `${operation} ${((100 * asking) / all).toFixed(0)} %`;
  });
  return `Of the queries: ${parts.join(', ')}; all of them read, none writes.`;
}

const columns = (uses: readonly ColumnUse[]): string =>
  [...new Set(uses.map((use) => text(`${use.table}.${use.column}`)))].join(', ');

function queriesOf({ variants }: AccessPattern): string {
  const ids = variants.flatMap(({ questionIds }) => questionIds);
  const more = ids.length > MAX_QUERIES ? `, … (${String(ids.length)})` : '';
  return text(ids.slice(0, MAX_QUERIES).join(', ')) + more;
}
