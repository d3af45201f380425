/**
 * One reviewer sends checks that take many seconds, twelve at once, and designs of 3,000 and 10,000
 * repeated relationships; another one works beside them. Prints how long the other one waits for
 * pages, estimates and checks, before and meanwhile. Starts the product on a data folder of its
 * own, with the sample benchmark.
 *
 *   npx tsx bench/slow-checks.ts [port]
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from '../lib/api-fields';
import type { BenchmarkRow } from '../lib/benchmarks/benchmark-api';
import type { TaskRow } from '../lib/review/queue-api';
import type { TaskDetail } from '../lib/review/task-api';

const port = process.argv[2] ?? '3965';
const origin = `http://127.0.0.1:${port}`;
const admin = { email: 'admin@example.org', password: 'a-password-for-this-measurement' };

interface Answer<T> {
  readonly status: number;
  readonly body: T;
  readonly ms: number;
}

/** A client that is signed in. */
class Client {
  private constructor(private readonly cookie: string) {}

  static async signIn(who: { email: string; password: string }): Promise<Client> {
    const headers = { 'content-type': 'application/json', origin };
    const body = JSON.stringify(who);
    const response = await fetch(`${origin}/api/session`, { method: 'POST', headers, body });
    return new Client(response.headers.getSetCookie()[0]?.split(';')[0] ?? '');
  }

  async call<T>(method: string, address: string, body?: unknown): Promise<Answer<T>> {
    const started = performance.now();
    const headers = { 'content-type': 'application/json', origin, cookie: this.cookie };
    const init = body === undefined ? { headers } : { headers, body: JSON.stringify(body) };
    const response = await fetch(`${origin}${address}`, { method, ...init });
    const answer = (await response.json()) as T;
    return { status: response.status, body: answer, ms: performance.now() - started };
  }
}

const SLOW = `db.station.aggregate([{ $project: { n: { $size: { $filter: {
  input: { $range: [0, 3000000] }, cond: { $eq: ["$$this", 5] } } } } } }])`;
const QUICK = 'db.station.aggregate([{ $match: { automatic: true } }, { $count: "n" }])';

const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN;
const shown = (times: readonly number[]): string =>
  `median ${median(times).toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms ` +
  `(${times.length})`;

interface Tasks {
  readonly gold: TaskRow;
  readonly design: TaskRow;
}

/** What the other reviewer does, again and again: a page, an estimate, a check. */
async function work(client: Client, tasks: Tasks, during: () => boolean, atLeast: number) {
  const times = { page: [] as number[], estimate: [] as number[], check: [] as number[] };
  for (let turn = 0; turn < atLeast || during(); turn++) {
    times.page.push((await client.call('GET', '/api/queue?pageSize=50')).ms);
    const figures = `/api/databases/${tasks.design.databaseId}/design-figures`;
    times.estimate.push((await client.call('GET', figures)).ms);
    const check = { content: { text: QUICK } };
    times.check.push((await client.call('POST', `/api/tasks/${tasks.gold.id}/check`, check)).ms);
  }
  return times;
}

function print(when: string, times: Awaited<ReturnType<typeof work>>): void {
  for (const [what, list] of Object.entries(times)) console.log(`${when}: ${what} ${shown(list)}`);
}

async function started(output: () => string): Promise<void> {
  while (!output().includes('is ready')) await sleep(500);
}

async function sampleTasks(client: Client): Promise<Tasks> {
  for (;;) {
    const { body } = await client.call<{ benchmarks: readonly BenchmarkRow[] }>(
      'GET',
      '/api/benchmarks',
    );
    const [row] = body.benchmarks ?? [];
    const find = async (gate: string): Promise<TaskRow | undefined> => {
      const list = await client.call<Page<TaskRow>>('GET', `/api/queue?pageSize=200&gate=${gate}`);
      return (list.body.rows ?? []).find(({ database }) => database === 'river_sensors');
    };
    const [gold, design] = [await find('optimised_query'), await find('conceptual_design')];
    if (row && gold && design) return { gold, design };
    await sleep(2000);
  }
}

async function measure(): Promise<void> {
  const [slow, other] = [await Client.signIn(admin), await Client.signIn(admin)];
  const created = await slow.call<{ password: string }>('POST', '/api/users', {
    email: 'reviewer@example.org',
    name: 'Reviewer',
    role: 'reviewer',
  });
  const reviewer = await Client.signIn({
    email: 'reviewer@example.org',
    password: created.body.password,
  });
  const tasks = await sampleTasks(other);
  print('alone', await work(reviewer, tasks, () => false, 20));
  const check = (content: object) =>
    slow.call('POST', `/api/tasks/${tasks.gold.id}/check`, { content });
  let open = 0;
  const checks = Array.from({ length: 12 }, async () => {
    open++;
    const answer = await check({ text: SLOW });
    open--;
    return answer;
  });
  print('beside 12 slow checks', await work(reviewer, tasks, () => open > 0, 20));
  const answers = await Promise.all(checks);
  const statuses = answers.map(({ status, ms }) => `${status} after ${(ms / 1000).toFixed(0)} s`);
  console.log(`slow checks: ${statuses.join(', ')}`);
  const { body } = await slow.call<{ task: TaskDetail }>('GET', `/api/tasks/${tasks.design.id}`);
  const design = body.task.current.content as { relationships: object[] };
  for (const count of [3000, 10_000]) {
    const [first] = design.relationships;
    const relationships = Array.from(
      { length: count },
      () => first ?? { relationship: 'a', choice: 'reference', reason: '' },
    );
    const content = { ...design, relationships };
    const answer = await slow.call<{ problems: object[] }>(
      'POST',
      `/api/tasks/${tasks.design.id}/check`,
      { content },
    );
    console.log(
      `${count} repeated relationships: ${answer.status}, ${answer.body.problems?.length ?? 0} ` +
        `problems, ${answer.ms.toFixed(0)} ms`,
    );
  }
}

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-slow-'));
fs.chmodSync(dataDir, 0o755);
const env = {
  ...process.env,
  APTMQL_DATA: dataDir,
  PORT: port,
  APTMQL_ADMIN_EMAIL: admin.email,
  APTMQL_ADMIN_PASSWORD: admin.password,
};
let output = '';
const product = spawn(process.execPath, ['--import', 'tsx', 'cli/start.ts'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
product.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
try {
  await started(() => output);
  await measure();
} finally {
  product.kill('SIGTERM');
  await new Promise((resolve) => product.once('exit', resolve));
  fs.rmSync(dataDir, { recursive: true, force: true });
}
