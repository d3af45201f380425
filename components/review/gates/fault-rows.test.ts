import { expect, test } from 'vitest';
import { faultRows, unnamedFaults } from './fault-rows';

const dropped = { kind: 'field dropped', path: 'name' } as const;
const lost = { kind: 'row lost', path: '_id' } as const;

test('holes come first, and each fault that was caught names its mapping', () => {
  const faults = {
    planted: 3,
    holes: [lost],
    caught: {
      'hero: fields': [dropped],
      'hero: number of documents': [{ ...lost, kind: 'row doubled' as const }],
    },
  };
  expect(faultRows(faults)).toEqual([
    { kind: 'row lost', path: '_id', caughtBy: null },
    { kind: 'field dropped', path: 'name', caughtBy: 'hero: fields' },
    { kind: 'row doubled', path: '_id', caughtBy: 'hero: number of documents' },
  ]);
  expect(unnamedFaults(faults)).toEqual([]);
});

test('of faults that were caught before they were named, the number is told', () => {
  const faults = { planted: 5, holes: [lost], caught: { 'hero: fields': 4 } };
  expect(faultRows(faults)).toEqual([{ ...lost, caughtBy: null }]);
  expect(unnamedFaults(faults)).toEqual([{ mapping: 'hero: fields', faults: 4 }]);
});
