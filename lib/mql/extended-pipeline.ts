import { canonicalText } from '../results/extended-json';

/**
 * Canonical Extended JSON of a pipeline as the driver sends it: a JavaScript number is an int where
 * it is integral and has 32 bits, and a double otherwise; a bigint is a long.
 */
export const extendedPipeline = (pipeline: readonly unknown[]): unknown[] =>
  JSON.parse(canonicalText(pipeline)) as unknown[];
