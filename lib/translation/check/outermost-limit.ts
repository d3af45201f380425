import type { Transform } from '../../design/model/transform-kind';
import type { TiedRows, Verdict } from '../../results/compare';
import { rowKey } from '../../results/equality';
import type { OpenChoice } from '../../results/open-choice';
import type { ResultSet, Value } from '../../results/value';
import type { QueryResult } from '../../sqlite/query/query-process';
import { cutChoices, cutsATie } from './cut-choices';
import { HiddenOrder } from './hidden-order';
import type { KeyedSql } from './keyed-sql';
import { cell, MAX_ROWS, tryAskSource, type SourceQuery } from './source-rows';
import { equalKeys, tiedRows } from './tied-rows';

/** So many rows behind a LIMIT nearly always show where the ties at it end. */
const BEYOND_CUT = 1000;

export interface JudgedLimit {
  readonly verdict: Verdict;
  readonly caveats: readonly string[];
  /** See `Equivalence`. */
  readonly tied?: readonly TiedRows[];
  readonly choices?: readonly OpenChoice[];
  /** It is known whether the outermost LIMIT cuts a tie. */
  readonly isJudged: boolean;
}

/** The outermost LIMIT, and the order up to ties, by the rows without the LIMIT. */
export async function judgeLimit(
  input: SourceQuery,
  keyed: KeyedSql | undefined,
  transforms: readonly Transform[],
  { expected, actual }: { readonly expected: ResultSet; readonly actual: ResultSet },
  verdict: Verdict,
): Promise<JudgedLimit> {
  if (!keyed) return { verdict, caveats: [], isJudged: false };
  if (keyed.isHidden)
    return judgeHiddenOrder(input, keyed, transforms, { expected, actual }, verdict);
  if (keyed.limit === undefined && verdict.kind !== 'order') {
    const tied = keyed.ordered ? { tied: await askTies(input, keyed, expected.rows.length) } : {};
    return { verdict, caveats: [], isJudged: true, ...tied };
  }
  const carried = ({ rows, more }: QueryResult): Whole => ({
    ...keyed,
    rows: shownRows(rows, keyed, transforms),
    more,
  });
  const whole = await wholeRows(input, keyed, carried, verdict.kind === 'equal');
  if (!whole) return { verdict, caveats: [], isJudged: false };
  const isCut = isTieCut(whole);
  const caveats = [
    ...(isCut ? [keyed.ordered ? 'tie' : 'unordered_limit'] : []),
    ...(takesNullFirst(whole, keyed) ? ['null_first'] : []),
  ];
  const judged =
    verdict.kind === 'value' || verdict.kind === 'order'
      ? judgeTie(verdict, actual, whole, isCut)
      : verdict;
  const tied = tiedRows(
    whole.rows.slice(whole.offset, whole.offset + expected.rows.length),
    whole.keys,
  );
  const choices = isCut ? cutChoices({ ...whole, count: expected.rows.length }) : undefined;
  return { verdict: judged, caveats, tied, ...(choices && { choices }), isJudged: true };
}

/** DISTINCT sorted by what it does not return, with its LIMIT. */
async function judgeHiddenOrder(
  input: SourceQuery,
  keyed: KeyedSql,
  transforms: readonly Transform[],
  { expected, actual }: { readonly expected: ResultSet; readonly actual: ResultSet },
  verdict: Verdict,
): Promise<JudgedLimit> {
  const all = await tryAskSource(input, keyed.sql, MAX_ROWS);
  if (!all || all.more) return { verdict, caveats: [], isJudged: false };
  const rows = shownRows(all.rows, keyed, transforms);
  const order = new HiddenOrder(rows, keyed.width, keyed.keys);
  const [from, to] = [keyed.offset, keyed.offset + expected.rows.length];
  const isCut = !order.isFixedAt(from) || (keyed.limit !== undefined && !order.isFixedAt(to));
  const { tied, isChosen } = order.openRuns(from, to);
  const open = isChosen ? ['arbitrary_row'] : [];
  const caveats = isCut && !isChosen ? ['tie'] : open;
  if (verdict.kind !== 'value' && verdict.kind !== 'order')
    return { verdict, caveats, tied, isJudged: true };
  const keys = actual.rows.map((row) => rowKey(row.slice(0, keyed.width)));
  const isLegal = keys.length === to - from && order.isLegal(keys, from) === true;
  const judged: Verdict = isLegal
    ? {
        ...verdict,
        kind: isCut ? 'tie' : 'equal',
        detail: 'another order that SQL allows: the sort key of a distinct row is open',
      }
    : verdict;
  return { verdict: judged, caveats, tied, isJudged: true };
}

/** Result columns as the documents show them, sort keys as SQLite returns them. */
const shownRows = (
  rows: QueryResult['rows'],
  { width }: KeyedSql,
  transforms: readonly Transform[],
): Value[][] =>
  rows.map((row) =>
    row.map((value, index) => (index < width ? cell(transforms[index], value) : value)),
  );

async function askTies(
  input: SourceQuery,
  keyed: KeyedSql,
  rowCount: number,
): Promise<readonly TiedRows[]> {
  if (rowCount < 2) return [];
  const result = await tryAskSource(input, keyed.sql, keyed.offset + rowCount);
  return result ? tiedRows(result.rows.slice(keyed.offset), keyed.keys) : [];
}

/** A row without a value of the first sort key is among those that a LIMIT takes. */
function takesNullFirst({ rows, keys, offset, limit }: Whole, { nullsFirst }: KeyedSql): boolean {
  const [key] = keys;
  if (!nullsFirst || key === undefined || limit === undefined) return false;
  return rows.slice(offset, offset + limit).some((row) => row[key] === null);
}

type Whole = Pick<KeyedSql, 'width' | 'keys' | 'limit' | 'offset' | 'ordered'> & {
  readonly rows: readonly (readonly Value[])[];
  readonly more: boolean;
};

const sortKey = (whole: Whole, row: readonly Value[]): Value[] =>
  whole.keys.map((at) => row[at] ?? null);
const sameKey = (whole: Whole, a: readonly Value[], b: readonly Value[]): boolean =>
  sortKey(whole, a).every((value, at) => equalKeys(value, sortKey(whole, b)[at]!));

const isTieCut = (whole: Whole): boolean =>
  whole.limit !== undefined && cutsATie({ ...whole, count: whole.limit });

/**
 * The rows without the LIMIT, as many as are needed: up to where the ties at it end, and where the
 * rows are equal only until it is known that there is one. What is cut off can hide a tie, but
 * never show one that is none.
 */
async function wholeRows(
  input: SourceQuery,
  keyed: KeyedSql,
  carried: (result: QueryResult) => Whole,
  equal: boolean,
): Promise<Whole | undefined> {
  const cut = keyed.limit === undefined ? undefined : keyed.offset + keyed.limit;
  if (cut !== undefined && cut + BEYOND_CUT < MAX_ROWS) {
    const first = await tryAskSource(input, keyed.sql, cut + BEYOND_CUT);
    if (!first) return undefined;
    const whole = carried(first);
    const [inside, last] = [whole.rows[cut - 1], whole.rows.at(-1)];
    const tieEnds =
      !first.more || (inside !== undefined && last !== undefined && !sameKey(whole, inside, last));
    if (tieEnds || (equal && isTieCut(whole))) return whole;
  }
  const all = await tryAskSource(input, keyed.sql, MAX_ROWS);
  return !all || (all.more && cut === undefined) ? undefined : carried(all);
}

/**
 * Are the actual rows another legal answer? Groups of equal keys are compared as bags, cut groups
 * as parts of bags.
 */
function judgeTie(verdict: Verdict, actual: ResultSet, whole: Whole, cut: boolean): Verdict {
  const from = whole.offset;
  const to =
    whole.limit === undefined ? whole.rows.length : Math.min(whole.rows.length, from + whole.limit);
  if (actual.rows.length !== to - from) return verdict;
  for (let start = from; start < to;) {
    const first = whole.rows[start]!;
    let end = start;
    while (end < to && sameKey(whole, whole.rows[end]!, first)) end++;
    const group = new Map<string, number>();
    for (const row of whole.rows)
      if (sameKey(whole, row, first)) bump(group, rowKey(row.slice(0, whole.width)), 1);
    for (const row of actual.rows.slice(start - from, end - from)) {
      const key = rowKey(row.slice(0, whole.width));
      if ((group.get(key) ?? 0) === 0) return verdict;
      bump(group, key, -1);
    }
    start = end;
  }
  return cut
    ? { ...verdict, kind: 'tie', detail: 'another legal choice among rows that tie at the limit' }
    : {
        ...verdict,
        kind: 'equal',
        detail: 'the rows are equal; rows with equal sort keys come in another order',
      };
}

const bump = (counts: Map<string, number>, key: string, by: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + by);
};
