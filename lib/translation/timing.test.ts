import { describe, expect, it } from 'vitest';
import { isSlower, timeBoth } from './timing';

/** A clock that only the runs move, each by the next of its times. */
function machine(times: { before: readonly number[]; after: readonly number[] }): { before: () => Promise<void>; after: () => Promise<void>; now: () => number } {
  let time = 0;
  const runs = { before: [...times.before], after: [...times.after] };
  const run = (which: 'before' | 'after') => (): Promise<void> => {
    time += (runs[which].length > 1 ? runs[which].shift() : runs[which][0]) ?? 0;
    return Promise.resolve();
  };
  return { before: run('before'), after: run('after'), now: () => time };
}
const time = ({ before, after, now }: ReturnType<typeof machine>, ran?: { before: number; after: number }): ReturnType<typeof timeBoth> => timeBoth(before, after, ran, now);

describe('timing', () => {
  it('takes the fastest run of each', async () => {
    expect(await time(machine({ before: [9, 4, 5], after: [3, 30, 3] }))).toEqual({ before: 4, after: 3, runs: 2 });
  });

  it('stops early where a run takes long', async () => {
    expect(await time(machine({ before: [400], after: [100] }))).toEqual({ before: 400, after: 100, runs: 2 });
  });

  it('runs what takes seconds once, unless the second looks slower', async () => {
    expect(await time(machine({ before: [2000], after: [900] }))).toEqual({ before: 2000, after: 900, runs: 1 });
    expect(await time(machine({ before: [900], after: [2000, 800] }))).toMatchObject({ before: 900, after: 800, runs: 2 });
  });

  it('counts a run that was needed anyway, and runs nothing again that took seconds in it', async () => {
    expect(await time(machine({ before: [1], after: [1] }), { before: 4000, after: 500 })).toEqual({ before: 4000, after: 500, runs: 1 });
    expect(await time(machine({ before: [30], after: [20] }), { before: 40, after: 50 })).toEqual({ before: 30, after: 20, runs: 2 });
    expect(await time(machine({ before: [1000], after: [1100] }), { before: 1000, after: 4000 })).toEqual({ before: 1000, after: 1100, runs: 2 });
  });

  it('looks again before it calls something slower', async () => {
    expect(await time(machine({ before: [10], after: [90, 90, 11] }))).toMatchObject({ before: 10, after: 11 });
    const slow = await time(machine({ before: [10], after: [90] }));
    expect(slow.runs).toBe(4);
    expect(isSlower(slow)).toBe(true);
  });

  it('calls nothing slower that a busy machine could explain', () => {
    expect(isSlower({ before: 1, after: 3.4 })).toBe(false);
    expect(isSlower({ before: 100, after: 145 })).toBe(false);
    expect(isSlower({ before: 1, after: 16 })).toBe(false);
    expect(isSlower({ before: 100, after: 170 })).toBe(true);
  });
});
