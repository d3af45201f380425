const AGGREGATES = new Set([
  'avg',
  'count',
  'sum',
  'total',
  'group_concat',
  'string_agg',
  'json_group_array',
  'json_group_object',
]);

/** `min` and `max` are aggregates with one argument and scalar functions with more. */
export const isAggregateName = (name: string, args: number, star: boolean): boolean =>
  AGGREGATES.has(name) || ((name === 'min' || name === 'max') && args === 1 && !star);
