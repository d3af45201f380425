import { rowDoc } from '../planner/plan';
import { encodeKey } from '../storage/keys';
import type { Collection, Store } from '../storage/store';
import { rankOf } from '../values/compare';
import { DateTime, isNumeric, toDouble } from '../bson/value';

/** How often MongoDB looks for documents whose time is over. */
export const EXPIRY_INTERVAL_MS = 60_000;

/** Removes what the indexes with `expireAfterSeconds` say is over; says how many documents. */
export function removeExpired(store: Store, now: number): number {
  let removed = 0;
  for (const database of store.databases()) {
    for (const collection of store.list(database))
      if (!collection.isView) removed += expire(store, collection, now);
  }
  return removed;
}

function expire(store: Store, collection: Collection, now: number): number {
  let removed = 0;
  for (const index of collection.indexes()) {
    const seconds = index.spec.get('expireAfterSeconds');
    if (!isNumeric(seconds)) continue;
    const limit = new DateTime(now - toDouble(seconds) * 1000);
    // All dates up to the limit; of an array of dates the earliest counts.
    const rows = collection.byKeyRange(
      index,
      Buffer.from([rankOf(limit)]),
      Buffer.concat([encodeKey(limit), Buffer.from([0xff])]),
    );
    if (rows.length === 0) continue;
    store.db.transaction(() => {
      for (const row of rows) collection.remove(row.rid, rowDoc(row));
      collection.changed();
    })();
    removed += rows.length;
  }
  return removed;
}
