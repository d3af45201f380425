import { processStores } from '../db/process-database';
import type { DecisionServices } from './check-task-edit';
import { runUserWork } from './user-work/user-work';

/** What decisions need, with this process's connections. */
export function decisionServices(): DecisionServices {
  const { db, blobs } = processStores();
  return {
    db,
    blobs,
    checkEdit: (userId, edit, signal) => runUserWork(userId, 'check', edit, signal),
  };
}
