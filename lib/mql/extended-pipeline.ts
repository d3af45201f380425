import { Double } from 'mongodb';
import { canonicalText, isPlainObject } from '../results/extended-json';

/**
 * Canonical Extended JSON of a pipeline as the driver sends it: a JavaScript number is an int where it is one of 32
 * bits, and a double otherwise. (EJSON itself would write a long for larger ones.)
 */
export function extendedPipeline(pipeline: readonly unknown[]): unknown[] {
  return JSON.parse(canonicalText(pipeline.map(asSent))) as unknown[];
}

function asSent(value: unknown): unknown {
  if (typeof value === 'number') return (value | 0) === value ? value : new Double(value);
  if (Array.isArray(value)) return value.map(asSent);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asSent(inner)]));
}
