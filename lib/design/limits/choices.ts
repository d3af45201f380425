import { tableNamed, type Catalog } from '../../sqlite/catalog';
import { tableProfile, type Profile, type Relationship } from '../../sqlite/profile/profile';
import { bucketsBy, bucketSize } from './buckets';
import { MAX_COPIED_COLUMNS, proposeCopy, shortColumns } from './copies';
import type { Directive } from '../model/directive';
import type {
  AttributeChoice,
  CollectionDesign,
  ComputedChoice,
  IdRule,
  OutlierChoice,
  RelationshipChoice,
  SubsetChoice,
} from '../model/document-design';
import { legalCollectionName, legalFieldName, NameSet } from '../model/names';
import type { DesignLimits } from './obstacles';
import { identity } from '../model/transform';
import type { Workload } from '../model/workload';
import { type Choices } from '../model/document-design';

export interface ChoiceContext {
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly workload: Workload;
  readonly directives: readonly Directive[];
  readonly limits: DesignLimits;
}

/** The embedded relationships of a candidate, by child table: a table has one place. */
export function embeddedBy(choices: Choices, profile: Profile): Map<string, Relationship> {
  return new Map(
    profile.relationships
      .filter(({ id }) => choices.get(id) === 'embed')
      .map((relationship) => [relationship.childTable, relationship]),
  );
}

/**
 * What the parents of a relationship keep of its children without holding them, by relationship id;
 * what root documents repeat of their own columns, by table.
 */
export interface KeptOfChildren {
  readonly computed: ReadonlyMap<string, readonly ComputedChoice[]>;
  readonly subsets: ReadonlyMap<string, SubsetChoice>;
  readonly outliers: ReadonlyMap<string, OutlierChoice>;
  readonly attributes?: ReadonlyMap<string, AttributeChoice>;
}

export const NOTHING_KEPT: KeptOfChildren = {
  computed: new Map(),
  subsets: new Map(),
  outliers: new Map(),
};

/**
 * Names everything that a candidate's choices make: collections, embedded fields, copies. Reasons
 * are left empty.
 */
export function realise(
  choices: Choices,
  kept: KeptOfChildren,
  context: ChoiceContext,
): { collections: CollectionDesign[]; relationships: RelationshipChoice[] } {
  const { profile, catalog } = context;
  const copied = profile.relationships.filter(({ id }) => choices.get(id) === 'copy');
  const relationships = profile.relationships.map((relationship): RelationshipChoice => {
    const { id } = relationship;
    const choice = choices.get(id) ?? 'reference';
    const [computed, subset, outlier] = [
      kept.computed.get(id),
      kept.subsets.get(id),
      kept.outliers.get(id),
    ];
    const base = {
      relationship: id,
      choice,
      reason: '',
      ...(computed ? { computed } : {}),
      ...(subset ? { subset } : {}),
      ...(outlier ? { outlier } : {}),
    };
    if (choice === 'embed')
      return {
        relationship: id,
        choice,
        reason: '',
        field: legalFieldName(relationship.childTable),
        cardinality: cardinalityOf(relationship, catalog),
      };
    if (choice === 'bucket') {
      const columns = proposeCopy(relationship, profile, context.workload)?.columns;
      return {
        ...base,
        field: legalFieldName(relationship.childTable),
        ...(columns && relationship.parentIsKey
          ? { columns, parentField: copyName(relationship, true, catalog) }
          : {}),
      };
    }
    if (choice === 'reference') return base;
    const isOnly =
      copied.filter(
        ({ childTable, parentTable }) =>
          childTable === relationship.childTable && parentTable === relationship.parentTable,
      ).length === 1;
    return {
      ...base,
      field: copyName(relationship, isOnly, catalog),
      columns: columnsToCopy(relationship, context),
    };
  });
  return { collections: nameCollections(context, choices, kept.attributes), relationships };
}

/**
 * Those that the workload reads; where it reads none of the parent's, the first few that are short.
 */
const columnsToCopy = (
  relationship: Relationship,
  { profile, workload }: ChoiceContext,
): readonly string[] =>
  proposeCopy(relationship, profile, workload)?.columns ??
  shortColumns(relationship, profile).slice(0, MAX_COPIED_COLUMNS);

/**
 * Only a declared key makes "one at most" a rule; that small data happens to have no second child
 * does not.
 */
function cardinalityOf(relationship: Relationship, catalog: Catalog): 'one' | 'many' {
  const child = tableNamed(catalog, relationship.childTable)!;
  return [child.primaryKey, ...child.uniqueKeys].some(
    (key) => key.length > 0 && key.every((column) => relationship.childColumns.includes(column)),
  )
    ? 'one'
    : 'many';
}

/** Named after the parent; after the key where the row refers to the parent in several roles. */
function copyName(
  { childTable, childColumns, parentTable }: Relationship,
  isOnly: boolean,
  catalog: Catalog,
): string {
  const taken =
    tableNamed(catalog, childTable)?.columns.map(({ name }) => name.toLowerCase()) ?? [];
  const role =
    childColumns.length === 1 ? (childColumns[0] ?? '').replace(/_?(?:id|code|key|no)$/i, '') : '';
  const wanted = (isOnly ? [parentTable, role] : [role, parentTable]).filter((name) => name !== '');
  return legalFieldName(wanted.find((name) => !taken.includes(name.toLowerCase())) ?? parentTable);
}

function nameCollections(
  { catalog, profile, directives, limits }: ChoiceContext,
  choices: Choices,
  attributes: KeptOfChildren['attributes'],
): CollectionDesign[] {
  const names = new NameSet();
  const [embedded, buckets] = [embeddedBy(choices, profile), bucketsBy(choices, profile)];
  return catalog.tables
    .filter((table) => !embedded.has(table.name))
    .map((table) => {
      const renamed = directives.findLast(
        (directive) => directive.kind === 'rename_collection' && directive.table === table.name,
      );
      const wanted = renamed?.kind === 'rename_collection' ? renamed.name : table.name;
      const kept = buckets.get(table.name);
      const id: IdRule = kept
        ? { kind: 'bucket', columns: kept.childColumns, size: bucketSize(kept, profile, limits) }
        : idRuleFor(table.name, catalog, profile);
      const repeated = attributes?.get(table.name);
      return {
        name: names.take(legalCollectionName(wanted)),
        rootTable: table.name,
        id,
        ...(repeated ? { attributes: repeated } : {}),
      };
    });
}

/**
 * The primary key where it is one column that the data keeps unique and filled; else the row's
 * ordinal.
 */
export function idRuleFor(tableName: string, catalog: Catalog, profile: Profile): IdRule {
  const table = tableNamed(catalog, tableName)!;
  const keys = tableProfile(profile, tableName)?.keys ?? [];
  const [column, ...more] = table.primaryKey;
  const holds =
    column !== undefined &&
    more.length === 0 &&
    keys.some((key) => key.length === 1 && key[0] === column);
  return holds ? { kind: 'column', column, transform: identity } : { kind: 'ordinal' };
}
