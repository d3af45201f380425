import v8 from 'node:v8';
import vm from 'node:vm';
import { ServerError } from './errors';

/**
 * How much memory a query may take. MongoDB limits a stage's and an operator's values to 100 MB and lets some stages
 * use the disk beyond; here everything is in memory, so what is counted has MongoDB's limit, and the heap as a whole
 * has one that ends a query before its thread dies.
 */

export const OPERATOR_LIMIT = 100 * 1024 * 1024;
/** The server's largest buffer: a longer text cannot be made. */
const TEXT_LIMIT = 64 * 1024 * 1024;
/** What one value of an array takes in the server. */
const VALUE_BYTES = 16;
/** The heap is looked at each time this much may have been added to it. */
const STEP = 32 * 1024 * 1024;
const HEAP_SHARE = 0.6;

export function exceeded(what: string): ServerError {
  return new ServerError(146, `${what} used too much memory and cannot spill to disk. Memory limit: ${OPERATOR_LIMIT} bytes`);
}

/** Refuses a text that the server could not hold. */
export function checkText(length: number): void {
  if (length > TEXT_LIMIT) throw new ServerError(13548, `BufBuilder attempted to grow() to ${length} bytes, past the 64MB limit.`);
}

let pending = 0;

/** Called before an array of so many elements is made. */
export function checkArray(length: number, what: string): void {
  if (length * VALUE_BYTES > OPERATOR_LIMIT) throw exceeded(what);
  pending += length * VALUE_BYTES;
  if (pending > STEP) {
    pending = 0;
    checkHeap();
  }
}

/** Ends the query when what is alive would soon end the thread. */
export function checkHeap(): void {
  const { used_heap_size: used, heap_size_limit: most } = v8.getHeapStatistics();
  if (used < most * HEAP_SHARE) return;
  // Some of it may be waiting to be collected: only what stays counts.
  collectGarbage();
  if (v8.getHeapStatistics().used_heap_size > most * HEAP_SHARE) {
    throw new ServerError(146, 'the query used too much memory of the embedded server and cannot spill to disk');
  }
}

let collector: (() => void) | undefined;
function collectGarbage(): void {
  if (!collector) {
    v8.setFlagsFromString('--expose-gc');
    collector = vm.runInNewContext('gc') as () => void;
  }
  collector();
}
