import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../auth/accounts';
import { verifyAudit } from '../db/audit';
import { createTestPipeline, type TestPipeline } from '../pipeline/test/test-pipeline';
import type { EditOutcome } from '../pipeline/stages/edit-outcome';
import type { Worker } from '../pipeline/worker';
import { directiveSchema } from '../design/model/directive';
import type { Role } from '../auth/account-api';
import type { GateName } from '../pipeline/stages/stage';
import type { DecideInput } from './decision-api';
import type { TaskRow } from './queue-api';
import { EMPTY_DRAFT, type Draft } from './task-api';
import { decide } from './decide-task';
import { undo } from './undo-decision';
import type { DecisionServices } from './check-task-edit';
import { changeBenchmark } from '../benchmarks/benchmarks';
import { finalise, finaliseReport } from '../benchmarks/finalise';
import { recordEffort, uncovered } from './effort';
import { claimTask, explainEmptyQueue, leaseTask, releaseTask } from './leases';
import { databaseDetail, listBenchmarks, overview } from '../benchmarks/overview';
import { listTasks, sumCounts, countTasks } from './task-query';
import { saveDraft, taskDetail } from './task-detail';

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
  pipeline = await createTestPipeline(60);
  worker = await pipeline.startWorker();
  const { db, blobs } = pipeline;
  services = {
    db,
    blobs,
    checkEdit: async (userId, { ref, content, databaseId: within }): Promise<EditOutcome> => {
      const { text } = content as { text: string };
      if (text === 'wrong') return { ok: false, problems: [{ path: 'text', message: 'is wrong' }] };
      const artefact = await db.prisma.artefact.findFirstOrThrow({
        where: { databaseId, kind: ref.kind, key: ref.key },
        include: { current: { include: { inputs: true } } },
      });
      const inputs = artefact.current!.inputs.map(({ kind, key, hash }) => ({
        kind: kind as typeof ref.kind,
        key,
        hash,
      }));
      expect([within, typeof userId]).toEqual([databaseId, 'string']);
      return {
        ok: true,
        artefact: { ...ref, content, inputs, gate: 'conceptual_design' },
        restart: ref.kind === 'conceptual_design' ? { stage: 'logical_design' } : null,
      };
    },
  };
  lead = await person('lead');
  ann = await person('reviewer');
  bob = await person('reviewer');
});
afterAll(async () => {
  await worker.stop();
  await pipeline.db.close();
  await rm(pipeline.folder, { recursive: true, force: true });
});
beforeEach(async () => {
  pipeline.world.design = 'first';
  ({ benchmarkId, databaseId } = await pipeline.importShop(`Shop ${++count}`));
  await pipeline.settled(databaseId);
});

const tasks = async (gate?: GateName): Promise<readonly TaskRow[]> =>
  (
    await listTasks(
      pipeline.db,
      { databaseId, gate, state: 'all', sort: 'queue', page: 1, pageSize: 200 },
      ann.id,
    )
  ).rows;
const task = async (gate: GateName): Promise<TaskRow> => (await tasks(gate))[0]!;
const detail = (id: string, user = ann) => taskDetail(pipeline.db, pipeline.blobs, user, id);
const signal = new AbortController().signal;
type Wanted = DecideInput extends infer D
  ? D extends DecideInput
    ? Omit<D, 'idempotencyKey' | 'versionId'> & { idempotencyKey?: string; versionId?: string }
    : never
  : never;
const decideOn = async (id: string, wanted: Wanted, user = ann) => {
  const { current } = await detail(id);
  // held by another: the decision says so
  await leaseTask(pipeline.db, user, id).catch(() => undefined);
  return decide(
    services,
    user,
    id,
    { idempotencyKey: randomUUID(), versionId: current.id, ...wanted } as DecideInput,
    signal,
  );
};
const approveAll = async () => {
  for (const { id, state } of await tasks())
    if (state === 'open' || state === 'stale') await decideOn(id, { verdict: 'approve' });
};

describe('claiming', () => {
  test('fifty reviewers at once never share a task, and each gets one', async () => {
    const people = await Promise.all(Array.from({ length: 50 }, () => person('reviewer')));
    const claims = await Promise.all(
      people.map((user) => claimTask(pipeline.db, user, { databaseId }, [])),
    );
    const ids = claims.map((claim) => claim?.taskId);
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(50);
    await pipeline.db.prisma.lease.deleteMany();
  });

  test('a reload resumes one’s own task; holding it asks for another; expiry frees it', async () => {
    const first = (await claimTask(pipeline.db, ann, { databaseId }, []))!;
    expect((await claimTask(pipeline.db, ann, { databaseId }, []))?.taskId).toBe(first.taskId);
    const second = (await claimTask(pipeline.db, ann, { databaseId }, [first.taskId]))!;
    expect(second.taskId).not.toBe(first.taskId);
    await expect(leaseTask(pipeline.db, bob, first.taskId)).rejects.toMatchObject({
      code: 'leased',
      message: expect.stringContaining(ann.name) as string,
    });
    await pipeline.db.prisma.lease.update({
      where: { taskId: first.taskId },
      data: { expiresAt: new Date(Date.now() - 1) },
    });
    expect((await leaseTask(pipeline.db, bob, first.taskId)).taskId).toBe(first.taskId);
    await expect(decideOn(first.taskId, { verdict: 'approve' })).rejects.toMatchObject({
      code: 'leased',
    });
    await releaseTask(pipeline.db, bob, first.taskId);
    await releaseTask(pipeline.db, ann, second.taskId);
  });

  test('the next task is of the same database, then of the same benchmark, before the queue’s order', async () => {
    const other = await pipeline.importShop(`Shop ${++count}`);
    await pipeline.settled(other.databaseId);
    const last = (
      await listTasks(
        pipeline.db,
        { databaseId: other.databaseId, state: 'all', sort: 'queue', page: 1, pageSize: 200 },
        ann.id,
      )
    ).rows.at(-1)!;
    const databaseOf = async (holding: string[], after?: string) => {
      const lease = await claimTask(pipeline.db, ann, {}, holding, after);
      const { databaseId: of, gate } = await pipeline.db.prisma.task.findUniqueOrThrow({
        where: { id: lease!.taskId },
      });
      await releaseTask(pipeline.db, ann, lease!.taskId);
      return { of, gate };
    };
    expect((await databaseOf([])).of).not.toBe(other.databaseId);
    expect(await databaseOf([last.id], last.id)).toEqual({
      of: other.databaseId,
      gate: 'conceptual_design',
    });
    // What is still held elsewhere waits until nothing is left here.
    const held = (await task('conceptual_design')).id;
    await leaseTask(pipeline.db, ann, held);
    expect((await databaseOf([last.id], last.id)).of).toBe(other.databaseId);
    await releaseTask(pipeline.db, ann, held);
    // Nothing is left of that database: another one of its benchmark, were it last in the queue.
    await pipeline.db.prisma.task.updateMany({
      where: { databaseId: other.databaseId },
      data: { closedAt: new Date() },
    });
    await pipeline.db.prisma.task.updateMany({
      where: { databaseId },
      data: { benchmarkId: other.benchmarkId },
    });
    expect((await databaseOf([], last.id)).of).toBe(databaseId);
    await pipeline.db.prisma.task.updateMany({ where: { databaseId }, data: { benchmarkId } });
  });

  test('an empty queue says why', async () => {
    const filter = { databaseId, gate: 'conceptual_design' as const };
    const held = (await claimTask(pipeline.db, bob, filter, []))!;
    expect(await claimTask(pipeline.db, ann, filter, [])).toBeUndefined();
    expect(await explainEmptyQueue(pipeline.db, ann, filter)).toMatchObject({
      reason: 'leased_to_others',
      leasedTo: [{ name: bob.name, tasks: 1 }],
    });
    await decideOn(held.taskId, { verdict: 'approve' }, bob);
    expect(await explainEmptyQueue(pipeline.db, ann, filter)).toMatchObject({
      reason: 'all_done',
      counts: { done: 1 },
    });
    expect(
      await explainEmptyQueue(pipeline.db, ann, { databaseId, gate: 'untranslated' }),
    ).toMatchObject({ reason: 'nothing_yet' });
  });
});

describe('deciding', () => {
  test('the same idempotency key ten times decides once', async () => {
    const { id } = await task('conceptual_design');
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => decideOn(id, { verdict: 'approve', idempotencyKey })),
    );
    expect(new Set(answers.map((answer) => answer.decision.id)).size).toBe(1);
    expect(answers.filter((answer) => answer.first)).toHaveLength(1);
    expect(await pipeline.db.prisma.decision.count({ where: { taskId: id } })).toBe(1);
    expect(answers[0]).toMatchObject({ taskState: 'done', decision: { standing: 'counts' } });
    await expect(
      decideOn((await task('evidence')).id, { verdict: 'approve', idempotencyKey }),
    ).rejects.toMatchObject({ code: 'conflict' });
  });

  test('neither tokens nor consumers nor agents decide', async () => {
    const { id } = await task('conceptual_design');
    await expect(
      decideOn(id, { verdict: 'approve' }, { ...ann, via: 'token' }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    await expect(
      decideOn(id, { verdict: 'approve' }, await person('consumer')),
    ).rejects.toMatchObject({ code: 'forbidden' });
    const agent = await pipeline.db.prisma.user.create({
      data: { email: randomUUID(), name: 'agent', role: 'agent' },
    });
    await expect(decideOn(id, { verdict: 'approve' }, { ...ann, id: agent.id })).rejects.toThrow();
    expect(await pipeline.db.prisma.decision.count({ where: { taskId: id } })).toBe(0);
  });

  test('a decision needs the version on screen to be the current one', async () => {
    const { id } = await task('conceptual_design');
    await expect(
      decideOn(id, { verdict: 'approve', versionId: randomUUID() }),
    ).rejects.toMatchObject({ code: 'version_changed' });
    await expect(decideOn(id, { verdict: 'keep_unoptimised' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('requesting changes waits for the agent, its answer is a new version, undo takes it back', async () => {
    const { id } = await task('conceptual_design');
    const seen = (await detail(id)).current;
    const directive = directiveSchema.parse({
      kind: 'relationship',
      relationship: 'a.b',
      choice: 'reference',
    });
    const asked = await decideOn(id, {
      verdict: 'request_changes',
      reason: 'wrong_structure',
      directives: [directive],
    });
    expect(asked.taskState).toBe('waiting');
    await expect(decideOn(id, { verdict: 'approve' })).rejects.toMatchObject({
      code: 'being_redone',
    });
    await pipeline.settled(databaseId);
    const answered = await detail(id);
    expect(answered).toMatchObject({
      state: 'open',
      current: { seq: 2, content: { text: 'firstrelationship' } },
      lastSeen: { id: seen.id },
      directives: [{ cannotAct: null }],
    });
    await undo(services, ann, asked.decision.id, { idempotencyKey: randomUUID() });
    await pipeline.settled(databaseId);
    expect(await detail(id)).toMatchObject({
      state: 'open',
      current: { seq: 1 },
      directives: [{ withdrawn: true }],
      decisions: [{ verdict: 'undo' }, { standing: 'undone' }],
    });
  });

  test('what was begun and not sent is kept, each reviewer’s own, until it is sent', async () => {
    const { id } = await task('conceptual_design');
    expect((await detail(id)).draft).toBeNull();
    const draft: Draft = {
      note: 'please',
      reason: 'wrong_structure',
      directives: [{ kind: 'relationship', relationship: 'a.b', choice: 'reference' }],
      edit: '{"text":',
    };
    await saveDraft(pipeline.db, ann, id, draft);
    expect((await detail(id)).draft).toEqual(draft);
    expect((await detail(id, bob)).draft).toBeNull();
    await saveDraft(pipeline.db, ann, id, EMPTY_DRAFT);
    expect((await detail(id)).draft).toBeNull();

    // As an earlier version kept them.
    const keep = (text: string) =>
      pipeline.db.prisma.draftText.create({
        data: { userId: ann.id, taskId: id, text: Buffer.from(text) },
      });
    await keep('a note');
    expect((await detail(id)).draft).toEqual({ ...EMPTY_DRAFT, note: 'a note' });
    await saveDraft(pipeline.db, ann, id, EMPTY_DRAFT);
    await keep('\u0001edit\n{"text":1}');
    expect((await detail(id)).draft).toEqual({ ...EMPTY_DRAFT, edit: '{"text":1}' });

    await saveDraft(pipeline.db, ann, id, draft);
    await decideOn(id, {
      verdict: 'request_changes',
      reason: 'wording',
      note: 'nicer please',
      directives: [],
    });
    expect((await detail(id)).draft).toBeNull();
  });

  test('an agent that cannot act says so, and the task is open again', async () => {
    const { id } = await task('conceptual_design');
    await decideOn(id, {
      verdict: 'request_changes',
      reason: 'wording',
      note: 'nicer please',
      directives: [],
    });
    await pipeline.settled(databaseId);
    expect(await detail(id)).toMatchObject({
      state: 'open',
      current: { content: { text: 'firstfree_text' } },
      directives: [
        { directive: { kind: 'free_text', note: 'nicer please' }, cannotAct: 'beyond me' },
      ],
    });
  });

  test.each<[GateName, boolean]>([
    ['collection_validation', true],
    ['collection_validation', false],
    ['evidence', true],
  ])(
    'what is asked at %s of an agent that changes nothing comes back all the same (with a note: %s)',
    async (gate, withNote) => {
      const { id } = await task(gate);
      pipeline.world.ran.length = 0;
      expect(
        (
          await decideOn(id, {
            verdict: 'request_changes',
            reason: 'other',
            directives: [],
            ...(withNote ? { note: 'nicer please' } : {}),
          })
        ).taskState,
      ).toBe('waiting');
      await pipeline.settled(databaseId);
      const { state, current, directives } = await detail(id);
      expect({
        state,
        seq: current.seq,
        answers: directives.map(({ cannotAct }) => cannotAct?.slice(0, 20)),
      }).toEqual({ state: 'open', seq: 1, answers: withNote ? ['no agent reads notes'] : [] });
      // As far as somebody waits, and no further.
      expect(pipeline.world.ran).toEqual(
        gate === 'evidence'
          ? ['evidence 1']
          : ['logical_design', 'migration', 'collection_validation'],
      );
      await decideOn(id, { verdict: 'approve' });
      expect((await detail(id)).state).toBe('done');
    },
  );

  test('keeping the unoptimised query closes the task', async () => {
    const { id } = (await tasks('optimised_query'))[3]!;
    expect((await decideOn(id, { verdict: 'keep_unoptimised' })).taskState).toBe('waiting');
    await pipeline.settled(databaseId);
    expect((await detail(id)).state).toBe('closed');
  });
});

describe('editing', () => {
  test('an edit that fails its checks saves nothing; one that passes is a version of its author, approved in one go', async () => {
    const { id } = await task('conceptual_design');
    await expect(
      decideOn(id, { verdict: 'edit', approve: true, content: { text: 'wrong' } }),
    ).rejects.toMatchObject({ code: 'check_failed', problems: [{ path: 'text' }] });
    const edited = await decideOn(id, {
      verdict: 'edit',
      approve: true,
      content: { text: 'by hand' },
    });
    expect(edited).toMatchObject({ taskState: 'done', decision: { version: 2 } });
    expect((await detail(id)).current).toMatchObject({
      content: { text: 'by hand' },
      author: { kind: 'user', name: ann.name },
    });
    await pipeline.settled(databaseId);
    expect((await task('collection_validation')).state).toBe('open');
    // The stage may run again: the same inputs do not displace the edit.
    await pipeline.db.prisma.stageRun.create({ data: { databaseId, stage: 'conceptual_design' } });
    await pipeline.settled(databaseId);
    expect(await detail(id)).toMatchObject({
      state: 'done',
      current: { content: { text: 'by hand' } },
    });
    await undo(services, ann, edited.decision.id, { idempotencyKey: randomUUID() });
    expect((await detail(id)).current.content).toEqual({ text: 'first' });
    await pipeline.settled(databaseId);
    expect((await detail(id)).state).toBe('open');
  });
});

describe('staleness', () => {
  test('a changed dependency makes decisions stale, the same hash again makes them count again', async () => {
    await approveAll();
    expect(
      sumCounts((await countTasks(pipeline.db.prisma, { databaseId })).map((row) => row.tasks)),
    ).toMatchObject({ open: 0, stale: 0, done: 122 });
    const { id } = await task('conceptual_design');
    const edited = await decideOn(id, {
      verdict: 'edit',
      approve: true,
      content: { text: 'another' },
    });
    // At no moment from the edit to the last consequence of it does anything look final.
    let settled = false;
    const settling = pipeline.settled(databaseId).then(() => (settled = true));
    while (!settled)
      expect((await finaliseReport(pipeline.db.prisma, pipeline.blobs, databaseId)).ready).toBe(
        false,
      );
    await settling;
    const states = Object.fromEntries((await tasks()).map((row) => [row.gate, row.state]));
    expect(states).toEqual({
      conceptual_design: 'done',
      collection_validation: 'stale',
      optimised_query: 'done',
      evidence: 'done',
    });
    const stale = await task('collection_validation');
    expect(await detail(stale.id)).toMatchObject({
      decisions: [{ standing: 'stale' }],
      inputs: [{ kind: 'logical_design', state: 'changed' }],
    });
    await undo(services, ann, edited.decision.id, { idempotencyKey: randomUUID() });
    await pipeline.settled(databaseId);
    expect((await task('collection_validation')).state).toBe('done');
  });
});

describe('settings', () => {
  test('a change has every database designed again, once, and is in the audit trail; the same again changes nothing', async () => {
    const runs = (): Promise<number> =>
      pipeline.db.prisma.stageRun.count({ where: { databaseId, stage: 'conceptual_design' } });
    const before = await runs();
    await changeBenchmark(pipeline.db, lead, benchmarkId, { settings: { identifiers: 'string' } });
    await pipeline.settled(databaseId);
    expect(await runs()).toBe(before + 1);
    await changeBenchmark(pipeline.db, lead, benchmarkId, { settings: { identifiers: 'string' } });
    await pipeline.settled(databaseId);
    expect(await runs()).toBe(before + 1);
    const trail = await pipeline.db.prisma.auditEvent.findMany({
      where: { action: 'change_benchmark', subject: `benchmark:${benchmarkId}` },
    });
    expect(trail).toHaveLength(2);
    await expect(
      changeBenchmark(pipeline.db, lead, benchmarkId, { settings: { maxArray: 50 } }),
    ).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('above the limit of every array') as string,
    });
  });
});

describe('finalising', () => {
  test('names what is missing, is refused to reviewers, and falls with the next change', async () => {
    await expect(
      finalise(pipeline.db, pipeline.blobs, lead, databaseId, randomUUID()),
    ).rejects.toMatchObject({ code: 'not_finalised' });
    expect(
      (await finaliseReport(pipeline.db.prisma, pipeline.blobs, databaseId)).missing,
    ).toHaveLength(4);
    await approveAll();
    await expect(
      finalise(pipeline.db, pipeline.blobs, ann, databaseId, randomUUID()),
    ).rejects.toMatchObject({ code: 'forbidden' });
    const report = await finalise(pipeline.db, pipeline.blobs, lead, databaseId, randomUUID());
    expect(report).toMatchObject({ ready: true, finalisedAt: expect.any(String) as string });
    const shown = (await listBenchmarks(pipeline.db)).find((row) => row.id === benchmarkId);
    expect(shown).toMatchObject({ finalisedDatabases: 1, tasks: { done: 122 } });
    const { decisions, id } = await detail((await task('evidence')).id);
    await undo(services, ann, decisions[0]!.id, { idempotencyKey: randomUUID() });
    expect(
      (await finaliseReport(pipeline.db.prisma, pipeline.blobs, databaseId)).finalisedAt,
    ).toBeNull();
    await decideOn(id, { verdict: 'approve' });
    expect(
      (await finaliseReport(pipeline.db.prisma, pipeline.blobs, databaseId)).finalisedAt,
    ).not.toBeNull();
  });
});

describe('effort', () => {
  test('spans of one user never overlap', async () => {
    expect(uncovered({ from: 0, to: 10 }, [{ from: 0, to: 4 }])).toEqual({ from: 4, to: 10 });
    expect(uncovered({ from: 0, to: 10 }, [{ from: -5, to: 20 }])).toBeUndefined();
    const { id } = await task('evidence');
    const base = Date.now() - 600_000;
    const span = (from: number, to: number) => ({
      id: randomUUID(),
      taskId: id,
      startedAt: new Date(base + from * 1000).toISOString(),
      endedAt: new Date(base + to * 1000).toISOString(),
      end: 'blur' as const,
    });
    const once = span(0, 60);
    await Promise.all([
      recordEffort(pipeline.db, ann, [once, once]),
      recordEffort(pipeline.db, ann, [once]),
      recordEffort(pipeline.db, ann, [span(30, 90)]),
    ]);
    const { gates } = await databaseDetail(pipeline.db, pipeline.blobs, databaseId);
    expect(gates.find((row) => row.gate === 'evidence')?.minutes).toBeCloseTo(1.5, 5);
    expect(
      (await overview(pipeline.db, benchmarkId)).reviewers.find((row) => row.id === ann.id)
        ?.minutes,
    ).toBeCloseTo(1.5, 5);
  });
});

describe('audit', () => {
  test('the chain holds under concurrent decisions, and tampering is found', async () => {
    const many = (await tasks('evidence')).slice(0, 20);
    await Promise.all(many.map(({ id }) => decideOn(id, { verdict: 'approve' })));
    expect(await verifyAudit(pipeline.db, benchmarkId)).toMatchObject({ ok: true, events: 21 });
    await pipeline.db.pool.query('ALTER TABLE audit_event DISABLE TRIGGER USER');
    await pipeline.db.pool.query(
      `UPDATE audit_event SET actor = 'somebody else' WHERE chain = $1 AND seq = 7`,
      [benchmarkId],
    );
    await pipeline.db.pool.query('ALTER TABLE audit_event ENABLE TRIGGER USER');
    expect(await verifyAudit(pipeline.db, benchmarkId)).toMatchObject({
      ok: false,
      broken: 'event 7 was altered',
    });
  });

  test('a decision cannot be changed afterwards, but goes with its benchmark', async () => {
    await decideOn((await task('evidence')).id, { verdict: 'approve' });
    await expect(pipeline.db.pool.query(`UPDATE decision SET verdict = 'exclude'`)).rejects.toThrow(
      /never changed/,
    );
    await pipeline.db.prisma.benchmark.delete({ where: { id: benchmarkId } });
    expect(await pipeline.db.prisma.decision.count({ where: { benchmarkId } })).toBe(0);
  });
});
