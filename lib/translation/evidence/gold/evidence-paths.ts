import { mentionsIn, type PathMention } from './path-mentions';
import { PathJudge, type PathContext, type PathUse } from './path-use';

/** A `collection.field` path that a hint mentions, checked against the design and the gold query. */
export interface EvidencePath {
  readonly path: string;
  readonly use: PathUse;
}

/** The `collection.field` paths in a text, each once. */
export function evidencePaths(text: string, context: PathContext): EvidencePath[] {
  const judge = new PathJudge(context);
  const found = new Map<string, PathMention[]>();
  for (const mention of mentionsIn(text, context.design))
    found.set(mention.path, [...(found.get(mention.path) ?? []), mention]);
  return [...found].map(([path, mentions]) => ({ path, use: useOfAll(mentions, judge) }));
}

/**
 * A path is for the gold what the gravest of its mentions is. Of several values one that the gold
 * uses is enough: a hint may list them all.
 */
function useOfAll(mentions: readonly PathMention[], judge: PathJudge): PathUse {
  const values = mentions.filter(({ value }) => value !== undefined).map((one) => judge.use(one));
  const others = mentions.filter(({ value }) => value === undefined).map((one) => judge.use(one));
  const all = values.includes('used') ? [...others, 'used' as const] : [...others, ...values];
  return GRAVITY.find((use) => all.includes(use)) ?? 'unknown';
}

const GRAVITY: readonly PathUse[] = ['unknown', 'doubt', 'source_flaw', 'used', 'join_key'];
