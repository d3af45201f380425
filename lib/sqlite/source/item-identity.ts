import type { ImportProblem, Item } from '../benchmark';

/**
 * Items are identified by question file and id. An id that is repeated in its file belongs to its
 * first item; where two files have an id in common for a database, the ids of all items of that
 * database begin with their file.
 */
export function withIdentities(items: readonly Item[]): {
  items: Item[];
  refused: ImportProblem[];
} {
  const refused: ImportProblem[] = [];
  const seen = new Set<string>();
  const usable = items.filter((item) => {
    const problem = problemOf(item, seen.has(identityOf(item)));
    seen.add(identityOf(item));
    if (problem) refused.push(problem);
    return !problem;
  });
  const shared = databasesWithSharedIds(usable);
  return {
    items: usable.map((item) => (shared.has(item.database) ? withFile(item) : item)),
    refused,
  };
}

const withFile = (item: Item): Item => ({
  ...item,
  questionId: `${item.split}/${item.questionId}`,
  sourceId: item.questionId,
});

function problemOf(item: Item, isRepeated: boolean): ImportProblem | undefined {
  const { split, database, questionId, question } = item;
  const subject = printable(`${split}: ${database}/${questionId}`);
  if (UNSTORABLE.test(questionId)) {
    return {
      kind: 'item_malformed',
      subject,
      detail: 'left out: its id contains NUL or half a character',
    };
  }
  if (!isRepeated) return undefined;
  const detail = `left out: an earlier item of ${split}.json has the same id`;
  return {
    kind: 'item_repeated',
    subject,
    detail: `${detail} (question: ${printable(question.slice(0, 80))})`,
  };
}

// Text columns of the store take neither NUL nor lone surrogates.
const UNSTORABLE = /[\0\p{Surrogate}]/u;
const printable = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');

const identityOf = ({ split, database, questionId }: Item): string =>
  JSON.stringify([split, database, questionId]);

function databasesWithSharedIds(items: readonly Item[]): Set<string> {
  const fileOf = new Map<string, string>();
  const shared = new Set<string>();
  for (const { database, questionId, split } of items) {
    const id = JSON.stringify([database, questionId]);
    if ((fileOf.get(id) ?? split) !== split) shared.add(database);
    fileOf.set(id, split);
  }
  return shared;
}
