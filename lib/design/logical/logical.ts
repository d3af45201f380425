import { tableNamed, type Catalog } from '../../sqlite/catalog';
import {
  columnProfile,
  type Profile,
  type Relationship,
  relationshipById,
} from '../../sqlite/profile/profile';
import type { Directive } from '../model/directive';
import {
  BUCKET,
  type AttributeChoice,
  type AttributeField,
  type BucketRule,
  type ColumnField,
  type ComputedChoice,
  type ComputedField,
  type ConceptualDesign,
  type DocumentDesign,
  type EmbedField,
  type ExtendedReferenceField,
  type Field,
  type IdRule,
  type JoinColumn,
  type LogicalDesign,
  type OutlierChoice,
  type OutlierField,
  type RelationshipChoice,
  type SubsetChoice,
  type SubsetField,
} from '../model/document-design';
import { legalFieldName, NameSet } from '../model/names';
import { typeOf, type TypeSettings } from './retype';
import { identity } from '../model/transform';
import { type Transform } from '../model/transform-kind';

export interface LogicalInput {
  readonly conceptual: ConceptualDesign;
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly directives: readonly Directive[];
  /** Absent: every value keeps its type. */
  readonly types?: TypeSettings;
}

/**
 * The fields of one collection: every column of its tables, the embedded tables nested as the
 * choices say.
 */
export function deriveLogical(collection: string, input: LogicalInput): LogicalDesign {
  const found = input.conceptual.collections.find((candidate) => candidate.name === collection);
  if (!found)
    throw new Error(
      `the conceptual design of ${input.conceptual.database} has no collection ${collection}`,
    );
  const { rootTable } = found;
  if (found.id.kind === 'bucket')
    return {
      collection,
      rootTable,
      id: found.id,
      fields: bucketFields(rootTable, found.id, input),
    };
  const id: IdRule =
    found.id.kind === 'column'
      ? { ...found.id, transform: transformFor(rootTable, found.id.column, input) }
      : found.id;
  const idColumn = id.kind === 'column' ? id.column : undefined;
  const fields = fieldsOf(rootTable, (column) => column === idColumn, input, [rootTable]);
  return { collection, rootTable, id, fields };
}

/**
 * What the rows of a bucket share, once, with what is repeated of their parent, and an array of the
 * rest of each.
 */
function bucketFields(table: string, { columns }: BucketRule, input: LogicalInput): Field[] {
  const names = new NameSet();
  const shared = columns.map((column) => columnField(table, column, names, input));
  const [made] = input.conceptual.relationships.flatMap((choice) => {
    const relationship =
      choice.choice === 'bucket'
        ? input.profile.relationships.find(
            ({ id, childTable }) => id === choice.relationship && childTable === table,
          )
        : undefined;
    return relationship ? [{ choice, relationship }] : [];
  });
  const parents = made?.choice.columns
    ? [
        extendedReference(
          made.relationship,
          { ...made.choice, field: made.choice.parentField ?? made.relationship.parentTable },
          names,
          input,
        ),
      ]
    : [];
  const rows: EmbedField = {
    kind: 'embedMany',
    name: names.take(legalFieldName(made?.choice.field ?? table)),
    table,
    relationship: BUCKET,
    join: columns.map((column) => ({ parent: column, child: column })),
    orderBy: [],
    fields: fieldsOf(table, (column) => columns.includes(column), input, [table]),
  };
  return [...shared, ...parents, rows];
}

export function deriveDesign(input: LogicalInput): DocumentDesign {
  return {
    conceptual: input.conceptual,
    logical: input.conceptual.collections.map(({ name }) => deriveLogical(name, input)),
  };
}

function fieldsOf(
  tableName: string,
  leaveOut: (column: string) => boolean,
  input: LogicalInput,
  above: readonly string[],
): Field[] {
  const names = new NameSet();
  const own = ownFields(tableName, leaveOut, names, input);
  const bytes = own
    .filter(({ column }) => (columnProfile(input.profile, tableName, column)?.invalidUtf8 ?? 0) > 0)
    .map((field): ColumnField => ({
      ...field,
      name: names.take(`${field.name}_bytes`),
      transform: { kind: 'bytes', encoding: input.profile.encoding },
    }));
  const chosen = input.conceptual.relationships.flatMap((choice) => {
    const relationship = relationshipById(input.profile, choice.relationship);
    return relationship ? [{ choice, relationship }] : [];
  });
  const toParents = chosen.filter(({ relationship }) => relationship.childTable === tableName);
  const toChildren = chosen.filter(({ relationship }) => relationship.parentTable === tableName);
  const apart = toChildren.filter(({ choice }) => choice.choice !== 'embed');
  const attributes =
    above.length === 1
      ? input.conceptual.collections.find(
          ({ rootTable, id }) => rootTable === tableName && id.kind !== 'bucket',
        )?.attributes
      : undefined;
  const entries = attributes ? [attributeField(attributes, own, names)] : [];
  // Copies are named before what is embedded, and both after the columns, which keep the source's
  // names.
  const copies = toParents
    .filter(({ choice }) => choice.choice === 'copy')
    .map(({ choice, relationship }) => extendedReference(relationship, choice, names, input));
  const computed = apart.flatMap(({ choice, relationship }) =>
    (choice.computed ?? []).map((wanted) => computedField(relationship, wanted, names)),
  );
  const subsets = apart.flatMap(({ choice, relationship }) =>
    choice.subset ? [subsetField(relationship, choice.subset, names, input)] : [],
  );
  const outliers = apart.flatMap(({ choice, relationship }) =>
    choice.outlier ? [outlierField(relationship, choice.outlier, names, input)] : [],
  );
  const embedded = toChildren
    .filter(({ choice }) => choice.choice === 'embed')
    .map(({ choice, relationship }) => {
      if (above.includes(relationship.childTable))
        throw new Error(`${relationship.childTable} would be embedded in itself`);
      return embedField(
        relationship,
        choice.field ?? relationship.childTable,
        choice.cardinality ?? 'many',
        names,
        input,
        above,
      );
    });
  return [
    ...own,
    ...bytes,
    ...entries,
    ...copies,
    ...computed,
    ...subsets,
    ...outliers,
    ...embedded,
  ];
}

function ownFields(
  tableName: string,
  leaveOut: (column: string) => boolean,
  names: NameSet,
  input: LogicalInput,
): ColumnField[] {
  const table = tableNamed(input.catalog, tableName);
  if (!table) throw new Error(`the source has no table ${tableName}`);
  return table.columns
    .filter((column) => !leaveOut(column.name))
    .map(({ name }) => columnField(tableName, name, names, input));
}

const joinOf = ({ childColumns, parentColumns }: Relationship): JoinColumn[] =>
  childColumns.map((child, index) => ({ parent: parentColumns[index]!, child }));

/** The entries have the names and types of the columns' own fields. */
const attributeField = (
  { field, columns }: AttributeChoice,
  own: readonly ColumnField[],
  names: NameSet,
): AttributeField => ({
  kind: 'attribute',
  name: names.take(legalFieldName(field)),
  fields: columns.flatMap((column) => own.filter((candidate) => candidate.column === column)),
});

function computedField(
  relationship: Relationship,
  { field, aggregate, column }: ComputedChoice,
  names: NameSet,
): ComputedField {
  const { id, childTable } = relationship;
  return {
    kind: 'computed',
    name: names.take(legalFieldName(field)),
    table: childTable,
    relationship: id,
    join: joinOf(relationship),
    aggregate,
    ...(column === undefined ? {} : { column }),
  };
}

function subsetField(
  relationship: Relationship,
  { field, limit, orderBy, columns }: SubsetChoice,
  names: NameSet,
  input: LogicalInput,
): SubsetField {
  const { id, childTable } = relationship;
  return {
    kind: 'subset',
    name: names.take(legalFieldName(field)),
    table: childTable,
    relationship: id,
    join: joinOf(relationship),
    limit,
    orderBy,
    fields: copiedFields(childTable, columns, input),
  };
}

/**
 * Entries are named exactly as the fields of the child's own documents, `_id` among them: a query
 * reads either as if they were the other.
 */
function outlierField(
  relationship: Relationship,
  { field, flag, limit, columns }: OutlierChoice,
  names: NameSet,
  input: LogicalInput,
): OutlierField {
  const { id, childTable } = relationship;
  const rule = input.conceptual.collections.find(({ rootTable }) => rootTable === childTable)?.id;
  const isId = (column: string): boolean => rule?.kind === 'column' && rule.column === column;
  const own = new Map(
    ownFields(childTable, isId, new NameSet(), input).map((entry) => [entry.column, entry]),
  );
  const fields = columns.map(
    (column): ColumnField =>
      own.get(column) ?? {
        kind: 'column',
        name: isId(column) ? '_id' : column,
        column,
        transform: transformFor(childTable, column, input),
      },
  );
  return {
    kind: 'outlier',
    name: names.take(legalFieldName(field)),
    flag: names.take(legalFieldName(flag)),
    table: childTable,
    relationship: id,
    join: joinOf(relationship),
    limit,
    fields,
  };
}

/** As the original's, in name and type. */
function copiedFields(
  table: string,
  columns: readonly string[],
  input: LogicalInput,
): ColumnField[] {
  const names = new NameSet();
  return columns.map((column) => columnField(table, column, names, input));
}

function extendedReference(
  relationship: Relationship,
  choice: RelationshipChoice,
  names: NameSet,
  input: LogicalInput,
): ExtendedReferenceField {
  return {
    kind: 'extendedReference',
    name: names.take(legalFieldName(choice.field ?? relationship.parentTable)),
    table: relationship.parentTable,
    relationship: relationship.id,
    join: joinOf(relationship),
    fields: copiedFields(relationship.parentTable, choice.columns ?? [], input),
  };
}

function embedField(
  relationship: Relationship,
  wanted: string,
  cardinality: 'one' | 'many',
  names: NameSet,
  input: LogicalInput,
  above: readonly string[],
): EmbedField {
  const { childTable, childColumns, sameStorage } = relationship;
  const child = tableNamed(input.catalog, childTable)!;
  // The parent holds the key already, as long as it is stored the same; an entry without any field
  // would say nothing.
  const keyIsHeld =
    sameStorage && child.columns.some((column) => !childColumns.includes(column.name));
  return {
    kind: cardinality === 'one' ? 'embedOne' : 'embedMany',
    name: names.take(legalFieldName(wanted)),
    table: childTable,
    relationship: relationship.id,
    join: joinOf(relationship),
    orderBy: [],
    fields: fieldsOf(childTable, (column) => keyIsHeld && childColumns.includes(column), input, [
      ...above,
      childTable,
    ]),
  };
}

const columnField = (
  table: string,
  column: string,
  names: NameSet,
  input: LogicalInput,
): ColumnField => ({
  kind: 'column',
  name: names.take(fieldName(table, column, input)),
  column,
  transform: transformFor(table, column, input),
});

/** A copy has the type of its original: both are decided here. */
function transformFor(
  table: string,
  column: string,
  { profile, types, directives }: LogicalInput,
): Transform {
  const kept = directives.some(
    (directive) =>
      directive.kind === 'keep_type' && directive.table === table && directive.column === column,
  );
  return types && !kept ? typeOf(profile, table, column, types) : identity;
}

/**
 * As directed; else the source's name, unless it says nothing and the benchmark describes the
 * column in a few words.
 */
function fieldName(table: string, column: string, { directives, catalog }: LogicalInput): string {
  const renamed = directives.findLast(
    (directive) =>
      directive.kind === 'rename_field' && directive.table === table && directive.column === column,
  );
  if (renamed?.kind === 'rename_field') return legalFieldName(renamed.name);
  const description = tableNamed(catalog, table)?.columns.find(
    ({ name }) => name === column,
  )?.description;
  return legalFieldName((CRYPTIC.test(column) && shortPhrase(description)) || column);
}

/** Numbered columns, as the A2 … A16 of BIRD's `financial`. */
const CRYPTIC = /^[a-z]{1,2}_?\d{1,3}$/i;
const MAX_WORDS = 5;

function shortPhrase(description: string | undefined): string | undefined {
  const phrase = description?.split(/[\r\n.;:(]/)[0]?.trim() ?? '';
  const words = phrase.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length > 0 && words.length <= MAX_WORDS && /\p{L}{3}/u.test(phrase)
    ? phrase
    : undefined;
}
