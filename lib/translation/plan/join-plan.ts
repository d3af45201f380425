import { columnPath, placementOf, type Placement } from '../../design/model/placement';
import type { DocumentDesign } from '../../design/model/document-design';
import type { Profile } from '../../sqlite/profile/profile';
import { sameName } from '../../sqlite/catalog';
import {
  columnOf,
  type BoundColumn,
  type BoundExpression,
  type BoundSource,
} from '../../sqlite/select/bound';
import { hasSubquery, sourcesRead } from '../../sqlite/select/bound-references';
import { servingCopies, type ServingCopy } from './copied-source';
import type { FlatSource } from './flatten-from';
import { keptChildren, type KeptChildren } from './outlier-source';
import { Untranslatable } from '../lower/untranslated';
import { under } from '../mql/pipeline-paths';

/** How one more source comes into the rows. */
export type Attachment =
  /** The collection that the pipeline starts from, its arrays unwound down to the source's rows. */
  | { readonly kind: 'root'; readonly entry: FlatSource }
  /** The row is an ancestor of one that is there: nothing to do. */
  | {
      readonly kind: 'ancestor';
      readonly entry: FlatSource;
      readonly base: string;
      readonly used: readonly BoundExpression[];
    }
  /** The rows are embedded in one that is there. */
  | {
      readonly kind: 'embedded';
      readonly entry: FlatSource;
      readonly base: string;
      readonly used: readonly BoundExpression[];
    }
  /** What is read of the row is beside the reference that points to it, in a row that is there. */
  | {
      readonly kind: 'copied';
      readonly entry: FlatSource;
      readonly copy: ServingCopy;
      readonly of: number;
      readonly used: readonly BoundExpression[];
    }
  | { readonly kind: 'lookup'; readonly entry: FlatSource; readonly kept?: KeptBy };

/**
 * What is read of the rows is in arrays of rows that are there, but for the children of outliers.
 */
export interface KeptBy {
  readonly children: KeptChildren;
  /** The parents' source. */
  readonly of: number;
  /** The join. */
  readonly used: BoundExpression;
}

/**
 * What a plan may use: the design, what the data is like, and the columns that the query reads of
 * each source.
 */
export interface JoinContext {
  readonly design: DocumentDesign;
  readonly profile: Profile;
  /**
   * Whether the query, its join conditions aside, reads nothing of a source but columns for which
   * the test holds.
   */
  readonly readsOnly: (
    source: BoundSource,
    join: readonly BoundExpression[],
    has: (column: string) => boolean,
  ) => boolean;
}

interface Placed {
  readonly placement: Placement | undefined;
  readonly base: string;
  /** The row may be missing: the source is the inner side of a left join. */
  readonly optional: boolean;
}

interface State {
  readonly placed: Map<number, Placed>;
  /**
   * Arrays that are unwound already, as full paths: an array can be unwound for one source only.
   */
  readonly unwound: Set<string>;
}

/**
 * Chooses the collection to start from and the order in which the sources join, so that as little
 * as possible needs a `$lookup`: what the design embeds is already there.
 */
export function planJoins(
  sources: readonly FlatSource[],
  conditions: readonly BoundExpression[],
  context: JoinContext,
): readonly Attachment[] {
  const placements = new Map(
    sources.map(({ source }) => [source.id, placementFor(source, context.design)]),
  );
  let best: { plan: Attachment[]; cost: number } | undefined;
  for (const root of sources) {
    if (root.on) continue;
    const found = growFrom(root, sources, conditions, placements, context);
    if (found && (!best || found.cost < best.cost)) best = found;
  }
  if (!best) throw new Untranslatable('full_join', 'no source that every other could join');
  return best.plan;
}

function placementFor(source: BoundSource, design: DocumentDesign): Placement | undefined {
  if (source.content.kind === 'recursive')
    throw new Untranslatable('recursive', source.content.name);
  if (source.content.kind === 'query') return undefined;
  const placement = placementOf(design, source.content.table.name);
  if (!placement)
    throw new Untranslatable(
      'not_placed',
      `the design has no place for ${source.content.table.name}`,
    );
  return placement;
}

/**
 * Stands for the field of a source's `$lookup` until the root, and with it the free names, is
 * known.
 */
export const lookupBase = (source: BoundSource): string => `#${String(source.id)}`;

const COST = { ancestor: 0, copied: 0.5, embedded: 1, root: 0, lookup: 10 } as const;
/** What a lookup costs less where only outliers' children have to be found. */
const KEPT = 1;

function growFrom(
  root: FlatSource,
  sources: readonly FlatSource[],
  conditions: readonly BoundExpression[],
  placements: ReadonlyMap<number, Placement | undefined>,
  context: JoinContext,
): { plan: Attachment[]; cost: number } | undefined {
  const state: State = { placed: new Map(), unwound: new Set() };
  const plan: Attachment[] = [];
  let cost = 0;
  const add = (attachment: Attachment): void => {
    const { source } = attachment.entry;
    // A copy is not the row: nothing is embedded in it, and no array leads to it.
    const placement = attachment.kind === 'copied' ? undefined : placements.get(source.id);
    const base = baseOf(attachment);
    state.placed.set(source.id, { placement, base, optional: attachment.entry.on !== undefined });
    for (const step of placement?.steps ?? []) state.unwound.add(under(base, step.path));
    cost +=
      COST[attachment.kind] + (attachment.kind === 'root' ? (placement?.steps.length ?? 0) : 0);
    // A derived table looked up runs once for each row; embedded rows are unwound and compared for
    // each row.
    const isEmbedded = placement !== undefined && placement.steps.length > 0;
    if (attachment.kind === 'lookup') cost += placement ? Number(isEmbedded) * 8 : 5;
    plan.push(attachment);
  };
  add({ kind: 'root', entry: root });
  const waiting = sources.filter((entry) => entry !== root);
  while (waiting.length > 0) {
    const ready = waiting.filter((entry) => isReady(entry, state));
    const attachments = ready.map((entry) => attach(entry, conditions, placements, state, context));
    const next = attachments.sort(
      (a, b) => rank(a, conditions, state) - rank(b, conditions, state),
    )[0];
    if (!next) return undefined;
    add(next);
    waiting.splice(waiting.indexOf(next.entry), 1);
  }
  const kept = plan.map((attachment) =>
    attachment.kind === 'lookup' && attachment.kept && isReadOf(attachment.entry.source, plan)
      ? { kind: attachment.kind, entry: attachment.entry }
      : attachment,
  );
  // Where a condition finds few of the children, those are the better start.
  const spared = kept.filter(
    (attachment) =>
      attachment.kind === 'lookup' &&
      attachment.kept &&
      !conditions.some((condition) => isOnly(condition, attachment.entry.source)),
  );
  return { plan: kept, cost: cost - spared.length * KEPT };
}

/** Other sources are found in the documents of this one: its columns alone will not do. */
const isReadOf = (source: BoundSource, plan: readonly Attachment[]): boolean =>
  plan.some(
    (attachment) =>
      ('base' in attachment && attachment.base === lookupBase(source)) ||
      (attachment.kind === 'copied' && attachment.of === source.id) ||
      (attachment.kind === 'lookup' && attachment.kept?.of === source.id),
  );

const isOnly = (condition: BoundExpression, source: BoundSource): boolean => {
  const read = sourcesRead(condition);
  return read.size === 1 && read.has(source.id);
};

// A left join waits for the rows that its condition reads.
const isReady = ({ source, on }: FlatSource, { placed }: State): boolean =>
  !on ||
  on.every((condition) =>
    [...sourcesRead(condition)].every((id) => id === source.id || placed.has(id)),
  );

function rank(
  attachment: Attachment,
  conditions: readonly BoundExpression[],
  state: State,
): number {
  const left = attachment.entry.on ? 0.5 : 0;
  if (attachment.kind !== 'lookup') return COST[attachment.kind] + left;
  // A source without a condition to what is there would give a product: later it may have one.
  const { source, on } = attachment.entry;
  const linked = (on ?? conditions).some((condition) => {
    const read = sourcesRead(condition);
    return (
      read.has(source.id) &&
      read.size > 1 &&
      [...read].every((id) => id === source.id || state.placed.has(id))
    );
  });
  return COST.lookup + left + (linked ? 0 : 5);
}

function attach(
  entry: FlatSource,
  conditions: readonly BoundExpression[],
  placements: ReadonlyMap<number, Placement | undefined>,
  state: State,
  context: JoinContext,
): Attachment {
  const placement = placements.get(entry.source.id);
  if (placement) {
    const usable = entry.on ?? conditions;
    for (const [otherId, other] of state.placed) {
      if (other.placement?.collection !== placement.collection) continue;
      const otherPlacement = other.placement;
      const ancestor = asAncestor(
        entry,
        placement,
        otherId,
        otherPlacement,
        other.base,
        usable,
        state,
      );
      if (ancestor) return ancestor;
      const embedded = asEmbedded(entry, placement, otherPlacement, other.base, usable, state);
      if (embedded) return embedded;
    }
    const copied = asCopied(entry, conditions, state, context);
    if (copied) return copied;
    const kept = asKept(entry, placement, conditions, state, context);
    if (kept) return { kind: 'lookup', entry, kept };
  }
  return { kind: 'lookup', entry };
}

/** Rows that are there keep the source's rows, with all that is read of them but the join. */
function asKept(
  { source, on }: FlatSource,
  placement: Placement,
  conditions: readonly BoundExpression[],
  { placed }: State,
  { profile, readsOnly }: JoinContext,
): KeptBy | undefined {
  for (const [of, parent] of placed) {
    if (!parent.placement || parent.optional) continue;
    for (const children of keptChildren(placement, parent.placement, profile)) {
      const used = (on ?? conditions).find((condition) =>
        equates(
          condition,
          source.id,
          children.childColumn,
          (column) =>
            column.source.id === of && sameName(columnOf(column).name, children.parentColumn),
        ),
      );
      // A further condition of a left join would have to be tested in both places.
      if (
        used &&
        !(on && on.length > 1) &&
        readsOnly(source, [used], (column) => children.has(column))
      )
        return { children, of, used };
    }
  }
  return undefined;
}

/**
 * `other` lies below the source's rows, and the join condition is the one by which it was embedded.
 */
function asAncestor(
  entry: FlatSource,
  placement: Placement,
  otherId: number,
  other: Placement,
  base: string,
  usable: readonly BoundExpression[],
  state: State,
): Attachment | undefined {
  const depth = placement.steps.length;
  const step = other.steps[depth];
  if (!step || !samePath(placement, other, depth)) return undefined;
  const used: BoundExpression[] = [];
  for (const { parent, child } of step.join) {
    const parentPath = columnPath(placement, parent)?.path;
    const found = usable.find((condition) =>
      equates(condition, entry.source.id, parent, (column) => {
        const where = state.placed.get(column.source.id);
        // Where the child is missing its parent's fields are there all the same.
        if (
          where?.base !== base ||
          where.optional ||
          where.placement?.collection !== placement.collection
        )
          return false;
        if (
          column.source.id === otherId &&
          other.steps.length === depth + 1 &&
          sameName(columnOf(column).name, child)
        )
          return true;
        return (
          columnPath(where.placement, columnOf(column).name)?.path === parentPath &&
          isOnChain(where.placement, other)
        );
      }),
    );
    if (!found) return undefined;
    used.push(found);
  }
  // A left join to a parent that always exists keeps only rows that match; a further condition
  // would have to undo that.
  if (entry.on && entry.on.length > used.length) return undefined;
  return { kind: 'ancestor', entry, base, used };
}

/**
 * The source's rows are embedded in rows that are there, and the join condition is the one of the
 * embedding.
 */
function asEmbedded(
  entry: FlatSource,
  placement: Placement,
  other: Placement,
  base: string,
  usable: readonly BoundExpression[],
  state: State,
): Attachment | undefined {
  const depth = placement.steps.length - 1;
  const step = placement.steps[depth];
  if (!step || other.steps.length < depth || !samePath(placement, other, depth)) return undefined;
  if (step.kind === 'embedMany' && state.unwound.has(under(base, step.path))) return undefined;
  const parentPlacement: Placement = {
    ...placement,
    table: step.parentTable,
    steps: placement.steps.slice(0, depth),
  };
  const used: BoundExpression[] = [];
  for (const { parent, child } of step.join) {
    const parentPath = columnPath(parentPlacement, parent)?.path;
    const found = usable.find((condition) =>
      equates(condition, entry.source.id, child, (column) => {
        const where = state.placed.get(column.source.id);
        if (where?.base !== base || where.placement?.collection !== placement.collection)
          return false;
        const isParent =
          where.placement.steps.length === depth && samePath(where.placement, placement, depth);
        if (where.optional && !isParent) return false;
        return (
          columnPath(where.placement, columnOf(column).name)?.path === parentPath &&
          parentPath !== undefined
        );
      }),
    );
    if (!found) return undefined;
    used.push(found);
  }
  // An entry is filtered by an expression, in which no subquery can run.
  if (entry.on?.some((condition) => !used.includes(condition) && hasSubquery(condition)))
    return undefined;
  return { kind: 'embedded', entry, base, used };
}

/**
 * A row that is there refers to the source's row by a unique key, and carries whatever the query
 * reads of it.
 */
function asCopied(
  entry: FlatSource,
  conditions: readonly BoundExpression[],
  state: State,
  { design, profile, readsOnly }: JoinContext,
): Attachment | undefined {
  const { source, on } = entry;
  if (source.content.kind !== 'table') return undefined;
  for (const [of, { placement }] of state.placed) {
    if (!placement) continue;
    for (const copy of servingCopies(source.content.table.name, placement, design, profile)) {
      const used = copy.join.map(({ parent, child }) =>
        (on ?? conditions).find((condition) =>
          equates(
            condition,
            source.id,
            parent,
            (column) => column.source.id === of && sameName(columnOf(column).name, child),
          ),
        ),
      );
      if (!used.every((condition) => condition !== undefined) || used.length === 0) continue;
      // A further condition of a left join would have to empty the copy.
      if (on && on.length > used.length) continue;
      if (readsOnly(source, used, (column) => copy.has(column)))
        return { kind: 'copied', entry, copy, of, used };
    }
  }
  return undefined;
}

const samePath = (a: Placement, b: Placement, depth: number): boolean =>
  a.steps.slice(0, depth).every((step, index) => b.steps[index]?.path === step.path);

// A sibling array's entry holds the same ancestor only through the levels that both share.
const isOnChain = (placement: Placement, other: Placement): boolean => {
  const [shorter, longer] =
    placement.steps.length < other.steps.length ? [placement, other] : [other, placement];
  return samePath(shorter, longer, Math.max(0, shorter.steps.length - 1));
};

/** Is the condition `source.column = x`, with an `x` that the test accepts? */
export function equates(
  condition: BoundExpression,
  source: number,
  column: string,
  test: (other: BoundColumn) => boolean,
): boolean {
  if (
    condition.kind !== 'compare' ||
    condition.operator !== '=' ||
    condition.nullSafe ||
    condition.collation !== 'BINARY'
  )
    return false;
  const { left, right } = condition;
  if (left.kind !== 'column' || right.kind !== 'column') return false;
  const is = (side: BoundColumn): boolean =>
    side.source.id === source && sameName(columnOf(side).name, column);
  return (is(left) && test(right)) || (is(right) && test(left));
}

/** Path at which the rows of a source are found once it is attached. */
function baseOf(attachment: Attachment): string {
  if (attachment.kind === 'lookup' || attachment.kind === 'copied')
    return lookupBase(attachment.entry.source);
  return attachment.kind === 'root' ? '' : attachment.base;
}
