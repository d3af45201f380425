import { expect, test } from 'vitest';
import type { BundleContent, BundleItem } from './content';
import { leftOut } from './left-out';

const item = (
  questionId: string,
  status: BundleItem['status'],
  reason?: BundleItem['reason'],
): unknown => ({
  item: { questionId, split: 'dev', database: 'd' },
  status,
  ...(reason && { reason }),
});

test('every item without gold and everything that the import refused is named, with its reason', () => {
  const reason = { code: 902, text: 'the source query does not finish' };
  const items = [item('1', 'translated'), item('2', 'untranslated', reason), item('3', 'excluded')];
  const problems = [
    { kind: 'item_repeated', subject: 'dev:4', detail: 'repeats the id 2' },
    { kind: 'database_without_items', subject: 'e', detail: 'no item' },
  ];
  expect(leftOut({ databases: [{ items }], problems } as unknown as BundleContent)).toEqual([
    { kind: 'untranslated', subject: 'dev/2', database: 'd', reason: reason.text },
    { kind: 'excluded', subject: 'dev/3', database: 'd', reason: 'a reviewer excluded it' },
    { kind: 'item_repeated', subject: 'dev:4', database: null, reason: 'repeats the id 2' },
  ]);
});
