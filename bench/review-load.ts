/**
 * Reviewers at work: each asks for a task and approves it once a second, over HTTP, against a real
 * `next start` on the embedded PostgreSQL (durable), with every reviewer's live events open and a
 * lead who loads the overview every 2 s. Prints the times as the client sees them, the decisions
 * made in each second, and what was decided twice or lost. The load is made by this process, on the
 * same machine.
 *
 *   npx tsx bench/review-load.ts [--tasks 10000] [--reviewers 100] [--seconds 60] [--warm-up 15]
 *   [--no-events] [--profile folder]
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureWebBuild, webArguments } from '../cli/web-build';
import { openDatabase, type Database } from '../lib/db/database';
import { ensureEmbeddedPostgres } from '../lib/db/embedded-postgres';
import { migrate } from '../lib/db/migrate';
import type { DecideResponse } from '../lib/review/decision-api';
import type { ClaimResponse } from '../lib/review/lease-api';
import { seedReview, type Seeded } from './review-seed';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '10000' },
    reviewers: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '60' },
    'warm-up': { type: 'string', default: '15' },
    port: { type: 'string', default: '3971' },
    'no-events': { type: 'boolean' },
    profile: { type: 'string' },
  },
});
const port = Number(values.port);
const origin = `http://127.0.0.1:${port}`;
const agent = new http.Agent({ keepAlive: true, maxSockets: 1000 });

interface Answer<T> {
  readonly status: number;
  readonly body: T;
  readonly ms: number;
}

function call<T>(
  token: string,
  method: string,
  address: string,
  body?: unknown,
): Promise<Answer<T>> {
  const started = performance.now();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    cookie: `aptmql_session=${token}`,
    origin,
    ...(text
      ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      : {}),
  };
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: '127.0.0.1', port, path: address, method, agent, headers },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          const ms = performance.now() - started;
          const answer = Buffer.concat(parts).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            body: (answer ? JSON.parse(answer) : undefined) as T,
            ms,
          });
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(text);
  });
}

/** Leaves a reviewer's event stream open, as a tab does; counts its bytes. */
function openEvents(token: string, count: (bytes: number) => void): () => void {
  const request = http.get(
    {
      host: '127.0.0.1',
      port,
      path: '/api/events',
      headers: { cookie: `aptmql_session=${token}` },
    },
    (response) => response.on('data', (part: Buffer) => count(part.length)),
  );
  request.on('error', () => {}); // the server stops at the end
  return () => request.destroy();
}

interface Measured {
  readonly claim: number[];
  readonly decide: number[];
  readonly overview: number[];
  readonly approved: string[];
  readonly refused: Map<string, number>;
  late: number;
}

async function review(
  token: string,
  benchmarkId: string,
  start: number,
  end: number,
  measured: Measured,
): Promise<void> {
  let last: string | undefined;
  for (let turn = 0; ; turn++) {
    const due = start + turn * 1000;
    if (due >= end) return;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    else if (wait < -1000) measured.late++;
    if (performance.now() >= end) return;
    const claimed = await call<ClaimResponse>(token, 'POST', '/api/queue/claim', {
      benchmarkId,
      ...(last ? { holding: [last], after: last } : {}),
    });
    measured.claim.push(claimed.ms);
    if (claimed.status !== 200 || !claimed.body.task) {
      const why = claimed.status === 200 ? 'claim: nothing left' : `claim ${claimed.status}`;
      measured.refused.set(why, (measured.refused.get(why) ?? 0) + 1);
      continue;
    }
    const { task } = claimed.body;
    last = task.id;
    const decided = await call<DecideResponse & { error?: { code: string } }>(
      token,
      'POST',
      `/api/tasks/${task.id}/decisions`,
      { verdict: 'approve', versionId: task.current.id, idempotencyKey: randomUUID() },
    );
    measured.decide.push(decided.ms);
    if (decided.status === 200) measured.approved.push(task.id);
    else {
      const why = `decide ${decided.status} ${decided.body.error?.code ?? ''}`;
      measured.refused.set(why, (measured.refused.get(why) ?? 0) + 1);
    }
  }
}

async function watch(
  token: string,
  benchmarkId: string,
  end: number,
  measured: Measured,
): Promise<void> {
  while (performance.now() < end) {
    const answer = await call(token, 'GET', `/api/benchmarks/${benchmarkId}/overview`);
    if (answer.status === 200) measured.overview.push(answer.ms);
    else
      measured.refused.set(
        `overview ${answer.status}`,
        (measured.refused.get(`overview ${answer.status}`) ?? 0) + 1,
      );
    await sleep(2000);
  }
}

const percentile = (times: readonly number[], share: number): string => {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted.length === 0
    ? '-'
    : `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(0)} ms`;
};
const line = (name: string, times: readonly number[]): string =>
  `${name.padEnd(9)} p50 ${percentile(times, 0.5)}, p95 ${percentile(times, 0.95)}, p99 ` +
  `${percentile(times, 0.99)}, max ${percentile(times, 1)} (${times.length})`;

async function startWeb(databaseUrl: string, dataDir: string): Promise<ChildProcess> {
  const profiling = values.profile ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : [];
  const web = spawn(process.execPath, [...profiling, ...webArguments(port, '127.0.0.1')], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      APTMQL_DATA: dataDir,
      MONGODB_URI: 'mongodb://127.0.0.1:1',
    },
  });
  for (let tries = 0; ; tries++) {
    // Not /api/health, which asks for MongoDB: none is needed here.
    if (
      await fetch(`${origin}/login`).then(
        (response) => response.ok,
        () => false,
      )
    )
      return web;
    if (tries > 240 || web.exitCode !== null) throw new Error('the web application does not start');
    await sleep(250);
  }
}

/**
 * Seconds of processor time of a process, and of its children that live (Linux only; elsewhere
 * nothing).
 */
function processorSeconds(pid: number, withChildren: boolean): number {
  const pids = withChildren
    ? fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    : [String(pid)];
  let ticks = 0;
  for (const name of pids) {
    let fields: string[];
    try {
      fields = fs
        .readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
    } catch {
      continue; // it ended meanwhile
    }
    if (Number(name) === pid || fields[1] === String(pid))
      ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / 100;
}

async function measure(
  db: Database,
  seeded: Seeded,
  web: ChildProcess,
  postmaster: number,
): Promise<void> {
  const seconds = Number(values.seconds);
  const measured: Measured = {
    claim: [],
    decide: [],
    overview: [],
    approved: [],
    refused: new Map(),
    late: 0,
  };
  let eventBytes = 0;
  const closers = values['no-events']
    ? []
    : seeded.reviewers.map((token) => openEvents(token, (bytes) => (eventBytes += bytes)));
  // The first requests load the routes, and the code of the first thousand is still being compiled:
  // not measured.
  const unmeasured: Measured = {
    claim: [],
    decide: [],
    overview: [],
    approved: [],
    refused: new Map(),
    late: 0,
  };
  const warm = performance.now() + Number(values['warm-up']) * 1000;
  const begun = performance.now();
  await Promise.all(
    seeded.reviewers.map((token, index) =>
      review(
        token,
        seeded.benchmarkId,
        begun + (index * 1000) / seeded.reviewers.length,
        warm,
        unmeasured,
      ),
    ),
  );
  await call(seeded.lead, 'GET', `/api/benchmarks/${seeded.benchmarkId}/overview`);
  const spent = (): readonly number[] =>
    os.platform() === 'linux'
      ? [
          processorSeconds(web.pid!, false),
          processorSeconds(postmaster, true),
          process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
        ]
      : [0, 0, 0];
  const spentBefore = spent();
  const start = performance.now() + 200;
  const end = start + seconds * 1000;
  await Promise.all([
    watch(seeded.lead, seeded.benchmarkId, end, measured),
    ...seeded.reviewers.map((token, index) =>
      review(
        token,
        seeded.benchmarkId,
        start + (index * 1000) / seeded.reviewers.length,
        end,
        measured,
      ),
    ),
  ]);
  const took = (performance.now() - start) / 1000;
  const each = spent().map((seconds, index) =>
    (((seconds - spentBefore[index]!) / measured.approved.length) * 1000).toFixed(1),
  );
  for (const close of closers) close();
  await printFigures(db, measured, { seconds, took, each, eventBytes });
}

async function printFigures(
  db: Database,
  measured: Measured,
  {
    seconds,
    took,
    each,
    eventBytes,
  }: {
    readonly seconds: number;
    readonly took: number;
    /** Milliseconds of processor for a decision, by process. */
    readonly each: readonly string[];
    readonly eventBytes: number;
  },
): Promise<void> {
  const twice = await db.pool.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM (SELECT task_id FROM decision GROUP BY task_id HAVING ' +
      'count(*) > 1) double',
  );
  const kept = await db.pool.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM task JOIN decision ON decision.id = task.decision_id WHERE ' +
      'task.id = ANY($1)',
    [measured.approved],
  );
  console.log(
    `${values.tasks} tasks, ${values.reviewers} reviewers, ${seconds} s; load average ` +
      `${os.loadavg()[0]!.toFixed(1)} on ${os.availableParallelism()} cores`,
  );
  console.log(
    `decisions ${measured.approved.length}: ${(measured.approved.length / took).toFixed(1)} a ` +
      `second of ${values.reviewers} asked for; turns begun more than 1 s late: ${measured.late}`,
  );
  console.log(
    `processor time for each decision: web ${each[0]} ms, PostgreSQL ${each[1]} ms, this load ` +
      `${each[2]} ms`,
  );
  console.log(line('claim', measured.claim));
  console.log(line('decide', measured.decide));
  console.log(line('overview', measured.overview));
  console.log(
    `decided twice ${twice.rows[0]!.n}, acknowledged and lost ` +
      `${measured.approved.length - kept.rows[0]!.n}, refused ` +
      `${JSON.stringify(Object.fromEntries(measured.refused))}; events ` +
      `${(eventBytes / 1024 / took).toFixed(0)} KB/s`,
  );
}

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-load-'));
fs.chmodSync(dataDir, 0o755);
await ensureWebBuild(console.log);
const server = await ensureEmbeddedPostgres({ dataDir });
let web: ChildProcess | undefined;
try {
  await migrate(server.url);
  const db = openDatabase(server.url, { connections: 4 });
  const began = performance.now();
  const seeded = await seedReview(db.pool, Number(values.tasks), Number(values.reviewers));
  console.log(`seeded in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  web = await startWeb(server.url, dataDir);
  const postmaster = Number(
    fs.readFileSync(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0],
  );
  await measure(db, seeded, web, postmaster);
  await db.close();
} finally {
  if (web && web.exitCode === null) {
    web.kill('SIGTERM');
    await new Promise((resolve) => web!.once('exit', resolve));
  }
  await server.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
}
