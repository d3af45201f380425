import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readWorkload } from '../../../lib/design/model/read-workload';
import { readBenchmarkFolder } from '../../../lib/sqlite/source/benchmark-folder';
import { catalogOf } from '../../../lib/sqlite/schema/introspect';
import { openSource } from '../../../lib/sqlite/open';
import { profileDatabase } from '../../../lib/sqlite/profile/profile-database';
import { QueryProcess } from '../../../lib/sqlite/query/query-process';
import { generateSampleBenchmark } from '../../../sample/generate';
import type { AgentStep, ConceptualDesignTask } from '../../contract';
import { claudeAgent } from './agent';
import { AgentFailed, defaultBudget, type Budget } from './conversation';

/**
 * A local server that speaks the Messages API: it answers with the next scripted turn and keeps
 * what it was asked.
 */
type Turn =
  { status: number } | { content: unknown[]; stop_reason?: string; output_tokens?: number };
const script: Turn[] = [];
const asked: {
  headers: http.IncomingHttpHeaders;
  body: {
    messages: { role: string; content: unknown }[];
    tools: { name: string }[];
    model: string;
  };
}[] = [];
const server = http.createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString()));
  request.on('end', () => {
    asked.push({
      headers: request.headers,
      body: JSON.parse(text) as (typeof asked)[number]['body'],
    });
    const turn = script.shift() ?? { status: 500 };
    response.setHeader('content-type', 'application/json');
    if ('status' in turn) {
      response.statusCode = turn.status;
      response.setHeader('retry-after-ms', '1');
      response.end(
        JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }),
      );
      return;
    }
    response.end(
      JSON.stringify({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'stub',
        content: turn.content,
        stop_reason: turn.stop_reason ?? 'tool_use',
        stop_sequence: null,
        usage: { input_tokens: 1000, output_tokens: turn.output_tokens ?? 50 },
      }),
    );
  });
});

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-claude-'));
const queries = new QueryProcess();
let task: ConceptualDesignTask;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  generateSampleBenchmark(path.join(folder, 'sample'));
  const benchmark = await readBenchmarkFolder(path.join(folder, 'sample'), {
    copies: path.join(folder, 'copies'),
  });
  const source = benchmark.databases.find((database) => database.name === 'town_library')!;
  const sqlite = openSource(source.path);
  const catalog = catalogOf(sqlite, source);
  const profile = profileDatabase(sqlite, catalog);
  sqlite.close();
  const items = benchmark.items.filter((item) => item.database === source.name);
  task = {
    strategy: 'access-pattern',
    catalog,
    profile,
    workload: readWorkload(items, catalog, profile),
    items,
    limits: { maxArrayP99: 100, maxArray: 1000 },
    types: { retype: 'proven', identifiers: 'stored' },
    directives: [],
    query: (sql) => queries.query(source.path, sql),
  };
});
afterEach(() => {
  script.length = 0;
  asked.length = 0;
});
afterAll(() => {
  queries.close();
  server.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

const KEY = 'sk-ant-secret-of-the-test';
const call = (name: string, input: unknown): unknown => ({
  type: 'tool_use',
  id: `call_${Math.random()}`,
  name,
  input,
});
const design = (embedded: (id: string) => boolean) => ({
  relationships: task.profile.relationships.map(({ id }) => ({
    relationship: id,
    choice: embedded(id) ? 'embed' : 'reference',
    reason: 'decided in this test for a reason',
  })),
  collections: [{ table: 'branches', name: 'libraryBranches' }],
  patterns: [],
  source: 'A library.',
  accessPatterns: 'Loans are read by book.',
});

async function run(
  overrides: Partial<ConceptualDesignTask> = {},
  budget: Budget = defaultBudget,
  signal = new AbortController().signal,
) {
  const steps: AgentStep[] = [];
  const agent = claudeAgent({
    apiKey: KEY,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    model: 'stub-model',
    budget,
  });
  const answer = await agent.conceptualDesign(
    { ...task, ...overrides },
    { progress: () => undefined, signal, step: (step) => steps.push(step) },
  );
  return { answer, steps };
}

test('looks at the source, submits, and the design is built from the choices', async () => {
  script.push(
    { content: [call('query_source', { sql: 'SELECT count(*) FROM members' })] },
    {
      content: [
        call(
          'submit_design',
          design((id) => id.startsWith('covers')),
        ),
      ],
    },
  );
  const { answer, steps } = await run();
  const embedded = answer.design.relationships
    .filter((choice) => choice.choice === 'embed')
    .map((choice) => choice.relationship);
  expect(embedded).toEqual(['covers(book_id)->books(book_id)']);
  expect(answer.design.collections.map((collection) => collection.name)).toContain(
    'libraryBranches',
  );
  expect(answer.design.document.source).toBe('A library.');
  expect(JSON.stringify(asked[1]!.body.messages)).toContain('60');
  expect(asked[0]!.body.model).toBe('stub-model');
  expect(steps.map((step) => step.kind)).toEqual([
    'prompt',
    'answer',
    'tool_call',
    'tool_result',
    'answer',
    'tool_call',
    'tool_result',
  ]);
});

test('a design that would lose rows is refused with the reason, and the model may mend it', async () => {
  script.push(
    {
      content: [
        call(
          'submit_design',
          design((id) => id.startsWith('members(home_branch)')),
        ),
      ],
    },
    {
      content: [
        call(
          'submit_design',
          design(() => false),
        ),
      ],
    },
  );
  const { answer, steps } = await run();
  expect(steps.filter((step) => step.kind === 'tool_result')[0]!.text).toMatch(
    /home_branch.*embedding would lose them/s,
  );
  expect(answer.design.relationships.every((choice) => choice.choice === 'reference')).toBe(true);
});

test('a malformed submission and SQL that is no query are answered, not fatal', async () => {
  script.push(
    {
      content: [
        call('query_source', { sql: 'PRAGMA query_only = OFF' }),
        call('submit_design', { relationships: 'all' }),
      ],
    },
    { content: [{ type: 'text', text: 'Hm.' }], stop_reason: 'end_turn' },
    {
      content: [
        call(
          'submit_design',
          design(() => false),
        ),
      ],
    },
  );
  const { steps } = await run();
  const results = steps.filter((step) => step.kind === 'tool_result').map((step) => step.text);
  expect(results[0]).toMatch(/forbidden/);
  expect(results[1]).toMatch(/Refused/);
});

test('a reviewer’s directive wins over the model’s choice', async () => {
  script.push({
    content: [
      call(
        'submit_design',
        design((id) => id.startsWith('covers')),
      ),
    ],
  });
  const { answer } = await run({
    directives: [
      {
        kind: 'relationship',
        relationship: 'covers(book_id)->books(book_id)',
        choice: 'reference',
      },
    ],
  });
  expect(
    answer.design.relationships.find((choice) => choice.relationship.startsWith('covers')),
  ).toMatchObject({ choice: 'reference', directed: true });
});

test('an overloaded service is asked again; one that stays down fails by name, without the key', async () => {
  script.push(
    { status: 529 },
    { status: 429 },
    {
      content: [
        call(
          'submit_design',
          design(() => false),
        ),
      ],
    },
  );
  await run();
  expect(asked).toHaveLength(3);
  script.push(...Array.from({ length: 8 }, () => ({ status: 500 })));
  const failed = await run().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(AgentFailed);
  expect(String(failed)).toMatch(/status 500/);
  expect(String(failed)).not.toContain(KEY);
});

test('the budget ends a run', async () => {
  script.push(
    { content: [{ type: 'text', text: 'thinking' }], output_tokens: 900 },
    { content: [{ type: 'text', text: 'thinking' }], output_tokens: 900 },
  );
  await expect(run({}, { turns: 10, inputTokens: 1e6, outputTokens: 1000 })).rejects.toMatchObject({
    reason: 'budget',
  });
  script.push(
    ...Array.from({ length: 3 }, () => ({
      content: [{ type: 'text', text: 'thinking' }],
      stop_reason: 'end_turn',
    })),
  );
  await expect(run({}, { turns: 3, inputTokens: 1e6, outputTokens: 1e6 })).rejects.toMatchObject({
    reason: 'no_answer',
  });
});

test('a refusal of the model is named; a cancelled run stops', async () => {
  script.push({ content: [], stop_reason: 'refusal' });
  await expect(run()).rejects.toMatchObject({ reason: 'refused' });
  await expect(run({}, defaultBudget, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow(
    'cancelled',
  );
});

test('the key is in the request’s header and in no step of the transcript', async () => {
  script.push({
    content: [
      call(
        'submit_design',
        design(() => false),
      ),
    ],
  });
  const { steps } = await run();
  expect(asked[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(JSON.stringify(steps)).not.toContain(KEY);
});
