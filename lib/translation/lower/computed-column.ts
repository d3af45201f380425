import type { ComputedField } from '../../design/model/document-design';
import { copiesOf, type Placement } from '../../design/model/placement';
import {
  columnProfile,
  type Profile,
  type Relationship,
  relationshipById,
} from '../../sqlite/profile/profile';
import { MOST_ROWS, totalBounds } from './exact-integer';
import { columnType, INTEGER, mayBe, NUMBER, REAL, TEXT, BLOB, type ValueType } from './value-type';

/**
 * A computed field as a column of its parent's table. The name cannot be one of SQLite's, which end
 * at a NUL; the sign says whether every row that is left has a child.
 */
export const computedColumnName = (field: string, present: boolean): string =>
  `\0${present ? '!' : '?'}${field}`;

/** What a person calls the column. */
export const plainColumnName = (name: string): string => name.replace(/^\0[!?]/, '');

export function computedColumn(
  placement: Placement,
  name: string,
  profile: Profile,
): { readonly path: string; readonly type: ValueType } | undefined {
  if (!name.startsWith('\0')) return undefined;
  const found = copiesOf(placement).find(
    ({ field }) => field.kind === 'computed' && field.name === plainColumnName(name),
  );
  if (found?.field.kind !== 'computed') return undefined;
  const { field } = found;
  const relationship = relationshipById(profile, field.relationship);
  return {
    path: found.path,
    type: typeOfField(found.field, relationship, profile, name.startsWith('\0!')),
  };
}

function typeOfField(
  { aggregate, column }: ComputedField,
  relationship: Relationship | undefined,
  profile: Profile,
  present: boolean,
): ValueType {
  const type = columnType(
    column === undefined || !relationship
      ? undefined
      : columnProfile(profile, relationship.childTable, column),
  );
  if (aggregate === 'count')
    return {
      kinds: INTEGER,
      nullable: false,
      missing: false,
      min: present && (column === undefined || !type.nullable) ? 1 : 0,
      max: MOST_ROWS,
    };
  const nullable = !present || type.nullable;
  if (aggregate === 'avg') return { kinds: REAL, nullable, missing: false };
  const kinds = mayBe(type, TEXT | BLOB) ? NUMBER : type.kinds;
  if (aggregate === 'sum')
    return {
      kinds,
      nullable,
      missing: false,
      ...(kinds === type.kinds && totalBounds(type, MOST_ROWS)),
    };
  const { min, max } = type;
  return {
    kinds: type.kinds,
    nullable,
    missing: false,
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
  };
}
