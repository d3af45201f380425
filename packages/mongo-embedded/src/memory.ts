import v8 from 'node:v8';
import vm from 'node:vm';
import { ServerError } from './errors';

/**
 * How much memory a query may take. MongoDB limits a stage's and an operator's values to 100 MB and
 * lets some stages use the disk beyond; here everything is in memory, so what is counted has
 * MongoDB's limit, and the heap as a whole has one that ends a query before its thread dies.
 */

export const OPERATOR_LIMIT = 100 * 1024 * 1024;
/** The server's largest buffer: a longer text cannot be made. */
const TEXT_LIMIT = 64 * 1024 * 1024;
/** What one value of an array takes in the server. */
const VALUE_BYTES = 16;
/** Bytes that may be allocated between two checks of the heap. */
const STEP = 32 * 1024 * 1024;
const HEAP_SHARE = 0.6;

export function exceeded(what: string): ServerError {
  return new ServerError(
    146,
    `${what} used too much memory and cannot spill to disk. Memory limit: ${OPERATOR_LIMIT} bytes`,
  );
}

/** Refuses a text that the server could not hold. */
export function checkText(length: number): void {
  if (length > TEXT_LIMIT)
    throw new ServerError(
      13548,
      `BufBuilder attempted to grow() to ${length} bytes, past the 64MB limit.`,
    );
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
  const heap = v8.getHeapStatistics();
  const { used_heap_size: used, heap_size_limit: most } = heap;
  if (used < most * HEAP_SHARE) {
    if (heldBy(heap) > 2 * settled + QUERY_GARBAGE) collectGarbage();
    return;
  }
  // Some of it may be waiting to be collected: only what stays counts.
  collectGarbage();
  if (v8.getHeapStatistics().used_heap_size > most * HEAP_SHARE) {
    throw new ServerError(
      146,
      'the query used too much memory of the embedded server and cannot spill to disk',
    );
  }
}

/**
 * V8 leaves garbage lying until the heap has grown to several times what lives, by its limit of
 * gigabytes; with as many heaps as threads that would be most of what the process takes. So a
 * thread has it collected by itself: in the middle of a query when there may be more of it than
 * what is needed, and after queries that left much.
 */
const QUERY_GARBAGE = 128 * 1024 * 1024;
/** After a query: this much at once, less when nothing else is to be done. */
const LEFT_AT_ONCE = 96 * 1024 * 1024;
const LEFT_WHEN_IDLE = 48 * 1024 * 1024;
const IDLE_MS = 1000;

/** What the thread held after its last collection. */
let settled = heldBy(v8.getHeapStatistics());
let idle: NodeJS.Timeout | undefined;

/**
 * The heap, and what is outside of it until something in it is collected: the rows that were read.
 */
function heldBy(heap: v8.HeapInfo): number {
  return heap.used_heap_size + heap.external_memory;
}

/** How much this thread holds beyond what stayed after its last collection. */
function left(): number {
  const held = heldBy(v8.getHeapStatistics());
  settled = Math.min(settled, held);
  return held - settled;
}

/** Called after each command. */
export function tidy(): void {
  const garbage = left();
  clearTimeout(idle);
  if (garbage > LEFT_AT_ONCE) collectGarbage();
  else if (garbage > LEFT_WHEN_IDLE) idle = setTimeout(collectGarbage, IDLE_MS).unref();
}

let collector: (() => void) | undefined;
function collectGarbage(): void {
  if (!collector) {
    v8.setFlagsFromString('--expose-gc');
    collector = vm.runInNewContext('gc') as () => void;
  }
  collector();
  settled = heldBy(v8.getHeapStatistics());
}
