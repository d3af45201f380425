import { equalWithin, pairingOrder, rowKey, valueKey } from './equality';
import { defineKey, isValueDocument, type ResultSet, type Value } from './value';

/**
 * What comparing two result sets found. `equal` is the only success; `tie` and `order` leave the
 * rows the same.
 */
export type VerdictKind =
  | 'equal'
  | 'row_count'
  | 'missing_column'
  | 'extra_column'
  | 'value'
  | 'order'
  | 'tie'
  | 'error'
  | 'timeout'
  | 'forbidden';

export interface Verdict {
  readonly kind: VerdictKind;
  /** A sentence for the screen. */
  readonly detail: string;
  /** For each expected column the actual column it was matched with. */
  readonly mapping: readonly (string | null)[];
  readonly expectedRows: number;
  readonly actualRows: number;
  /** The first rows that have no counterpart on the other side, at most `DIFFERENCE_ROWS` each. */
  readonly onlyExpected: readonly (readonly Value[])[];
  readonly onlyActual: readonly (readonly Value[])[];
}

const DIFFERENCE_ROWS = 20;
// Backtracking over columns with the same values; beyond this the columns count as unmatched.
const MAPPING_TRIES = 20_000;

export interface ComparisonRules {
  /** `named`: columns correspond by name; `any`: an injective mapping is searched (scoring). */
  readonly columns: 'named' | 'any';
  /** Whether the actual side may have columns that nothing matches (Soft-EX). */
  readonly extraColumns: 'refuse' | 'allow';
  /**
   * `bag`: order never counts. `sequence`: the rows must come in the expected order. Otherwise the
   * order counts up to the tied rows, which may come in any order among themselves.
   */
  readonly order: 'bag' | 'sequence' | { readonly tied: readonly TiedRows[] };
}

/** First and last 0-based position of rows that follow each other and have equal sort keys. */
export type TiedRows = readonly [first: number, last: number];

/**
 * Compares by the rules of DESIGN §7: typed values, missing equals null, a bag of row tuples that
 * never come apart.
 */
export function compareResults(
  expected: ResultSet,
  actual: ResultSet,
  rules: ComparisonRules,
): Verdict {
  const verdict = (
    kind: VerdictKind,
    detail: string,
    mapping: readonly (string | null)[],
    difference?: Difference,
  ): Verdict => ({
    kind,
    detail,
    mapping,
    expectedRows: expected.rows.length,
    actualRows: actual.rows.length,
    onlyExpected: difference?.onlyExpected.slice(0, DIFFERENCE_ROWS) ?? [],
    onlyActual: difference?.onlyActual.slice(0, DIFFERENCE_ROWS) ?? [],
  });

  const mapped =
    rules.columns === 'named' ? mapByName(expected, actual) : mapByValues(expected, actual);
  const names = mapped.map((at) => (at === null ? null : actual.columns[at]!));
  if (expected.rows.length !== actual.rows.length) {
    const difference = bagDifference(expected.rows, pick(actual, mapped));
    return verdict(
      'row_count',
      `${expected.rows.length} rows expected, ${actual.rows.length} found`,
      names,
      difference,
    );
  }
  const missing = expected.columns.filter(
    (_, c) => mapped[c] === null && expected.rows.some((row) => row[c] !== null),
  );
  if (missing.length > 0)
    return verdict('missing_column', `no column holds the values of ${missing.join(', ')}`, names);
  const rows = pick(actual, mapped);
  // Most rows come as they are expected: then no keys need be made of them, which would take more
  // memory than they do.
  const inSequence = expected.rows.every((row, index) => equalRows(row, rows[index]!));
  const difference = inSequence ? noDifference : bagDifference(expected.rows, rows);
  if (difference.onlyExpected.length > 0) {
    return verdict(
      'value',
      `${difference.onlyExpected.length} of ${expected.rows.length} rows have no equal on the ` +
        'other side',
      names,
      difference,
    );
  }
  const used = new Set(mapped);
  const extra = actual.columns.filter(
    (_, c) => !used.has(c) && actual.rows.some((row) => row[c] !== null),
  );
  if (extra.length > 0 && rules.extraColumns === 'refuse')
    return verdict('extra_column', `nothing was asked for in ${extra.join(', ')}`, names);
  if (rules.order !== 'bag' && !inSequence) {
    if (rules.order === 'sequence' || !isInOrder(expected.rows, rows, rules.order.tied))
      return verdict('order', 'the rows are the same, but come in another order', names);
  }
  return verdict(
    'equal',
    expected.rows.length === 1 ? 'the row is equal' : `${expected.rows.length} rows are equal`,
    names,
  );
}

/**
 * Documents as a result set: sub-documents flattened to dotted columns, arrays whole. Columns come
 * in the order in which they first occur.
 */
export function documentsToResultSet(documents: readonly Value[]): ResultSet {
  const at = new Map<string, number>();
  const cells = documents.map((document) => {
    const row = new Map<number, Value>();
    const flatten = (value: Value, path: string): void => {
      if (isValueDocument(value) && (path === '' || Object.keys(value).length > 0)) {
        for (const [key, inner] of Object.entries(value))
          flatten(inner, path === '' ? key : `${path}.${key}`);
        return;
      }
      if (!at.has(path)) at.set(path, at.size);
      row.set(at.get(path)!, value);
    };
    flatten(document, '');
    return row;
  });
  return {
    columns: [...at.keys()],
    rows: cells.map((row) => Array.from({ length: at.size }, (_, c) => row.get(c) ?? null)),
  };
}

/** A row as a document, names kept in order. */
export function rowToDocument(
  columns: readonly string[],
  row: readonly Value[],
): Record<string, Value> {
  const out: Record<string, Value> = {};
  columns.forEach((name, index) => defineKey(out, name, row[index] ?? null));
  return out;
}

const equalRows = (a: readonly Value[], b: readonly Value[]): boolean =>
  a.every((value, index) => equalWithin(value, b[index] ?? null));

const pick = (actual: ResultSet, mapped: readonly (number | null)[]): ResultSet['rows'] =>
  mapped.length === actual.columns.length && mapped.every((at, c) => at === c)
    ? actual.rows
    : actual.rows.map((row) => mapped.map((at) => (at === null ? null : (row[at] ?? null))));

const mapByName = (expected: ResultSet, actual: ResultSet): (number | null)[] => {
  const used = new Set<number>();
  return expected.columns.map((name) => {
    const at = actual.columns.findIndex((other, position) => other === name && !used.has(position));
    if (at < 0) return null;
    used.add(at);
    return at;
  });
};

/**
 * An injective mapping under which the bags of row tuples are equal; the closest position wins
 * among equals.
 */
function mapByValues(expected: ResultSet, actual: ResultSet): (number | null)[] {
  const signature = (rows: ResultSet['rows'], c: number): string =>
    rows
      .map((row) => valueKey(row[c] ?? null))
      .sort()
      .join('\u0001');
  const right = actual.columns.map((_, c) => signature(actual.rows, c));
  const candidates = expected.columns.map((_, c) => {
    const left = signature(expected.rows, c);
    const matching = right.flatMap((text, column) => {
      return text === left || equalFloats(expected, c, actual, column) ? [column] : [];
    });
    return matching.sort((a, b) => Math.abs(a - c) - Math.abs(b - c));
  });
  const allNull = expected.columns.map((_, c) => expected.rows.every((row) => row[c] === null));
  let tries = 0;
  let best: (number | null)[] | undefined;
  let found: (number | null)[] | undefined;
  const search = (picked: (number | null)[]): boolean => {
    const c = picked.length;
    if (++tries > MAPPING_TRIES) return false;
    if (c === expected.columns.length) {
      best ??= picked;
      if (!sameBag(expected.rows, pick(actual, picked))) return false;
      found = picked;
      return true;
    }
    for (const at of candidates[c]!)
      if (!picked.includes(at) && search([...picked, at])) return true;
    // An all-null column may be absent; a column that nothing equals stays unmatched, and the
    // verdict says so.
    return candidates[c]!.length === 0 || allNull[c] ? search([...picked, null]) : false;
  };
  search([]);
  return found ?? best ?? expected.columns.map((_, c) => candidates[c]![0] ?? null);
}

/**
 * Columns of floating-point numbers whose keys differ at a rounding boundary may still be equal
 * within the tolerance.
 */
function equalFloats(expected: ResultSet, c: number, actual: ResultSet, column: number): boolean {
  const values = (rows: ResultSet['rows'], index: number): Value[][] =>
    rows.map((row) => [row[index] ?? null]);
  const [left, right] = [values(expected.rows, c), values(actual.rows, column)];
  const hasFloats = (rows: readonly Value[][]): boolean =>
    rows.some(([value]) => typeof value === 'number');
  return (
    left.length === right.length && hasFloats(left) && hasFloats(right) && sameBag(left, right)
  );
}

interface Difference {
  readonly onlyExpected: (readonly Value[])[];
  readonly onlyActual: (readonly Value[])[];
}

const noDifference: Difference = { onlyExpected: [], onlyActual: [] };

const sameBag = (a: ResultSet['rows'], b: ResultSet['rows']): boolean =>
  bagDifference(a, b).onlyExpected.length === 0;

/** Bag difference by exact keys first; what is left is sorted and paired within the tolerance. */
function bagDifference(expected: ResultSet['rows'], actual: ResultSet['rows']): Difference {
  const counts = new Map<string, number>();
  for (const key of actual.map(rowKey)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const onlyExpected = expected.filter((row) => {
    const key = rowKey(row);
    const n = counts.get(key) ?? 0;
    if (n === 0) return true;
    counts.set(key, n - 1);
    return false;
  });
  const onlyActual = actual.filter((row) => {
    const key = rowKey(row);
    const n = counts.get(key) ?? 0;
    if (n === 0) return false;
    counts.set(key, n - 1);
    return true;
  });
  if (onlyExpected.length === 0 || onlyActual.length === 0) return { onlyExpected, onlyActual };
  const order = pairingOrder([...onlyExpected, ...onlyActual]);
  const left = [...onlyExpected].sort(order);
  const right = [...onlyActual].sort(order);
  const unpaired: Difference = { onlyExpected: [], onlyActual: [] };
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [a, b] = [left[i], right[j]];
    if (a && b && equalRows(a, b)) [i, j] = [i + 1, j + 1];
    else if (a && (!b || order(a, b) < 0)) unpaired.onlyExpected.push(left[i++]!);
    else unpaired.onlyActual.push(right[j++]!);
  }
  return unpaired;
}

/**
 * Whether the rows come in the expected order, up to ties. `expected` may be the first rows only of
 * a longer result: where the last tie goes on beyond them, they may be any of its rows.
 */
export function isInOrder(
  expected: ResultSet['rows'],
  actual: ResultSet['rows'],
  tied: readonly TiedRows[],
): boolean {
  const inTie = new Set<number>();
  for (const [first, last] of tied) {
    for (let row = first; row <= last; row++) inTie.add(row);
    const part = expected.slice(first, last + 1);
    if (bagDifference(part, actual.slice(first, last + 1)).onlyExpected.length > 0) return false;
  }
  return expected.every((row, index) => inTie.has(index) || equalRows(row, actual[index] ?? []));
}

/** Whether every row of `part` is one of `rows`, as often as it occurs. */
export const isPartOf = (part: ResultSet['rows'], rows: ResultSet['rows']): boolean =>
  bagDifference(part, rows).onlyExpected.length === 0;
