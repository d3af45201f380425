import { Doc } from '../bson/doc';
import { failedToParse, ServerError, unsupported } from '../errors';
import { isNumeric, toDouble, type Value } from '../bson/value';
import type { Engine } from './engine';
import { sameKey } from './index-description';

/**
 * The planner chooses for itself, so that a hint can only be right or wrong about what there is.
 * Hints that change the answer (an index that lacks documents, the reverse natural order) are
 * refused.
 */
export function checkHint(engine: Engine, database: string, name: string, hint: Value): void {
  if (hint === undefined || (hint instanceof Doc && hint.size === 0)) return;
  if (typeof hint !== 'string' && !(hint instanceof Doc))
    throw failedToParse('Hint must be a string or an object');
  if (hint instanceof Doc && hint.has('$natural')) {
    const direction = hint.get('$natural');
    if (hint.size === 1 && isNumeric(direction) && toDouble(direction) === 1) return;
    throw unsupported('a hint of {$natural: -1}');
  }
  const collection = engine.store.find(database, name);
  if (!collection || collection.isView) return;
  if (typeof hint === 'string' ? hint === '_id_' : sameKey(Doc.of({ _id: 1 }), hint)) return;
  const index = collection
    .indexes()
    .find(
      (i) =>
        (i.wildcard || !i.hidden) &&
        (typeof hint === 'string' ? i.name === hint : sameKey(i.spec.get('key') as Doc, hint)),
    );
  if (!index)
    throw new ServerError(
      2,
      `error processing query: ns=${collection.namespace}: planner returned error :: caused by ` +
        ':: hint provided does not correspond to an existing index',
    );
  const refuse = (kind: string): never => {
    throw unsupported(`a hint of the ${kind} index '${index.name}'`);
  };
  if (index.wildcard) refuse('wildcard');
  if (index.partial) refuse('partial');
  if (index.sparse) refuse('sparse');
}
