import type {
  BoundExpression,
  BoundFrame,
  BoundOrder,
  BoundWindow,
} from '../../sqlite/select/bound';
import { windowsIn } from '../../sqlite/select/bound-references';
import { describeExpression } from '../lower/field-names';
import { decode, isPresent, toNumber, withNull } from '../lower/conversion';
import { IDENTITY } from '../lower/computed-value';
import { Lowering } from '../lower/expression';
import { isOrderPreserving } from '../lower/comparison';
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

interface WindowOutput {
  readonly output: MqlDocument;
  readonly type: ValueType;
  /** How many values are not null, where a window without any gives null. */
  readonly values?: MqlDocument;
}

class WindowCompiler {
  private readonly lowering: Lowering;
  private readonly field: string;
  /** Fields that have to exist before the stage, because sort keys are paths. */
  private readonly prepared: Record<string, Mql> = {};

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
    const partition = window.partitionBy.map((term) => withNull(this.lowering.stored(term)));
    const sortBy = this.sortBy(window.orderBy);
    const { output, type, values } = this.output(sortBy);
    const counted = values && env.draft.names.take(`${this.field}_values`);
    env.draft.compute(this.prepared);
    const partitionBy: Mql =
      partition.length === 1
        ? (partition[0] ?? null)
        : Object.fromEntries(partition.map((mql, index) => [`k${String(index + 1)}`, mql]));
    env.draft.push({
      kind: 'window',
      ...(partition.length > 0 && { partitionBy }),
      ...(sortBy && { sortBy }),
      output: {
        [this.field]: output,
        ...(values && counted !== undefined && { [counted]: values }),
      },
    });
    const computed = { mql: `$${this.field}`, type, transform: IDENTITY };
    env.setComputed(
      window,
      counted === undefined
        ? { ...computed, path: this.field }
        : { ...computed, mql: cond({ $eq: [`$${counted}`, 0] }, null, computed.mql) },
    );
  }

  private sortBy(terms: readonly BoundOrder[]): Record<string, 1 | -1> | undefined {
    if (terms.length === 0) return undefined;
    const keys = terms.map((term) => this.sortKey(term));
    const ranks = ['rank', 'dense_rank'].includes(this.window.name);
    if (!ranks || keys.length === 1) return Object.fromEntries(keys);
    // $rank takes one field: a document compares part by part, as long as all parts go the same
    // way.
    const [first] = keys;
    if (!first || keys.some(([, direction]) => direction !== first[1]))
      throw new Untranslatable('window', `${this.window.name}() over keys in different directions`);
    const combined = this.env.draft.names.take('sort_key');
    this.prepared[combined] = Object.fromEntries(
      keys.map(([path], index) => [`k${String(index + 1)}`, { $ifNull: [`$${path}`, null] }]),
    );
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
      default:
        throw new Untranslatable('window', `${name}() OVER`);
    }
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
        nullable && { values: { $sum: cond(and(filter, isPresent(value)), 1, 0), ...window } }),
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
    if (frame.unit === 'GROUPS') throw new Untranslatable('window', 'a frame of GROUPS');
    if (bounds.every((bound) => bound === 'unbounded')) return { window: { documents: bounds } };
    return this.range(orderBy, bounds);
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
      throw new Untranslatable('window', 'a frame over peers of a key that is no ascending number');
    }
    return { window: { range: bounds } };
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
