import { ServerError, typeMismatch } from '../errors';
import type { Value } from '../bson/value';

/** `database.collection` in its two parts; dots after the first belong to the collection. */
export function splitNamespace(namespace: Value): [string, string] {
  if (typeof namespace !== 'string') throw typeMismatch('a namespace must be a string');
  const dot = namespace.indexOf('.');
  if (dot <= 0) throw new ServerError(73, `Invalid namespace specified '${namespace}'`);
  return [namespace.slice(0, dot), namespace.slice(dot + 1)];
}
