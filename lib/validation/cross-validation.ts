import type { Db } from 'mongodb';
import { copiesOf, placementOf } from '../design/model/placement';
import { isKeptRows, type DocumentDesign } from '../design/model/document-design';
import { relationshipById, type Profile } from '../sqlite/profile/profile';
import { checkAttributes } from './check-attributes';
import { checkComputed } from './check-computed';
import { checkContainment, checkEveryParent } from './check-containment';
import {
  checkCopiedFields,
  checkCopyPresence,
  checkKeptLength,
  checkOutlierFlags,
} from './check-copies';
import type { SqlRunner } from './mapping';
import type { ReferenceCheck } from './reference-check';

export type { ReferenceCheck } from './reference-check';

/**
 * The content of a cross_validation artefact: what the documents of one collection say of others.
 */
export interface CrossValidation {
  readonly collection: string;
  readonly references: readonly ReferenceCheck[];
}

/**
 * Checks the documents of one collection against each other and those of other collections: its
 * references in both directions, its copies value by value, its names and values against the fields
 * that they repeat, its computed fields against what they were computed from. The source is asked
 * only for the violations that it has itself.
 */
export async function validateReferences(
  collection: string,
  design: DocumentDesign,
  profile: Profile,
  sql: SqlRunner,
  db: Db,
): Promise<CrossValidation> {
  const references: ReferenceCheck[] = [];
  for (const { id } of profile.relationships) {
    const relationship = relationshipById(profile, id)!;
    const child = placementOf(design, relationship.childTable);
    const parent = placementOf(design, relationship.parentTable);
    if (
      !child ||
      !parent ||
      child.collection !== collection ||
      child.steps.some((step) => step.relationship === id)
    )
      continue;
    references.push(await checkContainment(relationship, child, parent, sql, db));
    const hasParents = profile.tables.some(
      ({ table, rowCount }) => table === relationship.parentTable && rowCount > 0,
    );
    if (hasParents && relationship.fanOut.childlessParents === 0)
      references.push(await checkEveryParent(relationship, child, parent, db));
  }
  for (const { table } of profile.tables) {
    const holder = placementOf(design, table);
    if (holder?.collection !== collection) continue;
    for (const { path, field } of copiesOf(holder)) {
      if (field.kind === 'attribute') {
        references.push(...(await checkAttributes(path, field, holder, db)));
        continue;
      }
      const relationship = relationshipById(profile, field.relationship);
      const other = placementOf(design, field.table);
      if (!relationship || !other) continue;
      if (field.kind === 'computed')
        references.push(await checkComputed(relationship, path, field, holder, other, db));
      if (isKeptRows(field)) {
        references.push(await checkCopiedFields(relationship, path, field, holder, other, db));
        references.push(await checkKeptLength(relationship, path, field, holder, other, db));
      }
      if (field.kind === 'outlier')
        references.push(await checkOutlierFlags(relationship, path, field, holder, other, db));
      if (field.kind === 'extendedReference') {
        references.push(await checkCopiedFields(relationship, path, field, holder, other, db));
        references.push(await checkCopyPresence(relationship, path, field, holder, other, db));
      }
    }
  }
  return { collection, references };
}
