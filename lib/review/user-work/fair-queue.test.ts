import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { FairQueue, QueueFull } from './fair-queue';

const { signal } = new AbortController();
setMaxListeners(50, signal);

/** Takes places and remembers in which order they were given. */
function taker(queue: FairQueue) {
  const given: string[] = [];
  const back = new Map<string, () => void>();
  const take = async (name: string, stop = signal): Promise<void> => {
    const giveBack = await queue.take(name[0]!, stop);
    given.push(name);
    back.set(name, giveBack);
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string): Promise<void> => {
    back.get(name)!();
    await settle();
  };
  return { given, take, end, settle };
}

test('one user never has the last place, whatever is free', async () => {
  const { given, take, end, settle } = taker(new FairQueue(2, 20));
  for (let n = 0; n < 12; n++) void take(`a${n}`);
  await settle();
  expect(given).toEqual(['a0']);
  void take('b0');
  await settle();
  expect(given).toEqual(['a0', 'b0']);
  void take('c0');
  await end('a0');
  expect(given).toEqual(['a0', 'b0', 'a1']);
  await end('a1');
  expect(given.at(-1)).toBe('a2');
  await end('b0');
  expect(given.at(-1)).toBe('c0');
});

test('what is given back twice is given back once', async () => {
  const { given, take, end, settle } = taker(new FairQueue(1, 20));
  void take('a0');
  void take('b0');
  void take('c0');
  await settle();
  await end('a0');
  await end('a0');
  expect(given).toEqual(['a0', 'b0']);
});

test('a user may have so much waiting and no more; who gave up waits no more', async () => {
  const { given, take, end, settle } = taker(new FairQueue(1, 2));
  const stop = new AbortController();
  void take('a0');
  await settle();
  const gaveUp = take('a1', stop.signal);
  void take('a2');
  await expect(take('a3')).rejects.toBeInstanceOf(QueueFull);
  const reason = new Error('left');
  stop.abort(reason);
  await expect(gaveUp).rejects.toBe(reason);
  void take('a4');
  await end('a0');
  await end('a2');
  expect(given).toEqual(['a0', 'a2', 'a4']);
});
