import { setTimeout as sleep } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';
import { asOutage } from '../lib/mongo/outage';
import { isOutage } from '../lib/results/unavailable';

/** A server that stays away for longer is reported instead of waited for. */
const LONGEST_OUTAGE_MS = 5 * 60_000;
const PAUSE_MS = 1000;

/**
 * Does work that needs MongoDB, and does it again from its start when the server went away and came
 * back: what was half done during an outage is no result. Throws what the work throws, and the
 * outage when it lasts.
 */
export async function throughOutages<T>(
  mongo: MongoClient,
  signal: AbortSignal,
  work: () => Promise<T>,
  onOutage: (message: string) => void,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const outage = asOutage(error);
      if (!isOutage(outage)) throw error;
      onOutage((outage as Error).message);
      if (!(await isBack(mongo, signal))) throw error;
    }
  }
}

async function isBack(mongo: MongoClient, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + LONGEST_OUTAGE_MS;
  while (Date.now() < deadline) {
    await sleep(PAUSE_MS, undefined, { signal });
    try {
      await mongo.db('admin').command({ ping: 1 });
      return true;
    } catch (error) {
      if (!isOutage(asOutage(error))) throw error;
    }
  }
  return false;
}
