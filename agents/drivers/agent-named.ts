import type { Agent } from '../contract';
import { builtinAgent } from './builtin';
import { claudeAgent } from './claude/agent';
import { defaultBudget } from './claude/conversation';

export interface AgentKeys {
  readonly anthropicApiKey: string | undefined;
  readonly anthropicBaseUrl: string | undefined;
  readonly model: string | undefined;
}

/** An agent was asked for that this installation cannot run; the message says what is missing. */
export class AgentUnavailable extends Error {}

const DEFAULT_MODEL = 'claude-opus-4-5';

/** The driver of that name. Throws `AgentUnavailable`. */
export function agentNamed(name: string, keys: AgentKeys): Agent {
  if (name === 'builtin') return builtinAgent;
  if (name !== 'claude')
    throw new AgentUnavailable(`there is no agent "${name}"; builtin and claude exist`);
  if (!keys.anthropicApiKey)
    throw new AgentUnavailable(
      'the agent "claude" needs ANTHROPIC_API_KEY in the environment of the workers',
    );
  return claudeAgent({
    apiKey: keys.anthropicApiKey,
    ...(keys.anthropicBaseUrl ? { baseUrl: keys.anthropicBaseUrl } : {}),
    model: keys.model ?? DEFAULT_MODEL,
    budget: defaultBudget,
  });
}
