import type { ComputedField, DocumentDesign } from '../../design/model/document-design';
import { copiesOf, placementOf } from '../../design/model/placement';
import { sameName, type Catalog } from '../../sqlite/catalog';
import {
  columnProfile,
  isTotal,
  type Profile,
  type Relationship,
} from '../../sqlite/profile/profile';
import {
  columnOf,
  type BoundAggregate,
  type BoundColumn,
  type BoundExists,
  type BoundExpression,
  type BoundFrom,
  type BoundInQuery,
  type BoundOrder,
  type BoundQuery,
  type BoundRowid,
  type BoundSelect,
  type BoundSource,
  type BoundSubquery,
} from '../../sqlite/select/bound';
import { aggregatesIn, windowsIn } from '../../sqlite/select/bound-references';
import { conjuncts, sourcesOf } from '../../sqlite/select/bound-references';
import { computedColumnName } from '../lower/computed-column';
import { describeExpression } from '../lower/field-names';
import { equates } from '../plan/join-plan';
import { replaceIn, walkBound } from '../../sqlite/select/bound-walk';

/**
 * A computed field of the design: an aggregate over the child rows of one relationship, stored with
 * the parent.
 */
interface Stored {
  readonly field: ComputedField;
  readonly relationship: Relationship;
}

/**
 * Reads stored aggregates instead of child rows: where a query needs nothing of a child table but
 * what the design has computed over it, the child leaves the query, and its aggregates become
 * columns of the parent. What is left is SQL again, so that everything behind this pass treats
 * those columns like any other.
 */
export function useComputedFields(
  query: BoundQuery,
  {
    catalog,
    design,
    profile,
  }: { readonly catalog: Catalog; readonly design: DocumentDesign; readonly profile: Profile },
): BoundQuery {
  const stored = storedAggregates(design, profile);
  if (stored.length === 0) return query;
  let current = query;
  // Each step removes a child table or a subquery.
  for (;;) {
    const next = new Step(current, stored, catalog, profile).apply();
    if (!next) return current;
    current = next;
  }
}

function storedAggregates(design: DocumentDesign, profile: Profile): Stored[] {
  return profile.relationships.flatMap((relationship) => {
    const placement = placementOf(design, relationship.parentTable);
    if (!placement || !relationship.parentIsKey) return [];
    return copiesOf(placement).flatMap(({ field }) =>
      field.kind === 'computed' && field.relationship === relationship.id
        ? [{ field, relationship }]
        : [],
    );
  });
}

/** The number 0 or 1 as SQL has it. */
const integer = (value: bigint): BoundExpression => ({ kind: 'literal', value });
const aggregate = (name: string, argument: BoundExpression): BoundAggregate => ({
  kind: 'aggregate',
  name,
  distinct: false,
  args: [argument],
  filter: undefined,
  orderBy: [],
});
const isPositive = (left: BoundExpression): BoundExpression => ({
  kind: 'compare',
  operator: '>',
  left,
  right: integer(0n),
  affinity: undefined,
  collation: 'BINARY',
  nullSafe: false,
});
const allOf = (conditions: readonly BoundExpression[]): BoundExpression | undefined =>
  conditions.length <= 1 ? conditions[0] : { kind: 'logic', operator: 'AND', operands: conditions };

interface Unit {
  readonly select: BoundSelect;
  readonly orderBy: readonly BoundOrder[];
  /** The node of the tree that holds both, and the node to put in its place. */
  readonly node: object;
  readonly put: (select: BoundSelect, orderBy: readonly BoundOrder[]) => object;
}

/** A child source, the parent that stands for it, and the conditions by which they join. */
interface Pair {
  readonly child: BoundSource;
  readonly parent: BoundSource;
  readonly relationship: Relationship;
  readonly rest: readonly BoundExpression[];
}

class Step {
  private readonly extended = new Map<
    BoundSource,
    { readonly source: BoundSource; readonly columns: BoundSource['columns'][number][] }
  >();

  constructor(
    private readonly query: BoundQuery,
    private readonly stored: readonly Stored[],
    private readonly catalog: Catalog,
    private readonly profile: Profile,
  ) {}

  apply(): BoundQuery | undefined {
    for (const unit of unitsOf(this.query)) {
      const subquery = this.replaceSubquery(unit);
      if (subquery) return this.finish(replaceIn(this.query, new Map([subquery])));
      const select = this.dropChild(unit);
      if (select) return this.finish(replaceIn(this.query, new Map([[unit.node, select]])));
    }
    return undefined;
  }

  /** Parents that now have more columns replace themselves everywhere. */
  private finish(query: BoundQuery): BoundQuery {
    return replaceIn(
      query,
      new Map(
        [...this.extended].map(([before, { source }]) => [before as object, source as object]),
      ),
    );
  }

  private find(
    relationship: Relationship,
    kind: ComputedField['aggregate'],
    column?: string,
  ): ComputedField | undefined {
    return this.stored.find(
      ({ field, relationship: own }) =>
        own === relationship &&
        field.aggregate === kind &&
        (column === undefined
          ? field.column === undefined
          : field.column !== undefined && sameName(field.column, column)),
    )?.field;
  }

  /**
   * The column of the parent that holds a computed field. `present`: there is at least one child in
   * every row that is left.
   */
  private column(parent: BoundSource, field: ComputedField, present: boolean): BoundColumn {
    let entry = this.extended.get(parent);
    if (!entry) {
      const columns = [...parent.columns];
      entry = { source: { ...parent, columns }, columns };
      this.extended.set(parent, entry);
    }
    const name = computedColumnName(field.name, present);
    let index = entry.columns.findIndex((column) => column.name === name);
    if (index < 0)
      index = entry.columns.push({ name, affinity: undefined, collation: 'BINARY' }) - 1;
    return { kind: 'column', source: entry.source, index };
  }

  private isNeverNull(table: string, column: string): boolean {
    return columnProfile(this.profile, table, column)?.stored.null === 0;
  }

  // ---- subqueries over the children of one parent
  // -------------------------------------------------------------

  private replaceSubquery({ select, orderBy }: Unit): [object, object] | undefined {
    const own = sourcesOf(select.from);
    const inner = flattenInner(select.from);
    let found: [object, object] | undefined;
    walkBound([select, orderBy], (node) => {
      const { kind } = node as { kind?: unknown };
      if (found || 'content' in node) return false;
      if (kind === 'subquery') found = pair(node, this.scalar(node as BoundSubquery, own));
      // A parent that an outer join leaves out has no children to look for, and no field that says
      // so.
      else if (kind === 'exists' && inner)
        found = pair(node, this.exists(node as BoundExists, own));
      else if (kind === 'inQuery' && inner)
        found = pair(node, this.membership(node as BoundInQuery, own));
      // What lies in a subquery belongs to its own SELECT.
      return kind !== 'subquery' && kind !== 'exists' && kind !== 'inQuery';
    });
    return found;
  }

  /** `(SELECT count(*) FROM child WHERE child.parent_id = parent.id)`. */
  private scalar(
    { query }: BoundSubquery,
    outer: readonly BoundSource[],
  ): BoundExpression | undefined {
    const { body } = query;
    const [item] = body.kind === 'select' ? body.items : [];
    if (
      body.kind !== 'select' ||
      !item ||
      !body.aggregated ||
      body.groupBy.length > 0 ||
      body.having ||
      body.distinct ||
      query.limit ||
      query.offset
    )
      return undefined;
    const found = this.childrenOf(body, outer);
    if (!found) return undefined;
    const { child, parent, relationship } = found;
    const replaced = new Map<object, object>();
    for (const call of aggregatesIn(item.expression)) {
      const value = this.direct(call, child, parent, relationship);
      if (!value) return undefined;
      replaced.set(call, value);
    }
    if (readsOf([item.expression], child, new Set(replaced.keys())).length > 0) return undefined;
    return replaceIn(item.expression, replaced);
  }

  /** An aggregate over all children of one parent, those without children included. */
  private direct(
    call: BoundAggregate,
    child: BoundSource,
    parent: BoundSource,
    relationship: Relationship,
  ): BoundExpression | undefined {
    const field = this.fieldFor(call, child, relationship);
    if (!field) return undefined;
    const column = this.column(parent, field, false);
    return field.aggregate === 'count'
      ? { kind: 'call', name: 'coalesce', args: [column, integer(0n)] }
      : column;
  }

  /** The stored aggregate that a call over a child's rows equals, apart from the grouping. */
  private fieldFor(
    { name, args, distinct, filter, orderBy }: BoundAggregate,
    child: BoundSource,
    relationship: Relationship,
  ): ComputedField | undefined {
    if (distinct || filter || orderBy.length > 0 || args.length > 1) return undefined;
    const [argument] = args;
    if (name === 'count' && (!argument || argument.kind === 'literal'))
      return argument?.kind === 'literal' && argument.value === null
        ? undefined
        : this.find(relationship, 'count');
    if (
      argument?.kind !== 'column' ||
      argument.source !== child ||
      columnOf(argument).collation !== 'BINARY'
    )
      return undefined;
    const column = columnOf(argument).name;
    if (name === 'count')
      return (
        this.find(relationship, 'count', column) ??
        (this.isNeverNull(relationship.childTable, column)
          ? this.find(relationship, 'count')
          : undefined)
      );
    return name === 'sum' || name === 'avg' || name === 'min' || name === 'max'
      ? this.find(relationship, name, column)
      : undefined;
  }

  private exists(
    { query }: BoundExists,
    outer: readonly BoundSource[],
  ): BoundExpression | undefined {
    const { body } = query;
    if (body.kind !== 'select' || body.aggregated || query.limit || query.offset) return undefined;
    const found = this.childrenOf(body, outer);
    const field = found && this.find(found.relationship, 'count');
    return found && field && isPositive(this.column(found.parent, field, false));
  }

  /** `parent.id IN (SELECT child.parent_id FROM child)`. */
  private membership(
    { operands, negated, query, affinities, collations }: BoundInQuery,
    outer: readonly BoundSource[],
  ): BoundExpression | undefined {
    const [operand] = operands;
    const { body } = query;
    if (
      body.kind !== 'select' ||
      body.aggregated ||
      body.where ||
      query.limit ||
      query.offset ||
      body.from?.kind !== 'source' ||
      operands.length !== 1 ||
      operand?.kind !== 'column'
    )
      return undefined;
    const [item] = body.items;
    const child = body.from.source;
    if (
      child.content.kind !== 'table' ||
      item?.expression.kind !== 'column' ||
      !outer.includes(operand.source) ||
      affinities.length !== 1 ||
      collations[0] !== 'BINARY'
    )
      return undefined;
    const name = columnOf(item.expression).name;
    for (const { relationship } of this.stored) {
      const [from, to] = [relationship.childColumns[0] ?? '', relationship.parentColumns[0] ?? ''];
      if (
        relationship.childColumns.length !== 1 ||
        !isTable(child, relationship.childTable) ||
        !isTable(operand.source, relationship.parentTable) ||
        !sameName(name, from) ||
        !sameName(columnOf(operand).name, to)
      )
        continue;
      // NOT IN is null, not true, as soon as the list has a null.
      if (relationship.nullKeys > 0) continue;
      const field = this.find(relationship, 'count');
      if (!field) continue;
      const some = isPositive(this.column(operand.source, field, false));
      return negated ? { kind: 'not', operand: some } : some;
    }
    return undefined;
  }

  /** FROM is one child table, WHERE is nothing but its join to a parent outside. */
  private childrenOf(body: BoundSelect, outer: readonly BoundSource[]): Pair | undefined {
    if (body.from?.kind !== 'source') return undefined;
    const child = body.from.source;
    for (const parent of outer) {
      const found = this.pairOf(child, parent, conjuncts(body.where));
      if (found && found.rest.length === 0) return found;
    }
    return undefined;
  }

  private pairOf(
    child: BoundSource,
    parent: BoundSource,
    conditions: readonly BoundExpression[],
  ): Pair | undefined {
    for (const { relationship, field } of this.stored) {
      if (
        !isTable(child, relationship.childTable) ||
        !isTable(parent, relationship.parentTable) ||
        child === parent
      )
        continue;
      const used = field.join.map((join) =>
        conditions.find((condition) =>
          equates(
            condition,
            child.id,
            join.child,
            (other) => other.source === parent && sameName(columnOf(other).name, join.parent),
          ),
        ),
      );
      if (used.some((condition) => condition === undefined)) continue;
      return {
        child,
        parent,
        relationship,
        rest: conditions.filter((condition) => !used.includes(condition)),
      };
    }
    return undefined;
  }

  // ---- joins with the children
  // --------------------------------------------------------------------------------

  private dropChild(unit: Unit): object | undefined {
    const { select, orderBy } = unit;
    if (!select.from || (!select.aggregated && !select.distinct)) return undefined;
    const outputs = [
      ...select.items.map(({ expression }) => expression),
      ...(select.having ? [select.having] : []),
      ...orderBy.flatMap(({ key }) => (key.kind === 'expression' ? [key.expression] : [])),
    ];
    if (outputs.some((expression) => !windowsIn(expression).next().done)) return undefined;
    for (const { from, pair: joined, isLeft } of this.joins(select)) {
      const replaced = this.aggregates(outputs, joined, select, isLeft);
      const present = isLeft || !replaced ? undefined : this.someChild(joined, select);
      if (!replaced || (!isLeft && !present)) continue;
      const kept = [...joined.rest, ...(isLeft ? conjuncts(select.where) : [])];
      // The child's own key can be read from the parent, whose key it equals.
      const others = readsOf(
        [outputs, select.groupBy, kept],
        joined.child,
        new Set(replaced.keys()),
      );
      const keys = others.map((column) => (isLeft ? undefined : this.parentKey(column, joined)));
      if (keys.some((key) => key === undefined)) continue;
      others.forEach((column, index) => replaced.set(column, keys[index]!));
      const where = allOf([
        ...kept.map((condition) => replaceIn(condition, replaced)),
        ...(present ? [present] : []),
      ]);
      const items = select.items.map(({ name, expression }) => ({
        name:
          expression.kind === 'column' || /^[A-Za-z_][\w ]*$/.test(name)
            ? name
            : describeExpression(expression),
        expression: replaceIn(expression, replaced),
      }));
      const rewritten: BoundSelect = {
        ...select,
        from,
        where,
        items,
        groupBy: replaceIn(select.groupBy, replaced),
        having: select.having && replaceIn(select.having, replaced),
      };
      return unit.put(rewritten, replaceIn(orderBy, replaced));
    }
    return undefined;
  }

  private *joins(
    select: BoundSelect,
  ): Generator<{ readonly from: BoundFrom; readonly pair: Pair; readonly isLeft: boolean }> {
    const { from } = select;
    if (!from) return;
    if (from.kind === 'join' && from.join === 'LEFT' && from.right.kind === 'source') {
      const child = from.right.source;
      for (const parent of flattenInner(from.left)?.sources ?? []) {
        const found = this.pairOf(child, parent, conjuncts(from.on));
        if (found && found.rest.length === 0) yield { from: from.left, pair: found, isLeft: true };
      }
      return;
    }
    const inner = flattenInner(from);
    if (!inner) return;
    const conditions = [...inner.conditions, ...conjuncts(select.where)];
    for (const child of inner.sources) {
      const others = inner.sources.filter((source) => source !== child);
      for (const parent of others) {
        const found = this.pairOf(child, parent, conditions);
        if (found) yield { from: joinedAgain(others), pair: found, isLeft: false };
      }
      const alone =
        others.length === 0 && select.groupBy.length > 0
          ? this.withParent(child, conditions)
          : undefined;
      if (alone)
        yield { from: { kind: 'source', source: alone.parent }, pair: alone, isLeft: false };
    }
  }

  /**
   * A child table by itself, when each of its rows has its parent: the parents with children are
   * its groups.
   */
  private withParent(child: BoundSource, rest: readonly BoundExpression[]): Pair | undefined {
    for (const { relationship } of this.stored) {
      if (
        !isTable(child, relationship.childTable) ||
        relationship.selfReference ||
        !isTotal(relationship) ||
        !relationship.sameStorage ||
        relationship.childColumns.length !== 1
      )
        continue;
      const table = this.catalog.tables.find(({ name }) =>
        sameName(name, relationship.parentTable),
      );
      if (!table) continue;
      const ids: number[] = [];
      walkBound(this.query, (node) => {
        const { source } = node as { source?: BoundSource };
        if (source) ids.push(source.id);
      });
      const parent: BoundSource = {
        id: Math.max(child.id, ...ids) + 1,
        name: table.name,
        content: { kind: 'table', table },
        columns: table.columns,
      };
      return { child, parent, relationship, rest };
    }
    return undefined;
  }

  private parentKey(
    column: BoundColumn | BoundRowid,
    { child, parent, relationship }: Pair,
  ): BoundColumn | undefined {
    const at =
      column.kind === 'column'
        ? relationship.childColumns.findIndex((name) => sameName(name, columnOf(column).name))
        : -1;
    const index = parent.columns.findIndex(({ name }) =>
      sameName(name, relationship.parentColumns[at] ?? ''),
    );
    return relationship.sameStorage && column.source === child && at >= 0 && index >= 0
      ? { kind: 'column', source: parent, index }
      : undefined;
  }

  /** An inner join keeps parents that have children: the condition that says so. */
  private someChild(
    { parent, relationship }: Pair,
    select: BoundSelect,
  ): BoundExpression | undefined {
    const count = this.find(relationship, 'count');
    // A global aggregate of a parent's columns alone would be multiplied by its children.
    return count && (select.aggregated || select.distinct)
      ? isPositive(this.column(parent, count, true))
      : undefined;
  }

  /**
   * For each aggregate what it becomes once the child is gone; undefined where one cannot be had.
   */
  private aggregates(
    outputs: readonly BoundExpression[],
    joined: Pair,
    select: BoundSelect,
    isLeft: boolean,
  ): Map<object, object> | undefined {
    const replaced = new Map<object, object>();
    const { child, parent, relationship } = joined;
    const alone = sourcesOf(select.from).every((source) => source === child || source === parent);
    const oneRow =
      alone &&
      select.groupBy.some(
        (key) =>
          key.kind === 'column' &&
          (isKeyOf(key, parent, relationship.parentColumns) ||
            (!isLeft && isKeyOf(key, child, relationship.childColumns))),
      );
    for (const call of outputs.flatMap((expression) => [...aggregatesIn(expression)])) {
      const [argument] = call.args;
      const ofOther = argument?.kind === 'column' && argument.source !== child;
      if (
        ofOther &&
        (call.name === 'min' || call.name === 'max' || (call.distinct && call.name === 'count')) &&
        !call.filter &&
        call.orderBy.length === 0
      )
        continue;
      const counted =
        ofOther &&
        argument.source.content.kind === 'table' &&
        this.isNeverNull(argument.source.content.table.name, columnOf(argument).name) &&
        call.name === 'count' &&
        !call.distinct &&
        !call.filter;
      const field = counted
        ? this.find(relationship, 'count')
        : this.fieldFor(call, child, relationship);
      if (!field || (field.aggregate === 'avg' && !oneRow)) return undefined;
      const column = this.column(parent, field, !isLeft);
      const ofRows =
        call.name === 'count' &&
        (call.args.length === 0 || argument?.kind === 'literal' || counted);
      const value =
        isLeft && ofRows
          ? ({ kind: 'call', name: 'max', args: [column, integer(1n)] } as const)
          : column;
      const whole =
        field.aggregate === 'count' || field.aggregate === 'sum'
          ? aggregate('sum', value)
          : aggregate(field.aggregate, value);
      // A sum of no rows is null, a count of none is 0.
      replaced.set(
        call,
        field.aggregate === 'count' && select.groupBy.length === 0
          ? { kind: 'call', name: 'coalesce', args: [whole, integer(0n)] }
          : whole,
      );
    }
    return replaced;
  }
}

const pair = (node: object, value: object | undefined): [object, object] | undefined =>
  value && [node, value];

const isTable = ({ content }: BoundSource, name: string): boolean =>
  content.kind === 'table' && sameName(content.table.name, name);

const isKeyOf = (column: BoundColumn, source: BoundSource, key: readonly string[]): boolean =>
  column.source === source && key.length === 1 && sameName(columnOf(column).name, key[0] ?? '');

/** Every SELECT of the tree, innermost ones too, with the ORDER BY that belongs to it. */
function unitsOf(query: BoundQuery): Unit[] {
  const units: Unit[] = [];
  const inQueries = new Set<unknown>();
  walkBound({ root: query }, (node) => {
    const { body, kind } = node as { body?: BoundQuery['body']; kind?: unknown };
    if (body?.kind === 'select') {
      const whole = node as BoundQuery;
      inQueries.add(body);
      units.push({
        select: body,
        orderBy: whole.orderBy,
        node: whole,
        put: (select, orderBy): BoundQuery => ({ ...whole, body: select, orderBy }),
      });
    } else if (kind === 'select' && !inQueries.has(node)) {
      units.push({ select: node as BoundSelect, orderBy: [], node, put: (select) => select });
    }
  });
  return units;
}

/** Sources and conditions of inner joins; undefined with an outer join among them. */
function flattenInner(
  from: BoundFrom | undefined,
):
  | { readonly sources: readonly BoundSource[]; readonly conditions: readonly BoundExpression[] }
  | undefined {
  if (!from) return { sources: [], conditions: [] };
  if (from.kind === 'source') return { sources: [from.source], conditions: [] };
  const [left, right] = [flattenInner(from.left), flattenInner(from.right)];
  if (from.join !== 'INNER' || !left || !right) return undefined;
  return {
    sources: [...left.sources, ...right.sources],
    conditions: [...left.conditions, ...right.conditions, ...conjuncts(from.on)],
  };
}

const joinedAgain = (sources: readonly BoundSource[]): BoundFrom =>
  sources
    .map((source): BoundFrom => ({ kind: 'source', source }))
    .reduce((left, right) => ({ kind: 'join', join: 'INNER', left, right, on: undefined }));

/** Reads of a source in a part of the tree, subqueries included, the nodes to skip left out. */
function readsOf(
  part: unknown,
  source: BoundSource,
  skip: ReadonlySet<object>,
): (BoundColumn | BoundRowid)[] {
  const found: (BoundColumn | BoundRowid)[] = [];
  walkBound(
    part,
    (node) => {
      const { kind, source: of } = node as { kind?: unknown; source?: unknown };
      if ((kind === 'column' || kind === 'rowid') && of === source)
        found.push(node as BoundColumn | BoundRowid);
    },
    skip,
  );
  return found;
}
