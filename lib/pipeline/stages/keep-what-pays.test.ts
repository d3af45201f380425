import type { Document } from 'mongodb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Verdict } from '../../results/compare';
import type { AppliedRule } from '../../translation/rules/optimise';
import { keepWhatPays, type Kept } from './keep-what-pays';

/** A query of a test: how long each of its runs takes, and what it gives. */
interface Query {
  readonly ms: number;
  /** How long it took when it was checked before. */
  readonly known?: number;
  readonly verdict?: Verdict['kind'];
  readonly examined?: number | null;
}

const explainedBy = ({ examined = 1 }: Query): number | null => examined;
const before = { collection: 'hero', pipeline: [{ $limit: 1 }] };
const rule = (name: string): AppliedRule => ({
  rule: name,
  reason: '',
  before: [],
  after: [{ [name]: 1 }],
});
let time = 0;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => time));
afterEach(() => void vi.restoreAllMocks());

/** The queries by what they begin with; `$limit` is the translation. */
async function keep(
  queries: Readonly<Record<string, Query>>,
  rules: readonly string[],
  checkedBefore = false,
): Promise<{ kept: Kept; ran: string[] }> {
  const ran: string[] = [];
  const take = (
    what: string,
    { pipeline }: { pipeline: readonly Document[] },
    most = Infinity,
  ): Query => {
    const name = Object.keys(pipeline[0]!)[0]!;
    const query = queries[name]!;
    ran.push(`${what} ${name}`);
    time += Math.min(query.ms, most);
    return query;
  };
  const kept = await keepWhatPays(before, rules.map(rule), {
    check: (mql, candidate) => {
      const wasChecked = checkedBefore && !candidate;
      const {
        ms: takes,
        known,
        verdict = 'equal',
      } = wasChecked ? queries.$limit! : take('check', mql, candidate?.maxTimeMS);
      const ms = wasChecked ? (known ?? takes) : takes;
      const kind = ms > (candidate?.maxTimeMS ?? 60_000) ? 'timeout' : verdict;
      return Promise.resolve({
        verdict: {
          kind,
          detail: kind,
          mapping: [],
          expectedRows: 1,
          actualRows: 1,
          onlyExpected: [],
          onlyActual: [],
        },
        caveats: [],
        run: { milliseconds: ms, documents: 1, digest: '' },
      });
    },
    explain: (mql) => Promise.resolve(explainedBy(take('explain', mql))),
    run: (mql) => Promise.resolve(take('run', mql)),
  });
  return { kept, ran };
}

test('without rules nothing is run that was checked before', async () => {
  const { kept, ran } = await keep({ $limit: { ms: 9000 } }, [], true);
  expect(ran).toEqual([]);
  expect(kept).toMatchObject({
    mql: before,
    rules: [],
    documentsExamined: { before: null, after: null },
  });
});

test('what takes seconds is checked once and explained once; that is its measurement', async () => {
  const { kept, ran } = await keep(
    { $limit: { ms: 9000, examined: 80 }, a: { ms: 500, examined: 8 } },
    ['a'],
    true,
  );
  expect(ran).toEqual(['check a', 'explain $limit', 'explain a']);
  expect(kept).toMatchObject({
    rules: [{ rule: 'a' }],
    documentsExamined: { before: 80, after: 8 },
    timing: { before: 9000, after: 500, runs: 1 },
  });
});

test('what is fast is run again for its time', async () => {
  expect((await keep({ $limit: { ms: 20 }, a: { ms: 10 } }, ['a'])).ran).toEqual([
    'check $limit',
    'check a',
    'explain $limit',
    'explain a',
    'run $limit',
    'run a',
  ]);
});

test.each([
  ['much slower', { ms: 900 }, { ms: 30_000 }],
  ['slower than it was checked before', { ms: 100, known: 1 }, { ms: 25_000 }],
  ['faster', { ms: 900 }, { ms: 1 }],
])('time decides nothing: a rewriting that is %s is kept', async (_, original, rewritten) => {
  const { kept } = await keep({ $limit: original, a: rewritten }, ['a'], true);
  expect(kept).toMatchObject({ rules: [{ rule: 'a' }], undone: [] });
  expect(kept.timing).toBeDefined();
});

test('a rewriting that chooses other rows among ties is undone, unless the translation did so before', async () => {
  const queries = { $limit: { ms: 1 }, a: { ms: 1, verdict: 'tie' as const } };
  expect((await keep(queries, ['a'], true)).kept).toMatchObject({
    rules: [],
    undone: [{ reason: 'it chooses other rows among ties' }],
  });
  const tied = {
    $limit: { ms: 1, verdict: 'tie' as const },
    a: { ms: 1, verdict: 'tie' as const },
  };
  expect((await keep(tied, ['a'], true)).kept).toMatchObject({
    rules: [{ rule: 'a' }],
    undone: [],
  });
});

test('a rewriting that does not finish is undone', async () => {
  const { kept } = await keep(
    { $limit: { ms: 100, examined: 5 }, a: { ms: 50 }, b: { ms: 60_001 } },
    ['a', 'b'],
    true,
  );
  expect(kept).toMatchObject({
    rules: [{ rule: 'a' }],
    undone: [{ rule: 'b', reason: 'it does not finish within the time limit' }],
  });
});

test('what cannot be explained is timed by running it', async () => {
  const { kept, ran } = await keep(
    { $limit: { ms: 3000, examined: null }, a: { ms: 2000 } },
    ['a'],
    true,
  );
  expect(ran.slice(3)).toEqual(['run $limit', 'run a']);
  expect(kept).toMatchObject({
    documentsExamined: { before: null, after: 1 },
    timing: { before: 3000, after: 2000, runs: 1 },
  });
});

test('a rewriting with another result or more documents is undone, and not timed', async () => {
  const { kept, ran } = await keep(
    {
      $limit: { ms: 100, examined: 5 },
      a: { ms: 50, examined: 6 },
      b: { ms: 50, verdict: 'row_count' },
    },
    ['a', 'b'],
    true,
  );
  expect(ran).toEqual(['check b', 'check a', 'explain $limit', 'explain a']);
  expect(kept).toMatchObject({
    mql: before,
    undone: [
      { rule: 'a', reason: '6 documents were examined instead of 5' },
      { rule: 'b', reason: 'the result changed: row_count' },
    ],
    documentsExamined: { before: null, after: null },
  });
  expect(
    (await keep({ $limit: { ms: 9000 }, a: { ms: 50, verdict: 'value' } }, ['a'], true)).ran,
  ).toEqual(['check a']);
});
