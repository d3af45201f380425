import { firstBy } from '../../sqlite/first-by';
import type { Cost } from './score';
import type { Transform } from './transform-kind';

/**
 * The document design: the central type of the product. Its conceptual part decides which
 * collections exist and where the rows of each source table live; its logical part lists the fields
 * of each collection. Documents, CSV, migration, validation mappings, JSON Schema and what the
 * translator may use are all derived from it.
 */
export interface DocumentDesign {
  readonly conceptual: ConceptualDesign;
  readonly logical: readonly LogicalDesign[];
}

const collectionOf = ({ collection }: LogicalDesign): string => collection;

/** The logical design of a collection. */
export const logicalDesignOf = (
  design: Pick<DocumentDesign, 'logical'>,
  collection: string | undefined,
): LogicalDesign | undefined => firstBy(design.logical, collectionOf, collection);

export type Strategy = 'access-pattern' | 'one-to-one' | 'fk-embedding';

export interface ConceptualDesign {
  readonly database: string;
  readonly strategy: Strategy;
  readonly collections: readonly CollectionDesign[];
  /** One entry for each relationship of the profile. */
  readonly relationships: readonly RelationshipChoice[];
  readonly patterns: readonly PatternUse[];
  /** The four parts of the paper's §3.1, Markdown. */
  readonly document: DesignDocument;
}

export interface DesignDocument {
  readonly source: string;
  readonly accessPatterns: string;
  readonly decisions: string;
  readonly result: string;
}

export interface CollectionDesign {
  readonly name: string;
  readonly rootTable: string;
  readonly id: IdRule;
  /**
   * Columns of the root table whose names and values the documents repeat as an array, for one
   * index over all of them.
   */
  readonly attributes?: AttributeChoice;
}

export interface AttributeChoice {
  readonly field: string;
  readonly columns: readonly string[];
  /** Queries of the workload that it answers. */
  readonly queries?: number;
}

/**
 * How `_id` is made. `column`: the source column itself, which is then not stored a second time.
 * `ordinal`: the row's position in the source's scan order, for tables without a usable
 * single-column key. `bucket`: a document holds up to `size` rows with the same values of
 * `columns`, and its `_id` counts the buckets, in the order of those values.
 */
export type IdRule =
  | { readonly kind: 'column'; readonly column: string; readonly transform: Transform }
  | { readonly kind: 'ordinal' }
  | BucketRule;

export interface BucketRule {
  readonly kind: 'bucket';
  readonly columns: readonly string[];
  readonly size: number;
}

/**
 * What becomes of one relationship. `embed` makes the child rows entries of the parent's documents;
 * `copy` is a reference with some of the parent's columns copied beside it; `bucket` is a reference
 * from documents that hold several child rows of one parent each.
 */
export const CHOICES = ['embed', 'reference', 'copy', 'bucket'] as const;
export type Choice = (typeof CHOICES)[number];

export interface RelationshipChoice {
  readonly relationship: string;
  readonly choice: Choice;
  /**
   * For `embed` and `bucket` the field that holds the child rows, for `copy` the one that holds the
   * parent's columns.
   */
  readonly field?: string;
  /**
   * For `copy` and `bucket`: the parent's columns that are repeated, beside the reference or once a
   * bucket.
   */
  readonly columns?: readonly string[];
  /** For `bucket`: the field that holds the parent's columns. */
  readonly parentField?: string;
  /** For `embed`: one child at most, or an array of children. */
  readonly cardinality?: 'one' | 'many';
  /** A sentence with the numbers that a reviewer can check. */
  readonly reason: string;
  /** Set when a reviewer's directive, not the engine, made the choice. */
  readonly directed?: boolean;
  /**
   * Aggregates over the child rows that the parent's documents keep; never with `embed`, where the
   * children are there.
   */
  readonly computed?: readonly ComputedChoice[];
  /** The first few of the child rows that the parent's documents repeat; never with `embed`. */
  readonly subset?: SubsetChoice;
  /** The child rows of every parent but the few that have too many; never with `embed`. */
  readonly outlier?: OutlierChoice;
  /**
   * The estimated cost of the workload under each choice, all else as it is; what stands in the way
   * of the others.
   */
  readonly alternatives?: readonly ChoiceAlternative[];
}

export interface ComputedChoice {
  readonly field: string;
  readonly aggregate: ComputedField['aggregate'];
  readonly column?: string;
  /** Queries of the workload that ask for it. */
  readonly queries?: number;
}

export interface SubsetChoice {
  readonly field: string;
  readonly limit: number;
  readonly orderBy: readonly SortColumn[];
  readonly columns: readonly string[];
  /** Queries of the workload that it answers. */
  readonly queries?: number;
}

export interface OutlierChoice {
  readonly field: string;
  /** The field that only outliers have: it holds their key. */
  readonly flag: string;
  readonly limit: number;
  readonly columns: readonly string[];
  /** Queries of the workload that it answers. */
  readonly queries?: number;
}

export interface SortColumn {
  readonly column: string;
  readonly direction: 'asc' | 'desc';
}

export interface ChoiceAlternative {
  readonly choice: Choice;
  readonly cost?: Cost;
  readonly obstacle?: string;
}

/**
 * A schema pattern or anti-pattern that the data or the workload calls up, and what was done about
 * it.
 */
export interface PatternUse {
  readonly pattern: string;
  readonly target: string;
  readonly reason: string;
  /**
   * `applied` (also when absent): the design uses it; `considered`: it was weighed and left;
   * `avoided`: an anti-pattern.
   */
  readonly status?: 'applied' | 'considered' | 'avoided';
}

/** The fields of one collection. */
export interface LogicalDesign {
  readonly collection: string;
  readonly rootTable: string;
  readonly id: IdRule;
  readonly fields: readonly Field[];
}

export type Field = ColumnField | EmbedField | CopyField;
/** Derived duplicates of source values, never placements: what they hold is also elsewhere. */
export type CopyField =
  ExtendedReferenceField | SubsetField | OutlierField | ComputedField | AttributeField;

/** A source column, retyped by an invertible transform. */
export interface ColumnField {
  readonly kind: 'column';
  readonly name: string;
  readonly column: string;
  readonly transform: Transform;
}

/**
 * What a field that follows a relationship says of it: the table at the other end, and the columns
 * that join.
 */
interface AlongRelationship {
  readonly name: string;
  readonly table: string;
  readonly relationship: string;
  readonly join: readonly JoinColumn[];
}

/**
 * A placement: rows of `table` live here. `embedMany` is an array, empty when the parent has no
 * child; `embedOne` is a document, absent when there is no child. A join column of the child whose
 * value is stored as the parent's key may be left out of `fields`: the parent holds it. In a bucket
 * the parent is the bucket, `relationship` is `BUCKET`, and the rows join by the columns that they
 * share.
 */
export interface EmbedField extends AlongRelationship {
  readonly kind: 'embedOne' | 'embedMany';
  /** Order of an array's entries; the source's scan order when empty. */
  readonly orderBy: readonly SortColumn[];
  readonly fields: readonly Field[];
}

export interface JoinColumn {
  readonly parent: string;
  readonly child: string;
}

/**
 * Fields of the parent's row, copied into the row that refers to it: a document that is absent
 * where the reference is null or resolves to nothing. In `join`, `parent` is a column of `table`,
 * `child` one of the referring row.
 */
export interface ExtendedReferenceField extends AlongRelationship {
  readonly kind: 'extendedReference';
  readonly fields: readonly ColumnField[];
}

/**
 * The first `limit` child rows by `orderBy`, then by the source's scan order, repeated in the
 * parent as an array, which is empty without children. All rows of `table` have their place
 * elsewhere.
 */
export interface SubsetField extends AlongRelationship {
  readonly kind: 'subset';
  readonly limit: number;
  readonly orderBy: readonly SortColumn[];
  readonly fields: readonly ColumnField[];
}

/**
 * All child rows of a parent that has at most `limit` of them, in the source's scan order, repeated
 * in the parent as an array. A parent with more (an outlier) has an empty array, and a field `flag`
 * with its key, which no other parent has: its rows are where all rows of `table` have their place,
 * and nowhere else. Entries name their fields as those documents do.
 */
export interface OutlierField extends AlongRelationship {
  readonly kind: 'outlier';
  /** Beside the array; it holds one value, so that `join` has one column. */
  readonly flag: string;
  readonly limit: number;
  readonly fields: readonly ColumnField[];
}

/**
 * An aggregate over the child rows of `table`: `count` of the rows, or of the non-null values of
 * `column`.
 */
export interface ComputedField extends AlongRelationship {
  readonly kind: 'computed';
  readonly aggregate: 'count' | 'sum' | 'avg' | 'min' | 'max';
  readonly column?: string;
}

/** Stands for the relationship between a bucket and the rows in it. */
export const BUCKET = 'bucket';

/** The rows of a bucket; undefined where each document is a row. */
export const bucketRows = (fields: readonly Field[]): EmbedField | undefined =>
  fields.find((field): field is EmbedField => isEmbed(field) && field.relationship === BUCKET);

/**
 * Names and values of some columns of the root's own row, which have their fields beside it: `[{k:
 * 'home_player_1', v: 5}, …]`, in the order of `fields`. `k` is the name of the column's field, `v`
 * its value; what is null has no entry.
 */
export interface AttributeField {
  readonly kind: 'attribute';
  readonly name: string;
  readonly fields: readonly ColumnField[];
}

/** The paths of an attribute's entries: of the names and of the values. */
export const entryPaths = (path: string): readonly [k: string, v: string] => [
  `${path}.k`,
  `${path}.v`,
];

export const isEmbed = (field: Field): field is EmbedField =>
  field.kind === 'embedOne' || field.kind === 'embedMany';

/** Holds fields of another table's rows: those that live here, or copies of them. */
export type NestedField = EmbedField | ExtendedReferenceField | SubsetField | OutlierField;
export const isNested = (field: Field): field is NestedField =>
  isEmbed(field) || field.kind === 'extendedReference' || isKeptRows(field);
/** Repeats child rows in their parents. */
export const isKeptRows = (field: Field): field is SubsetField | OutlierField =>
  field.kind === 'subset' || field.kind === 'outlier';
/** Holds an array: of rows, or of names and values. */
export const isArray = (field: Field): boolean =>
  field.kind === 'embedMany' || field.kind === 'attribute' || isKeptRows(field);

/** `{"<collection>": [{key, unique?}]}`, an artefact of its own. */
export type IndexDesign = Readonly<Record<string, readonly Index[]>>;
export interface Index {
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly unique?: boolean;
  readonly reason: string;
}

/**
 * One candidate: what becomes of each relationship, by its id. Those that are not named are
 * references.
 */
export type Choices = ReadonlyMap<string, Choice>;
