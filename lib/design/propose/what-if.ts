import { relationshipById } from '../../sqlite/profile/profile';
import { bucketAdvice } from '../limits/buckets';
import { embeddedBy, type ChoiceContext, type KeptOfChildren } from '../limits/choices';
import { type Choices } from '../model/document-design';
import { roundCost, score, type Cost } from '../model/score';
import { CostModel } from '../cost/cost-model';
import type { Choice, ConceptualDesign, DocumentDesign } from '../model/document-design';
import { forecastCollections, type CollectionForecast } from '../limits/forecast';
import { proposeIndexes } from '../cost/indexes';
import { checkDesign, type DesignProblem } from '../limits/loss-check';
import { softObstacle } from '../limits/obstacles';
import { outlierObstacle } from '../patterns/outliers';
import { DesignSearch } from './search';

export interface WhatIfInput extends ChoiceContext {
  readonly design: ConceptualDesign;
  readonly change: { readonly relationship: string; readonly choice: Choice };
}

/** What a design costs and how large it is, with the indexes that would be proposed for it. */
export interface DesignFigures {
  readonly cost: Cost;
  /** The cost as one number. */
  readonly score: number;
  readonly indexes: number;
  readonly collections: readonly CollectionForecast[];
}

export interface WhatIf {
  /** Why the change cannot be made at all; there is no `after` then. */
  readonly obstacle?: string;
  /** What the guidebook says against it. */
  readonly advice?: string;
  readonly before: DesignFigures;
  readonly after?: DesignFigures;
  /**
   * The parent's columns that would be repeated in the child's documents, with `copy` and `bucket`.
   */
  readonly repeated?: {
    readonly table: string;
    readonly field: string;
    readonly columns: readonly string[];
  };
  /** Other relationships that would change with it. */
  readonly moved: readonly {
    readonly relationship: string;
    readonly from: Choice;
    readonly to: Choice;
  }[];
  /** What the loss check finds in the changed design; empty: nothing would be lost. */
  readonly problems: readonly DesignProblem[];
}

/**
 * One choice changed, all else as it is: cost, sizes and loss, from the profile alone. No row is
 * read.
 */
export function whatIf(input: WhatIfInput): WhatIf {
  const { profile, catalog, design, change, limits } = input;
  const relationship = relationshipById(profile, change.relationship);
  const choices: Choices = new Map(
    design.relationships.map((choice) => [choice.relationship, choice.choice]),
  );
  const search = new DesignSearch(input, new Map());
  const before = figures(search.design(choices, keptBy(design)), input);
  if (!relationship)
    return {
      obstacle: `there is no relationship ${change.relationship}`,
      before,
      moved: [],
      problems: [],
    };
  const changed = search.change(choices, relationship, change.choice);
  if ('obstacle' in changed) return { obstacle: changed.obstacle, before, moved: [], problems: [] };
  const after = search.design(changed.choices, keptAfter(changed.choices, input, search));
  const others = new Map(
    [...embeddedBy(changed.choices, profile)].filter(
      ([table]) => table !== relationship.childTable,
    ),
  );
  const adviceOn = (): string | undefined => {
    if (change.choice === 'embed') return softObstacle(relationship, input, others);
    return change.choice === 'bucket' ? bucketAdvice(relationship, input) : undefined;
  };
  const advice = adviceOn();
  const {
    columns,
    field,
    parentField = field,
  } = after.conceptual.relationships.find((choice) => choice.relationship === relationship.id) ??
  {};
  return {
    ...(advice ? { advice } : {}),
    ...(columns && parentField
      ? { repeated: { table: relationship.parentTable, field: parentField, columns } }
      : {}),
    before,
    after: figures(after, input),
    moved: profile.relationships.flatMap(({ id }) => {
      const [from, to] = [choices.get(id) ?? 'reference', changed.choices.get(id) ?? 'reference'];
      return id === change.relationship || from === to ? [] : [{ relationship: id, from, to }];
    }),
    problems: checkDesign(after, catalog, profile, limits),
  };
}

/** Estimates what stands; `whatIf` compares with the same figures. */
export function figures(
  design: DocumentDesign,
  { catalog, profile, workload }: Pick<WhatIfInput, 'catalog' | 'profile' | 'workload'>,
): DesignFigures {
  const indexes = proposeIndexes(design, catalog, profile, workload);
  // Rounded first: the same figures lead to the same sum, wherever they are shown.
  const cost = roundCost(new CostModel(design, indexes, profile).workload(workload));
  return {
    cost,
    score: Math.round(score(cost)),
    indexes: Object.values(indexes).flat().length,
    collections: forecastCollections(design, profile),
  };
}

/** What documents keep beside their own fields as the design stands. */
function keptBy({ relationships, collections }: ConceptualDesign): KeptOfChildren {
  return {
    computed: new Map(
      relationships.flatMap(({ relationship, computed }) =>
        computed ? [[relationship, computed] as const] : [],
      ),
    ),
    subsets: new Map(
      relationships.flatMap(({ relationship, subset }) =>
        subset ? [[relationship, subset] as const] : [],
      ),
    ),
    outliers: new Map(
      relationships.flatMap(({ relationship, outlier }) =>
        outlier ? [[relationship, outlier] as const] : [],
      ),
    ),
    attributes: new Map(
      collections.flatMap(({ rootTable, attributes }) =>
        attributes ? [[rootTable, attributes] as const] : [],
      ),
    ),
  };
}

/** The same where a choice stays as it is; where it changes, what would then be proposed. */
function keptAfter(
  choices: Choices,
  { design, profile }: WhatIfInput,
  search: DesignSearch,
): KeptOfChildren {
  const stays = new Set(
    design.relationships
      .filter(({ relationship, choice }) => choices.get(relationship) === choice)
      .map(({ relationship }) => relationship),
  );
  const [now, proposed] = [keptBy(design), search.keptOfChildren(choices)];
  const merged = <T>(as: ReadonlyMap<string, T>, then: ReadonlyMap<string, T>): Map<string, T> =>
    new Map([
      ...[...as].filter(([id]) => stays.has(id)),
      ...[...then].filter(([id]) => !stays.has(id)),
    ]);
  // Another relationship's rows may have moved.
  const isPossible = (id: string): boolean =>
    profile.relationships.some(
      (relationship) =>
        relationship.id === id && outlierObstacle(relationship, choices, profile) === undefined,
    );
  return {
    computed: merged(now.computed, proposed.computed),
    subsets: merged(now.subsets, proposed.subsets),
    outliers: new Map(
      [...merged(now.outliers, proposed.outliers)].filter(([id]) => isPossible(id)),
    ),
    ...(now.attributes ? { attributes: now.attributes } : {}),
  };
}
