import type { Document } from 'mongodb';
import type { EvidenceRewrite } from '../lib/translation/evidence/evidence';
import type { Optimisation } from '../lib/translation/rules/optimise';
import type { Translation } from '../lib/translation/translate';
import type { Catalog } from '../lib/sqlite/catalog';
import type { Item } from '../lib/sqlite/benchmark';
import type { Profile } from '../lib/sqlite/profile/profile';
import type {
  ConceptualDesign,
  DocumentDesign,
  IndexDesign,
  LogicalDesign,
  Strategy,
} from '../lib/design/model/document-design';
import type { CannotAct, Directive } from '../lib/design/model/directive';
import type { TypeSettings } from '../lib/design/logical/retype';
import type { Workload } from '../lib/design/model/workload';

export interface AgentContext {
  progress(done: number, total: number, unit: string): void;
  readonly signal: AbortSignal;
  /** Every step of a run is kept: prompts, tool calls, answers, tokens. */
  step(step: AgentStep): void;
}

export interface AgentStep {
  readonly kind: 'prompt' | 'answer' | 'tool_call' | 'tool_result' | 'retry' | 'note';
  readonly text: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
}

export interface ConceptualDesignTask {
  readonly strategy: Strategy;
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly workload: Workload;
  readonly items: readonly Item[];
  readonly limits: { readonly maxArrayP99: number; readonly maxArray: number };
  readonly types: TypeSettings;
  readonly earlier?: ConceptualDesign;
  readonly directives: readonly Directive[];
  /** Read-only SQL on the source, for agents that look before they design. */
  query(
    sql: string,
  ): Promise<{ columns: readonly string[]; rows: readonly (readonly unknown[])[] }>;
}

export interface ConceptualDesignAnswer {
  readonly design: ConceptualDesign;
  readonly indexes: IndexDesign;
  readonly cannotAct: readonly CannotAct[];
}

export interface LogicalDesignTask {
  readonly collection: string;
  readonly conceptual: ConceptualDesign;
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly directives: readonly Directive[];
  readonly types: TypeSettings;
}

/**
 * One contract for every driver. Whatever an agent submits passes the same checks before a person
 * sees it; an agent can never approve.
 */
export interface Agent {
  readonly name: string;
  conceptualDesign(
    task: ConceptualDesignTask,
    context: AgentContext,
  ): Promise<ConceptualDesignAnswer>;
  logicalDesign(task: LogicalDesignTask, context: AgentContext): Promise<LogicalDesign>;
  translate(task: TranslationTask, context: AgentContext): Promise<Translation>;
  optimise(task: OptimisationTask, context: AgentContext): Promise<Optimisation>;
  rewriteEvidence(task: EvidenceTask, context: AgentContext): Promise<EvidenceRewrite>;
}

export interface TranslationTask {
  readonly item: Item;
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly design: DocumentDesign;
  readonly directives: readonly Directive[];
}

export interface OptimisationTask {
  readonly item: Item;
  readonly collection: string;
  readonly pipeline: readonly Document[];
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly design: DocumentDesign;
  readonly directives: readonly Directive[];
  readonly indexes: IndexDesign;
}

export interface EvidenceTask {
  readonly item: Item;
  readonly collection: string;
  readonly pipeline: readonly Document[];
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly design: DocumentDesign;
}
