import { sameName } from '../../sqlite/catalog';
import {
  columnProfile,
  rowCount,
  type Profile,
  type Relationship,
} from '../../sqlite/profile/profile';
import {
  type BlockColumn,
  type BlockSource,
  type QueryBlock,
} from '../../sqlite/select/query-blocks';
import { aggregatesByParent } from '../patterns/computed';
import { addCosts, NO_COST, score, type Cost } from '../model/score';
import {
  entryPaths,
  type AttributeField,
  type ComputedField,
  type CopyField,
  type DocumentDesign,
  type ExtendedReferenceField,
  type IndexDesign,
  type OutlierField,
  type SubsetField,
} from '../model/document-design';
import { forecastCollections, type CollectionForecast } from '../limits/forecast';
import { blockEstimates, type BlockLink } from './block-estimates';
import { outliersOf, type Outliers } from '../model/outlier-share';
import { childReads } from '../patterns/outliers';
import { columnPath, copiesOf, placementOf, type Placement } from '../model/placement';
import { leadsWith, topRows } from '../patterns/subsets';
import type { Workload } from '../model/workload';

/**
 * Rows that a condition lets through when nothing tells more: a range, and what no index serves.
 */
const RANGE_SHARE = 1 / 3;
const OTHER_SHARE = 1 / 3;

/** Estimates one design; what it derives from the design is derived once. */
export class CostModel {
  private readonly placements: ReadonlyMap<string, Placement>;
  private readonly collections: ReadonlyMap<string, CollectionForecast>;
  private readonly estimated = new WeakMap<QueryBlock, Cost>();
  private readonly indexTexts = new Map<string, string>();

  constructor(
    private readonly design: DocumentDesign,
    /**
     * `ideal`: whatever an index could serve is served, as when designs are compared before indexes
     * are chosen.
     */
    private readonly indexes: IndexDesign | 'ideal',
    private readonly profile: Profile,
    like?: CostModel,
  ) {
    this.placements =
      like?.placements ??
      new Map(
        profile.tables.flatMap(({ table }) => {
          const placement = placementOf(design, table);
          return placement ? [[table, placement] as const] : [];
        }),
      );
    this.collections =
      like?.collections ??
      new Map(
        forecastCollections(design, profile).map((forecast) => [forecast.collection, forecast]),
      );
  }

  /** The same design with other indexes. */
  withIndexes(indexes: IndexDesign): CostModel {
    return new CostModel(this.design, indexes, this.profile, this);
  }

  /** The sum over the workload's queries, each as often as it is asked. */
  workload(workload: Workload): Cost {
    return workload.patterns.reduce(
      (sum, pattern) =>
        pattern.variants.reduce(
          (inner, { blocks, questionIds }) =>
            addCosts(inner, this.query(blocks), questionIds.length),
          sum,
        ),
      NO_COST,
    );
  }

  query(blocks: readonly QueryBlock[]): Cost {
    return blocks.reduce((sum, block) => addCosts(sum, this.block(block)), NO_COST);
  }

  /**
   * The cheapest way to bring the block's tables together: first with few lookups, then with few
   * documents.
   */
  block(block: QueryBlock): Cost {
    const known = this.estimated.get(block);
    if (known) return known;
    const placements = block.sources.map(({ table }) => this.placements.get(table));
    const indexes = placements.map((placement) => this.indexText(placement?.collection));
    const cost = blockEstimates(block, this.profile).estimate({ placements, indexes }, () =>
      this.estimate(block),
    );
    this.estimated.set(block, cost);
    return cost;
  }

  private indexText(collection: string | undefined): string {
    if (this.indexes === 'ideal' || collection === undefined) return '';
    const known =
      this.indexTexts.get(collection) ??
      JSON.stringify((this.indexes[collection] ?? []).map(({ key }) => Object.keys(key)));
    this.indexTexts.set(collection, known);
    return known;
  }

  private estimate(block: QueryBlock): Cost {
    const all = block.sources.map((_, index) => index);
    const stored = this.withoutComputed(block, all);
    const costs = [all, ...(stored ? [stored] : [])].map((sources) =>
      this.cheapest(block, sources),
    );
    const first = this.withSubset(block);
    if (first) costs.push(first);
    return costs.reduce(
      (best, cost) => (score(cost) < score(best) ? cost : best),
      costs[0] ?? NO_COST,
    );
  }

  private cheapest(block: QueryBlock, sources: readonly number[]): Cost {
    const plans = sources.map((root) => new Plan(this, block, sources, root).cost());
    return (
      plans.sort((a, b) => a.joined - b.joined || score(a.cost) - score(b.cost))[0]?.cost ?? NO_COST
    );
  }

  placement(table: string): Placement | undefined {
    return this.placements.get(table);
  }

  forecast(collection: string): CollectionForecast {
    const found = this.collections.get(collection);
    if (!found) throw new Error(`the design has no collection ${collection}`);
    return found;
  }

  rows(table: string): number {
    return rowCount(this.profile, table);
  }

  /** Rows of a table for each value of a column (null counts as one). */
  rowsPerValue(table: string, column: string): number {
    const found = columnProfile(this.profile, table, column);
    return (
      this.rows(table) /
      Math.max(1, (found?.distinct ?? 1) + (found && found.stored.null > 0 ? 1 : 0))
    );
  }

  /**
   * Rows that have the value a question names. Questions name values that are there, frequent ones
   * more often: a value drawn with its row, not one drawn among the distinct ones.
   */
  rowsForConstant(table: string, column: string): number {
    const found = columnProfile(this.profile, table, column);
    const filled = found ? this.rows(table) - found.stored.null : 0;
    if (!found || filled === 0) return 0;
    const top = found.topValues.map(({ count }) => count);
    const rest = filled - top.reduce((sum, count) => sum + count, 0);
    const others = Math.max(1, found.distinct - top.length);
    return (
      (top.reduce((sum, count) => sum + count * count, 0) +
        (rest > 0 ? (rest * rest) / others : 0)) /
      filled
    );
  }

  /**
   * Documents that hold so many rows with one value of a column: a bucket keeps those together that
   * share what it is by.
   */
  holders(table: string, column: string, rows: number): number {
    const placement = this.placements.get(table);
    if (
      placement?.logical.id.kind !== 'bucket' ||
      !placement.logical.id.columns.some((shared) => sameName(shared, column))
    )
      return rows;
    return Math.min(
      rows,
      Math.max(
        1,
        (rows * this.forecast(placement.collection).documents) / Math.max(1, this.rows(table)),
      ),
    );
  }

  /** The share of a table's rows that a source's conditions let through. */
  share({ table, equality, range, other }: BlockSource): number {
    const rows = Math.max(1, this.rows(table));
    return (
      equality.reduce((share, column) => share * (this.rowsForConstant(table, column) / rows), 1) *
      RANGE_SHARE ** range.length *
      OTHER_SHARE ** other.filter((column) => !range.includes(column)).length
    );
  }

  links(block: QueryBlock, source: number): ReadonlyMap<number, readonly BlockLink[]> {
    return blockEstimates(block, this.profile).linksOf(source);
  }

  /** Those between tables of a block. */
  relationships(block: QueryBlock): readonly Relationship[] {
    return blockEstimates(block, this.profile).relationships;
  }

  /**
   * The keys by which an index finds documents, `_id` among them; whatever helps, where indexes are
   * ideal.
   */
  indexKeys(collection: string, wanted: readonly string[]): readonly (readonly string[])[] {
    return [
      ['_id'],
      ...(this.indexes === 'ideal'
        ? [wanted]
        : (this.indexes[collection] ?? []).map(({ key }) => Object.keys(key))),
    ];
  }

  /**
   * The names and values of a table's own columns, where its documents hold them with the index
   * that they are for.
   */
  attribute(table: string): AttributeField | undefined {
    const placement = this.placements.get(table);
    if (!placement || placement.steps.length > 0) return undefined;
    return this.copies(table).find((field): field is AttributeField => {
      if (field.kind !== 'attribute') return false;
      const [k, v] = entryPaths(field.name);
      return (
        this.indexKeys(placement.collection, []).some((key) => key[0] === k && key[1] === v) ||
        this.indexes === 'ideal'
      );
    });
  }

  /** The extended reference of a relationship beside the rows of its child table. */
  copy(relationship: Relationship): ExtendedReferenceField | undefined {
    return this.copies(relationship.childTable).find(
      (field): field is ExtendedReferenceField =>
        field.kind === 'extendedReference' && field.relationship === relationship.id,
    );
  }

  /**
   * Where the parents keep all that a block reads of their children, but for those that have too
   * many: how many do, and their children.
   */
  keptChildren(block: QueryBlock, child: number, parent: number): Outliers | undefined {
    for (const relationship of this.relationships(block)) {
      const kept = this.copies(relationship.parentTable).find(
        (field): field is OutlierField =>
          field.kind === 'outlier' && field.relationship === relationship.id,
      );
      const columns = kept && childReads(block, relationship, child, parent);
      if (
        kept &&
        columns?.every((column) => kept.fields.some((field) => sameName(field.column, column)))
      )
        return outliersOf(relationship, kept.limit, this.profile);
    }
    return undefined;
  }

  private copies(table: string): readonly CopyField[] {
    const placement = this.placements.get(table);
    return placement ? copyFields(placement) : [];
  }

  /** The parents with their first children, where the block asks for no others. */
  private withSubset(block: QueryBlock): Cost | undefined {
    for (const relationship of this.relationships(block)) {
      const subset = this.copies(relationship.parentTable).find(
        (field): field is SubsetField =>
          field.kind === 'subset' && field.relationship === relationship.id,
      );
      const asked = subset && topRows(block, relationship);
      if (
        !asked ||
        asked.limit > subset.limit ||
        !leadsWith(subset.orderBy, asked.orderBy) ||
        !asked.columns.every((column) =>
          subset.fields.some((field) => sameName(field.column, column)),
        )
      )
        continue;
      const parent = block.sources.findIndex(({ table }) => table === relationship.parentTable);
      // All of the parents' first children are looked at, to find the first among them.
      const cost = this.cheapest({ ...block, limit: null, top: null, sorted: [], joins: [] }, [
        parent,
      ]);
      const parents = this.rows(relationship.parentTable) * this.share(block.sources[parent]!);
      return {
        ...cost,
        entries: cost.entries + parents * Math.min(subset.limit, relationship.fanOut.mean),
      };
    }
    return undefined;
  }

  /**
   * The parent alone, where its documents keep every aggregate over its children that the block
   * asks for.
   */
  private withoutComputed(block: QueryBlock, sources: readonly number[]): number[] | undefined {
    for (const relationship of this.relationships(block)) {
      const stored = this.copies(relationship.parentTable).filter(
        (field): field is ComputedField =>
          field.kind === 'computed' && field.relationship === relationship.id,
      );
      if (stored.length === 0) continue;
      const asked = aggregatesByParent(block, relationship);
      const isKept = ({ aggregate, column }: (typeof asked)[number]): boolean =>
        stored.some((field) => field.aggregate === aggregate && field.column === column);
      if (asked.length > 0 && asked.every(isKept))
        return sources.filter((at) => block.sources[at]!.table === relationship.parentTable);
    }
    return undefined;
  }
}

const copyFields = (placement: Placement): readonly CopyField[] =>
  copiesOf(placement).map(({ field }) => field);

interface Bound {
  /** Which fetched document the row is in: the root's, or that of a lookup. */
  readonly document: number;
  /** Where its values are copied from a reference: only these columns are there. */
  readonly copy?: { readonly relationship: Relationship; readonly holder: Placement };
}

/** One order of bringing a block's sources together, from one root. */
class Plan {
  private readonly bound = new Map<number, Bound>();
  private total: Cost = NO_COST;
  private flow = 0;
  private joined = 0;

  constructor(
    private readonly model: CostModel,
    private readonly block: QueryBlock,
    private readonly sources: readonly number[],
    private readonly root: number,
  ) {}

  cost(): { cost: Cost; joined: number } {
    const waiting = new Set(this.sources);
    const first = this.enter(this.root, 0, waiting);
    this.scan(first);
    while (waiting.size > 0) {
      const next = [...waiting].find((at) => this.linkTo(at)) ?? [...waiting][0]!;
      const link = this.linkTo(next);
      const found = this.enter(next, this.joined + 1, waiting);
      this.lookup(next, found, link);
    }
    return { cost: this.total, joined: this.joined };
  }

  /**
   * Binds a source and everything that is then there without another fetch; returns all of these.
   */
  private enter(source: number, document: number, waiting: Set<number>): number[] {
    this.bound.set(source, { document });
    waiting.delete(source);
    const entered = [source];
    for (let grown = true; grown;) {
      grown = false;
      for (const at of waiting) {
        const here = this.present(at, document);
        if (!here) continue;
        this.bound.set(at, here);
        waiting.delete(at);
        entered.push(at);
        grown = true;
      }
    }
    return entered;
  }

  /**
   * How a source's row is in the given document already: embedded with a bound row, its ancestor,
   * or copied beside it.
   */
  private present(at: number, document: number): Bound | undefined {
    for (const [other, bound] of this.bound) {
      if (bound.document !== document || bound.copy) continue;
      for (const link of this.links(at).get(other) ?? []) {
        const { relationship, child } = link;
        const childPlacement = this.model.placement(relationship.childTable);
        if (childPlacement?.steps.at(-1)?.relationship === relationship.id) return { document };
        if (child === other && childPlacement && this.isCopied(link))
          return { document, copy: { relationship, holder: childPlacement } };
      }
    }
    return undefined;
  }

  /** All that the block needs of the parent is beside the reference, or its key alone. */
  private isCopied({ relationship, needed }: BlockLink): boolean {
    const columns = this.model.copy(relationship)?.fields.map(({ column }) => column) ?? [];
    const has = (column: string): boolean =>
      [...columns, ...relationship.parentColumns].some((known) => sameName(known, column));
    return (
      relationship.parentIsKey &&
      needed.every(has) &&
      (columns.length > 0 || (relationship.orphans === 0 && relationship.nullKeys === 0))
    );
  }

  private links(at: number): ReadonlyMap<number, readonly BlockLink[]> {
    return this.model.links(this.block, at);
  }

  private scan(entered: readonly number[]): void {
    const placement = this.model.placement(this.table(this.root));
    if (!placement) return;
    const { documents: all, meanBytes } = this.model.forecast(placement.collection);
    const documents =
      this.sortedByIndex(placement, entered) ??
      Math.min(all, this.throughIndex(placement, entered, all));
    this.fetch(documents, meanBytes);
    this.unwind(entered, all === 0 ? 0 : documents / all);
    // Rows of the deepest source, thinned by every condition that is in the documents.
    const deepest = entered
      .filter((at) => !this.bound.get(at)?.copy)
      .reduce((most, at) => Math.max(most, this.model.rows(this.table(at))), 0);
    this.flow = deepest * this.shareOf(entered);
  }

  /** `$sort` and `$limit` that an index answers read no more than the limit. */
  private sortedByIndex(placement: Placement, entered: readonly number[]): number | undefined {
    const { limit, sorted, grouped, aggregates } = this.block;
    if (
      limit === null ||
      grouped.length > 0 ||
      aggregates.length > 0 ||
      entered.length < this.sources.length
    )
      return undefined;
    if (
      entered.some(
        (at) => this.shareOf([at]) < 1 || (at !== this.root && !this.bound.get(at)?.copy),
      ) ||
      placement.steps.length > 0
    )
      return undefined;
    if (sorted.length === 0) return limit;
    const paths = sorted.map(({ source, column }) => this.pathOf(source, column));
    const served = this.model
      .indexKeys(
        placement.collection,
        paths.filter((path) => path !== undefined),
      )
      .some((key) => paths.every((path, index) => path !== undefined && key[index] === path));
    return served ? limit : undefined;
  }

  /** Documents that the best index leaves to fetch; all where none serves. */
  private throughIndex(placement: Placement, entered: readonly number[], all: number): number {
    const conditions = new Map<string, { how: 'equality' | 'range'; documents: number }>();
    for (const at of entered) {
      const { equality, range, table } = this.block.sources[at]!;
      for (const [columns, how] of [
        [range, 'range'],
        [equality, 'equality'],
      ] as const) {
        for (const column of columns) {
          const path = this.pathOf(at, column);
          // A document holds a value at least once where any of its entries does.
          const rows =
            how === 'range'
              ? this.model.rows(table) * RANGE_SHARE
              : this.model.rowsForConstant(table, column);
          const copied = this.bound.get(at)?.copy;
          const holders = copied
            ? this.model.holders(
                copied.relationship.childTable,
                copied.relationship.childColumns[0]!,
                (rows / Math.max(1, this.model.rows(table))) *
                  this.model.rows(copied.relationship.childTable),
              )
            : this.model.holders(table, column, rows);
          if (path !== undefined)
            conditions.set(path, { how, documents: Math.min(all, Math.max(holders, 1)) });
        }
      }
    }
    const wanted = [...conditions]
      .sort(([, a], [, b]) => Number(a.how === 'range') - Number(b.how === 'range'))
      .map(([path]) => path);
    const shares = this.model.indexKeys(placement.collection, wanted).map((key) => {
      let share = 1;
      for (const path of key) {
        const condition = conditions.get(path);
        if (!condition) break;
        share *= all === 0 ? 0 : condition.documents / all;
        if (condition.how === 'range') break;
      }
      return share;
    });
    return all === 0
      ? 0
      : Math.max(
          Math.min(1, all),
          Math.min(all * Math.min(1, ...shares), ...this.throughAttribute(entered)),
        );
  }

  /**
   * Documents that one index over names and values finds: by one of the columns, or by any of
   * several.
   */
  private throughAttribute(entered: readonly number[]): number[] {
    return entered.flatMap((at) => {
      const { table, equality, notLiteral = [], anyOf = [] } = this.block.sources[at]!;
      const field = this.bound.get(at)?.copy ? undefined : this.model.attribute(table);
      const holds = (column: string): boolean =>
        field?.fields.some((own) => sameName(own.column, column)) ?? false;
      return [
        ...equality.filter((column) => !notLiteral.includes(column)).map((column) => [column]),
        ...anyOf,
      ]
        .filter((columns) => columns.every(holds))
        .map((columns) =>
          columns.reduce(
            (sum, column) => sum + Math.max(1, this.model.rowsForConstant(table, column)),
            0,
          ),
        );
    });
  }

  private lookup(
    target: number,
    entered: readonly number[],
    link: { own: BlockColumn; other: BlockColumn } | undefined,
  ): void {
    this.joined++;
    const placement = this.model.placement(this.table(target));
    if (!placement) return;
    const { documents: all, meanBytes } = this.model.forecast(placement.collection);
    if (!link) {
      // Nothing that this model sees joins it (a product, or a derived table): it is read once.
      this.fetch(all, meanBytes);
      return;
    }
    const perProbe = this.model.rowsPerValue(this.table(target), link.own.column);
    const parents = Math.max(1, this.model.rows(this.table(link.other.source)));
    // Nothing else of the query is found in the children's documents, and the parent's own is
    // there.
    const kept =
      entered.length === 1 && !this.bound.get(link.other.source)?.copy
        ? this.model.keptChildren(this.block, target, link.other.source)
        : undefined;
    if (kept) {
      // A parent without a flag descends the index as well, and finds nothing.
      this.total = addCosts(this.total, {
        ...NO_COST,
        lookups: this.flow,
        entries: this.flow * perProbe,
      });
      this.fetch((this.flow * kept.children) / parents, meanBytes);
      this.flow *= perProbe * this.shareOf(entered);
      return;
    }
    const holders = this.model.holders(this.table(target), link.own.column, perProbe);
    const path = this.pathOf(target, link.own.column);
    const indexed =
      path !== undefined &&
      this.model.indexKeys(placement.collection, [path]).some(([firstKey]) => firstKey === path);
    const probes = this.flow;
    // Without an index the other side is read once, and kept by key.
    const documents = indexed ? probes * Math.min(holders, Math.max(all, 1)) : all;
    // What is found is put into an array of the document that asks, and taken out of it again.
    this.total = addCosts(this.total, { ...NO_COST, lookups: probes, entries: probes * perProbe });
    this.fetch(documents, meanBytes);
    if (all > 0) this.unwind(entered, documents / all);
    this.flow *= Math.max(perProbe, 0) * this.shareOf(entered);
  }

  private fetch(documents: number, meanBytes: number): void {
    this.total = addCosts(this.total, { ...NO_COST, documents, bytes: documents * meanBytes });
  }

  /**
   * Entries of the arrays that lead to the sources, for the share of the documents that is fetched.
   */
  private unwind(entered: readonly number[], share: number): void {
    const tables = new Set(
      entered.flatMap((at) =>
        this.bound.get(at)?.copy
          ? []
          : (this.model.placement(this.table(at))?.steps ?? [])
              .filter(({ kind }) => kind === 'embedMany')
              .map(({ table }) => table),
      ),
    );
    const entries = [...tables].reduce((sum, table) => sum + this.model.rows(table), 0);
    this.total = addCosts(this.total, { ...NO_COST, entries: entries * share });
  }

  private shareOf(sources: readonly number[]): number {
    return sources.reduce((share, at) => share * this.model.share(this.block.sources[at]!), 1);
  }

  /** A join of a waiting source with one that is bound. */
  private linkTo(at: number): { own: BlockColumn; other: BlockColumn } | undefined {
    for (const { left, right } of this.block.joins) {
      if (left.source === at && this.bound.has(right.source)) return { own: left, other: right };
      if (right.source === at && this.bound.has(left.source)) return { own: right, other: left };
    }
    return undefined;
  }

  private pathOf(at: number, column: string): string | undefined {
    const copy = this.bound.get(at)?.copy;
    if (!copy) {
      const placement = this.model.placement(this.table(at));
      return placement && columnPath(placement, column)?.path;
    }
    const held = copiesOf(copy.holder).find(
      ({ field }) =>
        field.kind === 'extendedReference' && field.relationship === copy.relationship.id,
    );
    const field =
      held?.field.kind === 'extendedReference'
        ? held.field.fields.find((candidate) => sameName(candidate.column, column))
        : undefined;
    if (held && field) return `${held.path}.${field.name}`;
    const key = copy.relationship.parentColumns.findIndex((known) => sameName(known, column));
    return key < 0
      ? undefined
      : columnPath(copy.holder, copy.relationship.childColumns[key]!)?.path;
  }

  private table(at: number): string {
    return this.block.sources[at]!.table;
  }
}
