import type { DocumentDesign } from '../../../design/model/document-design';
import { designPaths } from './design-paths';

/** A path in a hint, and what the hint says of it. */
export interface PathMention {
  readonly path: string;
  readonly isKnown: boolean;
  /** The value that it is compared with. */
  readonly value?: string;
  /** What is compared is a part of it: the year of a date, some characters of a text. */
  readonly isPart: boolean;
  /** It is what is counted. */
  readonly isCounted: boolean;
  /** It is the largest or the smallest of all. */
  readonly isExtreme: boolean;
}

/** Every path of the design in a text, and what begins like one. */
export function mentionsIn(text: string, design: DocumentDesign): PathMention[] {
  const known = [...designPaths(design)].sort((a, b) => b.length - a.length);
  const collections = design.logical
    .map(({ collection }) => collection)
    .sort((a, b) => b.length - a.length);
  const found: PathMention[] = [];
  for (let index = 0; index < text.length; index++) {
    if (index > 0 && /[\p{L}\p{N}_.]/u.test(text[index - 1] ?? '')) continue;
    const owner = collections.find((name) => text.startsWith(`${name}.`, index));
    if (owner === undefined) continue;
    const path = known.find(
      (candidate) =>
        text.startsWith(candidate, index) &&
        !/[\p{L}\p{N}_]/u.test(text[index + candidate.length] ?? ''),
    );
    const unknown = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*/u.exec(
      text.slice(index + owner.length + 1),
    )?.[0];
    // "in the race. Then …" ends a sentence; it names no field.
    const named = path ?? (unknown === undefined ? undefined : `${owner}.${unknown}`);
    if (named === undefined) continue;
    const before = text.slice(Math.max(0, index - REACH), index);
    const value = CALCULATED.test(before)
      ? undefined
      : valueBehind(text.slice(index + named.length));
    found.push({
      path: named,
      isKnown: path !== undefined,
      ...(value !== undefined && { value }),
      isPart:
        /\b(?:the (?:year(?: and month)?|month|day)|characters? \d+(?: to \d+| on)?) of $/.test(
          before,
        ),
      isExtreme: /\bthe (?:largest|smallest) $/.test(before),
      isCounted: /\bnumber of (?:(?:all|distinct) )*$/.test(before),
    });
    index += named.length - 1;
  }
  return found;
}

/** Characters before a path that say what is done with it. */
const REACH = 40;

/** What is compared behind the path is what is calculated with it. */
const CALCULATED =
  /(?:[-+*/]|\b(?:minus|plus|times|divided by|(?:sum|average|number) of(?: (?:all|distinct))*|largest|smallest))\s+$/;
const VALUE =
  /^\s*(?:=|!=|<=?|>=?)\s*(?:'((?:[^']|'')*)'|"([^"]*)"|ISODate\("([^"]+)"\)|(-?\d+(?:\.\d+)?)|(\p{L}[\p{L}\p{N}]*))(?![\p{L}\p{N}.(])/u;
const WORDS = new Set(['null', 'not', 'in', 'the', 'a', 'an', 'empty']);

/** The value that a path is compared with, unless the hint goes on to say what the value means. */
function valueBehind(text: string): string | undefined {
  const found = VALUE.exec(text);
  if (!found) return undefined;
  const [whole, single, double, date, digits, word] = found;
  if (word !== undefined && WORDS.has(word.toLowerCase())) return undefined;
  const isExplained = /^\s*(?:means?|refers?|stands?|represents?|indicates?|:)/i.test(
    text.slice(whole.length),
  );
  return isExplained
    ? undefined
    : (single?.replaceAll("''", "'") ?? double ?? date ?? digits ?? word);
}
