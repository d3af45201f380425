import {
  isEmbed,
  type DocumentDesign,
  type Field,
  type SortColumn,
  type SubsetField,
} from '../../design/model/document-design';
import { copiesOf, placementOf, type Placement } from '../../design/model/placement';
import { leadsWith } from '../../design/patterns/subsets';
import { sameName } from '../../sqlite/catalog';
import type { Profile, Relationship } from '../../sqlite/profile/profile';
import {
  columnOf,
  type BoundExpression,
  type BoundQuery,
  type BoundSource,
} from '../../sqlite/select/bound';
import {
  columnsRead,
  conjuncts,
  hasSubquery,
  sourcesRead,
} from '../../sqlite/select/bound-references';
import { flattenFrom } from '../plan/flatten-from';
import { equates } from '../plan/join-plan';
import { windowsIn } from '../../sqlite/select/bound-references';

/**
 * A query for the first rows of a child table finds them in a subset that its parents hold: the
 * first among all children of some parents are among the first of each. For such a query the subset
 * is as good as the children embedded, so it is translated over a design that says so. Undefined:
 * the design has no subset that answers the query.
 */
export function designWithSubset(
  query: BoundQuery,
  { design, profile }: { readonly design: DocumentDesign; readonly profile: Profile },
): DocumentDesign | undefined {
  for (const relationship of profile.relationships) {
    const holder = placementOf(design, relationship.parentTable);
    if (!holder || !relationship.parentIsKey) continue;
    for (const { field } of copiesOf(holder)) {
      if (
        field.kind === 'subset' &&
        field.relationship === relationship.id &&
        answers(field, relationship, query)
      )
        return embeddedInstead(design, holder, field);
    }
  }
  return undefined;
}

function answers(
  subset: SubsetField,
  { childTable, childColumns, parentTable, parentColumns }: Relationship,
  { body, orderBy, limit, offset }: BoundQuery,
): boolean {
  if (body.kind !== 'select' || !body.from || body.distinct || body.aggregated || offset)
    return false;
  if (
    limit?.kind !== 'literal' ||
    typeof limit.value !== 'bigint' ||
    limit.value < 0n ||
    limit.value > BigInt(subset.limit)
  )
    return false;
  const where = conjuncts(body.where);
  const flat = flattenFrom(body.from, where);
  const source = (table: string): BoundSource | undefined =>
    flat.sources.find(
      ({ source: { content }, on }) =>
        on === undefined && content.kind === 'table' && content.table.name === table,
    )?.source;
  const [child, parent] = [source(childTable), source(parentTable)];
  if (flat.sources.length !== 2 || !child || !parent) return false;

  const order = orderBy.map(({ key, direction, nulls, collation }): SortColumn | undefined => {
    const expression =
      key.kind === 'expression' ? key.expression : body.items[key.index]?.expression;
    if (expression?.kind !== 'column' || expression.source !== child) return undefined;
    const asStored =
      nulls === (direction === 'ASC' ? 'FIRST' : 'LAST') &&
      collation === child.columns[expression.index]?.collation;
    return asStored
      ? { column: columnOf(expression).name, direction: direction === 'ASC' ? 'asc' : 'desc' }
      : undefined;
  });
  if (
    order.length === 0 ||
    !order.every((key) => key !== undefined) ||
    !leadsWith(subset.orderBy, order)
  )
    return false;

  // Rows that another condition leaves out would have taken the places of those that it lets
  // through.
  const conditions = [...flat.conditions, ...where];
  const joins = childColumns.map((column, index) =>
    conditions.find((condition) =>
      equates(
        condition,
        child.id,
        column,
        (other) => other.source === parent && sameName(columnOf(other).name, parentColumns[index]!),
      ),
    ),
  );
  if (!joins.every((condition) => condition !== undefined)) return false;
  const others = conditions.filter((condition) => !joins.includes(condition));
  const expressions: BoundExpression[] = [
    ...others,
    ...body.items.map(({ expression }) => expression),
  ];
  if (
    others.some((condition) => sourcesRead(condition).has(child.id)) ||
    expressions.some((expression) => hasSubquery(expression) || !windowsIn(expression).next().done)
  )
    return false;
  const has = (column: string): boolean =>
    [...subset.fields.map((field) => field.column), ...childColumns].some((known) =>
      sameName(known, column),
    );
  return expressions
    .flatMap((expression) => [...columnsRead(expression)])
    .every(
      (column) =>
        column.source !== child || (column.kind === 'column' && has(columnOf(column).name)),
    );
}

/** The holder's collection alone, with the subset as the place of its table. */
function embeddedInstead(
  design: DocumentDesign,
  holder: Placement,
  subset: SubsetField,
): DocumentDesign {
  const replaced = (field: Field): Field => {
    if (field === subset) {
      const { limit: _, ...embed } = subset;
      return { ...embed, kind: 'embedMany' };
    }
    return isEmbed(field) ? { ...field, fields: field.fields.map(replaced) } : field;
  };
  return {
    ...design,
    logical: [{ ...holder.logical, fields: holder.logical.fields.map(replaced) }],
  };
}
