import { expect, test } from 'vitest';
import {
  collectionNameProblem,
  fieldNameProblem,
  legalCollectionName,
  legalFieldName,
  NameSet,
} from './names';

test.each([
  ['plain', 't'.repeat(300), 't'.repeat(100)],
  ['repaired', `a ${'b'.repeat(300)}`, `aB${'b'.repeat(98)}`],
  ['of two bytes a character', 'é'.repeat(80), 'é'.repeat(50)],
  ['at the end of a character of four bytes', `abc${'𠀀'.repeat(40)}`, `abc${'𠀀'.repeat(24)}`],
  ['just short enough', 'é'.repeat(50), 'é'.repeat(50)],
])('a collection name takes 100 bytes at most: %s', (_, source, legal) =>
  expect(legalCollectionName(source)).toBe(legal),
);

test('names that are the same once they are cut get a number', () => {
  const names = new NameSet();
  const cut = 't'.repeat(100);
  expect(
    ['a', 'b'].map((end) => names.take(legalCollectionName(`${'t'.repeat(299)}${end}`))),
  ).toEqual([cut, `${cut}_2`]);
});

test.each([
  ['systems', 'systems'],
  ['system', 'system'],
  ['SYSTEM_LOG', 'SYSTEM_LOG'],
  ['systemic risk', 'systemicRisk'],
  ['system.users', 'systemUsers'],
  ['system.$cmd', 'systemCmd'],
])('MongoDB reserves names that begin with "system." only: %s → %s', (source, legal) => {
  expect(legalCollectionName(source)).toBe(legal);
});

test.each([
  'systems',
  'system.users',
  'a.b',
  '$',
  '12',
  '_id',
  '__proto__',
  'constructor',
  'prototype',
  'a/b\\c',
  '',
  ' ',
  'x\0y',
  't'.repeat(300),
  'é'.repeat(150),
  `a ${'b'.repeat(400)}`,
  '٣',
  '1²',
  'ﬁ',
  'İ',
  '_',
  '__',
  '０',
])('what is made of a name passes the checks, with a number too: %j', (source) => {
  for (const name of [legalFieldName(source), `${legalFieldName(source)}_1234567`])
    expect(fieldNameProblem(name)).toBeUndefined();
  for (const name of [legalCollectionName(source), `${legalCollectionName(source)}_1234567`])
    expect(collectionNameProblem(name)).toBeUndefined();
});
