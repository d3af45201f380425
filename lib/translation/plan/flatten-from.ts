import { conjuncts } from '../../sqlite/select/bound-references';
import type {
  BoundColumn,
  BoundExpression,
  BoundFrom,
  BoundSource,
} from '../../sqlite/select/bound';
import { Untranslatable } from '../lower/untranslated';

/**
 * One source of FROM. `on` is set for the inner side of a left join: conditions that hold for its
 * partner rows.
 */
export interface FlatSource {
  readonly source: BoundSource;
  readonly on?: readonly BoundExpression[];
}

export interface FlatFrom {
  readonly sources: readonly FlatSource[];
  /** Conditions of inner joins: they filter rows, like WHERE. */
  readonly conditions: readonly BoundExpression[];
}

/** Joins as a list. A left join whose partner WHERE requires anyway is an inner join. */
export function flattenFrom(from: BoundFrom, where: readonly BoundExpression[]): FlatFrom {
  const { sources, conditions } = flatten(from);
  const filters = [...where];
  const kept: FlatSource[] = [];
  for (const entry of sources) {
    if (
      entry.on &&
      [...where, ...conditions].some((condition) => rejectsNull(condition, entry.source))
    ) {
      filters.push(...entry.on);
      kept.push({ source: entry.source });
    } else kept.push(entry);
  }
  return { sources: kept, conditions: [...conditions, ...filters.slice(where.length)] };
}

function flatten(from: BoundFrom): FlatFrom {
  if (from.kind === 'source') return { sources: [{ source: from.source }], conditions: [] };
  const left = flatten(from.left);
  const right = flatten(from.right);
  const on = conjuncts(from.on);
  switch (from.join) {
    case 'INNER':
      return {
        sources: [...left.sources, ...right.sources],
        conditions: [...left.conditions, ...right.conditions, ...on],
      };
    case 'LEFT':
      return { sources: [...left.sources, innerSide(right, on)], conditions: left.conditions };
    case 'RIGHT':
      return { sources: [...right.sources, innerSide(left, on)], conditions: right.conditions };
    case 'FULL':
      throw new Untranslatable('full_join', 'FULL JOIN');
  }
}

function innerSide({ sources, conditions }: FlatFrom, on: readonly BoundExpression[]): FlatSource {
  const [only] = sources;
  if (sources.length !== 1 || !only || only.on || conditions.length > 0)
    throw new Untranslatable('full_join', 'an outer join whose inner side is itself a join');
  return { source: only.source, on };
}

/** The condition cannot be true in a row where the source is missing. */
function rejectsNull(expression: BoundExpression, source: BoundSource): boolean {
  switch (expression.kind) {
    case 'logic':
      return expression.operator === 'AND'
        ? expression.operands.some((operand) => rejectsNull(operand, source))
        : expression.operands.every((operand) => rejectsNull(operand, source));
    case 'compare':
      return (
        !expression.nullSafe &&
        (isNullWith(expression.left, source) || isNullWith(expression.right, source))
      );
    case 'pattern':
    case 'inList':
      return isNullWith(expression.operand, source);
    case 'nullTest':
      return expression.negated && isNullWith(expression.operand, source);
    default:
      return false;
  }
}

function isNullWith(expression: BoundExpression, source: BoundSource): boolean {
  return strictColumns(expression).some((column) => column.source === source);
}

/** Columns without a value in which the expression has none either. */
function strictColumns(expression: BoundExpression): readonly BoundColumn[] {
  switch (expression.kind) {
    case 'column':
      return [expression];
    case 'arithmetic':
    case 'concat':
      return [...strictColumns(expression.left), ...strictColumns(expression.right)];
    case 'negate':
    case 'cast':
    case 'collate':
      return strictColumns(expression.operand);
    default:
      return [];
  }
}

/** Columns that are not null in any row for which the condition is true. */
export function columnsRequired(condition: BoundExpression): readonly BoundColumn[] {
  switch (condition.kind) {
    case 'logic':
      return condition.operator === 'AND' ? condition.operands.flatMap(columnsRequired) : [];
    case 'compare':
      return condition.nullSafe
        ? []
        : [...strictColumns(condition.left), ...strictColumns(condition.right)];
    case 'pattern':
      return strictColumns(condition.operand);
    case 'inList':
      return strictColumns(condition.operand);
    case 'nullTest':
      return condition.negated ? strictColumns(condition.operand) : [];
    default:
      return [];
  }
}
