import { expect, it } from 'vitest';
import { numberFormat, patternOf } from './number-format';
import { withoutRemoved, type Removal } from './number-removal';

const all = (text: string): Removal => ({ kind: 'all', text });
const before = (position: number): Removal => ({ kind: 'before', position });
const ends = (of: string, left = true, right = true): Removal => ({
  kind: 'ends',
  of,
  left,
  right,
});

it.each<[string, Removal, string | undefined]>([
  ['$#,##0.00', all(','), '$0.00'],
  ['$#,##0.00', all('$'), '#,##0.00'],
  ['0.0%', all('%'), '0.0'],
  ['0.0', all('%'), '0.0'],
  ['0.0', all(''), '0.0'],
  ['€ 0', all('€'), ' 0'],
  ['0.0', all('.'), undefined],
  ['0', all('1'), undefined],
  ['0', all('0,'), undefined],
  ['0;-0', all('-'), undefined],
  ['0', all('-'), '0'],
  ['$0', before(2), '0'],
  ['$0', before(3), undefined],
  ['$0', before(1), undefined],
  ['0', before(1), '0'],
  ['$0;-$0', before(2), undefined],
  ['€ 0 %', ends('€ %'), '0'],
  ['€ 0', ends('€', true, false), ' 0'],
  ['0%', ends('%', true, false), '0%'],
  ['0%', ends('%0'), undefined],
  ['$0;-$0', ends('$'), undefined],
  ['0%;-0%', ends('%', false, true), '0;-0'],
])('%s without %j is %s', (pattern, removal, left) => {
  const result = withoutRemoved(numberFormat(pattern)!, removal);
  expect(result && patternOf(result)).toBe(left);
});
