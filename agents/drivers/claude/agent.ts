import { z } from 'zod';
import { QueryError } from '../../../lib/sqlite/query/query-process';
import { judgeSubmission, submissionSchema } from '../../conceptual-design/submission';
import { systemPrompt, taskPrompt } from '../../conceptual-design/prompt';
import type { Agent, ConceptualDesignAnswer, ConceptualDesignTask } from '../../contract';
import { builtinAgent } from '../builtin';
import { AgentFailed, converse, type ClaudeSettings, type Tool } from './conversation';

/** Claude designs; the stages that need no judgement stay with the builtin agent. */
export function claudeAgent(settings: ClaudeSettings): Agent {
  return {
    ...builtinAgent,
    name: 'claude',
    async conceptualDesign(task, context) {
      let answer: ConceptualDesignAnswer | undefined;
      const submit: Tool = {
        name: 'submit_design',
        description:
          'Submit the design. It is checked: what loses data or breaks a limit is refused with ' +
          'reasons.',
        inputSchema: jsonSchemaOf(submissionSchema),
        run: async (input) => {
          const judged = judgeSubmission(input, task);
          if (!judged.ok)
            return {
              text: `Refused:\n${judged.problems.map((problem) => `- ${problem}`).join('\n')}`,
              failed: true,
            };
          answer = judged.answer;
          return { text: 'Accepted.', done: true };
        },
      };
      await converse(
        settings,
        systemPrompt(),
        taskPrompt(task),
        [querySource(task), submit],
        context,
      );
      if (!answer) throw new AgentFailed('no_answer', 'the model ended without an accepted design');
      return answer;
    },
  };
}

const querySchema = z.strictObject({
  sql: z.string().describe('One SELECT in SQLite’s dialect; at most 200 rows come back.'),
});

const querySource = (task: ConceptualDesignTask): Tool => ({
  name: 'query_source',
  description: 'Runs one read-only SQL query on the source database.',
  inputSchema: jsonSchemaOf(querySchema),
  run: async (input) => {
    const parsed = querySchema.safeParse(input);
    if (!parsed.success) return { text: parsed.error.message, failed: true };
    try {
      const { columns, rows } = await task.query(parsed.data.sql);
      const text = [columns, ...rows].map((row) =>
        JSON.stringify(row, (_, value: unknown) => {
          if (typeof value === 'bigint') return value.toString();
          return value instanceof Uint8Array ? `<${value.length} bytes>` : value;
        }),
      );
      return { text: text.join('\n') };
    } catch (error) {
      if (!(error instanceof QueryError) || error.kind === 'cancelled') throw error;
      return { text: `${error.kind}: ${error.message}`, failed: true };
    }
  },
});

function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema) as Record<string, unknown>;
  return rest;
}
