import { namesOf } from '../model/field-paths';
import { tableNamed, type Catalog } from '../../sqlite/catalog';
import type { Profile } from '../../sqlite/profile/profile';
import {
  columnProfile,
  isTotal,
  type Relationship,
  relationshipById,
} from '../../sqlite/profile/profile';
import {
  BUCKET,
  bucketRows,
  isEmbed,
  isKeptRows,
  isNested,
  type AttributeField,
  type ColumnField,
  type CopyField,
  type DocumentDesign,
  type EmbedField,
  type Field,
  type IdRule,
  type LogicalDesign,
  type OutlierField,
} from '../model/document-design';
import { keyObstacle } from './buckets';
import { columnPath, heldKey, keepsBytes, placementOf } from '../model/placement';
import { typeObstacle } from '../logical/retype';
import { identity } from '../model/transform';
import { describe } from '../model/transform-kind';
import { forecastCollections } from './forecast';
import { DOCUMENT_MARGIN, MAX_DOCUMENT_BYTES, type DesignLimits } from './obstacles';

export interface DesignProblem {
  /**
   * `loss`: rows or values would vanish; `limit`: a document or an array could grow too large;
   * `broken`: not a design.
   */
  readonly kind: 'loss' | 'limit' | 'broken';
  readonly subject: string;
  readonly detail: string;
}

/**
 * Proves from the profile that a design loses nothing, before a row moves: every column of every
 * table has a place, every embedding is total, nothing outgrows its limits, every field has one
 * source. Empty when all holds.
 */
export function checkDesign(
  design: DocumentDesign,
  catalog: Catalog,
  profile: Profile,
  limits: DesignLimits,
): DesignProblem[] {
  return [
    ...checkSource(catalog, profile),
    ...checkRelationships(design, profile),
    ...checkCollections(design),
    ...checkColumns(design, catalog),
    ...checkBuckets(design, profile, limits),
    ...checkBytes(design, profile),
    ...checkEmbeddings(design, profile, limits),
    ...checkCopies(design, profile, limits),
    ...checkTransforms(design, profile),
  ];
}

/**
 * What no design can carry: values and rows that MongoDB cannot hold, or that cannot be told from
 * others here.
 */
function checkSource(catalog: Catalog, profile: Profile): DesignProblem[] {
  const problems: DesignProblem[] = [];
  for (const { table, columns, maxRowBytes } of profile.tables) {
    // Measured, not forecast: no margin. An element takes its type, its name and up to six bytes
    // more.
    const framing = columns.reduce((sum, { column }) => sum + Buffer.byteLength(column) + 8, 64);
    if (maxRowBytes + framing > MAX_DOCUMENT_BYTES)
      problems.push({
        kind: 'limit',
        subject: table,
        detail:
          `one row takes ${(maxRowBytes / 1e6).toFixed(1)} MB; MongoDB takes documents of ` +
          '16 MB (16,777,216 bytes)',
      });
  }
  for (const { name, columns, withoutRowid, rowidAlias } of catalog.tables) {
    const hidden = ['rowid', '_rowid_', 'oid'].every((rowid) =>
      columns.some((column) => column.name.toLowerCase() === rowid),
    );
    if (hidden && !withoutRowid && !rowidAlias)
      problems.push({
        kind: 'broken',
        subject: name,
        detail:
          'it has columns named rowid, _rowid_ and oid, so that its rows cannot be told apart',
      });
  }
  return problems;
}

/**
 * A choice of a relationship that the source does not have would be saved and never have an effect.
 */
function checkRelationships({ conceptual }: DocumentDesign, profile: Profile): DesignProblem[] {
  const known = new Set(profile.relationships.map(({ id }) => id));
  const unknown = conceptual.relationships.filter(({ relationship }) => !known.has(relationship));
  return unknown.map(({ relationship }) => ({
    kind: 'broken',
    subject: relationship,
    detail: 'the source has no such relationship',
  }));
}

function checkCollections(design: DocumentDesign): DesignProblem[] {
  const problems: DesignProblem[] = [];
  const broken = (subject: string, detail: string): number =>
    problems.push({ kind: 'broken', subject, detail });
  for (const { name, rootTable } of design.conceptual.collections) {
    const logical = design.logical.filter((candidate) => candidate.collection === name);
    if (logical.length !== 1) broken(name, `the collection has ${logical.length} logical designs`);
    else if (logical[0]!.rootTable !== rootTable)
      broken(
        name,
        `its logical design starts from ${logical[0]!.rootTable}, the conceptual one from ` +
          `${rootTable}`,
      );
  }
  const names = design.logical.map((logical) => logical.collection);
  for (const name of new Set(names)) {
    if (names.filter((other) => other.toLowerCase() === name.toLowerCase()).length > 1)
      broken(name, 'two collections have this name, or names that differ in case only');
    if (!design.conceptual.collections.some((collection) => collection.name === name))
      broken(name, 'the conceptual design does not know this collection');
  }
  for (const logical of design.logical) {
    const visit = (fields: readonly Field[], path: string): void => {
      const seen = new Set<string>(path === '' ? ['_id'] : []);
      for (const field of fields) {
        for (const name of namesOf(field)) {
          if (seen.has(name))
            broken(`${logical.collection}.${path}${name}`, 'two fields have this path');
          seen.add(name);
        }
        if (isNested(field)) visit(field.fields, `${path}${field.name}.`);
      }
    };
    visit(logical.fields, '');
  }
  return problems;
}

function checkColumns(design: DocumentDesign, catalog: Catalog): DesignProblem[] {
  const problems: DesignProblem[] = [];
  for (const table of catalog.tables) {
    const places = placementCount(design, table.name);
    if (places > 1)
      problems.push({
        kind: 'broken',
        subject: table.name,
        detail: `the table is placed ${places} times; a second place would be a copy`,
      });
    const placement = placementOf(design, table.name);
    if (!placement) {
      problems.push({
        kind: 'loss',
        subject: table.name,
        detail: 'no collection holds the rows of this table',
      });
      continue;
    }
    for (const column of table.columns) {
      if (!columnPath(placement, column.name))
        problems.push({
          kind: 'loss',
          subject: `${table.name}.${column.name}`,
          detail: 'no field holds the values of this column',
        });
    }
  }
  for (const logical of design.logical) {
    const visit = (fields: readonly Field[], tableName: string, path: string): void => {
      const table = tableNamed(catalog, tableName);
      if (!table) {
        problems.push({
          kind: 'broken',
          subject: `${logical.collection}${path}`,
          detail: `the source has no table ${tableName}`,
        });
        return;
      }
      for (const field of fields) {
        const at = `${logical.collection}${path}.${field.name}`;
        if (
          field.kind === 'column' &&
          !table.columns.some((column) => column.name === field.column)
        ) {
          problems.push({
            kind: 'broken',
            subject: at,
            detail: `${tableName} has no column ${field.column}`,
          });
        }
        if (isNested(field)) visit(field.fields, field.table, `${path}.${field.name}`);
      }
    };
    visit(logical.fields, logical.rootTable, '');
  }
  return problems;
}

/**
 * A string cannot hold bytes that are no text: they have a field of their own, and are no key of
 * documents.
 */
function checkBytes(design: DocumentDesign, profile: Profile): DesignProblem[] {
  return profile.tables.flatMap(({ table, columns }) => {
    const placement = placementOf(design, table);
    return columns.flatMap(({ column, invalidUtf8 }): DesignProblem[] => {
      if (invalidUtf8 === 0 || !placement) return [];
      const isId =
        placement.steps.length === 0 &&
        placement.logical.id.kind === 'column' &&
        placement.logical.id.column === column;
      if (keepsBytes(placement, column) && !isId) return [];
      const texts =
        `${invalidUtf8} ${invalidUtf8 === 1 ? 'text has' : 'texts have'} bytes that ` +
        `are no valid ${profile.encoding}, which MongoDB cannot store as text`;
      return [
        {
          kind: 'loss',
          subject: `${table}.${column}`,
          detail: isId
            ? `${texts}: two keys could become one`
            : `${texts}; a field of the column with ` +
              `"${describe({ kind: 'bytes', encoding: profile.encoding })}" would keep them`,
        },
      ];
    });
  });
}

/**
 * A copy follows a relationship from the row that holds it: to its parent, or from its children.
 */
function checkCopies(
  design: DocumentDesign,
  profile: Profile,
  limits: DesignLimits,
): DesignProblem[] {
  const problems: DesignProblem[] = [];
  const visit = (fields: readonly Field[], table: string, where: string, id?: IdRule): void => {
    for (const field of fields) {
      const subject = `${where}.${field.name}`;
      if (isEmbed(field)) visit(field.fields, field.table, subject);
      else if (field.kind === 'attribute')
        problems.push(...checkAttribute(field, fields, where, limits));
      else if (field.kind !== 'column')
        problems.push(
          ...checkCopy(field, { fields, table, subject, id }, { design, profile, limits }),
        );
    }
  };
  for (const { fields, rootTable, collection, id } of design.logical)
    visit(fields, rootTable, collection, id);
  return problems;
}

function checkAttribute(
  field: AttributeField,
  beside: readonly Field[],
  where: string,
  limits: DesignLimits,
): DesignProblem[] {
  const subject = `${where}.${field.name}`;
  const problems = attributeProblems(field, beside, where.includes('.')).map(
    (detail): DesignProblem => ({ kind: 'broken', subject, detail }),
  );
  if (field.fields.length > limits.maxArray)
    problems.push({
      kind: 'limit',
      subject,
      detail: `an array of ${field.fields.length} entries; the limit is ${limits.maxArray}`,
    });
  return problems;
}

type CopyAlong = Exclude<CopyField, AttributeField>;

/** Where a copy is: beside these fields, in a document of the table with this rule of its `_id`. */
interface CopyPlace {
  readonly fields: readonly Field[];
  readonly table: string;
  readonly subject: string;
  readonly id: IdRule | undefined;
}

interface CheckedDesign {
  readonly design: DocumentDesign;
  readonly profile: Profile;
  readonly limits: DesignLimits;
}

function checkCopy(field: CopyAlong, place: CopyPlace, checked: CheckedDesign): DesignProblem[] {
  const { fields, table, subject, id } = place;
  const { design, profile, limits } = checked;
  const problems: DesignProblem[] = [];
  const relationship = relationshipById(profile, field.relationship);
  const [own, other] =
    field.kind === 'extendedReference'
      ? [relationship?.childTable, relationship?.parentTable]
      : [relationship?.parentTable, relationship?.childTable];
  if (!relationship || own !== table || other !== field.table) {
    return [
      {
        kind: 'broken',
        subject,
        detail: `${field.relationship} is no relationship of ${table} with ${field.table}`,
      },
    ];
  }
  problems.push(...joinProblems(field, relationship, subject));
  if (!relationship.parentIsKey)
    problems.push({
      kind: 'broken',
      subject,
      detail:
        `${relationship.parentColumns.join(', ')} of ${relationship.parentTable} is ` +
        `not unique, so the copy would not be one row's`,
    });
  problems.push(...ownProblems(field, subject, profile, limits));
  if (field.kind === 'outlier')
    problems.push(
      ...outlierObstacles(relationship, field, fields, id, design).map((detail) => ({
        kind: 'broken' as const,
        subject,
        detail,
      })),
    );
  const original = placementOf(design, field.table);
  const differs = (copied: ColumnField): boolean =>
    describe(copied.transform) !==
    describe((original && columnPath(original, copied.column)?.transform) ?? identity);
  if (field.kind !== 'computed' && field.fields.some(differs))
    problems.push({ kind: 'broken', subject, detail: 'a copy has the type of its original' });
  return problems;
}

function joinProblems(
  field: { readonly join: CopyAlong['join'] },
  relationship: Relationship,
  subject: string,
): DesignProblem[] {
  const joins = relationship.childColumns.every((child, i) =>
    field.join.some(
      (pair) => pair.child === child && pair.parent === relationship.parentColumns[i],
    ),
  );
  return joins && field.join.length === relationship.childColumns.length
    ? []
    : [{ kind: 'broken', subject, detail: `its join is not that of ${relationship.id}` }];
}

/** What a field asks for that its own kind does not allow. */
function ownProblems(
  field: CopyAlong,
  subject: string,
  profile: Profile,
  limits: DesignLimits,
): DesignProblem[] {
  const problems: DesignProblem[] = [];
  if (field.kind === 'computed' && field.aggregate !== 'count' && field.column === undefined)
    problems.push({ kind: 'broken', subject, detail: `a ${field.aggregate} needs a column` });
  if (field.kind === 'subset') {
    const unknown = field.orderBy.find(
      ({ column }) => !columnProfile(profile, field.table, column),
    );
    if (unknown)
      problems.push({
        kind: 'broken',
        subject,
        detail: `${field.table} has no column ${unknown.column} to sort by`,
      });
  }
  if (isKeptRows(field) && field.limit > limits.maxArray)
    problems.push({
      kind: 'limit',
      subject,
      detail: `an array of ${field.limit} entries; the limit is ${limits.maxArray}`,
    });
  return problems;
}

/**
 * Why a join would not find the children of every parent by the array and the flag together.
 * `beside`, `id`: what else the parent holds.
 */
function outlierObstacles(
  relationship: Relationship,
  { table }: OutlierField,
  beside: readonly Field[],
  id: LogicalDesign['id'] | undefined,
  design: DocumentDesign,
): string[] {
  const { childColumns, parentColumns, nullKeys, sameStorage } = relationship;
  const [child, ...more] = childColumns;
  if (child === undefined || more.length > 0)
    return [`a flag holds a key of one column, and ${relationship.id} has ${childColumns.length}`];
  const problems: string[] = [];
  if (nullKeys > 0)
    problems.push(
      `${nullKeys} rows of ${table} have no key, and a parent without a flag would find them`,
    );
  if (!sameStorage)
    problems.push(
      `${child} is stored otherwise than its parent’s key, so the flag would not find the children`,
    );
  const home = placementOf(design, table);
  if (home && home.steps.length > 0)
    problems.push(
      `the rows of ${table} are no documents of their own, so the flag would not find the children`,
    );
  const key = heldKey(beside, id, parentColumns[0]!);
  const there = home && columnPath(home, child);
  if (!key)
    problems.push(`the key ${parentColumns[0]!} has no field beside it that the flag could repeat`);
  else if (there && describe(there.transform) !== describe(key))
    problems.push(
      `${child} has another type than its parent’s key, so the flag would not find the children`,
    );
  return problems;
}

/**
 * Its entries repeat fields that stand beside it in the root document, under their names and with
 * their types.
 */
function attributeProblems(
  { fields }: AttributeField,
  beside: readonly Field[],
  isInside: boolean,
): string[] {
  if (isInside)
    return ['names and values are repeated of a document’s own columns, not of embedded rows'];
  const problems = fields.flatMap(({ name, column, transform }): string[] => {
    if (transform.kind === 'bytes') return [`${name} holds bytes of texts, which nobody compares`];
    const original = beside.find((field) => field.kind === 'column' && field.name === name);
    if (original?.kind !== 'column' || original.column !== column)
      return [`there is no field ${name} of ${column} beside it`];
    return describe(original.transform) === describe(transform)
      ? []
      : ['a copy has the type of its original'];
  });
  const twice = fields.find(
    ({ name }, index) => fields.findIndex((other) => other.name === name) < index,
  );
  return [...new Set([...problems, ...(twice ? [`it repeats ${twice.name} twice`] : [])])];
}

function placementCount(design: DocumentDesign, table: string): number {
  const count = (fields: readonly Field[]): number =>
    fields.reduce(
      (sum, field) =>
        sum + (isEmbed(field) ? Number(field.table === table) + count(field.fields) : 0),
      0,
    );
  return design.logical.reduce(
    (sum, { rootTable, id, fields }) =>
      sum + Number(rootTable === table && id.kind !== 'bucket') + count(fields),
    0,
  );
}

/** A bucket holds what its rows share, once, and their other columns row by row. */
function checkBuckets(
  design: DocumentDesign,
  profile: Profile,
  limits: DesignLimits,
): DesignProblem[] {
  const problems: DesignProblem[] = [];
  for (const { collection, rootTable, id, fields } of design.logical) {
    const broken = (detail: string): number =>
      problems.push({ kind: 'broken', subject: collection, detail });
    const rows = bucketRows(fields);
    if (id.kind !== 'bucket') {
      if (rows) broken(`${rows.name} holds the rows of buckets, but documents are no buckets`);
      continue;
    }
    // What is repeated of a parent is looked at with the other copies: all rows of a bucket have
    // the same, if they join by what they share.
    const joinsByShared = (field: Field): boolean =>
      field.kind === 'extendedReference' &&
      field.join.every(({ child }) => id.columns.includes(child));
    const shared = fields.filter((field) => field !== rows && !joinsByShared(field));
    if (rows?.kind !== 'embedMany' || rows.table !== rootTable || rows.orderBy.length > 0)
      broken(`buckets of ${rootTable} need an array of its rows, in source order`);
    else if (
      rows.join.length !== id.columns.length ||
      !rows.join.every(({ parent, child }) => parent === child && id.columns.includes(child))
    )
      broken(`the rows in ${rows.name} have to join by ${id.columns.join(', ')}`);
    if (
      shared.length !== id.columns.length ||
      !id.columns.every((column) =>
        shared.some(
          (field) =>
            field.kind === 'column' && field.column === column && field.transform.kind !== 'bytes',
        ),
      )
    )
      broken(
        `beside its rows a bucket holds ${id.columns.join(', ')}, and nothing else that could ` +
          'differ between them',
      );
    const obstacle = keyObstacle(rootTable, id.columns, profile);
    if (obstacle)
      problems.push({
        kind: 'loss',
        subject: collection,
        detail: `${obstacle}: its rows could not be told apart by their buckets`,
      });
    if (id.size > limits.maxArray)
      problems.push({
        kind: 'limit',
        subject: collection,
        detail: `buckets of ${id.size} rows; the limit is ${limits.maxArray}`,
      });
  }
  return problems;
}

function checkEmbeddings(
  design: DocumentDesign,
  profile: Profile,
  limits: DesignLimits,
): DesignProblem[] {
  const problems: DesignProblem[] = [];
  const visit = (fields: readonly Field[], parent: string, at: string): void => {
    for (const field of fields) {
      if (!isEmbed(field)) continue;
      const subject = `${at}.${field.name}`;
      if (field.relationship === BUCKET) {
        // Only below the root: `checkBuckets` looks at the array itself.
        if (at.includes('.'))
          problems.push({ kind: 'broken', subject, detail: 'only a document is a bucket' });
        visit(field.fields, field.table, subject);
        continue;
      }
      const relationship = relationshipById(profile, field.relationship);
      if (
        !relationship ||
        relationship.parentTable !== parent ||
        relationship.childTable !== field.table
      ) {
        problems.push({
          kind: 'broken',
          subject,
          detail: `${field.relationship} is no relationship between ${field.table} and ${parent}`,
        });
        continue;
      }
      problems.push(...embeddingProblems(field, relationship, subject, limits));
      visit(field.fields, field.table, subject);
    }
  };
  for (const logical of design.logical)
    visit(logical.fields, logical.rootTable, logical.collection);
  return [...problems, ...checkSizes(design, profile)];
}

function embeddingProblems(
  field: EmbedField,
  relationship: Relationship,
  subject: string,
  limits: DesignLimits,
): DesignProblem[] {
  const problems = joinProblems(field, relationship, subject);
  if (!isTotal(relationship)) {
    problems.push({
      kind: 'loss',
      subject,
      detail:
        `${relationship.orphans} rows of ${field.table} have no parent, ` +
        `${relationship.nullKeys} no ` +
        `key${relationship.parentIsKey ? '' : ', and parents are not unique'}`,
    });
  }
  if (
    !relationship.sameStorage &&
    relationship.childColumns.some(
      (child) => !field.fields.some((own) => own.kind === 'column' && own.column === child),
    )
  ) {
    problems.push({
      kind: 'loss',
      subject,
      detail:
        `${relationship.childColumns.join(', ')} is stored otherwise than its parent’s ` +
        'key, so it needs a field of its own',
    });
  }
  if (field.kind === 'embedOne' && relationship.fanOut.max > 1)
    problems.push({
      kind: 'loss',
      subject,
      detail: `one document is embedded, but a parent has ${relationship.fanOut.max} children`,
    });
  if (relationship.fanOut.max > limits.maxArray)
    problems.push({
      kind: 'limit',
      subject,
      detail: `an array of ${relationship.fanOut.max} entries; the limit is ${limits.maxArray}`,
    });
  return problems;
}

function checkSizes(design: DocumentDesign, profile: Profile): DesignProblem[] {
  const problems: DesignProblem[] = [];
  for (const { collection, largestBytes, longestArrays } of forecastCollections(design, profile)) {
    // A collection without arrays has the size of its rows, which are checked by themselves.
    if (
      Object.keys(longestArrays).length > 0 &&
      largestBytes * DOCUMENT_MARGIN > MAX_DOCUMENT_BYTES
    )
      problems.push({
        kind: 'limit',
        subject: collection,
        detail: `documents of about ${Math.round(largestBytes / 1e6)} MB are expected`,
      });
  }
  return problems;
}

/** A column is retyped only where the profile proves that every value comes back. */
function checkTransforms(design: DocumentDesign, profile: Profile): DesignProblem[] {
  const problems: DesignProblem[] = [];
  for (const table of profile.tables) {
    const placement = placementOf(design, table.table);
    if (!placement) continue;
    for (const column of table.columns) {
      const found = columnPath(placement, column.column);
      // What an ancestor holds is looked at there, unless the ancestor is a bucket of these rows.
      if (
        !found ||
        (found.inherited && placement.steps.at(-1)?.relationship !== BUCKET) ||
        found.transform.kind === 'identity'
      )
        continue;
      const obstacle = typeObstacle(column, found.transform);
      if (obstacle)
        problems.push({
          kind: 'loss',
          subject: `${table.table}.${column.column}`,
          detail: `${describe(found.transform)} cannot carry the column: ${obstacle}`,
        });
    }
    const { id } = placement.logical;
    const isRoot = placement.steps.length === 0;
    if (
      isRoot &&
      id.kind === 'column' &&
      !table.keys.some((key) => key.length === 1 && key[0] === id.column)
    ) {
      problems.push({
        kind: 'loss',
        subject: `${placement.collection}._id`,
        detail: `${id.column} is not unique and filled in the data`,
      });
    }
  }
  return problems;
}
