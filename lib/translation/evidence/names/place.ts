import { textOf } from './source-names';
import type { Token } from '../formula/tokens';

/** A token of a hint, and whether a list of columns leads up to it. */
export interface Place {
  readonly tokens: readonly Token[];
  readonly index: number;
  readonly inList: boolean;
}

/** Behind these words a hint says which column it means. */
export const INTRODUCES =
  /(?:\b(?:refer(?:s|es)?|refers? to|mapp?s)(?: to)?|\bmeans?|\bstands? for|\brepresents?|\brepresented by|\bimpl(?:y|ies)(?: that)?|\bcalled|\bdenotes?|\bindicates?|\bincludes?|\bhas|\bhave|\b(?:where|when|by|for each|per|distinct)|:)\s*(?:the\s+)?\(?\s*$/i;
/** Tokens before and behind a word that say what it means: a long hint is not read for each word. */
const REACH = 48;

export const textBefore = (tokens: readonly Token[], index: number): string =>
  textOf(tokens.slice(Math.max(0, index - REACH), index));

export const textBehind = (tokens: readonly Token[], end: number): string =>
  textOf(tokens.slice(end, end + REACH));
