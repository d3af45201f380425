import { foldName, sameName } from '../../sqlite/catalog';
import {
  BUCKET,
  isEmbed,
  type CopyField,
  type DocumentDesign,
  type EmbedField,
  type Field,
  type JoinColumn,
  type LogicalDesign,
  type OutlierField,
} from './document-design';
import type { Transform } from './transform-kind';

/**
 * Where the rows of a source table live: the roots of a collection (no steps), or embedded below
 * them.
 */
export interface Placement {
  readonly table: string;
  readonly collection: string;
  /** From the root downwards; every `embedMany` step is an array to unwind. */
  readonly steps: readonly PlacementStep[];
  readonly logical: LogicalDesign;
}

export interface PlacementStep {
  readonly kind: 'embedOne' | 'embedMany';
  /** Dotted path from the document root, e.g. `powers.levels`. */
  readonly path: string;
  readonly table: string;
  readonly parentTable: string;
  readonly relationship: string;
  readonly join: readonly JoinColumn[];
}

/** Where a column's value is found once the arrays of its placement are unwound. */
export interface ColumnPath {
  /** Dotted path from the document root. */
  readonly path: string;
  readonly transform: Transform;
  /** True when the value is held by an ancestor's key instead of a field of its own. */
  readonly inherited: boolean;
}

/** By folded table name; the first place in the order of the design counts. */
type Placements = ReadonlyMap<string, Placement>;

// Designs never change, and candidates share what they have in common: what was found in one
// collection is found there in every design that has the same.
const ofDesign = new WeakMap<readonly LogicalDesign[], Placements>();
const ofCollection = new WeakMap<LogicalDesign, Placements>();

/** The one placement of a table, or undefined when the design leaves the table out. */
export function placementOf({ logical }: DocumentDesign, table: string): Placement | undefined {
  let known = ofDesign.get(logical);
  if (!known) ofDesign.set(logical, (known = firstPlacements(logical.map(placementsIn))));
  return known.get(foldName(table));
}

function firstPlacements(all: readonly Placements[]): Placements {
  const first = new Map<string, Placement>();
  for (const placements of all)
    for (const [table, placement] of placements) if (!first.has(table)) first.set(table, placement);
  return first;
}

function placementsIn(logical: LogicalDesign): Placements {
  let known = ofCollection.get(logical);
  if (known) return known;
  const { rootTable: table, collection } = logical;
  const found = new Map<string, Placement>();
  // Where documents are buckets, the rows are what lies in them.
  if (logical.id.kind !== 'bucket')
    found.set(foldName(table), { table, collection, steps: [], logical });
  for (const placement of embeddedIn(logical, logical.fields, table, '', []))
    if (!found.has(foldName(placement.table))) found.set(foldName(placement.table), placement);
  ofCollection.set(logical, (known = found));
  return known;
}

function embeddedIn(
  logical: LogicalDesign,
  fields: readonly Field[],
  parentTable: string,
  prefix: string,
  above: readonly PlacementStep[],
): Placement[] {
  return fields
    .filter(isEmbed)
    .flatMap(({ name, kind, table, relationship, join, fields: own }) => {
      const path = prefix + name;
      const steps = [...above, { kind, path, table, parentTable, relationship, join }];
      return [
        { table, collection: logical.collection, steps, logical },
        ...embeddedIn(logical, own, table, `${path}.`, steps),
      ];
    });
}

const columnPaths = new WeakMap<Placement, Map<string, ColumnPath | undefined>>();

/** The path of a source column of a placement, or undefined when the design has no field for it. */
export function columnPath(placement: Placement, column: string): ColumnPath | undefined {
  const known = columnPaths.get(placement) ?? new Map<string, ColumnPath | undefined>();
  columnPaths.set(placement, known);
  if (!known.has(column)) known.set(column, pathAtDepth(placement, placement.steps.length, column));
  return known.get(column);
}

/**
 * How the documents or entries with these fields store a column of their row; undefined where they
 * have no field for it. `id`: of documents.
 */
export function heldKey(
  fields: readonly Field[],
  id: LogicalDesign['id'] | undefined,
  column: string,
): Transform | undefined {
  if (id?.kind === 'column' && sameName(id.column, column)) return id.transform;
  const own = fields.find(
    (field) =>
      field.kind === 'column' && field.transform.kind !== 'bytes' && sameName(field.column, column),
  );
  return own?.kind === 'column' ? own.transform : undefined;
}

/** Are the bytes of the column's texts kept that are no valid text? */
export function keepsBytes(placement: Placement, column: string): boolean {
  const at = (depth: number, name: string): boolean => {
    const fields = fieldsAtDepth(placement, depth).filter(
      (field) => field.kind === 'column' && sameName(field.column, name),
    );
    if (fields.length > 0 || depth === 0)
      return fields.some((field) => field.kind === 'column' && field.transform.kind === 'bytes');
    const join = placement.steps[depth - 1]!.join.find((pair) => sameName(pair.child, name));
    return join !== undefined && at(depth - 1, join.parent);
  };
  return at(placement.steps.length, column);
}

/** A copy that the rows of a placement carry, with its dotted path from the document root. */
export interface CopyPlace {
  readonly path: string;
  readonly field: CopyField;
}

/**
 * The copies beside a placement's own fields, and those that a bucket holds for all of its rows.
 */
export function copiesOf(placement: Placement): readonly CopyPlace[] {
  const known = copies.get(placement) ?? findCopies(placement);
  copies.set(placement, known);
  return known;
}

const copies = new WeakMap<Placement, readonly CopyPlace[]>();

function findCopies(placement: Placement): readonly CopyPlace[] {
  const depth = placement.steps.length;
  const at = (depths: number): CopyPlace[] => {
    const prefix = placement.steps[depths - 1]?.path;
    return fieldsAtDepth(placement, depths)
      .filter((field): field is CopyField => field.kind !== 'column' && !isEmbed(field))
      .map((field) => ({ path: prefix ? `${prefix}.${field.name}` : field.name, field }));
  };
  return [
    ...at(depth),
    ...(placement.steps[depth - 1]?.relationship === BUCKET ? at(depth - 1) : []),
  ];
}

/** Where an outlier's flag lies: beside the array, whose path is given. */
export const flagPath = (path: string, { flag }: OutlierField): string =>
  path.slice(0, path.lastIndexOf('.') + 1) + flag;

function pathAtDepth(placement: Placement, depth: number, column: string): ColumnPath | undefined {
  const step = placement.steps[depth - 1];
  const fields = fieldsAtDepth(placement, depth);
  const own = fields.find(
    (field) =>
      field.kind === 'column' && field.transform.kind !== 'bytes' && sameName(field.column, column),
  );
  if (own?.kind === 'column') {
    return {
      path: step ? `${step.path}.${own.name}` : own.name,
      transform: own.transform,
      inherited: false,
    };
  }
  if (!step) {
    const { id } = placement.logical;
    return id.kind === 'column' && sameName(id.column, column)
      ? { path: '_id', transform: id.transform, inherited: false }
      : undefined;
  }
  const join = step.join.find((pair) => sameName(pair.child, column));
  const held = join && pathAtDepth(placement, depth - 1, join.parent);
  return held && { ...held, inherited: true };
}

function fieldsAtDepth(placement: Placement, depth: number): readonly Field[] {
  let fields = placement.logical.fields;
  for (const step of placement.steps.slice(0, depth)) {
    const embed: EmbedField | undefined = fields.find(
      (field): field is EmbedField => isEmbed(field) && field.relationship === step.relationship,
    );
    if (!embed)
      throw new Error(`the design has no field for the relationship ${step.relationship}`);
    fields = embed.fields;
  }
  return fields;
}
