import { sameTransform } from '../../design/model/transform';
import type { OutlierField } from '../../design/model/document-design';
import { columnPath, copiesOf, flagPath, type Placement } from '../../design/model/placement';
import { sameName } from '../../sqlite/catalog';
import { relationshipById, type Profile } from '../../sqlite/profile/profile';

/**
 * Parents that keep their children in an array, but for those that have too many: `$lookup` by the
 * flag finds the children of these alone, and the array holds those of all others.
 */
export interface KeptChildren {
  /** Of the array and of the flag, in the parent's documents. */
  readonly array: string;
  readonly flag: string;
  readonly field: OutlierField;
  readonly parentColumn: string;
  readonly childColumn: string;
  /** The entries have the column where the children's own documents have it. */
  has(column: string): boolean;
}

/**
 * The arrays in which rows of a placement keep the rows of a table, which has documents of its own.
 */
export function keptChildren(
  child: Placement,
  parent: Placement,
  profile: Profile,
): KeptChildren[] {
  if (child.steps.length > 0) return [];
  return copiesOf(parent).flatMap(({ path, field }): KeptChildren[] => {
    if (field.kind !== 'outlier' || !sameName(field.table, child.table)) return [];
    const relationship = relationshipById(profile, field.relationship);
    const [pair, ...more] = field.join;
    // A parent without a flag finds what has no key.
    if (
      !relationship?.parentIsKey ||
      relationship.nullKeys > 0 ||
      !relationship.sameStorage ||
      !pair ||
      more.length > 0
    )
      return [];
    const has = (column: string): boolean => {
      const [entry, own] = [
        field.fields.find((candidate) => sameName(candidate.column, column)),
        columnPath(child, column),
      ];
      return (
        entry !== undefined &&
        own !== undefined &&
        entry.name === own.path &&
        sameTransform(entry.transform, own.transform)
      );
    };
    return [
      {
        array: path,
        flag: flagPath(path, field),
        field,
        parentColumn: pair.parent,
        childColumn: pair.child,
        has,
      },
    ];
  });
}
