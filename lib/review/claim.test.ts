import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../auth/accounts';
import { verifyAudit } from '../db/audit';
import { Prisma } from '../db/generated/client';
import { createTestPipeline, type TestPipeline } from '../pipeline/test/test-pipeline';
import { gateNames } from '../pipeline/stages/stage';
import type { Worker } from '../pipeline/worker';
import type { Role } from '../auth/account-api';
import type { DecideInput } from './decision-api';
import { assignTasks } from './assign';
import { decide } from './decide-task';
import { undo } from './undo-decision';
import type { DecisionServices } from './check-task-edit';
import { claimTask, explainEmptyQueue, leaseTask, releaseTask } from './leases';
import { taskDetail } from './task-detail';

let pipeline: TestPipeline;
let worker: Worker;
let services: DecisionServices;
let benchmarkId: string;
let databaseId: string;
let lead: Principal;
let ann: Principal;
let bob: Principal;
let count = 0;

async function person(role: Role): Promise<Principal> {
  const { id, email, name } = await pipeline.db.prisma.user.create({
    data: { email: `${randomUUID()}@example.org`, name: `${role} ${++count}`, role },
  });
  return { id, email, name, role, via: 'session', scopes: [], tokenHash: '' };
}

beforeAll(async () => {
  pipeline = await createTestPipeline(12);
  worker = await pipeline.startWorker();
  const { db, blobs } = pipeline;
  services = { db, blobs, checkEdit: () => Promise.reject(new Error('no edits here')) };
  lead = await person('lead');
});
afterAll(async () => {
  await worker.stop();
  await pipeline.db.close();
  await rm(pipeline.folder, { recursive: true, force: true });
});
beforeEach(async () => {
  pipeline.world.design = 'first';
  ann = await person('reviewer');
  bob = await person('reviewer');
  ({ benchmarkId, databaseId } = await pipeline.importShop(`Claims ${++count}`));
  await pipeline.settled(databaseId);
});

const signal = new AbortController().signal;
const approve = async (user: Principal, taskId: string, idempotencyKey: string = randomUUID()) => {
  const { current } = await taskDetail(pipeline.db, pipeline.blobs, user, taskId);
  return decide(
    services,
    user,
    taskId,
    { verdict: 'approve', versionId: current.id, idempotencyKey } as DecideInput,
    signal,
  );
};
const claim = (
  user: Principal,
  holding: readonly string[] = [],
  leaveOut: readonly string[] = [],
  after?: string,
) => claimTask(pipeline.db, user, { databaseId }, holding, after, leaveOut);
const expire = (taskId: string) =>
  pipeline.db.pool.query(
    `UPDATE lease SET expires_at = now() - interval '1 second' WHERE task_id = $1`,
    [taskId],
  );
const decisionsOn = (taskId: string) => pipeline.db.prisma.decision.count({ where: { taskId } });

describe('a decision needs a live lease', () => {
  test.each<[string, (taskId: string) => Promise<unknown>]>([
    ['that was never taken', () => Promise.resolve()],
    [
      'that expired by PostgreSQL’s clock',
      async (taskId) => (await leaseTask(pipeline.db, ann, taskId), await expire(taskId)),
    ],
    [
      'that was released',
      async (taskId) => (
        await leaseTask(pipeline.db, ann, taskId),
        await releaseTask(pipeline.db, ann, taskId)
      ),
    ],
    [
      'that a colleague had and released',
      async (taskId) => (
        await leaseTask(pipeline.db, bob, taskId),
        await releaseTask(pipeline.db, bob, taskId)
      ),
    ],
  ])('not one %s', async (_case, before) => {
    const { id } = await pipeline.db.prisma.task.findFirstOrThrow({
      where: { databaseId, gate: 'evidence' },
    });
    await before(id);
    await expect(approve(ann, id)).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await decisionsOn(id)).toBe(0);
    await leaseTask(pipeline.db, ann, id);
    expect(await approve(ann, id)).toMatchObject({ first: true, taskState: 'done' });
  });

  test('the lease ends with the decision, and the same decision sent again is answered without one', async () => {
    const lease = (await claim(ann))!;
    const key = randomUUID();
    await approve(ann, lease.taskId, key);
    expect(await pipeline.db.prisma.lease.count({ where: { taskId: lease.taskId } })).toBe(0);
    expect(await approve(ann, lease.taskId, key)).toMatchObject({ first: false });
    expect(await decisionsOn(lease.taskId)).toBe(1);
  });

  test('a decision that fails keeps the lease', async () => {
    const lease = (await claim(ann))!;
    const wrong = {
      verdict: 'approve',
      versionId: randomUUID(),
      idempotencyKey: randomUUID(),
    } as DecideInput;
    await expect(decide(services, ann, lease.taskId, wrong, signal)).rejects.toMatchObject({
      code: 'version_changed',
    });
    expect(
      await pipeline.db.prisma.lease.count({ where: { taskId: lease.taskId, userId: ann.id } }),
    ).toBe(1);
  });

  test('a reviewer does not overrule what is decided and current; a lead does, and everybody their own', async () => {
    const { taskId } = (await claim(lead))!;
    await approve(lead, taskId);
    await leaseTask(pipeline.db, ann, taskId);
    await expect(approve(ann, taskId)).rejects.toMatchObject({
      code: 'lease_lost',
      message: expect.stringContaining(lead.name) as string,
    });
    expect(await decisionsOn(taskId)).toBe(1);
    await releaseTask(pipeline.db, ann, taskId);
    const own = (await claim(ann))!.taskId;
    await approve(ann, own);
    await leaseTask(pipeline.db, ann, own);
    await approve(ann, own);
    await leaseTask(pipeline.db, bob, own);
    await expect(approve(bob, own)).rejects.toMatchObject({ code: 'lease_lost' });
    await releaseTask(pipeline.db, bob, own);
    await leaseTask(pipeline.db, lead, own);
    expect(await approve(lead, own)).toMatchObject({
      decision: { by: { id: lead.id }, standing: 'counts' },
    });
  });
});

describe('a claim leaves out', () => {
  test('what is decided and not saved yet, however often it is asked', async () => {
    const first = (await claim(ann))!.taskId;
    const second = (await claim(ann, [first]))!.taskId;
    for (const holding of [[], [second]])
      expect((await claim(ann, holding, [first], first))?.taskId).not.toBe(first);
    // Those do not count as held either.
    const waiting = [first, second];
    for (let more = 0; more < 6; more++)
      waiting.push((await claim(ann, [], waiting, first))!.taskId);
    expect(new Set(waiting).size).toBe(8);
  });

  test('what was skipped, until nothing else is left; then it says so', async () => {
    const skipped: string[] = [];
    for (
      let lease = await claim(ann);
      lease;
      lease = await claim(ann, [], skipped, skipped.at(-1))
    ) {
      expect(skipped).not.toContain(lease.taskId);
      skipped.push(lease.taskId);
      await releaseTask(pipeline.db, ann, lease.taskId);
    }
    expect(skipped).toHaveLength(
      await pipeline.db.prisma.task.count({ where: { databaseId, state: 'open' } }),
    );
    expect(await explainEmptyQueue(pipeline.db, ann, { databaseId }, skipped)).toMatchObject({
      reason: 'skipped',
      counts: { skipped: skipped.length },
    });
    expect(await claim(bob)).toBeDefined();
  });

  test('what is assigned to others; what is assigned to oneself comes first', async () => {
    const all = await pipeline.db.prisma.task.findMany({
      where: { databaseId, state: 'open' },
      orderBy: { position: 'asc' },
    });
    await assignTasks(
      pipeline.db,
      lead,
      all.slice(0, 3).map(({ id }) => id),
      bob.id,
    );
    const last = all.at(-1)!.id;
    await assignTasks(pipeline.db, lead, [last], ann.id);
    const first = (await claim(ann))!.taskId;
    expect(first).toBe(last);
    expect(all.slice(0, 3).map(({ id }) => id)).not.toContain((await claim(ann, [first]))!.taskId);
  });
});

test('twenty reviewers who decide as fast as they can: no task twice, none lost, no decision refused', async () => {
  const total = await pipeline.db.prisma.task.count({ where: { databaseId, state: 'open' } });
  const people = await Promise.all(Array.from({ length: 20 }, () => person('reviewer')));
  const decided: string[] = [];
  await Promise.all(
    people.map(async (user) => {
      let last: string | undefined;
      for (let lease = await claim(user); lease; lease = await claim(user, [], [], last)) {
        // The next one is claimed while this decision is on its way, as the browser does.
        const [made] = await Promise.all([
          approve(user, lease.taskId),
          claim(user, [lease.taskId], [], lease.taskId),
        ]);
        expect(made).toMatchObject({ first: true, taskState: 'done' });
        decided.push(lease.taskId);
        last = lease.taskId;
      }
    }),
  );
  expect(decided).toHaveLength(total);
  expect(new Set(decided).size).toBe(total);
  expect(await verifyAudit(pipeline.db, benchmarkId)).toMatchObject({ ok: true });
});

describe('the kept state of tasks', () => {
  const wrong = () => pipeline.db.prisma.$queryRaw<
    { id: string; state: string; derived: string | null }[]
  >`
    SELECT task.id, task.state, derived.state AS derived FROM task LEFT JOIN task_state derived ON derived.id = task.id
    WHERE task.state <> coalesce(derived.state, 'closed')`;

  test('is what the view derives, after decisions, requests, undoing, changed designs, retirement and closing', async () => {
    const ids = (
      await pipeline.db.prisma.task.findMany({
        where: { databaseId, state: 'open' },
        orderBy: { position: 'asc' },
      })
    ).map(({ id }) => id);
    for (const id of ids) {
      await leaseTask(pipeline.db, ann, id);
      await approve(ann, id);
    }
    expect(await wrong()).toEqual([]);
    const design = await pipeline.db.prisma.task.findFirstOrThrow({
      where: { databaseId, gate: 'conceptual_design' },
    });
    const { current } = await taskDetail(pipeline.db, pipeline.blobs, ann, design.id);
    await leaseTask(pipeline.db, ann, design.id);
    const asked = await decide(
      services,
      ann,
      design.id,
      {
        verdict: 'request_changes',
        reason: 'wording',
        note: 'nicer',
        directives: [],
        versionId: current.id,
        idempotencyKey: randomUUID(),
      },
      signal,
    );
    expect(asked.taskState).toBe('waiting');
    expect(await wrong()).toEqual([]);
    await pipeline.settled(databaseId);
    expect(await wrong()).toEqual([]);
    await undo(services, ann, asked.decision.id, { idempotencyKey: randomUUID() });
    await pipeline.settled(databaseId);
    expect(await wrong()).toEqual([]);
    pipeline.world.design = 'second';
    await pipeline.db.prisma.stageRun.create({ data: { databaseId, stage: 'conceptual_design' } });
    await pipeline.settled(databaseId);
    expect(await wrong()).toEqual([]);
    expect(
      await pipeline.db.prisma.task.count({ where: { databaseId, state: 'stale' } }),
    ).toBeGreaterThan(0);
  });

  // Each writes by a way of its own what a state is derived from.
  const inDatabase = () => Prisma.sql`${databaseId}::uuid`;
  test.each<[string, () => Prisma.Sql]>([
    [
      'an artefact is retired',
      () =>
        Prisma.sql`UPDATE artefact SET retired_at = now() WHERE database_id = ${inDatabase()} AND kind = 'evidence'`,
    ],
    [
      'a task is closed',
      () =>
        Prisma.sql`UPDATE task SET closed_at = now() WHERE database_id = ${inDatabase()} AND gate = 'evidence'`,
    ],
    [
      'an input has another hash',
      () =>
        Prisma.sql`UPDATE artefact_input SET source_hash = 'another' FROM artefact WHERE artefact.current_id = version_id AND database_id = ${inDatabase()} AND source_hash IS NOT NULL`,
    ],
    [
      'inputs are gone',
      () =>
        Prisma.sql`DELETE FROM artefact_input USING artefact WHERE artefact.current_id = version_id AND database_id = ${inDatabase()}`,
    ],
    [
      'a version was made from other inputs',
      () =>
        Prisma.sql`UPDATE artefact_version SET inputs_hash = 'another' FROM artefact WHERE artefact.current_id = artefact_version.id AND database_id = ${inDatabase()}`,
    ],
    [
      'a decision is taken away',
      () => Prisma.sql`UPDATE task SET decision_id = NULL WHERE database_id = ${inDatabase()}`,
    ],
    [
      'an artefact has no version',
      () =>
        Prisma.sql`UPDATE artefact SET current_id = NULL WHERE database_id = ${inDatabase()} AND kind = 'gold'`,
    ],
  ])('follows when %s', async (_case, change) => {
    for (let lease = await claim(ann); lease; lease = await claim(ann))
      await approve(ann, lease.taskId);
    const before = await pipeline.db.prisma.task.findMany({
      where: { databaseId },
      select: { id: true, state: true },
      orderBy: { id: 'asc' },
    });
    await pipeline.db.prisma.$executeRaw(change());
    expect(await wrong()).toEqual([]);
    const after = await pipeline.db.prisma.task.findMany({
      where: { databaseId },
      select: { id: true, state: true },
      orderBy: { id: 'asc' },
    });
    // Inputs that are gone leave a settled task as it was: nothing is to be caught up with.
    if (_case !== 'inputs are gone') expect(after).not.toEqual(before);
  });

  test('can be rebuilt where somebody has written it', async () => {
    await pipeline.db.pool.query(`UPDATE task SET state = 'done' WHERE database_id = $1`, [
      databaseId,
    ]);
    expect(await wrong()).not.toEqual([]);
    await pipeline.db.pool.query('SELECT rebuild_task_states($1)', [databaseId]);
    expect(await wrong()).toEqual([]);
  });

  test('gates have the same order in PostgreSQL as here', async () => {
    const ranks = await Promise.all(
      gateNames.map(
        (gate) =>
          pipeline.db.prisma.$queryRaw<{ rank: number }[]>`SELECT gate_rank(${gate}) AS rank`,
      ),
    );
    expect(ranks.map(([row]) => row!.rank)).toEqual(gateNames.map((_gate, index) => index + 1));
  });
});

test('a claim reads an index in the order of the queue, among 20,000 tasks', async () => {
  const client = await pipeline.db.pool.connect();
  const plan = async (condition: string) => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT id FROM task WHERE state IN ('open', 'stale') AND ${condition} ORDER BY ` +
        'gate_rank(gate), position LIMIT 1',
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  const some = '00000000-0000-0000-0000-000000000007';
  try {
    await client.query('BEGIN');
    // Neither foreign keys nor triggers: the rows are there for the planner only. Each benchmark
    // has few of them, so that its own index is much the cheapest.
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query(
      `INSERT INTO task (id, benchmark_id, database_id, artefact_id, gate, title, assignee_id)
       SELECT gen_random_uuid(), number_id(row % 1000), number_id(row % 1000), gen_random_uuid(),
         'evidence', 'row ' || row,
         CASE WHEN row % 3 = 0 THEN number_id(row % 50) END
       FROM generate_series(1, 20000) AS row`.replaceAll(
        /number_id\((.*?)\)/g,
        "lpad(($1)::text, 32, '0')::uuid",
      ),
    );
    await client.query('ANALYZE task');
    expect(await plan('assignee_id IS NULL')).toMatch(/Index.* using task_claim on task/);
    expect(await plan(`assignee_id IS NULL AND database_id = '${some}'`)).toMatch(
      /Index.* using task_claim_database/,
    );
    expect(await plan(`assignee_id IS NULL AND benchmark_id = '${some}'`)).toMatch(
      /Index.* using task_claim_benchmark/,
    );
    expect(await plan(`assignee_id = '${some}'`)).toMatch(/Index.* using task_claim_assigned/);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});
