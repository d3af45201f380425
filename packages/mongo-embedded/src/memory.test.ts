import v8 from 'node:v8';
import { describe, expect, it } from 'vitest';
import { checkHeap, tidy } from './memory';
import { CacheBudget, CacheShares, type Cached } from './storage/cache';

const MB = 1024 * 1024;
const held = (): number => v8.getHeapStatistics().used_heap_size;

/**
 * Objects that outlive young generations, `megabytes` of them at least, and are garbage when this
 * returns.
 */
function leaveGarbage(megabytes: number): void {
  const before = held();
  const objects: object[] = [];
  while (held() - before < megabytes * MB)
    for (let i = 0; i < 100_000; i++) objects.push({ i, next: objects[i] });
}

describe('garbage', () => {
  it('that a command left is collected after it', () => {
    tidy();
    const before = held();
    leaveGarbage(200);
    expect(held() - before).toBeGreaterThan(150 * MB);
    tidy();
    expect(held() - before).toBeLessThan(50 * MB);
  });
  it('is collected within a query when there may be much of it', () => {
    tidy();
    const before = held();
    leaveGarbage(400);
    checkHeap();
    expect(held() - before).toBeLessThan(100 * MB);
  });
  it('that is little waits for a moment without commands', async () => {
    tidy();
    const before = held();
    leaveGarbage(70);
    tidy();
    expect(held() - before).toBeGreaterThan(50 * MB);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(held() - before).toBeLessThan(30 * MB);
  });
});

describe('the budget for documents in memory', () => {
  const entry = (bytes: number): Cached => ({
    changes: 0,
    segments: [],
    lastRid: 0,
    bytes,
    scans: 0,
  });
  const two = (limit: number): [CacheBudget, CacheBudget] => {
    const shared = CacheShares.allocate(2);
    return [
      new CacheBudget(limit, new CacheShares(shared, 0)),
      new CacheBudget(limit, new CacheShares(shared, 1)),
    ];
  };

  it('holds for what an entry grows by as well', () => {
    const budget = new CacheBudget(100 * MB, new CacheShares());
    budget.put(1, entry(40 * MB));
    const growing = entry(0);
    budget.put(2, growing);
    growing.bytes = 70 * MB;
    budget.grew(2, 70 * MB);
    expect(budget.get(1)).toBeUndefined();
    expect(budget.get(2)).toBe(growing);
  });
  it('lets go of what was used least recently', () => {
    const budget = new CacheBudget(100 * MB, new CacheShares());
    for (const id of [1, 2, 3]) budget.put(id, entry(30 * MB));
    budget.get(1);
    budget.put(4, entry(30 * MB));
    expect([1, 2, 3, 4].filter((id) => budget.get(id))).toEqual([1, 3, 4]);
  });
  it('is one for all threads: each has what the others leave, and a fair share at least', () => {
    const [a, b] = two(100 * MB);
    expect(a.room).toBe(100 * MB);
    for (const id of [1, 2, 3]) a.put(id, entry(30 * MB));
    expect(b.room).toBe(50 * MB);
    b.put(4, entry(40 * MB));
    expect(a.room).toBe(60 * MB);
    a.fit();
    expect([1, 2, 3].filter((id) => a.get(id))).toEqual([2, 3]);
    b.drop(4);
    expect(a.room).toBe(100 * MB);
  });
  it('gives back what a thread held that was replaced', () => {
    const shared = CacheShares.allocate(2);
    new CacheBudget(100 * MB, new CacheShares(shared, 0)).put(1, entry(80 * MB));
    const other = new CacheBudget(100 * MB, new CacheShares(shared, 1));
    expect(other.room).toBe(50 * MB);
    new CacheShares(shared, 0);
    expect(other.room).toBe(100 * MB);
  });
});
