import { expect, test } from 'vitest';
import { GuardedError } from '../../mongo/guarded';
import { Unavailable } from '../../results/unavailable';
import { QueryError } from '../../sqlite/query/query-process';
import { runPastStalls } from './past-stalls';

/** Fails with these errors one after the other, then gives the number of its runs. */
function failing(...errors: readonly Error[]): () => Promise<number> {
  let runs = 0;
  return () => {
    const error = errors[runs++];
    return error ? Promise.reject(error) : Promise.resolve(runs);
  };
}

test.each([
  ['a pipeline', new GuardedError('timeout', 'too long'), 'time'],
  ['a source query', new QueryError('timeout', 'too long'), 'time'],
  ['a process that ended', new QueryError('memory', 'ended'), 'memory'],
])('%s that hits its limit once is run again; twice is no verdict', async (_, error, resource) => {
  expect(await runPastStalls(failing())).toBe(1);
  expect(await runPastStalls(failing(error))).toBe(2);
  await expect(runPastStalls(failing(error, error))).rejects.toMatchObject({
    name: 'Unavailable',
    resource,
  });
});

test.each([
  new GuardedError('error', 'wrong'),
  new GuardedError('forbidden', 'no'),
  new QueryError('error', 'no such column'),
  new QueryError('cancelled', 'stopped'),
  new Unavailable('MongoDB', 'gone'),
])('%s is thrown at once', async (error) => {
  await expect(runPastStalls(failing(error))).rejects.toBe(error);
});
