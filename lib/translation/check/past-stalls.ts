import { GuardedError } from '../../mongo/guarded';
import { Unavailable } from '../../results/unavailable';
import { QueryError } from '../../sqlite/query/query-process';

/**
 * Runs a query again that hit a limit of time or memory: a machine that stood still for a while
 * explains that it happened once, not twice.
 *
 * @throws Unavailable `time` or `memory` when it hits the limit again, `disk` at once; anything
 *   else as it was thrown
 */
export async function runPastStalls<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof QueryError && error.kind === 'disk') {
      throw new Unavailable('disk', error.message, { cause: error });
    }
    if (!limitOf(error)) throw error;
  }
  try {
    return await run();
  } catch (error) {
    const limit = limitOf(error);
    if (!limit) throw error;
    throw new Unavailable(limit, `${(error as Error).message}, twice`, { cause: error });
  }
}

function limitOf(error: unknown): 'time' | 'memory' | undefined {
  if (error instanceof GuardedError) return error.kind === 'timeout' ? 'time' : undefined;
  if (!(error instanceof QueryError)) return undefined;
  if (error.kind === 'timeout') return 'time';
  return error.kind === 'memory' ? 'memory' : undefined;
}
