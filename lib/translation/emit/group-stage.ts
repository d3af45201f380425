import { tableProfile } from '../../sqlite/profile/profile';
import { childrenOf } from '../../sqlite/select/bound-walk';
import {
  columnOf,
  type BoundAggregate,
  type BoundColumn,
  type BoundExpression,
  type BoundOrder,
  type BoundRowid,
  type BoundSelect,
} from '../../sqlite/select/bound';
import { collationOfExpression } from '../../sqlite/select/expression-type';
import { sameName } from '../../sqlite/catalog';
import { aggregatesIn } from '../../sqlite/select/bound-references';
import { lowerAggregate } from '../lower/aggregates';
import { orderKeys } from '../../sqlite/select/bound-walk';
import { sourcesOf } from '../../sqlite/select/bound-references';
import { bareColumns } from '../plan/bare-columns';
import { determinesColumns, type KeysOf } from '../plan/determined-columns';
import { describeExpression, FieldNames } from '../lower/field-names';
import type { Lowered } from '../lower/environment';
import { MOST_ROWS } from '../lower/exact-integer';
import { Lowering } from '../lower/expression';
import { foldCollation } from '../lower/comparison';
import { isAbsent } from '../lower/conversion';
import { cond, fingerprint, type Mql } from '../mql/mql';
import { INTEGER } from '../lower/value-type';
import { keyOf, type RowEnvironment } from './row-environment';
import { Untranslatable } from '../lower/untranslated';

export interface GroupInput {
  readonly body: BoundSelect;
  readonly orderBy: readonly BoundOrder[];
  /** Without GROUP BY there is a group even over no rows. */
  readonly mayBeEmpty: boolean;
  /** The rows are a whole table that is not empty: a column with values has some here. */
  readonly wholeTable: boolean;
  /**
   * Fields of the result columns by the key of their expression: an aggregate that is one takes its
   * name.
   */
  readonly aliases: ReadonlyMap<string, string>;
}

/**
 * Adds the `$group` stage; `grouped` then answers for keys, aggregates and bare columns. Returns
 * what the fields of a group without rows would be.
 */
export function compileGroup(
  { body, orderBy, mayBeEmpty, wholeTable, aliases }: GroupInput,
  env: RowEnvironment,
  grouped: RowEnvironment,
): Record<string, Mql> {
  const lowering = new Lowering(env);
  const outputs = [
    ...body.items.map(({ expression }) => expression),
    ...(body.having ? [body.having] : []),
    ...orderKeys(orderBy),
  ];
  const aggregates = uniqueAggregates(outputs);
  const names = new FieldNames(['_id']);
  const accumulators: Record<string, Mql> = {};
  const whenEmpty: Record<string, Mql> = {};

  const keys = groupKeys(body, lowering, env, grouped, accumulators, names);
  const bare = bareColumns(outputs, (expression) => grouped.hasComputed(expression));
  const most = mostRows(body.from, env);
  for (const aggregate of aggregates) {
    const lowered = lowerAggregate(
      aggregate,
      lowering,
      (wanted) => names.take(aliases.get(keyOf(aggregate)) ?? wanted),
      { mayBeEmpty, wholeTable, most },
    );
    const counts = aggregate.name === 'count' || aggregate.name === 'total';
    for (const [index, { field, accumulator }] of lowered.accumulators.entries()) {
      accumulators[field] = accumulator;
      const noRows = counts || index > 0 ? 0 : null;
      whenEmpty[field] = collects(accumulator) ? [] : noRows;
    }
    const nullable = lowered.value.type.nullable || (mayBeEmpty && !counts);
    grouped.setComputed(aggregate, { ...lowered.value, type: { ...lowered.value.type, nullable } });
  }
  if (bare.length > 0) {
    const isOpen = !areDetermined(body, bare, env) && pickRow(body, aggregates, lowering, env);
    if (isOpen) env.translation.choseRow = true;
    const pick = isOpen && env.translation.choice === 'last' ? '$last' : '$first';
    for (const column of bare) {
      const stored = env.column(column);
      const name = names.take(describeExpression(column));
      accumulators[name] = { [pick]: stored.mql };
      whenEmpty[name] = null;
      // Over no rows a bare column is null; $first of a missing field is null.
      grouped.setComputed(column, {
        mql: `$${name}`,
        path: name,
        type: { ...stored.type, nullable: stored.type.nullable || mayBeEmpty, missing: false },
        transform: stored.transform,
      });
    }
  }
  env.draft.names.reserve(Object.keys(accumulators));
  env.draft.push({ kind: 'aggregate', key: keys, accumulators });
  return whenEmpty;
}

/** A product of tables: what bounds a sum over their rows. */
function mostRows(from: BoundSelect['from'], { translation }: RowEnvironment): number {
  const counts = sourcesOf(from).map(({ content }) =>
    content.kind === 'table' ? Math.max(1, translation.rowCount(content.table.name)) : MOST_ROWS,
  );
  return Math.min(
    MOST_ROWS,
    counts.reduce((product, count) => product * count, 1),
  );
}

const collects = (accumulator: Mql): boolean =>
  typeof accumulator === 'object' &&
  accumulator !== null &&
  ('$addToSet' in accumulator || '$push' in accumulator);

function uniqueAggregates(expressions: readonly BoundExpression[]): BoundAggregate[] {
  const seen = new Map<string, BoundAggregate>();
  for (const aggregate of expressions.flatMap((expression) => [...aggregatesIn(expression)])) {
    if (aggregate.args.some((arg) => [...aggregatesIn(arg)].length > 0))
      throw new Untranslatable('aggregate', 'an aggregate of an aggregate');
    if (!seen.has(keyOf(aggregate))) seen.set(keyOf(aggregate), aggregate);
  }
  return [...seen.values()];
}

function groupKeys(
  body: BoundSelect,
  lowering: Lowering,
  env: RowEnvironment,
  grouped: RowEnvironment,
  accumulators: Record<string, Mql>,
  names: FieldNames,
): Mql {
  const parts = new Map<
    string,
    { stored: Lowered; folded: Lowered; expressions: BoundExpression[] }
  >();
  for (const expression of body.groupBy) {
    const stored = lowering.stored(expression);
    // A constant puts all rows into one group.
    if (stored.constant) {
      grouped.setComputed(expression, stored);
      continue;
    }
    const folded = foldCollation(
      stored,
      stored.transform.kind === 'identity' ? collationOfExpression(expression) : 'BINARY',
    );
    // Two columns can lie in one field: a child's key and its parent's.
    const part = parts.get(fingerprint(folded.mql)) ?? { stored, folded, expressions: [] };
    part.expressions.push(expression);
    parts.set(fingerprint(folded.mql), part);
  }
  const keyNames = new FieldNames();
  const key: Record<string, Mql> = {};
  // Of spellings that a collation takes for one, the group shows that of one of its rows.
  const isOpen = [...parts.values()].some(
    ({ stored, folded, expressions }) =>
      folded !== stored &&
      expressions.some((expression) => isShown(expression, body) && !isUnique(expression)),
  );
  if (isOpen) {
    env.translation.choseRow = true;
    inScanOrder(body, env);
  }
  const pick = isOpen && env.translation.choice === 'last' ? '$last' : '$first';
  for (const { stored, folded, expressions } of parts.values()) {
    const name = keyNames.take(
      describeExpression(expressions[0] ?? { kind: 'literal', value: null }),
    );
    const path = parts.size === 1 ? '_id' : `_id.${name}`;
    // In a compound key a missing part would be left out and make another group than null.
    key[name] =
      parts.size > 1 && folded.type.missing ? { $ifNull: [folded.mql, null] } : folded.mql;
    let value: Lowered = {
      mql: `$${path}`,
      path,
      type: { ...stored.type, missing: false },
      transform: stored.transform,
    };
    if (folded !== stored) {
      const original = names.take(name);
      accumulators[original] = { [pick]: stored.mql };
      value = { ...value, mql: `$${original}`, path: original };
    }
    for (const expression of expressions) grouped.setComputed(expression, value);
  }
  if (parts.size === 0) return null;
  return parts.size === 1 ? (Object.values(key)[0] ?? null) : key;
}

/** Does a result column show the expression, outside of aggregates? */
function isShown(expression: BoundExpression, { items }: BoundSelect): boolean {
  const key = keyOf(expression);
  const shows = (within: BoundExpression): boolean =>
    keyOf(within) === key || (within.kind !== 'aggregate' && childrenOf(within).some(shows));
  return items.some((item) => shows(item.expression));
}

/** A declared key is unique by its own collation: there is no second spelling. */
function isUnique(expression: BoundExpression): boolean {
  if (expression.kind !== 'column' || expression.source.content.kind !== 'table') return false;
  const { primaryKey, uniqueKeys } = expression.source.content.table;
  return [primaryKey, ...uniqueKeys].some(
    (key) => key.length === 1 && sameName(key[0]!, columnOf(expression).name),
  );
}

/** Do the group keys determine the bare columns, so that any row of the group will do? */
function areDetermined(
  body: BoundSelect,
  bare: readonly (BoundColumn | BoundRowid)[],
  env: RowEnvironment,
): boolean {
  const { tables } = env.translation.profile;
  const profiledKeys: KeysOf = ({ content }) =>
    (content.kind === 'table' &&
      tables.find(({ table }) => sameName(table, content.table.name))?.keys) ||
    [];
  return determinesColumns(body, body.groupBy, bare, profiledKeys);
}

/**
 * Bare columns come from the row of the extreme when there is one MIN or MAX, else from an
 * arbitrary row: SQLite takes the first, and so does `$first`; the caveat says that neither
 * promises it. True where another row may do.
 */
function pickRow(
  body: BoundSelect,
  aggregates: readonly BoundAggregate[],
  lowering: Lowering,
  env: RowEnvironment,
): boolean {
  const extremes = aggregates.filter(({ name }) => name === 'min' || name === 'max');
  const [extreme] = extremes;
  const argument = extreme?.args[0];
  if (extremes.length !== 1 || !extreme || !argument) {
    inScanOrder(body, env);
    return true;
  }
  const value = lowering.stored(argument);
  const direction = extreme.name === 'max' ? -1 : 1;
  if (value.path !== undefined && !(direction === 1 && value.type.nullable)) {
    // Several rows may have the extreme: turned round, the last of them comes last.
    env.draft.sort({ [value.path]: env.translation.choice === 'last' ? -direction : direction });
    return true;
  }
  const key = env.draft.names.take('extreme');
  const absent = env.draft.names.take('absent');
  // Nulls sort first, but MIN does not see them.
  env.draft.compute({ [key]: value.mql, [absent]: cond(isAbsent(value), 1, 0) });
  env.draft.sort({ [absent]: 1, [key]: direction });
  return false;
}

/**
 * Where the first row decides: SQLite scans a table by its rowid, while entries of an array come
 * parent by parent. Nothing promises that order, which the caveat says. Rows are usually numbered
 * as they were inserted, so that a unique first column stands in for a rowid that no column shows.
 */
export function inScanOrder({ from }: BoundSelect, env: RowEnvironment): void {
  env.translation.caveats.add('arbitrary_row');
  if (from?.kind !== 'source' || from.source.content.kind !== 'table') return;
  const { source } = from;
  const { table } = from.source.content;
  const location = env.locations.get(source.id);
  if (location?.kind !== 'table' || location.placement.steps.length === 0) return;
  const first = table.columns[0]?.name;
  const keys = tableProfile(env.translation.profile, table.name)?.keys ?? [];
  const isFirstKey = keys.some((key) => key.length === 1 && key[0] === first);
  const numbered = table.rowidAlias ? table.primaryKey[0] : isFirstKey && first;
  const index = source.columns.findIndex(({ name }) => name === numbered);
  if (index < 0) return;
  const { path, type } = env.column({ kind: 'column', source, index });
  if (path !== undefined && type.kinds === INTEGER) env.draft.sort({ [path]: 1 });
}
