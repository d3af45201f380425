import { BSON, type Document } from 'mongodb';
import { extendedPipeline } from '../mql/extended-pipeline';
import { MqlSyntaxError, parseMql } from '../mql/parse';

/**
 * A pipeline as JSON that Extended JSON parsers read back with the same types: canonical, except
 * that 32-bit integers and fractional doubles are plain numbers (a parser gives exactly these types
 * to them), because people read this text.
 */
export function pipelineJson(pipeline: readonly Document[]): unknown {
  return plainNumbers(extendedPipeline(pipeline));
}

export const parsePipelineJson = (json: unknown): Document[] =>
  BSON.EJSON.parse(JSON.stringify(json), { relaxed: false }) as Document[];

function plainNumbers(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plainNumbers);
  if (node === null || typeof node !== 'object') return node;
  const entries = Object.entries(node);
  const [key, value] = entries[0] ?? [];
  if (entries.length === 1 && typeof value === 'string') {
    if (key === '$numberInt') return Number(value);
    if (
      key === '$numberDouble' &&
      Number.isFinite(Number(value)) &&
      !Number.isInteger(Number(value))
    )
      return Number(value);
  }
  // `$literal` keeps its argument as data; inside it an object that looks like Extended JSON was
  // escaped by no one.
  return Object.fromEntries(entries.map(([name, inner]) => [name, plainNumbers(inner)]));
}

interface Mql {
  readonly collection: string;
  readonly pipeline: readonly unknown[];
}

/** Equal for queries that the driver sends as the same bytes. */
export const pipelineKey = ({ collection, pipeline }: Mql): string =>
  JSON.stringify([collection, extendedPipeline(pipeline)]);

/** The same of a query as it ships in `MQL`. */
export const shippedKey = ({ collection, pipeline }: Mql): string =>
  pipelineKey({ collection, pipeline: parsePipelineJson(pipeline) });

/** The same of a query as it ships in `MQL_text`; a text that is none has the key of no query. */
export function textKey(text: string): string {
  try {
    return pipelineKey(parseMql(text));
  } catch (error) {
    if (error instanceof MqlSyntaxError) return error.message;
    throw error;
  }
}
