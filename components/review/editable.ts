import type { TaskDetail } from '../../lib/review/api-types';

/** Measurements cannot be edited; what agents wrote can. */
export const canEdit = (task: TaskDetail): boolean => task.gate !== 'cross_validation';
