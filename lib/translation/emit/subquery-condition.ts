import { sameTransform } from '../../design/transform';
import { columnPath } from '../../design/placement';
import { sameName, type Affinity } from '../../sqlite/catalog';
import {
  columnOf,
  type BoundBody,
  type BoundExists,
  type BoundExpression,
  type BoundInQuery,
  type BoundQuery,
  type BoundSelect,
} from '../../sqlite/select/bound';
import { affinityOfExpression, collationOfExpression } from '../../sqlite/select/expression-type';
import { placementOf } from '../../design/placement';
import { columnsRead, conjuncts } from '../../sqlite/select/bound-references';
import { Draft } from './translation-state';
import { subqueryJoin, type QueryCompiler } from './query-compiler';
import type { Lowered, SubqueryCondition } from '../lower/environment';
import { under } from '../mql/pipeline-paths';
import { decode, isPresent } from '../lower/conversion';
import { foldCollation, Lowering, withAffinity } from '../lower/expression';
import { toPredicate } from '../lower/predicate';
import { and, not, or, type Mql, type MqlDocument } from '../mql/mql';
import { OuterScope } from './outer-scope';
import type { RowEnvironment } from './row-environment';
import { Untranslatable } from '../lower/untranslated';

/**
 * EXISTS and IN. Where the subquery's rows are embedded in the row at hand, a predicate on the
 * array answers; else a `$lookup` that finds one partner; and where SQL's nulls make more
 * difference than that, one that fetches the set.
 */
export function compileCondition(
  subquery: BoundExists | BoundInQuery,
  env: RowEnvironment,
  compiler: QueryCompiler,
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

/** `(x, y) IN (VALUES (1, 2), (3, 4))`: one comparison a row. */
function asComparisons({
  operands,
  query,
  affinities,
  collations,
}: BoundInQuery): BoundExpression | undefined {
  const { body } = query;
  if (body.kind !== 'values' || query.limit || query.offset) return undefined;
  const rows = body.rows.map((row) =>
    whole(
      operands.map((left, index): BoundExpression => ({
        kind: 'compare',
        operator: '=',
        left,
        right: row[index] ?? { kind: 'literal', value: null },
        affinity: affinities[index],
        collation: collations[index] ?? 'BINARY',
        nullSafe: false,
      })),
    ),
  );
  const [only] = rows;
  return rows.length === 1 && only ? only : { kind: 'logic', operator: 'OR', operands: rows };
}

/** `x IN (a UNION b)`: in one or in the other, for each of which one partner is enough. */
function inEither(node: BoundInQuery): BoundExpression | undefined {
  const { query } = node;
  const { body } = query;
  if (body.kind !== 'compound' || !body.operator.startsWith('UNION') || query.limit || query.offset)
    return undefined;
  const sides = [body.left, body.right].map((side): BoundInQuery => ({
    ...node,
    negated: false,
    query: { ...query, body: side, orderBy: [] },
  }));
  // Columns of several affinities have one by SQLite's choice.
  const alike = simpleSelects(body).every(({ items }) =>
    items.every(
      ({ expression }, index) =>
        comparesLike(affinityOfExpression(expression)) ===
        comparesLike(query.columns[index]?.affinity),
    ),
  );
  return alike && sides.every((side) => correlate(side) ?? inEither(side))
    ? { kind: 'logic', operator: 'OR', operands: sides }
    : undefined;
}

const comparesLike = (affinity: Affinity | undefined): Affinity | undefined =>
  affinity === 'INTEGER' || affinity === 'REAL' ? 'NUMERIC' : affinity;

const simpleSelects = (body: BoundBody): readonly BoundSelect[] => {
  if (body.kind === 'compound') return [body.left, body.right].flatMap(simpleSelects);
  return body.kind === 'select' ? [body] : [];
};

/** Is there a row? Never null. */
class Existence implements SubqueryCondition {
  readonly nullable = false;
  private field: string | undefined;
  private inArray: EmbeddedRows | null | undefined;

  constructor(
    private readonly query: BoundQuery,
    private readonly env: RowEnvironment,
    private readonly compiler: QueryCompiler,
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
    private readonly compiler: QueryCompiler,
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
    private readonly compiler: QueryCompiler,
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

/** `x IN (SELECT c …)` as `EXISTS (SELECT 1 … AND c = x)`, where the subquery is a plain one. */
function correlate({
  operands,
  query,
  affinities,
  collations,
}: BoundInQuery): BoundQuery | undefined {
  const { body } = query;
  if (body.kind !== 'select' || body.aggregated || query.limit || query.offset) return undefined;
  if (
    operands.some((operand) => operand.kind !== 'column' && operand.kind !== 'literal') ||
    body.items.some(({ expression }) => expression.kind !== 'column')
  )
    return undefined;
  const equalities = operands.map((operand, index): BoundExpression => {
    const right = body.items[index]?.expression ?? { kind: 'literal', value: null };
    const collation = collations[index] ?? collationOfExpression(operand);
    return {
      kind: 'compare',
      operator: '=',
      left: right,
      right: operand,
      affinity: affinities[index],
      collation,
      nullSafe: false,
    };
  });
  const where: BoundExpression = {
    kind: 'logic',
    operator: 'AND',
    operands: [...conjuncts(body.where), ...equalities],
  };
  const outer = [
    ...query.outer,
    ...operands.flatMap((operand) =>
      [...columnsRead(operand)].filter((column) => column.kind === 'column'),
    ),
  ];
  return { ...query, body: { ...body, where, distinct: false }, orderBy: [], outer };
}

/** Rows of a subquery that are entries of an array (or one document) of the row at hand. */
class EmbeddedRows {
  constructor(
    private readonly path: string,
    private readonly many: boolean,
    private readonly conditions: readonly BoundExpression[],
    private readonly asEntry: (variable: string) => Lowering,
  ) {}

  predicate(polarity: boolean): MqlDocument | undefined {
    if (!this.many)
      return this.conditions.length > 0
        ? undefined
        : { [this.path]: polarity ? { $ne: null } : null };
    if (this.conditions.length === 0) return { [this.path]: polarity ? { $ne: [] } : [] };
    const merged = toPredicate(whole(this.conditions), true, this.asEntry('$'));
    if (!merged) return undefined;
    return { [this.path]: polarity ? { $elemMatch: merged } : { $not: { $elemMatch: merged } } };
  }

  truth(): Mql | undefined {
    if (!this.many)
      return this.conditions.length > 0 ? undefined : { $gt: [`$${this.path}`, null] };
    if (this.conditions.length === 0) return { $ne: [`$${this.path}`, []] };
    return {
      $anyElementTrue: [
        {
          $map: {
            input: `$${this.path}`,
            in: this.asEntry('$$this.').truth(whole(this.conditions)),
          },
        },
      ],
    };
  }
}

const whole = (conditions: readonly BoundExpression[]): BoundExpression => {
  const [only] = conditions;
  return conditions.length === 1 && only
    ? only
    : { kind: 'logic', operator: 'AND', operands: conditions };
};

function embeddedRows(
  query: BoundQuery,
  env: RowEnvironment,
  compiler: QueryCompiler,
): EmbeddedRows | undefined {
  const { body } = query;
  if (
    body.kind !== 'select' ||
    body.aggregated ||
    query.limit ||
    query.offset ||
    body.from?.kind !== 'source'
  )
    return undefined;
  const { source } = body.from;
  if (source.content.kind !== 'table') return undefined;
  const placement = placementOf(compiler.translation.design, source.content.table.name);
  const step = placement?.steps.at(-1);
  if (!placement || !step) return undefined;
  const conditions = [...conjuncts(body.where)];
  for (const location of env.locations.values()) {
    if (
      location.kind !== 'table' ||
      location.entry ||
      location.optional ||
      location.placement.collection !== placement.collection
    )
      continue;
    const depth = placement.steps.length - 1;
    if (
      location.placement.steps.length < depth ||
      !placement.steps
        .slice(0, depth)
        .every((above, index) => above.path === location.placement.steps[index]?.path)
    )
      continue;
    const path = under(location.base, step.path);
    if (env.unwound.has(path)) continue;
    const parent = {
      ...placement,
      table: step.parentTable,
      steps: placement.steps.slice(0, depth),
    };
    const used = step.join.map((pair) => {
      const parentPath = columnPath(parent, pair.parent)?.path;
      return conditions.find((condition) =>
        isEmbedding(
          condition,
          source.id,
          pair.child,
          parentPath === undefined ? undefined : under(location.base, parentPath),
          env,
        ),
      );
    });
    if (used.some((condition) => condition === undefined)) continue;
    const rest = conditions.filter((condition) => !used.includes(condition));
    if (
      rest.some(
        (condition) =>
          [...columnsRead(condition)].some((column) => column.source !== source) ||
          !isPlain(condition),
      )
    )
      return undefined;
    compiler.translation.touch(placement.collection, step.path);
    const asEntry = (variable: string): Lowering => {
      const inner = compiler.environment(new Draft(), undefined);
      inner.locations.set(source.id, {
        kind: 'table',
        placement,
        base: location.base,
        optional: false,
        entry: { path: step.path, variable },
      });
      return new Lowering(inner);
    };
    try {
      // Columns that an ancestor holds are not part of the entry.
      asEntry('$').truth(whole(rest.length > 0 ? rest : [{ kind: 'literal', value: 1n }]));
    } catch (error) {
      if (error instanceof Untranslatable) return undefined;
      throw error;
    }
    return new EmbeddedRows(path, step.kind === 'embedMany', rest, asEntry);
  }
  return undefined;
}

function isEmbedding(
  condition: BoundExpression,
  source: number,
  child: string,
  parentPath: string | undefined,
  env: RowEnvironment,
): boolean {
  if (
    condition.kind !== 'compare' ||
    condition.operator !== '=' ||
    condition.nullSafe ||
    condition.collation !== 'BINARY' ||
    parentPath === undefined
  )
    return false;
  return (
    [
      [condition.left, condition.right],
      [condition.right, condition.left],
    ] as const
  ).some(
    ([inner, outer]) =>
      inner.kind === 'column' &&
      inner.source.id === source &&
      sameName(columnOf(inner).name, child) &&
      outer.kind === 'column' &&
      env.locations.has(outer.source.id) &&
      env.column(outer).path === parentPath,
  );
}

const isPlain = (expression: BoundExpression): boolean =>
  !['exists', 'inQuery', 'subquery'].includes(expression.kind);
