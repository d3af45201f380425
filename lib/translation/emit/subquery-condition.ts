import { sameTransform } from '../../design/model/transform';
import type {
  BoundExists,
  BoundExpression,
  BoundInQuery,
  BoundQuery,
} from '../../sqlite/select/bound';
import { decode, isPresent } from '../lower/conversion';
import type { Lowered, SubqueryCondition } from '../lower/environment';
import { Lowering } from '../lower/expression';
import { foldCollation, withAffinity } from '../lower/comparison';
import { toPredicate } from '../lower/predicate';
import { Untranslatable } from '../lower/untranslated';
import { and, not, or, type Mql, type MqlDocument } from '../mql/mql';
import { asComparisons, correlate, inEither } from '../rewrite/membership';
import type { Compiler } from './compiler';
import { embeddedRows, type EmbeddedRows } from './embedded-rows';
import { OuterScope } from './outer-scope';
import type { RowEnvironment } from './row-environment';
import { subqueryJoin } from './subquery-join';

/**
 * EXISTS and IN. Where the subquery's rows are embedded in the row at hand, a predicate on the
 * array answers; else a `$lookup` that finds one partner; and where SQL's nulls make more
 * difference than that, one that fetches the set.
 */
export function compileCondition(
  subquery: BoundExists | BoundInQuery,
  env: RowEnvironment,
  compiler: Compiler,
): SubqueryCondition {
  if (subquery.kind === 'exists') return new Existence(subquery.query, env, compiler);
  const listed = asComparisons(subquery) ?? inEither(subquery);
  if (listed) return new Expanded(listed, env);
  return subquery.operands.length > 1
    ? new RowMembership(subquery, env, compiler)
    : new Membership(subquery, env, compiler);
}

/** A condition that needs no rows. */
class Expanded implements SubqueryCondition {
  private readonly lowering: Lowering;

  constructor(
    private readonly condition: BoundExpression,
    env: RowEnvironment,
  ) {
    this.lowering = new Lowering(env);
  }

  get nullable(): boolean {
    return this.lowering.conditionNullable(this.condition);
  }

  truth(): Mql {
    return this.lowering.truth(this.condition);
  }

  falsity(): Mql {
    return this.lowering.falsity(this.condition);
  }

  predicate(polarity: boolean): MqlDocument | undefined {
    return toPredicate(this.condition, polarity, this.lowering);
  }
}

/** Is there a row? Never null. */
class Existence implements SubqueryCondition {
  readonly nullable = false;
  private field: string | undefined;
  private inArray: EmbeddedRows | null | undefined;

  constructor(
    private readonly query: BoundQuery,
    private readonly env: RowEnvironment,
    private readonly compiler: Compiler,
  ) {}

  truth(): Mql {
    return this.embedded()?.truth() ?? this.test('$ne');
  }

  falsity(): Mql {
    const truth = this.embedded()?.truth();
    return truth === undefined ? this.test('$eq') : not(truth);
  }

  predicate(polarity: boolean): MqlDocument | undefined {
    const embedded = this.embedded()?.predicate(polarity);
    if (embedded) return embedded;
    if (isAlwaysOneRow(this.query)) return polarity ? {} : { $expr: false };
    return { [this.lookup()]: polarity ? { $ne: [] } : [] };
  }

  private test(operator: '$eq' | '$ne'): Mql {
    if (isAlwaysOneRow(this.query)) return operator === '$ne';
    return { [operator]: [`$${this.lookup()}`, []] };
  }

  private embedded(): EmbeddedRows | undefined {
    this.inArray ??= embeddedRows(this.query, this.env, this.compiler) ?? null;
    return this.inArray ?? undefined;
  }

  private lookup(): string {
    if (this.field !== undefined) return this.field;
    const scope = new OuterScope(this.env);
    const compiled = this.compiler.query(this.query, scope, {
      purpose: 'exists',
      keyable: true,
      nested: true,
    });
    this.field = this.env.draft.names.take(compiled.plan.scan);
    this.env.draft.push(subqueryJoin(compiled, scope, this.field));
    return this.field;
  }
}

const isAlwaysOneRow = ({ body, limit, offset }: BoundQuery): boolean =>
  body.kind === 'select' &&
  body.aggregated &&
  body.groupBy.length === 0 &&
  !body.having &&
  !limit &&
  !offset;

/** `x IN (SELECT …)`: true for a match; null without one as soon as a null is about. */
class Membership implements SubqueryCondition {
  private set:
    | {
        readonly values: Mql;
        readonly nullable: boolean;
        readonly maybeEmpty: boolean;
        readonly operand: Lowered;
      }
    | undefined;
  private readonly existence: Existence | undefined;

  constructor(
    private readonly node: BoundInQuery,
    private readonly env: RowEnvironment,
    private readonly compiler: Compiler,
  ) {
    const correlated = correlate(node);
    this.existence = correlated && new Existence(correlated, env, compiler);
  }

  get nullable(): boolean {
    return (
      this.node.operands.some((operand) => new Lowering(this.env).stored(operand).type.nullable) ||
      this.itemsNullable()
    );
  }

  truth(): Mql {
    if (this.existence) return this.existence.truth();
    const { values, nullable, operand } = this.fetch();
    const isIn: Mql = { $in: [operand.mql, values] };
    return operand.type.nullable && nullable ? and(isPresent(operand), isIn) : isIn;
  }

  falsity(): Mql {
    if (this.existence && !this.nullable) return this.existence.falsity();
    const { values, nullable, maybeEmpty, operand } = this.fetch();
    const isIn: Mql = { $in: [operand.mql, values] };
    if (!operand.type.nullable && !nullable) return not(isIn);
    const known = and(
      isPresent(operand),
      nullable ? not({ $in: [null, values] }) : true,
      not(isIn),
    );
    return maybeEmpty ? or({ $eq: [values, []] }, known) : known;
  }

  predicate(polarity: boolean): MqlDocument | undefined {
    if (!this.existence || (!polarity && this.nullable)) return undefined;
    return this.existence.predicate(polarity);
  }

  private itemsNullable(): boolean {
    const { body } = this.node.query;
    if (body.kind !== 'select' || body.aggregated) return this.fetch().nullable;
    const trial = this.compiler.query(this.node.query, new OuterScope(this.env), {
      purpose: 'exists',
    });
    return trial.fields.some(({ type }) => type.nullable);
  }

  // All values of the subquery as one array.
  private fetch(): NonNullable<typeof this.set> {
    if (this.set) return this.set;
    const { node, env, compiler } = this;
    const [first] = node.operands;
    if (!first || node.operands.length !== 1)
      throw new Untranslatable('types', 'IN with a row value over this subquery');
    const scope = new OuterScope(env);
    const compiled = compiler.query(node.query, scope, {
      purpose: 'rows',
      keyable: true,
      nested: true,
    });
    const [output] = compiled.fields;
    if (!output) throw new Error('IN compares one column');
    const as = env.draft.names.take(output.field);
    env.draft.push(subqueryJoin(compiled, scope, as));
    const list = `$${as}.${output.field}`;
    const lowering = new Lowering(env);
    const collation = node.collations[0] ?? 'BINARY';
    const affinity = node.affinities[0];
    const stored = lowering.stored(first);
    const element: Lowered = { mql: '$$item', type: output.type, transform: output.transform };
    const alike = sameTransform(stored.transform, output.transform) && collation === 'BINARY';
    const ready = (value: Lowered): Lowered =>
      alike && value.transform.kind !== 'identity'
        ? value
        : foldCollation(withAffinity(decode(value), affinity), collation);
    const item = ready(element);
    const values: Mql =
      item.mql === '$$item' ? list : { $map: { input: list, as: 'item', in: item.mql } };
    this.set = {
      values,
      nullable: output.type.nullable,
      maybeEmpty: !compiled.nonEmpty,
      operand: ready(stored),
    };
    return this.set;
  }
}

/**
 * `(x, y) IN (SELECT a, b …)`: one partner by `$lookup` where the subquery is a plain one, else
 * among all of its rows.
 */
class RowMembership implements SubqueryCondition {
  private readonly existence: Existence | undefined;
  private rows:
    | {
        readonly values: Mql;
        readonly operands: readonly Lowered[];
        readonly outputs: readonly Lowered[];
      }
    | undefined;

  constructor(
    private readonly node: BoundInQuery,
    private readonly env: RowEnvironment,
    private readonly compiler: Compiler,
  ) {
    const correlated = correlate(node);
    this.existence = correlated && new Existence(correlated, env, compiler);
  }

  get nullable(): boolean {
    const { operands, outputs } = this.fetch();
    return [...operands, ...outputs].some(({ type }) => type.nullable);
  }

  truth(): Mql {
    if (this.existence) return this.existence.truth();
    const { values, operands, outputs } = this.fetch();
    // Equal nulls are no match.
    const present = operands
      .filter(({ type }, index) => type.nullable && outputs[index]?.type.nullable)
      .map(isPresent);
    return and(...present, { $in: [operands.map(({ mql }) => mql), values] });
  }

  falsity(): Mql {
    if (this.nullable) throw new Untranslatable('types', 'NOT IN with a row value that has nulls');
    return this.existence ? this.existence.falsity() : not(this.truth());
  }

  predicate(polarity: boolean): MqlDocument | undefined {
    return this.existence && (polarity || !this.nullable)
      ? this.existence.predicate(polarity)
      : undefined;
  }

  private fetch(): NonNullable<typeof this.rows> {
    if (this.rows) return this.rows;
    const { node, env, compiler } = this;
    const scope = new OuterScope(env);
    const compiled = compiler.query(node.query, scope, {
      purpose: 'rows',
      keyable: true,
      nested: true,
    });
    const as = env.draft.names.take('rows');
    env.draft.push(subqueryJoin(compiled, scope, as));
    const lowering = new Lowering(env);
    const pairs = node.operands.map((operand, index) => {
      const collation = node.collations[index] ?? 'BINARY';
      const output = compiled.fields[index];
      if (!output) throw new Error('a row value has a column for each operand');
      const ready = (value: Lowered): Lowered =>
        foldCollation(withAffinity(decode(value), node.affinities[index]), collation);
      return {
        operand: ready(lowering.stored(operand)),
        output: ready({
          mql: `$$row.${output.field}`,
          type: output.type,
          transform: output.transform,
        }),
      };
    });
    const outputs = pairs.map(({ output }) => output);
    this.rows = {
      values: { $map: { input: `$${as}`, as: 'row', in: outputs.map(({ mql }) => mql) } },
      operands: pairs.map(({ operand }) => operand),
      outputs,
    };
    return this.rows;
  }
}
