import { isDocument, type Mql } from './mql';

/** Whether a part of a pipeline reads a variable, `$$name` or a path in it. */
export function readsVariable(value: unknown, name: string): boolean {
  if (typeof value === 'string') return value === `$$${name}` || value.startsWith(`$$${name}.`);
  if (Array.isArray(value))
    return (value as readonly Mql[]).some((item) => readsVariable(item, name));
  return (
    isDocument(value) &&
    Object.entries(value).some(([key, inner]) => key !== '$literal' && readsVariable(inner, name))
  );
}
