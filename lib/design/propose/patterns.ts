import type { Catalog } from '../../sqlite/catalog';
import {
  rowCount,
  type Profile,
  type Relationship,
  type TableProfile,
  relationshipById,
} from '../../sqlite/profile/profile';
import { bucketAdvice } from '../limits/buckets';
import { score, type Cost } from '../model/score';
import type {
  Choice,
  ChoiceAlternative,
  PatternUse,
  RelationshipChoice,
} from '../model/document-design';
import { SPARSE, type AttributeProposal } from './attributes';
import type { DesignLimits } from '../limits/obstacles';
import { hasOutliers } from '../patterns/outliers';
import { outliersOf } from '../model/outlier-share';
import { MAX_SUBSET } from '../patterns/subsets';
import { readTogether, type Workload } from '../model/workload';

export interface PatternInput {
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly workload: Workload;
  readonly limits: DesignLimits;
  /** Why the outlier pattern is not used where the data calls for it, by relationship. */
  readonly outliersLeft: ReadonlyMap<string, string>;
}

/**
 * The schema patterns and anti-patterns of the guidebook (sections 4 and 5) that this data calls
 * up, each with the figures that call it up. Whatever is repeated, every row keeps one place: gold
 * has to find it there.
 */
export function namePatterns(
  choices: readonly RelationshipChoice[],
  attributes: readonly AttributeProposal[],
  input: PatternInput,
): PatternUse[] {
  return [
    ...applied(choices, input),
    ...attributes.map(attributeUse),
    ...considered(choices, attributes, input),
    ...avoided(choices, input),
  ];
}

function applied(choices: readonly RelationshipChoice[], { profile }: PatternInput): PatternUse[] {
  return choices.flatMap((choice): PatternUse[] => {
    const relationship = relationshipOf(choice, profile);
    if (!relationship) return [];
    return [
      ...appliedByChoice(choice, relationship, profile),
      ...keptWithParent(choice, relationship, profile),
      ...treeUses(relationship),
    ];
  });
}

/** The pattern that the choice itself is. */
function appliedByChoice(
  choice: RelationshipChoice,
  relationship: Relationship,
  profile: Profile,
): PatternUse[] {
  const uses: PatternUse[] = [];
  if (choice.choice === 'copy') {
    uses.push({
      pattern: 'Extended reference',
      target: `${relationship.childTable}.${choice.field ?? ''}`,
      reason:
        `${(choice.columns ?? []).join(', ')} of ${relationship.parentTable} beside the ` +
        'reference, for queries that read nothing else of it.',
    });
  }
  if (choice.choice === 'bucket') {
    const { childTable, childColumns, fanOut } = relationship;
    uses.push({
      pattern: 'Bucket',
      target: `${childTable}.${choice.field ?? ''}`,
      reason:
        `The rows of ${childTable} with the same ${childColumns.join(', ')} share ` +
        `documents: ${fanOut.mean.toFixed(1)} on average, at most ` +
        `${fanOut.max}.${savedBy(choice)}`,
    });
  }
  const { childlessParents } = relationship.fanOut;
  if (choice.choice === 'embed' && choice.cardinality === 'one' && childlessParents > 0) {
    const parents = rowCount(profile, relationship.parentTable);
    uses.push({
      pattern: 'Polymorphic',
      target: `${relationship.parentTable}.${choice.field ?? ''}`,
      reason:
        `${parents - childlessParents} of ${parents} rows of ${relationship.parentTable} ` +
        `are extended by a row of ${relationship.childTable}: their documents have its fields, ` +
        'the others do not.',
    });
  }
  return uses;
}

/** What of the children is kept once more in their parent. */
function keptWithParent(
  choice: RelationshipChoice,
  relationship: Relationship,
  profile: Profile,
): PatternUse[] {
  const uses: PatternUse[] = [];
  if (choice.subset) {
    const { field, limit, orderBy, queries } = choice.subset;
    uses.push({
      pattern: 'Subset',
      target: `${relationship.parentTable}.${field}`,
      reason:
        `The first ${limit} rows of ${relationship.childTable} by ` +
        `${orderBy.map(({ column, direction }) => `${column} ${direction}`).join(', ')}, of up ` +
        `to ${relationship.fanOut.max}: ${queries ?? 0} queries ask for no others.`,
    });
  }
  if (choice.outlier) {
    const { field, flag, limit, columns, queries } = choice.outlier;
    const { parents, exact } = outliersOf(relationship, limit, profile);
    uses.push({
      pattern: 'Outlier',
      target: `${relationship.parentTable}.${field}`,
      reason:
        `${columns.join(', ')} of all rows of ${relationship.childTable} in every ` +
        `${relationship.parentTable} that has at most ${limit} (p99 ` +
        `${relationship.fanOut.p99}). ${exact ? parents : `At most ${parents}`} of ` +
        `${rowCount(profile, relationship.parentTable)} have more, up to ` +
        `${relationship.fanOut.max}: ${flag} flags them, and their rows are found in the ` +
        `collection of ${relationship.childTable} alone. ${queries ?? 0} queries need no more ` +
        'than these columns.',
    });
  }
  for (const { field, aggregate, column, queries } of choice.computed ?? []) {
    uses.push({
      pattern: 'Computed',
      target: `${relationship.parentTable}.${field}`,
      reason:
        `${aggregate}${column === undefined ? '' : ` of ${column}`} over the rows of ` +
        `${relationship.childTable}, asked for by ${String(queries ?? 0)} queries.`,
    });
  }
  return uses;
}

function treeUses(relationship: Relationship): PatternUse[] {
  if (!relationship.selfReference) return [];
  return [
    {
      pattern: 'Tree',
      target: relationship.childTable,
      reason:
        `${relationship.childColumns.join(', ')} points to a row of the same table: each ` +
        'document keeps its parent’s key, indexed, and $graphLookup walks the tree. ' +
        `${relationship.nullKeys} ` +
        `${relationship.nullKeys === 1 ? 'row is a root' : 'rows are roots'}; at most ` +
        `${relationship.fanOut.max} children.`,
    },
  ];
}

function attributeUse({
  table,
  choice: { field, columns, queries = 0 },
  asked,
  entries,
  replaced,
  before,
  after,
  obstacle,
}: AttributeProposal): PatternUse {
  const figures =
    `${queries} queries compare ${asked} of ${columns.length} columns of a kind ` +
    `(${columns.slice(0, 4).join(', ')}${columns.length > 4 ? ' …' : ''}) with constants.`;
  if (obstacle !== undefined)
    return {
      pattern: 'Attribute',
      target: table,
      status: 'considered',
      reason: `${figures} Left: ${obstacle}.`,
    };
  const indexes =
    replaced > 0 ? ` in place of ${replaced === 1 ? 'one' : replaced} of a single column` : '';
  const cost = (value: number): string => Math.round(value).toLocaleString('en');
  return {
    pattern: 'Attribute',
    target: `${table}.${field}`,
    reason:
      `${figures} Names and values once more as an array, ${entries.toFixed(1)} entries a ` +
      `document on average, need one index${indexes}; the workload is estimated at ` +
      `${cost(after)} with it, ${cost(before)} without.`,
  };
}

/** So many sparse columns make a table of attributes. */
const MIN_SPARSE = 8;

function considered(
  choices: readonly RelationshipChoice[],
  attributes: readonly AttributeProposal[],
  input: PatternInput,
): PatternUse[] {
  return [
    ...choices.flatMap((choice) => consideredFor(choice, choices, input)),
    ...consideredAttributes(choices, attributes, input),
    ...consideredTogether(input),
  ];
}

function consideredFor(
  choice: RelationshipChoice,
  choices: readonly RelationshipChoice[],
  input: PatternInput,
): PatternUse[] {
  const { profile, limits, outliersLeft } = input;
  const relationship = relationshipOf(choice, profile);
  if (!relationship || choice.choice === 'embed' || !relationship.parentIsKey) return [];
  const uses: PatternUse[] = [];
  const { childTable, parentTable, fanOut } = relationship;
  const left = outliersLeft.get(relationship.id);
  if (hasOutliers(relationship, limits) && left !== undefined) {
    uses.push({
      pattern: 'Outlier',
      target: `${parentTable} and ${childTable}`,
      status: 'considered',
      reason:
        `99 % of the rows of ${parentTable} have at most ${fanOut.p99} rows of ` +
        `${childTable}, one has ${fanOut.max}. Left: ${left}.`,
    });
  }
  return fanOut.p99 > limits.maxArrayP99
    ? [...uses, ...consideredForMany(choice, relationship, choices, input)]
    : uses;
}

/** More rows of one parent than an array may have. */
function consideredForMany(
  choice: RelationshipChoice,
  relationship: Relationship,
  choices: readonly RelationshipChoice[],
  { profile, workload }: PatternInput,
): PatternUse[] {
  const uses: PatternUse[] = [];
  const { childTable, parentTable, fanOut } = relationship;
  const bucket = choice.alternatives?.find((entry) => entry.choice === 'bucket');
  if (
    choice.choice !== 'bucket' &&
    bucket &&
    !choices.some(
      (other) =>
        other.choice === 'bucket' && relationshipOf(other, profile)?.childTable === childTable,
    )
  ) {
    uses.push({
      pattern: 'Bucket',
      target: childTable,
      status: 'considered',
      reason:
        `${fanOut.p99} rows (p99) for one ${parentTable}. Left: ` +
        `${bucketReason(choice, bucket, bucketAdvice(relationship, { profile, workload }))}`,
    });
  }
  if (
    !choice.subset &&
    readTogether(workload, relationship) > 0 &&
    sortsBy(workload, relationship)
  ) {
    uses.push({
      pattern: 'Subset',
      target: `${parentTable} and ${childTable}`,
      status: 'considered',
      reason:
        `The workload sorts ${childTable} within ${parentTable}; the first ` +
        `${MAX_SUBSET} of up to ${fanOut.max} could be repeated in it. Left: fewer than ` +
        'three queries ask for the first rows alone, and one that filters first would not ' +
        'find its rows among them.',
    });
  }
  return uses;
}

const EMBEDDED_ROWS = 'its rows are no documents of their own, and an index finds documents';
const TOO_FEW_QUERIES =
  'fewer than three queries compare three of a kind with constants, so that names and values ' +
  'once more would serve nothing';

function consideredAttributes(
  choices: readonly RelationshipChoice[],
  attributes: readonly AttributeProposal[],
  { profile }: PatternInput,
): PatternUse[] {
  const uses: PatternUse[] = [];
  const isEmbedded = (table: string): boolean =>
    choices.some(
      (choice) =>
        choice.choice === 'embed' && relationshipOf(choice, profile)?.childTable === table,
    );
  for (const table of profile.tables) {
    const sparse = sparseColumns(table);
    if (
      sparse.length >= MIN_SPARSE &&
      !attributes.some((proposal) => proposal.table === table.table)
    )
      uses.push({
        pattern: 'Attribute',
        target: table.table,
        status: 'considered',
        reason:
          `${sparse.length} of ${table.columns.length} columns are null in more than ` +
          `${SPARSE * 100} % of the rows (${sparse.slice(0, 4).join(', ')} …). Left: ` +
          `${isEmbedded(table.table) ? EMBEDDED_ROWS : TOO_FEW_QUERIES}.`,
      });
  }
  return uses;
}

/** Tables that could share a collection. */
function consideredTogether({ catalog }: PatternInput): PatternUse[] {
  const uses: PatternUse[] = [];
  for (const [a, b] of sameColumns(catalog)) {
    uses.push({
      pattern: 'Polymorphic',
      target: `${a} and ${b}`,
      status: 'considered',
      reason:
        'Both tables have the same columns. Left: questions name them apart, and one ' +
        'collection would need a type in every filter.',
    });
  }
  return uses;
}

function avoided(
  choices: readonly RelationshipChoice[],
  { catalog, profile, limits }: PatternInput,
): PatternUse[] {
  const uses: PatternUse[] = [];
  for (const choice of choices) {
    const relationship = relationshipOf(choice, profile);
    if (!relationship || choice.choice === 'embed') continue;
    const { childTable, childColumns, parentTable, fanOut } = relationship;
    if (
      relationship.parentIsKey &&
      (fanOut.p99 > limits.maxArrayP99 || fanOut.max > limits.maxArray)
    ) {
      uses.push({
        pattern: 'Unbounded array',
        target: `${childTable} by ${childColumns.join(', ')} in ${parentTable}`,
        status: 'avoided',
        reason:
          `p99 ${fanOut.p99}, at most ${fanOut.max} entries; the limits are ` +
          `${limits.maxArrayP99} and ${limits.maxArray}.`,
      });
    }
  }
  const embedded = choices.filter(({ choice }) => choice === 'embed').length;
  if (embedded > 0)
    uses.push({
      pattern: 'One collection per table',
      target: catalog.database,
      status: 'avoided',
      reason:
        `${catalog.tables.length} tables make ${catalog.tables.length - embedded} ` +
        'collections.',
    });
  return uses;
}

function bucketReason(
  choice: RelationshipChoice,
  { obstacle, cost }: ChoiceAlternative,
  advice: string | undefined,
): string {
  if (obstacle) return `${obstacle}.`;
  if (choice.directed) return 'a reviewer directed otherwise.';
  const own = choice.alternatives?.find((entry) => entry.choice === choice.choice)?.cost;
  if (advice) return `${advice}.`;
  const isClose = own && cost && score(cost) < score(own);
  const why = isClose
    ? 'the estimate is too close to decide.'
    : 'the other queries would read whole buckets for single rows.';
  return `${why}${savedBy(choice, 'bucket')}`;
}

/**
 * What the workload costs with a choice, and with what it is compared to: nothing where either is
 * not known.
 */
function savedBy(
  { choice, alternatives }: RelationshipChoice,
  other: Choice = 'reference',
): string {
  const [mine, theirs] = [choice, other].map(
    (wanted) => alternatives?.find((entry) => entry.choice === wanted)?.cost,
  );
  const figure = (cost: Cost): string => Math.round(score(cost)).toLocaleString('en');
  return mine && theirs
    ? ` The workload would cost an estimated ${figure(theirs)} ` +
        `${other === 'bucket' ? 'in buckets' : 'without them'}, ${figure(mine)} as it is.`
    : '';
}

const relationshipOf = (
  { relationship }: RelationshipChoice,
  profile: Profile,
): Relationship | undefined => relationshipById(profile, relationship);

const sortsBy = (workload: Workload, { id, childTable }: Relationship): boolean =>
  workload.patterns.some(
    ({ relationships, sorted }) =>
      relationships.includes(id) && sorted.some(({ table }) => table === childTable),
  );

const sparseColumns = ({ rowCount, columns }: TableProfile): string[] =>
  columns
    .filter(({ stored }) => rowCount > 0 && stored.null / rowCount > SPARSE)
    .map(({ column }) => column);

/** Pairs of tables with the same column names, three at least: two are as likely a coincidence. */
function sameColumns(catalog: Catalog): [string, string][] {
  const shape = catalog.tables.map(({ name, columns }) => ({
    name,
    columns: columns
      .map((column) => column.name.toLowerCase())
      .sort()
      .join('\n'),
    count: columns.length,
  }));
  return shape.flatMap((a, index) =>
    shape
      .slice(index + 1)
      .filter((b) => a.count >= 3 && a.columns === b.columns)
      .map((b): [string, string] => [a.name, b.name]),
  );
}
