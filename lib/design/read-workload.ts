import type { Item } from '../sqlite/benchmark';
import type { Catalog } from '../sqlite/catalog';
import type { Profile, Relationship } from '../sqlite/profile';
import { analyseQuery, type JoinPair, type QueryAnalysis } from '../sqlite/select/analyse-query';
import { bindSelect } from '../sqlite/select/bind';
import { SqlBindError } from '../sqlite/select/bind-error';
import { parseSelect } from '../sqlite/select/parse-select';
import { SqlSyntaxError } from '../sqlite/select/syntax-error';
import type { AccessPattern, ColumnUse, Workload } from './workload';

/** Parses the items' SQL and groups the queries of the same shape, the most frequent first. */
export function readWorkload(items: readonly Item[], catalog: Catalog, profile: Profile): Workload {
  const patterns = new Map<string, AccessPattern>();
  const unread: { questionId: string; reason: string }[] = [];
  for (const item of items) {
    let analysis: QueryAnalysis;
    try {
      analysis = analyseQuery(bindSelect(parseSelect(item.sql), catalog).query);
    } catch (error) {
      if (!(error instanceof SqlSyntaxError) && !(error instanceof SqlBindError)) throw error;
      unread.push({ questionId: item.questionId, reason: error.message });
      continue;
    }
    const shape = shapeOf(analysis, profile);
    const key = JSON.stringify(shape);
    const known = patterns.get(key);
    patterns.set(key, { ...shape, frequency: (known?.frequency ?? 0) + 1, questionIds: [...(known?.questionIds ?? []), item.questionId] });
  }
  const sorted = [...patterns.entries()].sort(([a, x], [b, y]) => y.frequency - x.frequency || (a < b ? -1 : 1));
  return { database: catalog.database, patterns: sorted.map(([, pattern]) => pattern), unread };
}

type Shape = Omit<AccessPattern, 'frequency' | 'questionIds'>;

function shapeOf(analysis: QueryAnalysis, profile: Profile): Shape {
  const uses = (role: 'filtered' | 'grouped' | 'sorted' | 'projected'): ColumnUse[] =>
    analysis.tables.flatMap((table) => table[role].map((column) => ({ table: table.table, column }))).sort((a, b) => (`${a.table}.${a.column}` < `${b.table}.${b.column}` ? -1 : 1));
  // A column that only joins is served by its reference; it is no filter of the pattern.
  const joins = (use: ColumnUse): boolean => analysis.joins.some(({ left, right }) => [left, right].some((side) => side.table === use.table && side.column === use.column));
  const joined = profile.relationships.filter((relationship) => isJoined(relationship, analysis.joins)).map((relationship) => relationship.id);
  return {
    tables: analysis.tables.map((table) => table.table).sort(),
    relationships: joined.sort(),
    filtered: uses('filtered').filter((use) => !joins(use)),
    grouped: uses('grouped'),
    sorted: uses('sorted'),
    projected: uses('projected'),
  };
}

/** Every column pair of the relationship is joined, whichever side the query names first. */
const isJoined = ({ childTable, childColumns, parentTable, parentColumns }: Relationship, joins: readonly JoinPair[]): boolean =>
  childColumns.every((childColumn, at) => {
    const is = (side: JoinPair['left'], table: string, column: string | undefined): boolean => side.table === table && side.column === column;
    return joins.some(
      ({ left, right }) =>
        (is(left, childTable, childColumn) && is(right, parentTable, parentColumns[at])) || (is(right, childTable, childColumn) && is(left, parentTable, parentColumns[at])),
    );
  });
