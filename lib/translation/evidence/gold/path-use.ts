import type { Document } from 'mongodb';
import type { DocumentDesign } from '../../../design/model/document-design';
import { sameName, type Catalog } from '../../../sqlite/catalog';
import { columnAtPath, fieldsOfColumn } from './design-columns';
import { goldUses, type FieldUse } from './gold-uses';
import type { PathMention } from './path-mentions';
import { isSameValue } from './same-value';
import { isRoleOf, sourceUses, type SourceUse } from './witness';

/** What a path of a hint is for the item's gold query. */
export type PathUse =
  /** The gold uses the field, and for the value that the hint gives, if it gives one. */
  | 'used'
  /** A key by which the SQL joins: the design made the join needless. */
  | 'join_key'
  /** The SQL of the source does not use the column, or not so: the hint is at fault. */
  | 'source_flaw'
  /** The gold uses another field, or another value: to be looked at. */
  | 'doubt'
  /** The design has no such field. */
  | 'unknown';

export interface PathContext {
  readonly catalog: Catalog;
  readonly design: DocumentDesign;
  readonly collection: string;
  readonly pipeline: readonly Document[];
  readonly sql: string;
}

/** A column that the SQL names, in one of its uses of the table. */
interface NamedColumn {
  readonly use: SourceUse;
  /** In lower case. */
  readonly column: string;
}

/** Says what a mention of a path is for the gold query and the SQL of an item. */
export class PathJudge {
  private readonly gold: ReadonlyMap<string, FieldUse>;
  private readonly uses: readonly SourceUse[];
  /** By the paths of the fields that they are in; embedded rows share their keys with the parent. */
  private readonly named: ReadonlyMap<string, readonly NamedColumn[]>;

  constructor(private readonly context: PathContext) {
    const { catalog, design, collection, pipeline, sql } = context;
    this.gold = goldUses(collection, pipeline, design);
    this.uses = sourceUses(sql, catalog);
    this.named = namedColumns(this.uses, design);
  }

  use({ path, isKnown, value, isPart, isCounted, isExtreme }: PathMention): PathUse {
    if (!isKnown) return 'unknown';
    if (isExtreme && !this.isSorted(path)) return 'source_flaw';
    if (isCounted) {
      const counted = this.countUse(path);
      if (counted !== undefined) return counted;
    }
    const gold = this.gold.get(path);
    const source = this.sourceUse(path, value);
    if (!gold && source === 'counted' && isRootId(path)) return 'used';
    if (gold) {
      const isValue =
        value === undefined || gold.constants.some((one) => isSameValue(one, value, isPart));
      if (isValue) return 'used';
      return source === 'value' ? 'doubt' : 'source_flaw';
    }
    // A key that is compared with a constant is more than a join.
    if (source === 'key') return value === undefined ? 'join_key' : 'source_flaw';
    return source === undefined || source === 'other_value' ? 'source_flaw' : 'doubt';
  }

  /**
   * Of what is counted: the rows that a query joins have one identifier each, so that counting them
   * is counting rows; else the SQL has to count this column. Undefined where it counts none.
   */
  private countUse(path: string): PathUse | undefined {
    const field = columnAtPath(this.context.design, path);
    const isAsked =
      this.named.has(path) ||
      this.uses.some(({ table }) => field !== undefined && sameName(table, field.table));
    if (!isAsked) return undefined;
    if (isRootId(path) || this.at(path).some((one) => this.isCounted(one))) return 'used';
    return this.uses.every(({ counted }) => counted.size === 0) ? undefined : 'source_flaw';
  }

  /** The SQL sorts by the column, or takes its largest or smallest value. */
  private isSorted(path: string): boolean {
    const named = this.at(path);
    return (
      named.length === 0 ||
      // What passes through a subquery cannot be followed.
      this.uses.some(({ isDerived }) => isDerived) ||
      named.some(
        ({ use: { sorted, aggregates }, column }) =>
          sorted.has(column) ||
          ['max', 'min'].some((name) => aggregates.get(column)?.has(name) === true),
      )
    );
  }

  /** Counted itself, or what a join makes equal to it. */
  private isCounted({ use: { counted, links }, column }: NamedColumn): boolean {
    const others = links.filter((link) => sameName(link.column, column));
    return (
      counted.has(column) ||
      others.some(({ otherTable, otherColumn }) =>
        this.uses.some(
          (use) => sameName(use.table, otherTable) && use.counted.has(otherColumn.toLowerCase()),
        ),
      )
    );
  }

  /** What the SQL does with the columns of a path; undefined where it does not name them. */
  private sourceUse(
    path: string,
    value: string | undefined,
  ): 'value' | 'other_value' | 'read' | 'counted' | 'key' | undefined {
    const named = this.at(path);
    // A container or a computed field is no column: nothing can be said of the source.
    const isColumn = columnAtPath(this.context.design, path) !== undefined;
    if (!isColumn || this.uses.length === 0) return 'read';
    const read = named.filter(({ use, column }) => use.reads.has(column));
    if (read.length === 0) return named.length > 0 ? 'key' : undefined;
    if (value === undefined)
      return read.some(({ use, column }) => use.counted.has(column)) ? 'counted' : 'read';
    const constants = read.flatMap(({ use, column }) => use.constants.get(column) ?? []);
    const isValue = constants.some((one) => one === value || Number(one) === Number(value));
    return isValue ? 'value' : 'other_value';
  }

  private at(path: string): readonly NamedColumn[] {
    return this.named.get(path) ?? [];
  }
}

function namedColumns(
  uses: readonly SourceUse[],
  design: DocumentDesign,
): ReadonlyMap<string, readonly NamedColumn[]> {
  const named = new Map<string, NamedColumn[]>();
  for (const use of uses)
    for (const column of columnsOf(use))
      for (const { path, copy } of fieldsOfColumn(design, use.table, column)) {
        const isOfRole = !copy || isRoleOf(copy, use);
        if (isOfRole) named.set(path, [...(named.get(path) ?? []), { use, column }]);
      }
  return named;
}

const columnsOf = ({ reads, links }: SourceUse): readonly string[] => [
  ...new Set([...reads, ...links.map(({ column }) => column.toLowerCase())]),
];

const isRootId = (path: string): boolean => /^[^.]+\._id$/.test(path);
