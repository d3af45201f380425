import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { extractBenchmarkZip } from '../lib/sqlite/source/benchmark-zip';
import type { Page as ApiPage } from '../lib/api-fields';
import type {
  BenchmarkDetail,
  BenchmarkRow,
  DatabaseDetail,
} from '../lib/benchmarks/benchmark-api';
import type { TaskRow } from '../lib/review/queue-api';
import { admin } from './start-product';

const reviewer = { email: 'reviewer@example.org', password: 'another-password-for-tests' };

async function signIn(page: Page, who: typeof admin): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail address').fill(who.email);
  await page.getByLabel('Password').fill(who.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { name: 'Benchmarks' })).toBeVisible();
}

const get = async <T>(page: Page, url: string): Promise<T> => {
  const response = await page.request.get(url);
  expect(response.ok(), `${url}: ${response.status()} ${await response.text()}`).toBe(true);
  return (await response.json()) as T;
};

/** The agents have nothing left to do in any database of the sample. */
async function agentsAreDone(page: Page, benchmark: BenchmarkDetail): Promise<void> {
  await expect
    .poll(
      async () => {
        const states: string[] = [];
        for (const { id } of benchmark.databaseRows) {
          const { database } = await get<{ database: DatabaseDetail }>(
            page,
            `/api/databases/${id}`,
          );
          for (const { stage, run } of database.stages) {
            if (run?.state === 'failed')
              throw new Error(`${database.name}: ${stage} failed: ${run.failure}`);
            states.push(run?.state ?? 'none');
          }
          states.push(database.tasks.waiting > 0 ? 'waiting' : 'done');
        }
        return [...new Set(states)].join();
      },
      { timeout: 4 * 60_000, intervals: [1000] },
    )
    .toBe('done');
}

const tasks = (page: Page, query: string): Promise<ApiPage<TaskRow>> =>
  get(page, `/api/queue?pageSize=200&${query}`);

async function openTask(page: Page, task: TaskRow): Promise<void> {
  await page.goto(`/tasks/${task.id}`);
  await expect(page.getByRole('button', { name: /^Approve/ })).toBeEnabled();
}

/**
 * Works through the queue by keyboard until it says that it is empty; returns how many tasks were
 * decided.
 */
async function approveEverything(page: Page): Promise<number> {
  await page.goto('/queue');
  const before = await tasks(page, 'state=actionable');
  if (before.total === 0) return 0;
  await page.getByRole('button', { name: 'Start reviewing' }).click();
  for (let decided = 1; ; decided++) {
    await expect(page.getByRole('button', { name: /^Approve/ })).toBeEnabled();
    const at = page.url();
    await page.keyboard.press('a');
    const empty = page
      .getByRole('status')
      .filter({ has: page.getByRole('link', { name: 'All tasks' }) });
    await expect(async () =>
      expect(page.url() !== at || (await empty.isVisible())).toBe(true),
    ).toPass();
    if (page.url() === at) {
      await expect(page.getByText('Saved', { exact: true })).toBeVisible();
      return decided;
    }
  }
}

test('the sample benchmark goes from the queue to a verified bundle', async ({ page, browser }) => {
  test.setTimeout(15 * 60_000);
  await signIn(page, admin);
  const created = await page.request.post('/api/users', {
    headers: { origin: new URL(page.url()).origin },
    data: { ...reviewer, name: 'Rita Reviewer', role: 'reviewer' },
  });
  expect(created.ok(), await created.text()).toBe(true);
  const { benchmarks } = await get<{ benchmarks: BenchmarkRow[] }>(page, '/api/benchmarks');
  const { benchmark } = await get<{ benchmark: BenchmarkDetail }>(
    page,
    `/api/benchmarks/${benchmarks[0]!.id}`,
  );
  await agentsAreDone(page, benchmark);
  const river = benchmark.databaseRows.find((row) => row.name === 'river_sensors')!;

  const context = await browser.newContext();
  const desk = await context.newPage();
  await signIn(desk, reviewer);
  await expect(desk.getByRole('link', { name: 'Users' })).toHaveCount(0);
  await desk.goto('/users');
  await expect(desk.getByRole('heading', { name: 'This page is not for your role' })).toBeVisible();
  await expect(desk.getByText('is for admins only')).toBeVisible();

  await test.step('approvals of items come first', async () => {
    const evidence = await tasks(desk, `databaseId=${river.id}&gate=evidence`);
    expect(evidence.total).toBeGreaterThan(5);
    for (const task of evidence.rows) {
      await openTask(desk, task);
      await desk.keyboard.press('a');
      await expect(desk.getByText('Saved', { exact: true })).toBeVisible();
    }
    await expect
      .poll(
        async () => (await tasks(desk, `databaseId=${river.id}&gate=evidence&state=done`)).total,
      )
      .toBe(evidence.total);
  });

  await test.step('a reference is requested instead of an embedding; dependent approvals go stale', async () => {
    const [design] = (await tasks(desk, `databaseId=${river.id}&gate=conceptual_design`)).rows;
    await openTask(desk, design!);
    const row = desk.getByRole('row').filter({ hasText: 'sensor(type_id)->sensor.type(id)' });
    await expect(row.getByText('embed many')).toBeVisible();
    await row.getByRole('button', { name: 'What if' }).click();
    const whatIf = desk.getByRole('dialog', { name: 'What if?' });
    await expect(whatIf.getByText('nothing would be lost')).toBeVisible();
    await expect(
      whatIf
        .getByRole('table', { name: 'Forecast of collections' })
        .getByText('sensor', { exact: true }),
    ).toBeVisible();
    await whatIf.getByRole('radio', { name: 'reference' }).check();
    await whatIf.getByRole('button', { name: 'Request reference' }).click();
    await expect(row.getByText('reference requested')).toBeVisible();
    await desk.keyboard.press('r');
    await expect(desk.getByText('reference sensor(type_id)->sensor.type(id)')).toBeVisible();
    await desk.keyboard.press('1');
    await desk.getByLabel('Note (optional)').fill('Sensors are read on their own.');
    await desk.keyboard.press('Control+Enter');
    await expect(desk.getByText('Saved', { exact: true })).toBeVisible();
    await expect
      .poll(
        async () =>
          (await tasks(desk, `databaseId=${river.id}&gate=conceptual_design&state=all`)).rows[0]!
            .version,
        { timeout: 60_000 },
      )
      .toBe(2);
    await agentsAreDone(page, benchmark);
    const stale = await tasks(desk, `databaseId=${river.id}&state=stale`);
    expect(stale.total).toBeGreaterThan(0);
    const seen = desk.waitForResponse((response) =>
      response.url().endsWith(`/tasks/${design!.id}/seen`),
    );
    await openTask(desk, design!);
    await expect(
      desk
        .getByRole('row')
        .filter({ hasText: 'sensor(type_id)->sensor.type(id)' })
        .getByText('set by reviewer', { exact: true }),
    ).toBeVisible();
    // The difference is open at first; once seen, it can be opened again.
    await expect(
      desk.getByRole('heading', { name: 'Version 2 replaces version 1, which you saw last' }),
    ).toBeVisible();
    await expect(
      desk
        .getByRole('table', { name: 'changed decisions' })
        .getByText('reference — set by reviewer'),
    ).toBeVisible();
    await seen;
    await desk.reload();
    await expect(desk.getByRole('heading', { name: 'Changes since version 1' })).toBeVisible();
    await desk.getByRole('button', { name: 'Compare both' }).click();
    await expect(
      desk
        .getByRole('table', { name: 'changed decisions' })
        .getByText('reference — set by reviewer'),
    ).toBeVisible();
    await desk.goto(`/queue?database=${river.id}&state=stale`);
    await expect(
      desk.getByRole('table', { name: 'Tasks' }).getByText('stale').first(),
    ).toBeVisible();
  });

  await test.step('the first documents, the guidebook and the patterns can be looked at', async () => {
    const station = (
      await tasks(desk, `databaseId=${river.id}&gate=collection_validation&state=all`)
    ).rows.find((row) => row.title.includes('station'))!;
    await desk.goto(`/tasks/${station.id}`);
    await desk.getByRole('button', { name: 'Show the first documents' }).click();
    await expect(desk.getByText('"automatic": true').first()).toBeVisible();
    await desk.getByRole('link', { name: 'Guidebook' }).click();
    await expect(desk.getByRole('heading', { name: '4.1 Extended reference' })).toBeVisible();
  });

  await test.step('a pipeline is edited; one that is not equal is refused', async () => {
    const optimised = await tasks(desk, `databaseId=${river.id}&gate=optimised_query`);
    const task = optimised.rows.find((row) => row.title.includes('report automatically'))!;
    await openTask(desk, task);
    await desk.keyboard.press('e');
    const editor = desk.getByRole('dialog').locator('.monaco-editor').first();
    const write = async (text: string): Promise<void> => {
      await editor.click();
      await desk.keyboard.press('Control+A');
      await desk.keyboard.insertText(text);
    };
    await write('db.station.aggregate([{ $match: { automatic: false } }, { $count: "count" }])');
    await desk.getByRole('button', { name: 'Check', exact: true }).click();
    await expect(desk.getByRole('dialog').getByText(/not equal to that of the SQL/)).toBeVisible();
    await write(
      'db.station.aggregate([{ $match: { automatic: true } }, { $group: { _id: null, count: { ' +
        '$sum: 1 } } }, { $project: { _id: 0, count: 1 } }])',
    );
    await desk.getByRole('button', { name: 'Save and approve' }).click();
    await expect(desk.getByRole('dialog')).toHaveCount(0);
    await expect(desk.getByText('Saved', { exact: true })).toBeVisible();
    await expect
      .poll(
        async () =>
          (await tasks(desk, `databaseId=${river.id}&gate=optimised_query&state=all`)).rows.find(
            (row) => row.id === task.id,
          )?.version,
      )
      .toBeGreaterThan(task.version);
    await agentsAreDone(page, benchmark);
  });

  await test.step('a decision can be undone', async () => {
    const [task] = (await tasks(desk, `databaseId=${river.id}&gate=collection_validation`)).rows;
    await openTask(desk, task!);
    await desk.keyboard.press('a');
    await expect(desk.getByRole('button', { name: /^Undo “approve”/ })).toBeEnabled();
    // The server offers it too, to whoever comes back later.
    await desk.evaluate(() => sessionStorage.clear());
    await desk.goto(`/tasks/${task!.id}`);
    await expect(desk.getByRole('button', { name: /^Undo “approve”/ })).toBeEnabled();
    await desk.keyboard.press('u');
    await expect
      .poll(async () =>
        (await tasks(desk, `databaseId=${river.id}&gate=collection_validation`)).rows.some(
          (row) => row.id === task!.id,
        ),
      )
      .toBe(true);
  });

  await test.step('everything is approved by keyboard', async () => {
    expect(await approveEverything(desk)).toBeGreaterThan(30);
    // Approving makes agents do nothing new, but an edit may have: what they brought is decided
    // too.
    for (let round = 0; round < 3 && (await tasks(desk, 'state=actionable')).total > 0; round++)
      await approveEverything(desk);
    await expect.poll(async () => (await tasks(desk, 'state=actionable')).total).toBe(0);
  });

  await test.step('a reviewer cannot finalise; a lead can', async () => {
    await desk.goto(`/databases/${river.id}`);
    await expect(desk.getByText('Every gate is approved and current.')).toBeVisible();
    await expect(desk.getByRole('button', { name: 'Finalise' })).toHaveCount(0);
    for (const database of benchmark.databaseRows) {
      await page.goto(`/databases/${database.id}`);
      await page.getByRole('button', { name: 'Finalise' }).click();
      await expect(page.getByText(/^finalised /)).toBeVisible();
    }
  });

  await test.step('the bundle is downloaded and verifies', async () => {
    await page.goto('/downloads');
    await page.getByRole('button', { name: 'Build release' }).click();
    const download = page.getByRole('link', { name: 'Download', exact: true });
    await expect(download).toBeVisible({ timeout: 2 * 60_000 });
    const [file] = await Promise.all([page.waitForEvent('download'), download.click()]);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-bundle-'));
    try {
      const zip = path.join(folder, 'bundle.zip');
      await file.saveAs(zip);
      const unpacked = path.join(folder, 'bundle');
      await extractBenchmarkZip(zip, unpacked, {
        maxBytes: 2 ** 30,
        maxEntries: 10_000,
        maxRatio: 1e6,
      });
      const home = fs.existsSync(path.join(unpacked, 'MANIFEST.json'))
        ? unpacked
        : path.join(unpacked, fs.readdirSync(unpacked)[0]!);
      const verified = spawnSync(
        process.execPath,
        ['--import', 'tsx', 'cli/aptmql.ts', 'verify', home],
        { encoding: 'utf8' },
      );
      expect(verified.stdout + verified.stderr).toMatch(
        /gold 40 equal of 40: 1\.0000\nsigned with .*\nverified/,
      );
      expect(verified.status).toBe(0);
      expect(JSON.parse(fs.readFileSync(path.join(home, 'MANIFEST.json'), 'utf8'))).toMatchObject({
        draft: false,
      });
      expect(fs.readFileSync(path.join(home, 'provenance/decisions.jsonl'), 'utf8')).toContain(
        'Rita Reviewer',
      );
      // One byte changed is found.
      fs.appendFileSync(path.join(home, 'README.md'), ' ');
      expect(
        spawnSync(process.execPath, ['--import', 'tsx', 'cli/aptmql.ts', 'verify', home], {
          encoding: 'utf8',
        }).status,
      ).toBe(1);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });

  await test.step('the overview shows the work and the audit chain holds', async () => {
    await page.goto('/overview');
    await expect(
      page.getByRole('table', { name: 'Reviewers' }).getByText('Rita Reviewer'),
    ).toBeVisible();
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await expect(page.getByText(/events, valid/)).toBeVisible();
  });
  await context.close();
});
