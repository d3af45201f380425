import type {
  BoundColumn,
  BoundExists,
  BoundExpression,
  BoundInQuery,
  BoundRowid,
  BoundSubquery,
} from '../../sqlite/select/bound';
import { expressionKey } from '../../sqlite/select/bound-references';
import type { TranslationState, Draft } from './translation-state';
import type { Environment, Lowered, SubqueryCondition } from '../lower/environment';
import { locateColumn, type Location } from './location';
import type { OuterScope } from './outer-scope';
import { Untranslatable } from '../lower/untranslated';

/**
 * Compiles subqueries for an environment; given from outside because queries and environments
 * contain each other.
 */
export interface SubqueryCompiler {
  scalar(subquery: BoundSubquery, env: RowEnvironment): Lowered;
  condition(subquery: BoundExists | BoundInQuery, env: RowEnvironment): SubqueryCondition;
}

/** The rows of one SELECT at one point of its pipeline. */
export class RowEnvironment implements Environment {
  readonly locations = new Map<number, Location>();
  /** Arrays unwound so far, as paths of the current documents. */
  readonly unwound = new Set<string>();
  /** Columns that a filter has freed of nulls. */
  private readonly present = new Set<string>();
  private readonly values = new Map<string, Lowered>();
  private readonly scalars = new Map<BoundSubquery, Lowered>();
  private readonly conditions = new Map<BoundExists | BoundInQuery, SubqueryCondition>();

  constructor(
    readonly translation: TranslationState,
    readonly draft: Draft,
    readonly scope: OuterScope | undefined,
    private readonly subqueries: SubqueryCompiler,
  ) {}

  column(column: BoundColumn | BoundRowid): Lowered {
    const computed = this.values.get(keyOf(column));
    if (computed) return computed;
    const location = this.locations.get(column.source.id);
    if (!location) {
      if (this.scope) return this.scope.column(column);
      throw new Untranslatable(
        'aggregate',
        `${column.source.name} is read where its rows are no longer there`,
      );
    }
    if (column.kind === 'rowid')
      throw new Untranslatable('not_placed', `the rowid of ${column.source.name}`);
    const located = locateColumn(location, column, this.translation.profile);
    if (location.kind === 'table')
      this.translation.touch(location.placement.collection, located.designPath);
    if (location.kind === 'copy')
      this.translation.touch(location.child.placement.collection, located.designPath);
    return this.present.has(keyOf(column))
      ? { ...located, type: { ...located.type, nullable: false, missing: false } }
      : located;
  }

  /** From here on only rows are left in which the column has a value. */
  requirePresent(column: BoundColumn): void {
    if (this.locations.has(column.source.id)) this.present.add(keyOf(column));
  }

  computed(expression: BoundExpression): Lowered | undefined {
    if (expression.kind === 'column' || expression.kind === 'literal') return undefined;
    return (
      (this.values.size > 0 ? this.values.get(keyOf(expression)) : undefined) ??
      this.scope?.computed(expression)
    );
  }

  setComputed(expression: BoundExpression, value: Lowered): void {
    this.values.set(keyOf(expression), value);
  }

  hasComputed(expression: BoundExpression): boolean {
    return this.values.has(keyOf(expression));
  }

  scalar(subquery: BoundSubquery): Lowered {
    const known = this.scalars.get(subquery) ?? this.subqueries.scalar(subquery, this);
    this.scalars.set(subquery, known);
    return known;
  }

  condition(subquery: BoundExists | BoundInQuery): SubqueryCondition {
    const known = this.conditions.get(subquery) ?? this.subqueries.condition(subquery, this);
    this.conditions.set(subquery, known);
    return known;
  }

  timeDependent(): void {
    this.translation.caveats.add('time_dependent');
  }
}

// Trees are immutable: a key is worked out once.
const keys = new WeakMap<BoundExpression, string>();
export function keyOf(expression: BoundExpression): string {
  let key = keys.get(expression);
  if (key === undefined) {
    key = expressionKey(expression);
    keys.set(expression, key);
  }
  return key;
}
