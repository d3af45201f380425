import type { AgentContext } from '../../../agents/contract';
import type { StageContext, StageInput } from './stage';

/**
 * What an agent sees of the stage that calls it: progress, cancellation, and a place for its
 * transcript.
 */
export const agentContext = (input: StageInput, context: StageContext): AgentContext => ({
  progress: context.progress,
  signal: context.signal,
  step: (step) => input.onAgentStep?.(step),
});
