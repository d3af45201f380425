import type { Item } from '../../sqlite/benchmark';
import { quoteName, type Catalog } from '../../sqlite/catalog';
import type { Profile, Relationship } from '../../sqlite/profile/profile';
import { analyseQuery, type JoinPair, type QueryAnalysis } from '../../sqlite/select/analyse-query';
import { SqlBindError } from '../../sqlite/select/bind-error';
import { readSql } from '../../sqlite/select/read-sql';
import { queryBlocks, type QueryBlock } from '../../sqlite/select/query-blocks';
import type { BoundQuery } from '../../sqlite/select/bound';
import { textUses } from '../../sqlite/select/text-uses';
import { SqlSyntaxError } from '../../sqlite/select/syntax-error';
import type {
  AccessPattern,
  ColumnTextUses,
  ColumnUse,
  PatternVariant,
  Workload,
} from './workload';

/**
 * Parses the items' SQL and groups the queries of the same shape, the most frequent first. A
 * database that no item asks gets assumed patterns (guidebook, section 3).
 */
export function readWorkload(items: readonly Item[], catalog: Catalog, profile: Profile): Workload {
  if (items.length === 0) return assumedWorkload(catalog, profile);
  const statements: Statement[] = [];
  const unread: { questionId: string; reason: string }[] = [];
  const asked: { questionId: string; query: BoundQuery }[] = [];
  for (const item of items) {
    try {
      const { query } = readSql(item.sql, catalog).binding;
      asked.push({ questionId: item.questionId, query });
      statements.push({
        questionId: item.questionId,
        shape: shapeOf(analyseQuery(query), profile),
        blocks: queryBlocks(query),
      });
    } catch (error) {
      if (!(error instanceof SqlSyntaxError) && !(error instanceof SqlBindError)) throw error;
      unread.push({ questionId: item.questionId, reason: error.message });
    }
  }
  return {
    database: catalog.database,
    patterns: groupByShape(statements),
    unread,
    textUses: usesOfNumbers(asked, profile),
  };
}

/** What the queries ask of the columns of numbers that are written as text. */
function usesOfNumbers(
  asked: readonly { readonly questionId: string; readonly query: BoundQuery }[],
  profile: Profile,
): ColumnTextUses[] {
  const columns = new Map<string, { table: string; column: string; uses: Map<string, TextUses> }>();
  const keyOf = (table: string, column: string): string => JSON.stringify([table, column]);
  for (const { table, columns: all } of profile.tables)
    for (const { column, numbers } of all)
      if (numbers) columns.set(keyOf(table, column), { table, column, uses: new Map() });
  if (columns.size === 0) return [];
  for (const { questionId, query } of asked)
    for (const { table, column, use } of textUses(query)) {
      const uses = columns.get(keyOf(table, column))?.uses;
      const key = JSON.stringify(use);
      const ids = uses?.get(key)?.questionIds ?? [];
      if (!ids.includes(questionId)) uses?.set(key, { use, questionIds: [...ids, questionId] });
    }
  return [...columns.values()].map(({ uses, ...of }) => ({ ...of, uses: [...uses.values()] }));
}

type TextUses = ColumnTextUses['uses'][number];

type Shape = Omit<AccessPattern, 'frequency' | 'variants'>;

interface Statement {
  readonly questionId: string;
  readonly shape: Shape;
  readonly blocks: readonly QueryBlock[];
}

function groupByShape(statements: readonly Statement[]): AccessPattern[] {
  const patterns = new Map<string, { shape: Shape; variants: Map<string, PatternVariant> }>();
  for (const { questionId, shape, blocks } of statements) {
    const key = JSON.stringify(shape);
    const pattern = patterns.get(key) ?? { shape, variants: new Map<string, PatternVariant>() };
    patterns.set(key, pattern);
    const variant = JSON.stringify(blocks);
    pattern.variants.set(variant, {
      blocks,
      questionIds: [...(pattern.variants.get(variant)?.questionIds ?? []), questionId],
    });
  }
  return [...patterns.entries()]
    .map(([key, { shape, variants }]) => {
      const list = [...variants.values()].sort(
        (a, b) => b.questionIds.length - a.questionIds.length,
      );
      return {
        key,
        pattern: {
          ...shape,
          frequency: list.reduce((sum, { questionIds }) => sum + questionIds.length, 0),
          variants: list,
        },
      };
    })
    .sort((a, b) => b.pattern.frequency - a.pattern.frequency || (a.key < b.key ? -1 : 1))
    .map(({ pattern }) => pattern);
}

/**
 * What any application would ask: one row of each table by its key, and the two sides of each
 * relationship together.
 */
function assumedWorkload(catalog: Catalog, profile: Profile): Workload {
  const statements = [
    ...catalog.tables.map((table) => {
      const [key] = table.primaryKey.length === 1 ? table.primaryKey : [];
      return `SELECT * FROM ${quoteName(table.name)}${key ? ` WHERE ${quoteName(key)} = 1` : ''}`;
    }),
    ...profile.relationships.map(({ childTable, childColumns, parentTable, parentColumns }) => {
      const on = childColumns
        .map((column, index) => `c.${quoteName(column)} = p.${quoteName(parentColumns[index]!)}`)
        .join(' AND ');
      const filter = parentColumns.map((column) => `p.${quoteName(column)} = 1`).join(' AND ');
      return (
        `SELECT * FROM ${quoteName(parentTable)} p JOIN ${quoteName(childTable)} c ON ${on} ` +
        `WHERE ${filter}`
      );
    }),
  ].map((sql, index): Statement => {
    const { query } = readSql(sql, catalog).binding;
    return {
      questionId: `assumed ${index + 1}`,
      shape: shapeOf(analyseQuery(query), profile),
      blocks: queryBlocks(query),
    };
  });
  return {
    database: catalog.database,
    patterns: groupByShape(statements),
    unread: [],
    assumed: true,
  };
}

function shapeOf(analysis: QueryAnalysis, profile: Profile): Shape {
  const uses = (
    role: 'filtered' | 'grouped' | 'sorted' | 'projected' | 'aggregated',
  ): ColumnUse[] =>
    analysis.tables
      .flatMap((table) => table[role].map((column) => ({ table: table.table, column })))
      .sort((a, b) => (`${a.table}.${a.column}` < `${b.table}.${b.column}` ? -1 : 1));
  // A column that only joins is served by its reference; it is no filter of the pattern.
  const joins = (use: ColumnUse): boolean =>
    analysis.joins.some(({ left, right }) =>
      [left, right].some((side) => side.table === use.table && side.column === use.column),
    );
  const joined = profile.relationships
    .filter((relationship) => isJoined(relationship, analysis.joins))
    .map((relationship) => relationship.id);
  return {
    tables: analysis.tables.map((table) => table.table).sort(),
    relationships: joined.sort(),
    filtered: uses('filtered').filter((use) => !joins(use)),
    grouped: uses('grouped'),
    sorted: uses('sorted'),
    projected: uses('projected'),
    aggregated: uses('aggregated'),
  };
}

/** Every column pair of the relationship is joined, whichever side the query names first. */
const isJoined = (
  { childTable, childColumns, parentTable, parentColumns }: Relationship,
  joins: readonly JoinPair[],
): boolean =>
  childColumns.every((childColumn, index) => {
    const is = (side: JoinPair['left'], table: string, column: string | undefined): boolean =>
      side.table === table && side.column === column;
    return joins.some(
      ({ left, right }) =>
        (is(left, childTable, childColumn) && is(right, parentTable, parentColumns[index])) ||
        (is(right, childTable, childColumn) && is(left, parentTable, parentColumns[index])),
    );
  });
