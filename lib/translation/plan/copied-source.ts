import type {
  DocumentDesign,
  ExtendedReferenceField,
  JoinColumn,
} from '../../design/model/document-design';
import {
  columnPath,
  copiesOf,
  placementOf,
  type ColumnPath,
  type Placement,
} from '../../design/model/placement';
import { sameName } from '../../sqlite/catalog';
import { isTotal, type Profile, type Relationship } from '../../sqlite/profile/profile';

/** How rows of a placement stand for the rows of the parent table that they refer to. */
export interface ServingCopy {
  readonly relationship: Relationship;
  readonly join: readonly JoinColumn[];
  /**
   * The extended reference and its design path; absent where the reference alone will do, because
   * none is dangling.
   */
  readonly field?: { readonly path: string; readonly field: ExtendedReferenceField };
  /**
   * A path of the referring row that has a value exactly where there is a parent; undefined where
   * there always is one.
   */
  readonly presence?: string;
  has(column: string): boolean;
}

/** The copies of `parent` in the rows of a placement; references that need no copy come first. */
export function servingCopies(
  parent: string,
  placement: Placement,
  design: DocumentDesign,
  profile: Profile,
): ServingCopy[] {
  if (!placementOf(design, parent)) return [];
  const copies = copiesOf(placement);
  return profile.relationships
    .filter(
      ({ childTable, parentTable, parentIsKey }) =>
        parentIsKey && sameName(childTable, placement.table) && sameName(parentTable, parent),
    )
    .flatMap((relationship): ServingCopy[] => {
      const join = relationship.childColumns.map((child, index) => ({
        child,
        parent: relationship.parentColumns[index] ?? '',
      }));
      // Only a key that is stored as its parent's can be read in its place.
      const isKey = (column: string): boolean =>
        relationship.sameStorage && join.some((pair) => sameName(pair.parent, column));
      const found: ServingCopy[] = [];
      const [first, ...more] = join;
      const key = first && columnPath(placement, first.child);
      if (relationship.orphans === 0 && (isTotal(relationship) || (key && more.length === 0))) {
        found.push({
          relationship,
          join,
          ...(!isTotal(relationship) && key && { presence: key.path }),
          has: isKey,
        });
      }
      for (const { path, field } of copies) {
        if (field.kind !== 'extendedReference' || field.relationship !== relationship.id) continue;
        const has = (column: string): boolean =>
          isKey(column) || field.fields.some((copied) => sameName(copied.column, column));
        found.push({
          relationship,
          join,
          field: { path, field },
          ...(!isTotal(relationship) && { presence: path }),
          has,
        });
      }
      return found;
    });
}

/** Where a copied column lies; undefined for the key, which the reference itself holds. */
export function copiedPath({ field }: ServingCopy, column: string): ColumnPath | undefined {
  const copied = field?.field.fields.find((candidate) => sameName(candidate.column, column));
  return (
    field &&
    copied && {
      path: `${field.path}.${copied.name}`,
      transform: copied.transform,
      inherited: false,
    }
  );
}
