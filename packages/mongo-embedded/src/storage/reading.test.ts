import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { Store } from './store';

let folder: string;
let writer: Store;
let reader: Store;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-reading-'));
  writer = new Store(path.join(folder, 'data.sqlite'), true);
  reader = new Store(path.join(folder, 'data.sqlite'), false);
});
afterAll(() => {
  vi.useRealTimers();
  reader.close();
  writer.close();
  rmSync(folder, { recursive: true, force: true });
});

let next = 0;
const insert = (name: string): void =>
  writer.findOrCreate('d', name).insert({ raw: encode(Doc.of({ _id: ++next })), id: next });
const counts = (): number[] => ['a', 'b'].map((name) => reader.find('d', name)?.count() ?? 0);

it('sees one state of all collections, and what was written before it began', () => {
  insert('a');
  insert('b');
  reader.reading.within(() => {
    expect(counts()).toEqual([1, 1]);
    insert('a');
    insert('b');
    expect(counts()).toEqual([1, 1]);
    writer.drop(writer.require('d', 'b'));
    reader.reading.renew();
    expect(counts()).toEqual([1, 1]);
  });
  expect(counts()).toEqual([2, 0]);
});

it('lasts no longer than a second, so that the log can be emptied', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  reader.reading.within(() => {
    const before = counts()[0] as number;
    insert('a');
    vi.advanceTimersByTime(900);
    reader.reading.renew();
    expect(counts()[0]).toBe(before);
    vi.advanceTimersByTime(200);
    reader.reading.renew();
    expect(counts()[0]).toBe(before + 1);
  });
  vi.useRealTimers();
});

it('ends with an error of the work', () => {
  expect(() =>
    reader.reading.within(() => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(reader.db.inTransaction).toBe(false);
});
