import type { Relationship } from '../../sqlite/profile/profile';
import { bucketAdvice, bucketObstacle, bucketsBy, embedIntoBuckets } from '../limits/buckets';
import { proposeAttributes, type AttributeProposal } from './attributes';
import { proposeCopy } from '../limits/copies';
import { embeddedBy, realise, type ChoiceContext, type KeptOfChildren } from '../limits/choices';
import { type Choices } from '../model/document-design';
import { proposeComputed } from '../patterns/computed';
import { score, type Cost } from '../model/score';
import { CostModel } from '../cost/cost-model';
import type { Choice, DocumentDesign, OutlierChoice } from '../model/document-design';
import { forecastCollections } from '../limits/forecast';
import { DerivedDesigns } from '../logical/derived-designs';
import {
  copyObstacle,
  DOCUMENT_MARGIN,
  hardObstacle,
  MAX_DOCUMENT_BYTES,
  softObstacle,
} from '../limits/obstacles';
import { hasOutliers, outlierObstacle, proposeOutlier } from '../patterns/outliers';
import { proposeSubsets } from '../patterns/subsets';
import { readTogether, readWithout, type Workload } from '../model/workload';

/**
 * Another choice has to be cheaper by this share: an estimate that is a little better is no reason
 * to change a design.
 */
const MIN_GAIN = 0.01;
/** A change that goes against the guidebook needs an estimate that speaks for it clearly. */
const CLEAR_GAIN = 0.2;
/**
 * By this share the workload has to be cheaper with all children but outliers' repeated in their
 * parents.
 */
const OUTLIER_GAIN = 0.05;
/**
 * Estimates of one search. Enough for every schema of the benchmarks; a larger one gets what was
 * found by then.
 */
const MAX_ESTIMATES = 600;

/** A candidate with everything that its parents keep of their children. */
interface Weighed {
  readonly kept: KeptOfChildren;
  readonly cost: Cost;
  /** Relationships whose data calls for the outlier pattern, and why it is not used. */
  readonly outliersLeft: ReadonlyMap<string, string>;
}

/**
 * Compares candidate designs by the estimated cost of the workload, with ideal indexes, under the
 * hard constraints. It climbs from two starts, everything embedded that may be and is read with its
 * parent, and nothing embedded at all, and takes the cheaper end.
 */
export class DesignSearch {
  private readonly known = new Map<string, Weighed>();
  private readonly derived: DerivedDesigns;
  private readonly order: readonly Relationship[];
  private readonly readAlone = new Map<Relationship, boolean>();

  constructor(
    private readonly input: ChoiceContext,
    /** Choices that reviewers directed: they stand. */
    private readonly directed: Choices,
  ) {
    const { catalog, profile, directives, workload } = input;
    this.derived = new DerivedDesigns(catalog, profile, directives);
    this.order = inOrder(profile.relationships, workload);
  }

  best(): Choices {
    const [embedded, apart] = [
      this.climb(this.embedAll()),
      this.climb(this.withDefaults(new Map(this.directed))),
    ];
    const chosen = this.isCheaper(apart, embedded, CLEAR_GAIN) ? apart : embedded;
    // Whatever the guidebook prefers, no design is dearer than one collection a table.
    const oneToOne = new Map(
      this.input.profile.relationships.map(({ id }) => [id, this.directed.get(id) ?? 'reference']),
    );
    return this.withoutIdleCopies(
      this.isCheaper(oneToOne, chosen, 0) ? this.climb(oneToOne, MIN_GAIN) : chosen,
    );
  }

  /**
   * A copy that saves no lookup, because those queries find the row some other way, is only
   * something to keep up to date.
   */
  private withoutIdleCopies(choices: Choices): Choices {
    let kept = choices;
    for (const relationship of this.order) {
      if (kept.get(relationship.id) !== 'copy' || this.directed.has(relationship.id)) continue;
      const without = new Map([...kept, [relationship.id, 'reference' as const]]);
      const [now, then] = [this.costOf(kept), this.costOf(without)];
      if (then.lookups <= now.lookups && score(then) <= score(now)) kept = without;
    }
    return kept;
  }

  private isCheaper(a: Choices, b: Choices, by: number): boolean {
    return score(this.costOf(a)) < score(this.costOf(b)) * (1 - by);
  }

  costOf(choices: Choices): Cost {
    return this.weigh(choices).cost;
  }

  private weigh(choices: Choices): Weighed {
    const key = JSON.stringify([...choices].sort(([a], [b]) => (a < b ? -1 : 1)));
    const known = this.known.get(key);
    if (known) return known;
    const weighed = this.withOutliers(choices, this.withoutOutliers(choices));
    this.known.set(key, weighed);
    return weighed;
  }

  /** One relationship after the other, as each pays beside those before it. */
  private withOutliers(choices: Choices, before: KeptOfChildren): Weighed {
    const { profile, workload, limits } = this.input;
    const outliersLeft = new Map<string, string>();
    let [kept, model] = [before, this.model(this.design(choices, before))];
    let cost = model.workload(workload);
    for (const relationship of this.order) {
      if (choices.get(relationship.id) === 'embed' || !hasOutliers(relationship, limits)) continue;
      const asItIs = model;
      const proposed =
        outlierObstacle(relationship, choices, profile) ??
        proposeOutlier(
          relationship,
          limits,
          profile,
          workload,
          (block) => asItIs.block(block).lookups > 0,
        );
      const outlier =
        typeof proposed === 'string' || this.isWanted(relationship.id, proposed)
          ? proposed
          : `a reviewer wants to do without ${proposed.field}`;
      if (typeof outlier === 'string') {
        outliersLeft.set(relationship.id, outlier);
        continue;
      }
      const then = { ...kept, outliers: new Map([...kept.outliers, [relationship.id, outlier]]) };
      const design = this.design(choices, then);
      const changed = this.model(design);
      const cheaper = changed.workload(workload);
      const largest = forecastCollections(design, profile).reduce(
        (most, { largestBytes, longestArrays }) =>
          Object.keys(longestArrays).length > 0 ? Math.max(most, largestBytes) : most,
        0,
      );
      if (largest * DOCUMENT_MARGIN > MAX_DOCUMENT_BYTES)
        outliersLeft.set(
          relationship.id,
          `the largest document would reach about ${Math.round(largest / 1e6)} MB`,
        );
      else if (score(cheaper) >= score(cost) * (1 - OUTLIER_GAIN))
        outliersLeft.set(
          relationship.id,
          `the workload would not be cheaper by ${OUTLIER_GAIN * 100} % with them repeated in ` +
            'their parents',
        );
      else [kept, model, cost] = [then, changed, cheaper];
    }
    return { kept, cost, outliersLeft };
  }

  private model(design: DocumentDesign): CostModel {
    return new CostModel(design, 'ideal', this.input.profile);
  }

  /** A candidate as a whole design; its reasons are left empty. */
  design(choices: Choices, kept = this.keptOfChildren(choices)): DocumentDesign {
    const { catalog } = this.input;
    const conceptual = {
      database: catalog.database,
      strategy: 'access-pattern' as const,
      ...realise(choices, kept, this.input),
      patterns: [],
      document: { source: '', accessPatterns: '', decisions: '', result: '' },
    };
    return this.derived.design(conceptual);
  }

  keptOfChildren(choices: Choices): KeptOfChildren {
    return this.weigh(choices).kept;
  }

  /** Why the outlier pattern is not used where the data calls for it, by relationship. */
  outliersLeft(choices: Choices): ReadonlyMap<string, string> {
    return this.weigh(choices).outliersLeft;
  }

  private withoutOutliers(choices: Choices): KeptOfChildren {
    const computed = [...proposeComputed(choices, this.input)].map(
      ([id, fields]) => [id, fields.filter((field) => this.isWanted(id, field))] as const,
    );
    return {
      computed: new Map(computed.filter(([, fields]) => fields.length > 0)),
      subsets: new Map(
        [...proposeSubsets(choices, this.input)].filter(([id, subset]) =>
          this.isWanted(id, subset),
        ),
      ),
      outliers: new Map<string, OutlierChoice>(),
    };
  }

  /**
   * The attributes that the workload calls for in a candidate: weighed once it is found, for they
   * change no choice.
   */
  attributes(choices: Choices): AttributeProposal[] {
    const kept = this.keptOfChildren(choices);
    const wanted = ({ table }: AttributeProposal): boolean =>
      !this.input.directives.some(
        (directive) => directive.kind === 'without_attributes' && directive.table === table,
      );
    return proposeAttributes(this.input, this.design(choices, kept), (attributes) =>
      this.design(choices, { ...kept, attributes }),
    ).map((proposal) =>
      wanted(proposal)
        ? proposal
        : { ...proposal, obstacle: 'a reviewer directed to do without it' },
    );
  }

  private isWanted(id: string, { field }: { readonly field: string }): boolean {
    return !this.input.directives.some(
      (directive) =>
        directive.kind === 'without_field' &&
        directive.relationship === id &&
        directive.field === field,
    );
  }

  /**
   * The candidate with one relationship changed; what the change makes impossible elsewhere is an
   * obstacle.
   */
  change(
    choices: Choices,
    relationship: Relationship,
    choice: Choice,
  ): { choices: Choices } | { obstacle: string } {
    const next = new Map(choices);
    const { profile } = this.input;
    const { childTable } = relationship;
    if (choice === 'embed' || choice === 'bucket') {
      // A table has one place.
      for (const taken of [
        embeddedBy(choices, profile).get(childTable),
        bucketsBy(choices, profile).get(childTable),
      ]) {
        if (!taken || taken.id === relationship.id) continue;
        if (this.directed.has(taken.id))
          return {
            obstacle: `${childTable} ${placeInWords(taken, choices)}, as a reviewer directed`,
          };
        next.set(taken.id, this.unembedded(taken));
      }
    }
    next.set(relationship.id, choice);
    const embedded = embeddedBy(next, profile);
    const inBuckets =
      choice === 'embed' ? embedIntoBuckets(relationship, next, profile) : undefined;
    if (inBuckets) return { obstacle: inBuckets };
    if (choice === 'bucket') {
      const obstacle = bucketObstacle(relationship, this.input, next);
      return obstacle ? { obstacle } : { choices: next };
    }
    if (choice === 'copy') {
      const obstacle = copyObstacle(relationship, this.input.profile);
      return obstacle ? { obstacle } : { choices: next };
    }
    for (const other of embedded.values()) {
      const obstacle = hardObstacle(other, this.input, embedded);
      if (obstacle) return { obstacle };
    }
    return { choices: next };
  }

  /**
   * What a relationship becomes that is not embedded: a copy where the workload reads a few short
   * columns with it.
   */
  private unembedded(relationship: Relationship): Choice {
    const directed = this.directed.get(relationship.id);
    if (directed) return directed;
    // A copy has to be grounded in queries that somebody asks.
    const serves =
      !this.input.workload.assumed &&
      relationship.parentIsKey &&
      !relationship.selfReference &&
      proposeCopy(relationship, this.input.profile, this.input.workload) !== undefined;
    return serves ? 'copy' : 'reference';
  }

  private withDefaults(choices: Choices): Choices {
    return new Map(
      this.input.profile.relationships.map((relationship) => [
        relationship.id,
        choices.get(relationship.id) ?? this.unembedded(relationship),
      ]),
    );
  }

  /**
   * Everything embedded that may be and is read with its parent, what is read together most often
   * first.
   */
  private embedAll(): Choices {
    const choices = new Map(this.directed);
    // A table can be embedded once those that refer to it are embedded in it: passes go on until
    // none adds anything.
    for (let before = -1; before !== choices.size;) {
      before = choices.size;
      for (const relationship of this.order) {
        const embedded = embeddedBy(choices, this.input.profile);
        if (
          choices.has(relationship.id) ||
          embedded.has(relationship.childTable) ||
          this.obstacle(relationship, embedded) ||
          embedIntoBuckets(relationship, choices, this.input.profile) ||
          this.isReadAlone(relationship)
        )
          continue;
        choices.set(relationship.id, 'embed');
      }
    }
    return this.withDefaults(choices);
  }

  /**
   * Rows that are asked for without their parent more often than with it are documents of their
   * own, unless cost says more.
   */
  private isReadAlone(relationship: Relationship): boolean {
    const { workload } = this.input;
    const isAlone =
      this.readAlone.get(relationship) ??
      readWithout(workload, relationship.childTable, relationship.parentTable) >
        readTogether(workload, relationship);
    this.readAlone.set(relationship, isAlone);
    return isAlone;
  }

  /**
   * What is read with its parent belongs into it, and a copy that saves joins is worth its bytes.
   */
  private isAgainstTheGuidebook(
    relationship: Relationship,
    from: Choice | undefined,
    to: Choice,
  ): boolean {
    if (to === 'embed') return this.isReadAlone(relationship);
    if (to === 'bucket') return true;
    return from === 'embed' ? !this.isReadAlone(relationship) : from === 'copy';
  }

  /** `clear`: the gain that a change against the guidebook needs. */
  private climb(start: Choices, clear = CLEAR_GAIN): Choices {
    let [best, cost] = [start, score(this.costOf(start))];
    for (let improved = true; improved && this.known.size < MAX_ESTIMATES;) {
      improved = false;
      for (const relationship of this.order) {
        if (this.directed.has(relationship.id)) continue;
        for (const choice of this.admissible(relationship, best)) {
          if (choice === best.get(relationship.id)) continue;
          const changed = this.change(best, relationship, choice);
          if ('obstacle' in changed || this.known.size >= MAX_ESTIMATES) continue;
          const other = score(this.costOf(changed.choices));
          const needed = this.isAgainstTheGuidebook(relationship, best.get(relationship.id), choice)
            ? clear
            : MIN_GAIN;
          if (other < cost * (1 - needed)) [best, cost, improved] = [changed.choices, other, true];
        }
      }
    }
    return best;
  }

  private admissible(relationship: Relationship, choices: Choices): Choice[] {
    const others = new Map(
      [...embeddedBy(choices, this.input.profile)].filter(
        ([table]) => table !== relationship.childTable,
      ),
    );
    const inBuckets =
      !bucketAdvice(relationship, this.input) && !bucketObstacle(relationship, this.input, choices);
    return [
      this.unembedded(relationship),
      'reference',
      ...(this.obstacle(relationship, others) ? [] : (['embed'] as const)),
      ...(inBuckets ? (['bucket'] as const) : []),
    ];
  }

  private obstacle(
    relationship: Relationship,
    embedded: ReadonlyMap<string, Relationship>,
  ): string | undefined {
    return (
      hardObstacle(relationship, this.input, embedded) ??
      softObstacle(relationship, this.input, embedded)
    );
  }
}

/**
 * Most often read together first; then the narrower array; then by name, so that the result never
 * depends on order.
 */
function inOrder(relationships: readonly Relationship[], workload: Workload): Relationship[] {
  const together = new Map(
    relationships.map((relationship) => [relationship, readTogether(workload, relationship)]),
  );
  return [...relationships].sort(
    (a, b) =>
      together.get(b)! - together.get(a)! ||
      Number(b.declared) - Number(a.declared) ||
      a.fanOut.max - b.fanOut.max ||
      (a.id < b.id ? -1 : 1),
  );
}

const placeInWords = ({ id, parentTable, childColumns }: Relationship, choices: Choices): string =>
  choices.get(id) === 'embed'
    ? `is embedded in ${parentTable}`
    : `is stored in buckets by ${childColumns.join(', ')}`;
