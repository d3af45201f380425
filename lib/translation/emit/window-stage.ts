import type {
  BoundExpression,
  BoundFrame,
  BoundOrder,
  BoundWindow,
} from '../../sqlite/select/bound';
import { collationOfExpression } from '../../sqlite/select/expression-type';
import { windowsIn } from '../../sqlite/select/bound-references';
import { describeExpression } from '../lower/field-names';
import { decode, isPresent, toNumber, withNull } from '../lower/conversion';
import { IDENTITY } from '../lower/computed-value';
import { Lowering } from '../lower/expression';
import { foldCollation, isOrderPreserving } from '../lower/comparison';
import { and, cond, constant, type Mql, type MqlDocument } from '../mql/mql';
import { keyOf, type RowEnvironment } from './row-environment';
import { Untranslatable } from '../lower/untranslated';
import { INTEGER, NUMBER, onlyKinds, REAL, type ValueType } from '../lower/value-type';

/**
 * Adds one `$setWindowFields` for each distinct window; the environment then answers for the window
 * functions.
 */
export function compileWindows(
  outputs: readonly BoundExpression[],
  aliases: ReadonlyMap<string, string>,
  env: RowEnvironment,
): void {
  for (const window of outputs.flatMap((expression) => [...windowsIn(expression)])) {
    if (!env.hasComputed(window))
      new WindowCompiler(window, env, aliases.get(keyOf(window))).compile();
  }
}

/** What `$setWindowFields` takes one sort key for. */
const ONE_KEY = new Set(['rank', 'dense_rank', 'percent_rank']);

interface WindowOutput {
  readonly output: MqlDocument;
  readonly type: ValueType;
  /** A second field, for what one alone does not say. */
  readonly beside?: { readonly name: string; readonly output: MqlDocument };
  /** The function's value out of the two; without it the first field is the value. */
  readonly value?: (own: Mql, beside: Mql) => Mql;
}

/** Of an expression of the current partition: a number for each row, and the number of rows. */
const ALL_ROWS: MqlDocument = { window: { documents: ['unbounded', 'unbounded'] } };

class WindowCompiler {
  private readonly lowering: Lowering;
  private readonly field: string;
  /** Fields that have to exist before the stage, because sort keys are paths. */
  private prepared: Record<string, Mql> = {};
  /** A field that numbers the peers, where a frame goes up to the last of them. */
  private peers: string | undefined;

  constructor(
    private readonly window: BoundWindow,
    private readonly env: RowEnvironment,
    alias: string | undefined,
  ) {
    this.lowering = new Lowering(env);
    this.field = env.draft.names.take(alias ?? describeExpression(window));
  }

  compile(): void {
    const { window, env } = this;
    const partition = this.partition();
    const sortBy = this.sortBy(window.orderBy);
    const { output, type, beside, value } = this.output(sortBy);
    const second = beside && env.draft.names.take(`${this.field}_${beside.name}`);
    this.prepare();
    if (this.peers !== undefined)
      env.draft.push({
        kind: 'window',
        ...partition,
        sortBy: this.oneKey(sortBy),
        output: { [this.peers]: { $denseRank: {} } },
      });
    const order = this.peers === undefined ? sortBy : { [this.peers]: 1 as const };
    env.draft.push({
      kind: 'window',
      ...partition,
      ...(order && { sortBy: order }),
      output: { [this.field]: output, ...(beside && second && { [second]: beside.output }) },
    });
    const computed = { mql: `$${this.field}`, type, transform: IDENTITY };
    env.setComputed(
      window,
      value
        ? { ...computed, mql: value(computed.mql, `$${second ?? ''}`) }
        : { ...computed, path: this.field },
    );
  }

  private partitionKey(term: BoundExpression): Mql {
    const stored = this.lowering.stored(term);
    const isText = stored.transform.kind === 'identity';
    return withNull(isText ? foldCollation(stored, collationOfExpression(term)) : stored);
  }

  /** The sort keys that are no paths become fields. */
  private prepare(): void {
    this.env.draft.compute(this.prepared);
    this.prepared = {};
  }

  private partition(): { partitionBy?: Mql } {
    const keys = this.window.partitionBy.map((term) => this.partitionKey(term));
    if (keys.length === 0) return {};
    return {
      partitionBy:
        keys.length === 1
          ? (keys[0] ?? null)
          : Object.fromEntries(keys.map((mql, index) => [`k${String(index + 1)}`, mql])),
    };
  }

  private sortBy(terms: readonly BoundOrder[]): Record<string, 1 | -1> | undefined {
    if (terms.length === 0) return undefined;
    const keys = terms.map((term) => this.sortKey(term));
    const sortBy = Object.fromEntries(keys);
    return ONE_KEY.has(this.window.name) ? this.oneKey(sortBy) : sortBy;
  }

  /**
   * `$rank` takes one field: a document compares part by part, as long as all parts go the same
   * way.
   */
  private oneKey(sortBy: Record<string, 1 | -1> | undefined): Record<string, 1 | -1> {
    const keys = Object.entries(sortBy ?? {});
    const [first] = keys;
    if (!first || keys.some(([, direction]) => direction !== first[1]))
      throw new Untranslatable('window', `${this.window.name}() over keys in different directions`);
    if (keys.length === 1) return { [first[0]]: first[1] };
    this.prepare();
    const combined = this.env.draft.names.take('sort_key');
    this.env.draft.compute({
      [combined]: Object.fromEntries(
        keys.map(([path], index) => [`k${String(index + 1)}`, { $ifNull: [`$${path}`, null] }]),
      ),
    });
    return { [combined]: first[1] };
  }

  private sortKey({ key, direction, nulls, collation }: BoundOrder): [string, 1 | -1] {
    if (key.kind !== 'expression' || collation !== 'BINARY')
      throw new Untranslatable('window', 'ORDER BY of a window by a collation');
    const stored = this.lowering.stored(key.expression);
    const value = isOrderPreserving(stored.transform) ? stored : decode(stored);
    if (value.type.nullable && (direction === 'ASC') !== (nulls === 'FIRST'))
      throw new Untranslatable('window', 'NULLS FIRST or LAST in a window');
    const sign = direction === 'ASC' ? 1 : -1;
    if (value.path !== undefined) return [value.path, sign];
    const name = this.env.draft.names.take(describeExpression(key.expression));
    this.prepared[name] = value.mql;
    return [name, sign];
  }

  private output(sortBy: Record<string, 1 | -1> | undefined): WindowOutput {
    const { name, args, orderBy } = this.window;
    const counted: ValueType = { kinds: INTEGER, nullable: false, missing: false, min: 1 };
    const [argument] = args;
    switch (name) {
      case 'row_number':
        if (!sortBy) throw new Untranslatable('window', 'row_number() without ORDER BY');
        this.env.translation.caveats.add('tie');
        return { output: { $documentNumber: {} }, type: counted };
      case 'rank':
      case 'dense_rank':
        if (!sortBy) throw new Untranslatable('window', `${name}() without ORDER BY`);
        return { output: { [name === 'rank' ? '$rank' : '$denseRank']: {} }, type: counted };
      case 'lag':
      case 'lead': {
        const offset = args[1] ? this.lowering.value(args[1]).constant?.value : 1n;
        const fallback = args[2] ? this.lowering.value(args[2]).constant : { value: null };
        if (!argument || typeof offset !== 'bigint' || !fallback || !sortBy)
          throw new Untranslatable('window', `${name}() in this form`);
        const value = this.lowering.value(argument);
        const by = Number(name === 'lag' ? -offset : offset);
        const shift: MqlDocument = {
          $shift: {
            output: value.mql,
            by,
            ...(fallback.value !== null && { default: constant(fallback.value) }),
          },
        };
        return {
          output: shift,
          type: { kinds: value.type.kinds | NUMBER, nullable: true, missing: false },
        };
      }
      case 'first_value':
      case 'last_value': {
        if (!argument) throw new Untranslatable('window', `${name}() without an argument`);
        const value = this.lowering.value(argument);
        return {
          output: {
            [name === 'first_value' ? '$first' : '$last']: value.mql,
            ...this.frame(orderBy, sortBy),
          },
          type: { ...value.type, missing: false },
        };
      }
      case 'count':
      case 'sum':
      case 'avg':
      case 'min':
      case 'max':
        return this.aggregate(name, argument, sortBy);
      case 'ntile':
      case 'percent_rank':
      case 'cume_dist':
        return this.share(name, argument, sortBy);
      default:
        throw new Untranslatable('window', `${name}() OVER`);
    }
  }

  /** Functions of a row's number and of the number of rows. */
  private share(
    name: 'ntile' | 'percent_rank' | 'cume_dist',
    argument: BoundExpression | undefined,
    sortBy: Record<string, 1 | -1> | undefined,
  ): WindowOutput {
    if (!sortBy) throw new Untranslatable('window', `${name}() without ORDER BY`);
    const beside = { name: 'rows', output: { $sum: 1, ...ALL_ROWS } };
    const real: ValueType = { kinds: REAL, nullable: false, missing: false, min: 0, max: 1 };
    if (name === 'percent_rank')
      return {
        output: { $rank: {} },
        type: real,
        beside,
        value: (rank, rows) =>
          cond({ $eq: [rows, 1] }, 0, {
            $divide: [{ $subtract: [rank, 1] }, { $subtract: [rows, 1] }],
          }),
      };
    if (name === 'cume_dist')
      return {
        output: { $sum: 1, ...this.upToPeers() },
        type: real,
        beside,
        value: (upTo, rows) => ({ $divide: [upTo, rows] }),
      };
    const tiles = argument && this.lowering.value(argument).constant?.value;
    if (typeof tiles !== 'bigint' || tiles < 1n)
      throw new Untranslatable('window', 'ntile() of a computed number');
    this.env.translation.caveats.add('tie');
    return {
      output: { $documentNumber: {} },
      type: { kinds: INTEGER, nullable: false, missing: false, min: 1, max: Number(tiles) },
      beside,
      value: (row, rows) => tileOf(row, rows, Number(tiles)),
    };
  }

  private aggregate(
    name: 'count' | 'sum' | 'avg' | 'min' | 'max',
    argument: BoundExpression | undefined,
    sortBy: Record<string, 1 | -1> | undefined,
  ): WindowOutput {
    const window = this.frame(this.window.orderBy, sortBy);
    const filter = this.window.filter ? this.lowering.truth(this.window.filter) : true;
    if (name === 'count') {
      const test = and(filter, argument ? this.lowering.present(argument) : true);
      return {
        output: { $sum: cond(test, 1, 0), ...window },
        type: { kinds: INTEGER, nullable: false, missing: false, min: 0 },
      };
    }
    if (!argument) throw new Untranslatable('window', `${name}() without an argument`);
    const stored = this.lowering.value(argument);
    const value = name === 'sum' || name === 'avg' ? toNumber(stored) : stored;
    const kinds = name === 'avg' ? REAL : value.type.kinds;
    const nullable = value.type.nullable || filter !== true;
    return {
      output: { [`$${name}`]: cond(filter, value.mql, null), ...window },
      type: { kinds, nullable, missing: false },
      // The sum of nothing is no 0.
      ...(name === 'sum' &&
        nullable && {
          beside: {
            name: 'values',
            output: { $sum: cond(and(filter, isPresent(value)), 1, 0), ...window },
          },
          value: (sum: Mql, values: Mql): Mql => cond({ $eq: [values, 0] }, null, sum),
        }),
    };
  }

  /**
   * Without a frame: everything up to the current row's peers, or the whole partition when nothing
   * orders it.
   */
  private frame(
    orderBy: readonly BoundOrder[],
    sortBy: Record<string, 1 | -1> | undefined,
  ): MqlDocument {
    const { frame } = this.window;
    if (!frame) {
      if (!sortBy) return {};
      return this.range(orderBy, ['unbounded', 'current']);
    }
    if (frame.exclude !== 'NO OTHERS')
      throw new Untranslatable('window', `EXCLUDE ${frame.exclude}`);
    const bounds = [frameBound(frame.start, this.lowering), frameBound(frame.end, this.lowering)];
    if (frame.unit === 'ROWS') {
      this.env.translation.caveats.add('tie');
      return { window: { documents: bounds } };
    }
    if (frame.unit === 'GROUPS') return this.groups(bounds);
    if (bounds.every((bound) => bound === 'unbounded')) return { window: { documents: bounds } };
    return this.range(orderBy, bounds);
  }

  private groups(bounds: readonly Mql[]): MqlDocument {
    this.byPeers();
    return { window: { range: bounds } };
  }

  // $setWindowFields knows ranges only over one ascending number.
  private range(orderBy: readonly BoundOrder[], bounds: readonly Mql[]): MqlDocument {
    const [term] = orderBy;
    const type =
      term?.key.kind === 'expression' ? this.lowering.stored(term.key.expression).type : undefined;
    if (
      orderBy.length !== 1 ||
      !type ||
      term?.direction !== 'ASC' ||
      !onlyKinds(type, NUMBER) ||
      type.nullable
    ) {
      if (bounds.some((bound) => bound !== 'unbounded' && bound !== 'current'))
        throw new Untranslatable('window', 'a range of a key that is no ascending number');
      this.byPeers();
    }
    return { window: { range: bounds } };
  }

  private upToPeers(): MqlDocument {
    this.byPeers();
    return { window: { range: ['unbounded', 'current'] } };
  }

  /** Rows with the same sort keys get the same number, and the window is sorted by it. */
  private byPeers(): void {
    this.peers ??= this.env.draft.names.take('peers');
  }
}

function frameBound(bound: BoundFrame['start'], lowering: Lowering): Mql {
  switch (bound.kind) {
    case 'UNBOUNDED PRECEDING':
    case 'UNBOUNDED FOLLOWING':
      return 'unbounded';
    case 'CURRENT ROW':
      return 'current';
    default: {
      const offset = lowering.value(bound.offset).constant?.value;
      if (typeof offset !== 'bigint') throw new Untranslatable('window', 'a computed frame');
      return Number(bound.kind === 'PRECEDING' ? -offset : offset);
    }
  }
}

/**
 * The first tiles take one row more where the rows do not divide evenly
 * (https://www.sqlite.org/windowfunctions.html#built_in_window_functions).
 */
function tileOf(row: Mql, rows: Mql, tiles: number): Mql {
  const size: Mql = { $floor: { $divide: [rows, tiles] } };
  const larger: Mql = { $mod: [rows, tiles] };
  const inLarger: Mql = { $multiply: [larger, { $add: [size, 1] }] };
  const among = (from: Mql, each: Mql): Mql => ({ $ceil: { $divide: [from, each] } });
  return {
    $toInt: cond({ $lte: [row, inLarger] }, among(row, { $add: [size, 1] }), {
      $add: [larger, among({ $subtract: [row, inLarger] }, size)],
    }),
  };
}
