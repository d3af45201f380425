import { columnPath, type Placement } from '../../design/model/placement';
import { sameName } from '../../sqlite/catalog';
import { columnProfile, type Profile } from '../../sqlite/profile/profile';
import { columnOf, type BoundColumn, type BoundSource } from '../../sqlite/select/bound';
import { computedColumn } from '../lower/computed-column';
import { copiedPath, type ServingCopy } from '../plan/copied-source';
import type { Lowered } from '../lower/environment';
import { IDENTITY } from '../lower/computed-value';
import { under } from '../mql/pipeline-paths';
import { Untranslatable } from '../lower/untranslated';
import { columnType, optional as optionalType, type ValueType } from '../lower/value-type';
import type { Transform } from '../../design/model/transform-kind';

/** A field of the documents that a compiled query returns. */
export interface OutputField {
  /** SQLite's name of the column. */
  readonly name: string;
  readonly field: string;
  readonly type: ValueType;
  readonly transform: Transform;
}

/** Where the columns of one source are found in the documents of the pipeline. */
export type Location = TableLocation | FieldsLocation | CopyLocation;

export interface TableLocation {
  readonly kind: 'table';
  readonly placement: Placement;
  /**
   * Path under which a document of the collection lies: empty for the root, the field of a
   * `$lookup` otherwise.
   */
  readonly base: string;
  /** The row may be missing: the inner side of a left join. */
  readonly optional: boolean;
  /**
   * Set while an array entry is looked at by itself: its design path, and how expressions name it.
   */
  readonly entry?: { readonly path: string; readonly variable: string };
}

export interface FieldsLocation {
  readonly kind: 'fields';
  readonly base: string;
  readonly fields: readonly OutputField[];
  readonly optional: boolean;
}

/** The row is not there, but what is read of it is, in a row that refers to it. */
export interface CopyLocation {
  readonly kind: 'copy';
  readonly table: string;
  readonly copy: ServingCopy;
  /** The row that refers. */
  readonly child: TableLocation;
  readonly childSource: BoundSource;
  /** There may be no such row: nothing has left out the rows without one. */
  readonly optional: boolean;
}

export interface LocatedColumn extends Lowered {
  /** Path in the design of the collection, for the record of what a query touches. */
  readonly designPath?: string;
}

export function locateColumn(
  location: Location,
  column: BoundColumn,
  profile: Profile,
): LocatedColumn {
  if (location.kind === 'fields') {
    const output = location.fields[column.index];
    if (!output)
      throw new Untranslatable(
        'not_placed',
        `no field for column ${String(column.index + 1)} of ${column.source.name}`,
      );
    const path = under(location.base, output.field);
    return {
      mql: `$${path}`,
      path,
      type: location.optional ? optionalType(output.type) : output.type,
      transform: output.transform,
    };
  }
  const { name } = columnOf(column);
  if (location.kind === 'copy') return locateCopied(location, name, profile);
  const stored = computedColumn(location.placement, name, profile);
  const found = stored
    ? { path: stored.path, transform: IDENTITY, inherited: false }
    : columnPath(location.placement, name);
  if (!found)
    throw new Untranslatable(
      'not_placed',
      `the design has no field for ${location.placement.table}.${name}`,
    );
  const type = stored?.type ?? profiledType(profile, location.placement.table, name);
  const common = {
    type: location.optional ? optionalType(type) : type,
    transform: found.transform,
    designPath: found.path,
  };
  const { entry } = location;
  if (entry && found.path.startsWith(`${entry.path}.`)) {
    const relative = found.path.slice(entry.path.length + 1);
    return {
      mql: `${entry.variable}${relative}`,
      ...(entry.variable === '$' && { path: relative }),
      ...common,
    };
  }
  if (entry?.variable === '$')
    throw new Untranslatable('not_placed', `${name} is not part of the entries at ${entry.path}`);
  const path = under(location.base, found.path);
  const own = location.placement.steps.at(-1);
  if (found.inherited && location.optional && own) {
    // The key lies in the parent, which is there even where the child is not.
    const presence = under(location.base, own.path);
    return {
      mql: { $cond: [{ $gt: [`$${presence}`, null] }, `$${path}`, null] },
      presence,
      ...common,
      type: { ...common.type, missing: false },
    };
  }
  return { mql: `$${path}`, path, ...common };
}

function locateCopied(
  { table, copy, child, childSource, optional }: CopyLocation,
  name: string,
  profile: Profile,
): LocatedColumn {
  const profiled = profiledType(profile, table, name);
  const type = optional || child.optional ? optionalType(profiled) : profiled;
  const copied = copiedPath(copy, name);
  if (copied) {
    const path = under(child.base, copied.path);
    return { mql: `$${path}`, path, type, transform: copied.transform, designPath: copied.path };
  }
  const pair = copy.join.find(({ parent }) => sameName(parent, name));
  const index = childSource.columns.findIndex((column) => sameName(column.name, pair?.child ?? ''));
  if (!pair || index < 0) throw new Untranslatable('not_placed', `nothing copies ${table}.${name}`);
  const key = locateColumn(child, { kind: 'column', source: childSource, index }, profile);
  if (!optional || copy.relationship.orphans === 0 || copy.presence === undefined)
    return { ...key, type };
  // A dangling reference has a key, its parent has none.
  const presence = under(child.base, copy.presence);
  return {
    mql: { $cond: [{ $gt: [`$${presence}`, null] }, key.mql, null] },
    presence,
    type: { ...type, missing: false },
    transform: key.transform,
    ...(key.designPath !== undefined && { designPath: key.designPath }),
  };
}

function profiledType(profile: Profile, tableName: string, column: string): ValueType {
  const table =
    profile.tables.find((entry) => sameName(entry.table, tableName))?.table ?? tableName;
  return columnType(columnProfile(profile, table, column));
}

export const identityField = (name: string, field: string, type: ValueType): OutputField => ({
  name,
  field,
  type,
  transform: IDENTITY,
});
