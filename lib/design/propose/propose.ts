import type { Catalog } from '../../sqlite/catalog';
import { relationshipById, type Profile, type Relationship } from '../../sqlite/profile/profile';
import { bucketAdvice, bucketObstacle, bucketsBy, embedIntoBuckets } from '../limits/buckets';
import { embeddedBy, NOTHING_KEPT, realise } from '../limits/choices';
import { type Choices } from '../model/document-design';
import { proposeCopy } from '../limits/copies';
import { score, type Cost } from '../model/score';
import { describeDesign } from '../document/describe-design';
import type { CannotAct, Directive } from '../model/directive';
import {
  CHOICES,
  type AttributeChoice,
  type Choice,
  type ChoiceAlternative,
  type ConceptualDesign,
  type RelationshipChoice,
  type Strategy,
} from '../model/document-design';
import { foreignKeyEmbeddings } from './fk-embedding';
import { copyObstacle, hardObstacle, softObstacle, type DesignLimits } from '../limits/obstacles';
import type { TypeSettings } from '../logical/retype';
import { namePatterns } from './patterns';
import { DesignSearch } from './search';
import { figures } from './what-if';
import { readTogether, readWithout, type Workload } from '../model/workload';

export interface ProposalInput {
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly workload: Workload;
  readonly strategy: Strategy;
  readonly limits: DesignLimits;
  readonly directives: readonly Directive[];
  /** What decides about types, for the document; absent: every value keeps its type. */
  readonly types?: TypeSettings;
}

export interface Proposal {
  readonly design: ConceptualDesign;
  readonly cannotAct: readonly CannotAct[];
}

/**
 * Proposes a conceptual design: of the candidates that lose nothing and stay bounded the one on
 * which the workload is estimated to cost least (guidebook, section 2), as directives allow. The
 * baselines decide without looking at costs.
 */
export function proposeDesign(input: ProposalInput): Proposal {
  const { catalog, profile, workload, strategy } = input;
  const { directed, cannotAct } = readDirectives(input);
  const search = new DesignSearch(input, directed);
  const choices = choicesOf(strategy, { catalog, profile, directed, search });
  const byCost = strategy === 'access-pattern';
  const proposed = byCost ? search.attributes(choices) : [];
  const attributes = new Map(
    proposed.flatMap(({ table, choice, obstacle }) =>
      obstacle === undefined ? [[table, choice] as const] : [],
    ),
  );
  const kept = byCost ? { ...search.keptOfChildren(choices), attributes } : NOTHING_KEPT;
  const { collections, relationships } = realise(choices, kept, input);
  const own = byCost ? figures(search.design(choices, kept), input).cost : undefined;
  const explained = relationships.map((choice): RelationshipChoice => {
    const relationship = relationshipById(profile, choice.relationship)!;
    const alternatives = own
      ? alternativesOf(relationship, choices, own, search, input, attributes)
      : undefined;
    const isDirected = directed.has(relationship.id);
    const reasonOf = (): string => {
      if (isDirected) return directedReason(relationship, choice, alternatives ?? []);
      if (!byCost) return baselineReason(relationship, choice, choices, input);
      return (
        reasonFor(relationship, choice, alternatives ?? [], choices, input) +
        cheaperLeft(relationship, choice, alternatives ?? [], input)
      );
    };
    const reason = reasonOf();
    return {
      ...choice,
      reason,
      ...(isDirected ? { directed: true } : {}),
      ...(alternatives ? { alternatives } : {}),
    };
  });
  const draft = {
    database: catalog.database,
    strategy,
    collections,
    relationships: explained,
    patterns: byCost
      ? namePatterns(explained, proposed, { ...input, outliersLeft: search.outliersLeft(choices) })
      : [],
  };
  return {
    design: {
      ...draft,
      document: describeDesign(draft, { catalog, profile, workload, types: input.types }),
    },
    cannotAct,
  };
}

/** What reviewers directed, as far as it loses nothing. */
function readDirectives({ catalog, profile, limits, directives }: ProposalInput): {
  directed: Choices;
  cannotAct: CannotAct[];
} {
  const cannotAct: CannotAct[] = [];
  const directed = new Map<string, Choice>();
  const wishes = new Map<string, Directive & { kind: 'relationship' }>();
  for (const directive of directives) {
    if (directive.kind === 'relationship') wishes.set(directive.relationship, directive);
    if (
      directive.kind === 'without_field' &&
      !profile.relationships.some(({ id }) => id === directive.relationship)
    )
      cannotAct.push({ directive, reason: `there is no relationship ${directive.relationship}` });
    if (
      directive.kind === 'without_attributes' &&
      !catalog.tables.some(({ name }) => name === directive.table)
    )
      cannotAct.push({ directive, reason: `there is no table ${directive.table}` });
    if (directive.kind === 'free_text')
      cannotAct.push({
        directive,
        reason: 'free text needs a language model: send it to another agent, or edit the design',
      });
  }
  for (const [id, directive] of wishes) {
    const relationship = relationshipById(profile, id);
    const obstacle = relationship
      ? obstacleTo(directive.choice, relationship, { profile, limits }, directed)
      : `there is no relationship ${id}`;
    if (obstacle) cannotAct.push({ directive, reason: obstacle });
    else directed.set(id, directive.choice);
  }
  return { directed, cannotAct };
}

/** Why a directed choice cannot be made, given the choices directed before it. */
function obstacleTo(
  choice: Choice,
  relationship: Relationship,
  context: Pick<ProposalInput, 'profile' | 'limits'>,
  directed: Choices,
): string | undefined {
  switch (choice) {
    case 'embed':
      return (
        embedIntoBuckets(relationship, directed, context.profile) ??
        hardObstacle(relationship, context, embeddedBy(directed, context.profile))
      );
    case 'copy':
      return copyObstacle(relationship, context.profile);
    case 'bucket':
      return directedBucketObstacle(relationship, context, directed);
    default:
      return undefined;
  }
}

function choicesOf(
  strategy: Strategy,
  {
    catalog,
    profile,
    directed,
    search,
  }: Pick<ProposalInput, 'catalog' | 'profile'> & {
    readonly directed: Choices;
    readonly search: DesignSearch;
  },
): Choices {
  if (strategy === 'access-pattern') return search.best();
  return strategy === 'fk-embedding' ? embedForeignKeys(catalog, profile, directed) : directed;
}

function embedForeignKeys(catalog: Catalog, profile: Profile, directed: Choices): Choices {
  const possible = foreignKeyEmbeddings(catalog, profile).filter(
    (relationship) => !embedIntoBuckets(relationship, directed, profile),
  );
  return new Map([...possible.map(({ id }) => [id, 'embed'] as const), ...directed]);
}

/**
 * The workload's cost under each choice, the one that was made among them, each with the indexes
 * that it calls for: as what-if has it.
 */
function alternativesOf(
  relationship: Relationship,
  choices: Choices,
  own: Cost,
  search: DesignSearch,
  input: ProposalInput,
  attributes: ReadonlyMap<string, AttributeChoice>,
): ChoiceAlternative[] {
  return CHOICES.map((choice): ChoiceAlternative => {
    if (choice === choices.get(relationship.id)) return { choice, cost: own };
    const changed = search.change(choices, relationship, choice);
    return 'obstacle' in changed
      ? { choice, obstacle: changed.obstacle }
      : {
          choice,
          cost: figures(
            search.design(changed.choices, {
              ...search.keptOfChildren(changed.choices),
              attributes,
            }),
            input,
          ).cost,
        };
  });
}

/** A table has one place: what a reviewer directed first keeps it. */
function directedBucketObstacle(
  relationship: Relationship,
  input: Pick<ProposalInput, 'profile' | 'limits'>,
  directed: Choices,
): string | undefined {
  const taken =
    embeddedBy(directed, input.profile).get(relationship.childTable) ??
    bucketsBy(directed, input.profile).get(relationship.childTable);
  return taken && taken.id !== relationship.id
    ? `a reviewer directed ${taken.id}: ${directed.get(taken.id) ?? ''}, and ` +
        `${relationship.childTable} has one place`
    : bucketObstacle(relationship, input, directed);
}

const DIRECTED: Readonly<Record<Choice, string>> = {
  embed: 'Embedded',
  reference: 'Referenced',
  copy: 'Copied',
  bucket: 'In buckets',
};
function directedReason(
  relationship: Relationship,
  { choice }: RelationshipChoice,
  alternatives: readonly ChoiceAlternative[],
): string {
  const { mine, other } = cheapestOther(choice, alternatives, []);
  const accepted =
    mine && other ? ` ${comparison(score(mine), score(other.cost), AS[other.choice])}` : '';
  return (
    `${DIRECTED[choice]} because a reviewer directed ` +
    `it.${choice === 'embed' ? ` ${numbers(relationship)}` : ''}${accepted}`
  );
}

const AS: Readonly<Record<Choice, string>> = {
  embed: 'Embedded,',
  reference: 'As a reference',
  copy: 'With a copy',
  bucket: 'In buckets',
};

/**
 * The cheapest of the choices that were not made, if it is cheaper than the one that was; and what
 * that one costs.
 */
function cheapestOther(
  choice: Choice,
  alternatives: readonly ChoiceAlternative[],
  except: readonly Choice[],
): { mine?: Cost; other?: { choice: Choice; cost: Cost } } {
  const mine = alternatives.find((entry) => entry.choice === choice)?.cost;
  const others = alternatives.flatMap(({ choice: other, cost }) =>
    mine && cost && other !== choice && !except.includes(other) && score(cost) < score(mine)
      ? [{ choice: other, cost }]
      : [],
  );
  const other = others.sort((a, b) => score(a.cost) - score(b.cost))[0];
  return { ...(mine ? { mine } : {}), ...(other ? { other } : {}) };
}

/** Why a choice that costs less was not made, where the reason has not said it yet. */
function cheaperLeft(
  relationship: Relationship,
  { choice }: RelationshipChoice,
  alternatives: readonly ChoiceAlternative[],
  input: ProposalInput,
): string {
  const { mine, other } = cheapestOther(choice, alternatives, ['reference', 'embed']);
  if (!mine || !other) return '';
  const advice = other.choice === 'bucket' ? bucketAdvice(relationship, input) : undefined;
  return (
    ` ${comparison(score(mine), score(other.cost), AS[other.choice])} Left: ` +
    `${advice ?? 'the estimate alone is too close to decide'}.`
  );
}

/** What the reason of a choice is told from. */
interface Reasoned {
  readonly relationship: Relationship;
  readonly choice: RelationshipChoice;
  readonly choices: Choices;
  readonly input: ProposalInput;
  /** Queries that read both tables. */
  readonly together: number;
  readonly costOf: (choice: Choice) => Cost | undefined;
  /** The choice against another one, as a sentence that begins with `as`. */
  readonly against: (other: Choice, as: string) => string;
}

function reasonFor(
  relationship: Relationship,
  choice: RelationshipChoice,
  alternatives: readonly ChoiceAlternative[],
  choices: Choices,
  input: ProposalInput,
): string {
  const costOf = (wanted: Choice): Cost | undefined =>
    alternatives.find((entry) => entry.choice === wanted)?.cost;
  const against = (other: Choice, as: string): string => {
    const [mine, theirs] = [costOf(choice.choice), costOf(other)];
    return mine && theirs ? ` ${comparison(score(mine), score(theirs), as)}` : '';
  };
  const together = readTogether(input.workload, relationship);
  const told: Reasoned = { relationship, choice, choices, input, together, costOf, against };
  if (choice.choice === 'embed') return embeddedReason(told);
  if (choice.choice === 'bucket') return bucketReason(told);
  const why = notEmbedded(told);
  return copyReason(told, why) ?? `Referenced: ${why}`;
}

function embeddedReason({ relationship, together, costOf, against }: Reasoned): string {
  const use =
    together > 0
      ? ` ${together} ${together === 1 ? 'query' : 'queries'} of the workload read both tables.`
      : '';
  const [mine, referenced] = [costOf('embed'), costOf('reference')];
  const kept =
    mine && referenced && score(referenced) < score(mine)
      ? ' That is too little against the guidebook, which keeps together what is read together.'
      : '';
  return (
    'Embedded: every child has exactly one parent and the array is bounded. ' +
    `${numbers(relationship)}${use}${against('reference', 'As a reference')}${kept}`
  );
}

function bucketReason({ relationship, choice, together, against }: Reasoned): string {
  const { childTable, childColumns, fanOut } = relationship;
  const kept = choice.columns
    ? ` Each repeats ${choice.columns.join(', ')} of its ${relationship.parentTable}.`
    : '';
  return (
    `In buckets by ${childColumns.join(', ')}: ${together} ` +
    `${together === 1 ? 'query reads' : 'queries read'} ${childTable} with ` +
    `${relationship.parentTable}, ${fanOut.mean.toFixed(1)} rows of it for each on average, at ` +
    `most ${fanOut.max}. A bucket is one document to find where each row would be ` +
    `one.${kept}${against('reference', 'As a reference')}`
  );
}

function notEmbedded(told: Reasoned): string {
  const { relationship, choice, choices, input, together, costOf, against } = told;
  const { childTable, parentTable } = relationship;
  const embedded = embeddedBy(choices, input.profile);
  const others = new Map([...embedded].filter(([table]) => table !== childTable));
  const obstacle =
    hardObstacle(relationship, input, others) ?? softObstacle(relationship, input, others);
  if (obstacle) return `${obstacle}.`;
  const taken = embedded.get(childTable);
  if (taken) return `${childTable} is embedded in ${taken.parentTable} already.`;
  const [mine, asEmbedded] = [costOf(choice.choice), costOf('embed')];
  const alone = readWithout(input.workload, childTable, parentTable);
  const unconvincing =
    mine && asEmbedded && score(asEmbedded) < score(mine)
      ? `${alone} ${alone === 1 ? 'query reads' : 'queries read'} ${childTable} ` +
        `without ${parentTable} and ${together} with it, and the estimate alone is ` +
        'too close to decide.'
      : 'the workload costs no less with it embedded.';
  return `${unconvincing}${against('embed', 'Embedded,')}`;
}

/** `why` says why the rows are not embedded. */
function copyReason(
  { relationship, choice: { choice, columns }, input, costOf, against }: Reasoned,
  why: string,
): string | undefined {
  const proposal =
    choice === 'copy' ? proposeCopy(relationship, input.profile, input.workload) : undefined;
  if (!proposal || !columns) return undefined;
  const { served, joined } = proposal;
  const [mine, referenced] = [costOf(choice), costOf('reference')];
  // Bytes weigh in the estimate as well; what a copy is for is the lookups.
  const kept =
    mine && referenced && score(referenced) < score(mine) && referenced.lookups > mine.lookups
      ? ` It is kept for the ${(referenced.lookups - mine.lookups).toLocaleString('en')} ` +
        'lookups that it saves.'
      : '';
  return (
    `Referenced with a copy of ${columns.join(', ')}: of ${joined} ` +
    `${joined === 1 ? 'query' : 'queries'} with a join to ${relationship.parentTable} here, ` +
    `${served} ${served === 1 ? 'reads' : 'read'} no other column of ` +
    `it.${against('reference', 'Without the copy')}${kept} Not embedded: ${why}`
  );
}

function comparison(mine: number, theirs: number, as: string): string {
  const figure = (value: number): string => Math.round(value).toLocaleString('en');
  if (mine === 0 || figure(theirs) === figure(mine))
    return `${as} the workload would cost about the same.`;
  const change = Math.round((100 * Math.abs(theirs - mine)) / mine);
  return (
    `${as} the workload would cost ${change === 0 ? 'less than 1' : `about ${change}`} % ` +
    `${theirs > mine ? 'more' : 'less'} (estimated ${figure(theirs)} against ${figure(mine)}).`
  );
}

function baselineReason(
  relationship: Relationship,
  { choice }: RelationshipChoice,
  choices: Choices,
  { strategy, profile }: ProposalInput,
): string {
  if (choice === 'embed') return 'Embedded: the only foreign key of its table.';
  if (strategy === 'one-to-one') return 'Referenced: one-to-one keeps every table as a collection.';
  const taken = embeddedBy(choices, profile).get(relationship.childTable);
  return taken
    ? `Referenced: ${relationship.childTable} is embedded in ${taken.parentTable}.`
    : `Referenced: ${relationship.childTable} links several tables and stays a collection.`;
}

const numbers = (relationship: Relationship): string => {
  const { mean, p99, max } = relationship.fanOut;
  return (
    `Each row of ${relationship.parentTable} has ${mean.toFixed(1)} rows of ` +
    `${relationship.childTable} on average, p99 ${p99}, at most ${max}; no orphans, no null keys.`
  );
};
