import type { MongoClient } from 'mongodb';
import type { Agent, AgentStep } from '../../../agents/contract';
import type { Directive } from '../../design/model/directive';
import type { TypeSettings } from '../../design/logical/retype';
import type { SourceDatabase, Item } from '../../sqlite/benchmark';
import type { KnownResults } from '../../translation/check/known-results';

/** The stages of a source database, in the order in which they run. */
export const stageNames = [
  'profile',
  'conceptual_design',
  'logical_design',
  'migration',
  'collection_validation',
  'cross_validation',
  'table_validation',
  'translation',
  'optimisation',
  'evidence',
] as const;
export type StageName = (typeof stageNames)[number];

/**
 * Kinds of artefact and their keys:
 *
 * | kind                    | key                    |
 * |-------------------------|------------------------|
 * | profile, workload       | database               |
 * | conceptual_design       | database               |
 * | index_design            | database               |
 * | logical_design          | database/collection    |
 * | migration               | database               |
 * | collection_validation   | database/collection    |
 * | cross_validation        | database/collection    |
 * | table_validation        | database/table         |
 * | translation             | database/question_id   |
 * | gold                    | database/question_id   |
 * | evidence                | database/question_id   |
 */
export const artefactKinds = [
  'profile',
  'workload',
  'conceptual_design',
  'index_design',
  'logical_design',
  'migration',
  'collection_validation',
  'cross_validation',
  'table_validation',
  'translation',
  'gold',
  'evidence',
] as const;
export type ArtefactKind = (typeof artefactKinds)[number];

export interface ArtefactRef {
  readonly kind: ArtefactKind;
  readonly key: string;
}

/**
 * What an artefact depends on: `hash` is the content hash of the whole artefact, or of the part of
 * it that matters (`part` names it, e.g. the fields that a query touches), so that a decision goes
 * stale only when that part changes.
 */
export interface ArtefactInput extends ArtefactRef {
  readonly part?: string;
  readonly hash: string;
}

export interface ProducedArtefact extends ArtefactRef {
  /**
   * Anything that canonical Extended JSON can hold. Durations, costs and run ids are not content.
   */
  readonly content: unknown;
  readonly inputs: readonly ArtefactInput[];
  /** The gate at which a person must look at it; absent: recorded, no task. */
  readonly gate?: GateName;
}

export const gateNames = [
  'conceptual_design',
  'collection_validation',
  'cross_validation',
  'table_validation',
  'untranslated',
  'optimised_query',
  'evidence',
] as const;
export type GateName = (typeof gateNames)[number];

/**
 * Everything that a stage may read. The pipeline backs it with Postgres, the command line with
 * memory.
 */
export interface StageInput {
  readonly source: SourceDatabase;
  readonly items: readonly Item[];
  readonly settings: BenchmarkSettings;
  readonly agent: Agent;
  readonly mongo: MongoClient;
  /**
   * Prefix of the MongoDB databases of this benchmark, at most 20 characters of `[a-z0-9_]`. Every
   * migration has a database of its own, named by the hash of what went into it; the migration
   * artefact says which one is current.
   */
  readonly mongoPrefix: string;
  /** The current version's content of an artefact. */
  read<T>(ref: ArtefactRef): Promise<T | undefined>;
  /** A reviewer's standing directives for this database, oldest first. */
  readonly directives: readonly Directive[];
  /** Receives every step of an agent's run, for its transcript. */
  readonly onAgentStep?: (step: AgentStep) => void;
  /**
   * Restrict item stages to these question ids, and collection stages to these collections; absent:
   * all.
   */
  readonly only?: readonly string[];
  /** What earlier stages found out on this MongoDB; absent: everything is run. */
  readonly known?: KnownResults;
}

export interface StageContext {
  /** Called often; `done` and `total` count whatever `unit` says. */
  progress(done: number, total: number, unit: string): void;
  readonly signal: AbortSignal;
}

export interface StageResult {
  readonly artefacts: readonly ProducedArtefact[];
  /** Counts and durations for the overview; not content, not hashed. */
  readonly report: Readonly<Record<string, unknown>>;
}

export type Stage = (input: StageInput, context: StageContext) => Promise<StageResult>;

export interface BenchmarkSettings {
  readonly strategy: 'access-pattern' | 'one-to-one' | 'fk-embedding';
  /** An array is unbounded beyond these (DESIGN §5). */
  readonly maxArrayP99: number;
  readonly maxArray: number;
  /** Whether text that is dates, booleans or numbers throughout becomes such; see `TypeSettings`. */
  readonly retype: TypeSettings['retype'];
  readonly identifiers: TypeSettings['identifiers'];
  /**
   * `none`: gold stays as it was translated, so that baselines can be compared without the rules;
   * absent means `all`.
   */
  readonly rules?: 'all' | 'none';
  /** ISO time at which the clock is pinned when gold runs. */
  readonly pinnedClock: string;
}

export const defaultSettings: BenchmarkSettings = {
  strategy: 'access-pattern',
  maxArrayP99: 100,
  maxArray: 1000,
  retype: 'proven',
  identifiers: 'stored',
  pinnedClock: '2026-01-01T00:00:00Z',
};
