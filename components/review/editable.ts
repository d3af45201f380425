import type { TaskDetail } from '../../lib/review/task-api';

/** Measurements cannot be edited; what agents wrote can. */
export const canEdit = (task: TaskDetail): boolean => task.gate !== 'cross_validation';
