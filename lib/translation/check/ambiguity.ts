import { compareResults, type ComparisonRules, type TiedRows } from '../../results/compare';
import type { ResultSet } from '../../results/value';
import { quoteName, type Catalog } from '../../sqlite/catalog';
import { columnOf, type Binding, type BoundColumn } from '../../sqlite/select/bound';
import type { SelectStatement } from '../../sqlite/select/ast';
import { parseSelect } from '../../sqlite/select/parse-select';
import { printSelect } from '../../sqlite/select/print-select';
import { tryReadSql } from '../../sqlite/select/read-sql';
import { SqlSyntaxError } from '../../sqlite/select/syntax-error';
import { openConstructs, type OpenConstructs } from './open-constructs';
import { namesRead, reorderedSql, rereadSql, type Reordering } from './reordered-sql';

export interface AmbiguityInput {
  /** As it runs: the clock is pinned. */
  readonly sql: string;
  readonly catalog: Catalog;
  /** What SQLite returns for it. */
  readonly expected: ResultSet;
  /** The outermost LIMIT is judged elsewhere, by the rows behind it. */
  readonly isLimitJudged: boolean;
  /** It cuts through a tie: the rows behind it have to be compared, too. */
  readonly isLimitCut?: boolean;
  /** Rows of `expected` that may come in any order among themselves. */
  readonly tied?: readonly TiedRows[];
  /** Undefined where the query does not run to its end. */
  readonly run: (sql: string, isReversed?: boolean) => Promise<ResultSet | undefined>;
}

export interface Ambiguities {
  /** `tie`, `unordered_limit`, `arbitrary_row`, `unordered_concat`, `null_first`, `text_order`. */
  readonly caveats: readonly string[];
  /** Other answers that the SQL allows on this data, found one by one. */
  readonly answers: () => AsyncGenerator<ResultSet>;
}

/**
 * Other orders in which tables are read: each begins with another one of the first rows, near or
 * far.
 */
const SHUFFLES = [618_034, 381_966, 250_001, 700_003, 145_898, 333_335];

/** Tables of so many rows are read from each of them on, so that each row of a tie comes first. */
const MOST_STARTS = 200;

const NONE: Ambiguities = { caveats: [], answers: async function* () {} };

/**
 * What the SQL leaves open below its outermost LIMIT, as far as this data shows it: the query is
 * run again with every order made complete, in both directions. Decided on the source alone, so
 * that it is the same for every design.
 */
export async function findAmbiguities(input: AmbiguityInput): Promise<Ambiguities> {
  const parsed = tryReadSql(input.sql, input.catalog);
  if (!parsed) return { ...NONE, caveats: await openUnbound(input) };
  const open = openConstructs(parsed.binding.query);
  const search = new Search(input, parsed.statement, parsed.binding, open);
  const caveats = [...(await search.openOnThisData()), ...(await search.defects())];
  return { caveats, answers: caveats.length > 0 ? () => search.answers() : NONE.answers };
}

/**
 * SQL that we cannot bind is not translated, but what it leaves open is named all the same, as far
 * as reading the tables from their ends and in other orders shows it.
 */
async function openUnbound({ sql, catalog, expected, run }: AmbiguityInput): Promise<string[]> {
  const reversed = await run(sql, true);
  if (!reversed || !isSame(expected, reversed, 'bag')) return ['arbitrary_row'];
  const statement = tryParse(sql);
  for (const shuffle of statement ? SHUFFLES : []) {
    const order = { direction: 'ASC', scanned: undefined, outermost: false, shuffle } as const;
    const other = await run(rereadSql(statement!, catalog, order));
    // A query of rowids cannot be run on tables that are read in another order: nothing is known.
    if (other && !isSame(expected, { ...other, columns: expected.columns }, 'bag'))
      return ['arbitrary_row'];
  }
  return [];
}

function tryParse(sql: string): SelectStatement | undefined {
  try {
    return parseSelect(sql);
  } catch (error) {
    if (error instanceof SqlSyntaxError) return undefined;
    throw error;
  }
}

class Search {
  /** The outermost LIMIT is left open, and judged here. */
  private readonly outermost: boolean;

  constructor(
    private readonly input: AmbiguityInput,
    private readonly statement: SelectStatement,
    private readonly binding: Binding,
    private readonly open: OpenConstructs,
  ) {
    this.outermost = open.outermost !== undefined && !input.isLimitJudged;
  }

  /**
   * Names of what is open, where another order gives another result, or where that cannot be found
   * out.
   */
  async openOnThisData(): Promise<string[]> {
    const { inner, outermost, scanned } = this.open;
    const names = [...inner, ...(this.outermost && outermost ? [outermost] : [])];
    if (names.length === 0) return [];
    const expected = this.input.isLimitCut
      ? await this.rename(printSelect(this.whole))
      : this.input.expected;
    const order = this.open.isOrderOpen ? { tied: this.input.tied ?? [] } : 'bag';
    for (const direction of ['ASC', 'DESC'] as const) {
      const other = await this.run(
        { direction, scanned, outermost: this.outermost },
        this.input.isLimitCut,
      );
      if (!expected || !other || !isSame(expected, other, order)) return [...new Set(names)];
    }
    // SQLite may read a sorted table backwards, and a tie of three has a middle: neither shows in
    // two directions.
    for (const shuffle of SHUFFLES) {
      const other = await this.shuffled(shuffle, this.input.isLimitCut);
      if (!expected || !other || !isSame(expected, other, order)) return [...new Set(names)];
    }
    return [];
  }

  private shuffled(shuffle: number, isWhole = false): Promise<ResultSet | undefined> {
    return this.run({ direction: 'ASC', scanned: undefined, outermost: false, shuffle }, isWhole);
  }

  async defects(): Promise<string[]> {
    const isNullFirst = this.open.innerNullFirst && (await this.changesWithNullsLast());
    const isTextOrder = await this.changesWithNumbers();
    return [...(isNullFirst ? ['null_first'] : []), ...(isTextOrder ? ['text_order'] : [])];
  }

  async *answers(): AsyncGenerator<ResultSet> {
    const { scanned } = this.open;
    const byRow = scanned && new Map<string, ReadonlySet<string>>();
    for (const order of scanned ? [scanned, byRow] : [undefined]) {
      for (const direction of ['ASC', 'DESC'] as const) {
        const answer = await this.run({
          direction,
          scanned: order,
          outermost: this.outermost,
          legal: true,
        });
        if (answer) yield answer;
      }
    }
    for (const shuffle of SHUFFLES) {
      const answer = await this.shuffled(shuffle);
      if (answer) yield answer;
    }
    const starts = await this.starts();
    for (let startsAt = 2; startsAt <= starts; startsAt++) {
      const answer = await this.run({
        direction: 'ASC',
        scanned: undefined,
        outermost: false,
        startsAt,
      });
      if (answer) yield answer;
    }
  }

  /** Rows of the largest table that is read; none where there are too many to begin with each. */
  private async starts(): Promise<number> {
    let most = 0;
    for (const name of namesRead(this.statement)) {
      const counted = `SELECT 1 FROM main.${quoteName(name)} LIMIT ${MOST_STARTS + 1}`;
      most = Math.max(most, (await this.input.run(counted))?.rows.length ?? 0);
    }
    return most > MOST_STARTS ? 0 : most;
  }

  private async changesWithNullsLast(): Promise<boolean> {
    const order = {
      direction: 'ASC',
      scanned: this.open.scanned,
      outermost: this.outermost,
    } as const;
    const first = await this.run(order);
    const last = await this.run({ ...order, nullsLast: true });
    return !first || !last || !isSame(first, last, 'bag');
  }

  /** Numbers that are kept as text: sorted as numbers, do they give another result? */
  private async changesWithNumbers(): Promise<boolean> {
    const numeric = new Map<string, Set<string>>();
    for (const column of this.open.textKeys) {
      const table = tableOf(column);
      if (table === undefined || !(await this.holdsNumbers(table, columnOf(column).name))) continue;
      numeric.set(table, (numeric.get(table) ?? new Set()).add(columnOf(column).name));
    }
    if (numeric.size === 0) return false;
    const inRowOrder = { direction: 'ASC', scanned: new Map(), outermost: false } as const;
    const asText = await this.run(inRowOrder);
    const asNumbers = await this.run({ ...inRowOrder, numeric });
    const order = this.statement.orderBy.length > 0 ? 'sequence' : 'bag';
    return !asText || !asNumbers || !isSame(withNumbers(asText), withNumbers(asNumbers), order);
  }

  private async holdsNumbers(table: string, column: string): Promise<boolean> {
    const name = quoteName(column);
    const looksNumeric =
      `${name} GLOB '*[0-9]*' AND ${name} NOT GLOB '*[^-+.0-9]*' AND ${name} ` +
      `NOT GLOB '?*[-+]*' AND ${name} NOT GLOB '*.*.*'`;
    const found = await this.input.run(
      `SELECT COUNT(*), SUM(${looksNumeric}) FROM main.${quoteName(table)} WHERE ` +
        `typeof(${name}) = 'text'`,
    );
    const [texts, numbers] = found?.rows[0] ?? [];
    return texts !== 0n && texts === numbers;
  }

  /** The query without its outermost LIMIT. */
  private get whole(): SelectStatement {
    const { limit: _, offset: __, ...rest } = this.statement;
    return rest;
  }

  private run(reordering: Reordering, isWhole = false): Promise<ResultSet | undefined> {
    const statement = isWhole ? this.whole : this.statement;
    return this.rename(reorderedSql(statement, this.binding, this.input.catalog, reordering));
  }

  /** Printed again, a column without alias has another name. */
  private async rename(sql: string): Promise<ResultSet | undefined> {
    const { run, expected } = this.input;
    const result = await run(sql);
    return result && { ...result, columns: expected.columns };
  }
}

const tableOf = ({ source }: BoundColumn): string | undefined =>
  source.content.kind === 'table' ? source.content.table.name : undefined;

const isSame = (a: ResultSet, b: ResultSet, order: ComparisonRules['order']): boolean =>
  compareResults(a, b, { columns: 'named', extraColumns: 'refuse', order }).kind === 'equal';

/** Texts that are numbers as those numbers. */
const withNumbers = (result: ResultSet): ResultSet => ({
  ...result,
  rows: result.rows.map((row) =>
    row.map((value) => {
      const isNumber =
        typeof value === 'bigint' ||
        (typeof value === 'string' && /^[-+]?(\d+\.?\d*|\.\d+)$/.test(value));
      return isNumber ? Number(value) : value;
    }),
  ),
});
