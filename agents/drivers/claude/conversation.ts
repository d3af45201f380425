import Anthropic from '@anthropic-ai/sdk';
import type { AgentContext } from '../../contract';

export interface ClaudeSettings {
  readonly apiKey: string;
  readonly baseUrl?: string;
  readonly model: string;
  readonly budget: Budget;
}

/** A run ends with `AgentFailed` beyond these. */
export interface Budget {
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}
export const defaultBudget: Budget = { turns: 24, inputTokens: 1_500_000, outputTokens: 120_000 };

/** The agent gave no usable answer; the message says why, and never holds the key. */
export class AgentFailed extends Error {
  constructor(
    readonly reason: 'budget' | 'refused' | 'no_answer' | 'service',
    message: string,
  ) {
    super(message);
  }
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
  /** The text that goes back to the model; `done` ends the conversation. */
  run(
    input: unknown,
  ): Promise<{ readonly text: string; readonly failed?: boolean; readonly done?: boolean }>;
}

const MAX_TOKENS_A_TURN = 8192;
const RETRIES = 4;
/** Long answers of a tool are cut: a model needs samples, not tables. */
const TOOL_TEXT = 20_000;

/**
 * Talks until a tool says that the work is done. Every prompt, answer, call and result goes to the
 * transcript. The SDK repeats requests that failed in passing (429, 5xx, connection), waiting
 * longer each time.
 */
export async function converse(
  settings: ClaudeSettings,
  system: string,
  prompt: string,
  tools: readonly Tool[],
  context: AgentContext,
): Promise<void> {
  // Only the key that was configured: the SDK would also take other credentials from the
  // environment.
  const client = new Anthropic({
    apiKey: settings.apiKey,
    authToken: null,
    ...(settings.baseUrl ? { baseURL: settings.baseUrl } : {}),
    maxRetries: RETRIES,
    timeout: 10 * 60_000,
  });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }];
  context.step({ kind: 'prompt', text: `${system}\n\n${prompt}` });
  let [inputTokens, outputTokens] = [0, 0];
  for (let turn = 0; turn < settings.budget.turns; turn++) {
    context.signal.throwIfAborted();
    context.progress(turn, settings.budget.turns, 'turns');
    const answer = await ask(client, settings, system, messages, tools, context);
    inputTokens +=
      answer.usage.input_tokens +
      (answer.usage.cache_read_input_tokens ?? 0) +
      (answer.usage.cache_creation_input_tokens ?? 0);
    outputTokens += answer.usage.output_tokens;
    const text = answer.content
      .flatMap((block) => (block.type === 'text' ? [block.text] : []))
      .join('\n');
    context.step({
      kind: 'answer',
      text,
      inputTokens: answer.usage.input_tokens,
      outputTokens: answer.usage.output_tokens,
    });
    if (answer.stop_reason === 'refusal')
      throw new AgentFailed('refused', 'the model declined this task');
    if (inputTokens > settings.budget.inputTokens || outputTokens > settings.budget.outputTokens) {
      throw new AgentFailed(
        'budget',
        `the run used ${inputTokens} input and ${outputTokens} output tokens; its budget is ` +
          `${settings.budget.inputTokens} and ${settings.budget.outputTokens}`,
      );
    }
    messages.push({ role: 'assistant', content: answer.content });
    const calls = answer.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) {
      const cut =
        answer.stop_reason === 'max_tokens'
          ? 'Your answer was cut; go on with smaller steps. '
          : '';
      messages.push({ role: 'user', content: `${cut}Decide and call submit_design.` });
      continue;
    }
    const results: Anthropic.ToolResultBlockParam[] = [];
    let done = false;
    for (const call of calls) {
      const result = await runTool(tools, call.name, call.input, context);
      done ||= result.done === true;
      results.push({
        type: 'tool_result',
        tool_use_id: call.id,
        content: result.text.slice(0, TOOL_TEXT),
        ...(result.failed ? { is_error: true } : {}),
      });
    }
    if (done) return;
    messages.push({ role: 'user', content: results });
  }
  throw new AgentFailed(
    'no_answer',
    `the model submitted no accepted design within ${settings.budget.turns} turns`,
  );
}

async function ask(
  client: Anthropic,
  settings: ClaudeSettings,
  system: string,
  messages: Anthropic.MessageParam[],
  tools: readonly Tool[],
  context: AgentContext,
): Promise<Anthropic.Message> {
  try {
    return await client.messages.create(
      {
        model: settings.model,
        max_tokens: MAX_TOKENS_A_TURN,
        system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
        messages,
        tools: tools.map((tool) => ({
          name: tool.name,
          description: tool.description,
          input_schema: tool.inputSchema as Anthropic.Tool.InputSchema,
        })),
      },
      { signal: context.signal },
    );
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof Anthropic.APIError)) throw error;
    const status = error.status === undefined ? 'no answer' : `status ${error.status}`;
    throw new AgentFailed(
      'service',
      `the Messages API failed after ${RETRIES} retries (${status}): ${error.message}`.replaceAll(
        settings.apiKey,
        '…',
      ),
    );
  }
}

async function runTool(
  tools: readonly Tool[],
  name: string,
  input: unknown,
  context: AgentContext,
): Promise<Awaited<ReturnType<Tool['run']>>> {
  context.step({ kind: 'tool_call', text: `${name} ${JSON.stringify(input)}` });
  const tool = tools.find((candidate) => candidate.name === name);
  const result = tool ? await tool.run(input) : { text: `there is no tool ${name}`, failed: true };
  context.step({ kind: 'tool_result', text: result.text.slice(0, TOOL_TEXT) });
  return result;
}
