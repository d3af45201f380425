import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test, type Browser, type Page } from '@playwright/test';
import type { Page as ApiPage } from '../lib/api-fields';
import type { DatabaseDetail, BenchmarkDetail, ImportRow } from '../lib/benchmarks/benchmark-api';
import type { TaskRow } from '../lib/review/queue-api';
import { generateSampleBenchmark } from '../sample/generate';
import { admin } from './start-product';

const password = 'another-password-for-tests';
/**
 * Of two browsers that decide: the suite's is short, a measurement is
 * `APTMQL_E2E_DECIDE_MS=120000`.
 */
const DECIDE_MS = Number(process.env.APTMQL_E2E_DECIDE_MS ?? 12_000);
/** A benchmark folder with more tasks than the sample's, for a longer measurement. */
const LARGE_BENCHMARK = process.env.APTMQL_E2E_BENCHMARK;

async function signIn(page: Page, who: { email: string; password: string }): Promise<void> {
  await page.goto('/login');
  await fillSignIn(page, who);
  await expect(page.getByRole('heading', { name: 'Benchmarks' })).toBeVisible();
}
async function fillSignIn(page: Page, who: { email: string; password: string }): Promise<void> {
  await page.getByLabel('E-mail address').fill(who.email);
  await page.getByLabel('Password').fill(who.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const get = async <T>(page: Page, url: string): Promise<T> => {
  const response = await page.request.get(url);
  expect(response.ok(), `${url}: ${response.status()}`).toBe(true);
  return (await response.json()) as T;
};

/** A reviewer at a desk of their own. */
async function reviewer(
  browser: Browser,
  lead: Page,
  name: string,
): Promise<{ desk: Page; email: string }> {
  const email = `${randomUUID()}@example.org`;
  const created = await lead.request.post('/api/users', {
    headers: { origin: new URL(lead.url()).origin },
    data: { email, password, name, role: 'reviewer' },
  });
  expect(created.ok(), await created.text()).toBe(true);
  const desk = await (await browser.newContext()).newPage();
  await signIn(desk, { email, password });
  return { desk, email };
}

/** A benchmark of its own: other files of tests find the sample as it was. */
let own: { readonly id: string; readonly name: string };
async function queue(page: Page, query: string): Promise<Pick<ApiPage<TaskRow>, 'rows' | 'total'>> {
  const rows: TaskRow[] = [];
  for (let number = 1; ; number++) {
    const url = `/api/queue?page=${number}&pageSize=200&benchmarkId=${own.id}&${query}`;
    const found = await get<ApiPage<TaskRow>>(page, url);
    rows.push(...found.rows);
    if (found.rows.length === 0 || rows.length >= found.total) return { rows, total: found.total };
  }
}
const todo = (page: Page): ReturnType<typeof queue> => queue(page, 'state=actionable');
const taskOf = (page: Page): string => /\/tasks\/([^/?]+)/.exec(page.url())?.[1] ?? '';
const approve = (page: Page) => page.getByRole('button', { name: /^Approve/ });
const emptyNote = (page: Page) =>
  page.getByRole('status').filter({ has: page.getByRole('link', { name: 'All tasks' }) });

async function start(desk: Page, query = ''): Promise<void> {
  await desk.goto(`/queue?benchmark=${own.id}${query}`);
  await desk.getByRole('button', { name: 'Start reviewing' }).click();
  await expect(approve(desk)).toBeEnabled();
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-decisions-'));

/** Imports the benchmark and waits until the agents have nothing left to do. */
async function importOwn(page: Page): Promise<typeof own> {
  const name = `Decisions ${randomUUID().slice(0, 8)}`;
  const headers = { origin: new URL(page.url()).origin };
  const answer = await page.request.post('/api/benchmarks/import', {
    headers,
    data: { name, path: LARGE_BENCHMARK ?? folder },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
  const { import: queued } = (await answer.json()) as { import: ImportRow };
  const find = async (): Promise<ImportRow> =>
    (await get<{ import: ImportRow }>(page, `/api/imports/${queued.id}`)).import;
  await expect.poll(async () => (await find()).state, { timeout: 2 * 60_000 }).toBe('done');
  const id = (await find()).benchmarkId!;
  const { benchmark } = await get<{ benchmark: BenchmarkDetail }>(page, `/api/benchmarks/${id}`);
  const unfinished = async (): Promise<number> => {
    const details = await Promise.all(
      benchmark.databaseRows.map((row) =>
        get<{ database: DatabaseDetail }>(page, `/api/databases/${row.id}`),
      ),
    );
    return details
      .flatMap(({ database }) => database.stages)
      .filter(({ run }) => run?.state !== 'done').length;
  };
  await expect.poll(unfinished, { timeout: 4 * 60_000, intervals: [1000] }).toBe(0);
  return { id, name };
}

test.beforeAll(async ({ browser }) => {
  test.setTimeout(10 * 60_000);
  generateSampleBenchmark(folder);
  const page = await browser.newPage();
  await signIn(page, admin);
  own = await importOwn(page);
  await page.close();
});
test.afterAll(async ({ browser }) => {
  const page = await browser.newPage();
  await signIn(page, admin);
  const headers = { origin: new URL(page.url()).origin };
  const answer = await page.request.delete(`/api/benchmarks/${own.id}`, {
    headers,
    data: { name: own.name },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
  await page.close();
  fs.rmSync(folder, { recursive: true, force: true });
});
test.beforeEach(async ({ page }) => {
  test.setTimeout(10 * 60_000);
  await signIn(page, admin);
});

test('a skip is for good: each task once, then the queue says that they were skipped', async ({
  page,
  browser,
}) => {
  const { desk } = await reviewer(browser, page, 'Sam Skipper');
  const all = await queue(desk, 'gate=optimised_query');
  await start(desk, '&gate=optimised_query');
  const seen: string[] = [];
  for (let turn = 0; turn <= all.total; turn++) {
    const here = taskOf(desk);
    expect(seen).not.toContain(here);
    seen.push(here);
    // The address is there a moment before the page: a key would still be that of the task before.
    const { task } = await get<{ task: { title: string } }>(desk, `/api/tasks/${here}`);
    await expect.poll(() => desk.title()).toContain(task.title);
    await desk.keyboard.press('n');
    await expect(async () =>
      expect(taskOf(desk) !== here || (await emptyNote(desk).isVisible())).toBe(true),
    ).toPass();
    if (taskOf(desk) === here) break;
  }
  expect(seen).toHaveLength(all.total);
  await expect(emptyNote(desk)).toContainText('You skipped the');
  // A reload and another start change nothing, until the reviewer asks for them.
  await desk.goto(`/queue?benchmark=${own.id}&gate=optimised_query`);
  await desk.getByRole('button', { name: 'Start reviewing' }).click();
  await desk.getByRole('button', { name: 'Review skipped tasks' }).click();
  await expect(approve(desk)).toBeEnabled();
  expect(seen).toContain(taskOf(desk));
});

test('an expired session keeps the decision, sends it after the sign-in and comes back to its task', async ({
  page,
  browser,
}) => {
  const { desk, email } = await reviewer(browser, page, 'Eve Expired');
  await start(desk, '&gate=evidence');
  const task = taskOf(desk);
  // The session ends under the open page.
  const ended = await desk.request.delete('/api/session', {
    headers: { origin: new URL(desk.url()).origin },
  });
  expect(ended.ok()).toBe(true);
  await desk.keyboard.press('a');
  await expect(desk).toHaveURL(/\/login\?to=/);
  // Somebody else at this desk sends nothing in Eve's name.
  const other = await reviewer(browser, page, 'Olaf Other');
  await fillSignIn(desk, { email: other.email, password });
  await expect(desk).toHaveURL(new RegExp(`/tasks/${task}`));
  await expect(desk.getByText('Saved', { exact: true })).toBeVisible();
  expect((await todo(desk)).rows.map(({ id }) => id)).toContain(task);
  await desk.context().clearCookies();
  await desk.goto(`/tasks/${task}?benchmark=${own.id}&gate=evidence`);
  await fillSignIn(desk, { email, password });
  await expect(desk).toHaveURL(new RegExp(`/tasks/${task}`));
  await expect
    .poll(
      async () =>
        (
          await get<{ task: { state: string; decisions: { by: { name: string } }[] } }>(
            desk,
            `/api/tasks/${task}`,
          )
        ).task,
    )
    .toMatchObject({ state: 'done', decisions: [{ by: { name: 'Eve Expired' } }] });
});

test('two browsers at two decisions a second: no task is decided twice, none is lost', async ({
  page,
  browser,
}) => {
  const desks = [
    await reviewer(browser, page, 'Ada Fast'),
    await reviewer(browser, page, 'Ben Fast'),
  ];
  const before = await todo(page);
  const refusals: string[] = [];
  const decided = new Map<string, number>();
  const work = async ({ desk }: { desk: Page }): Promise<void> => {
    desk.on('response', async (response) => {
      if (!/\/tasks\/[^/]+\/decisions$/.test(response.url())) return;
      const task = /tasks\/([^/]+)\//.exec(response.url())![1]!;
      if (response.ok()) decided.set(task, (decided.get(task) ?? 0) + 1);
      else refusals.push(`${response.status()} ${task}`);
    });
    await start(desk);
    const end = Date.now() + DECIDE_MS;
    while (Date.now() < end && !(await emptyNote(desk).isVisible())) {
      await desk.keyboard.press('a'); // where nothing can be decided yet, it does nothing
      await desk.waitForTimeout(500);
    }
    await expect(desk.getByText('Saved', { exact: true })).toBeVisible();
  };
  await Promise.all(desks.map(work));
  console.log(`${decided.size} of ${before.total} tasks decided, ${refusals.length} refused`);
  expect(refusals).toEqual([]);
  expect([...decided.values()].filter((times) => times > 1)).toEqual([]);
  expect(decided.size).toBeGreaterThan(Math.min(before.total, 6) - 1);
  const left = new Set((await todo(page)).rows.map(({ id }) => id));
  expect([...decided.keys()].filter((task) => left.has(task))).toEqual([]);
  const { rows } = await queue(page, 'state=all');
  expect(
    rows
      .filter((row) => row.decidedBy === 'Ada Fast' || row.decidedBy === 'Ben Fast')
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...decided.keys()].sort());
});
