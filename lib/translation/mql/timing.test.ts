import { describe, expect, it } from 'vitest';
import { timeBoth } from './timing';

/** A clock that only the runs move, each by the next of its times. */
function machine(times: { before: readonly number[]; after: readonly number[] }): {
  before: () => Promise<void>;
  after: () => Promise<void>;
  now: () => number;
} {
  let time = 0;
  const runs = { before: [...times.before], after: [...times.after] };
  const run = (which: 'before' | 'after') => (): Promise<void> => {
    time += (runs[which].length > 1 ? runs[which].shift() : runs[which][0]) ?? 0;
    return Promise.resolve();
  };
  return { before: run('before'), after: run('after'), now: () => time };
}
const time = (
  { before, after, now }: ReturnType<typeof machine>,
  ran?: { before: number; after: number },
): ReturnType<typeof timeBoth> => timeBoth(before, after, ran, now);

describe('timing', () => {
  it('takes the faster run of each', async () => {
    expect(await time(machine({ before: [9, 4, 5], after: [3, 30, 3] }))).toEqual({
      before: 4,
      after: 3,
      runs: 2,
    });
  });

  it('runs what takes seconds once', async () => {
    expect(await time(machine({ before: [400], after: [100] }))).toEqual({
      before: 400,
      after: 100,
      runs: 2,
    });
    expect(await time(machine({ before: [900], after: [2000, 800] }))).toEqual({
      before: 900,
      after: 2000,
      runs: 1,
    });
  });

  it('counts a run that was needed anyway, and runs nothing again that took seconds in it', async () => {
    expect(await time(machine({ before: [1], after: [1] }), { before: 4000, after: 500 })).toEqual({
      before: 4000,
      after: 500,
      runs: 1,
    });
    expect(await time(machine({ before: [30], after: [20] }), { before: 40, after: 50 })).toEqual({
      before: 30,
      after: 20,
      runs: 2,
    });
  });
});
