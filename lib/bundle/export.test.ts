import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { assertWritable } from './export';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-out-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

test.each<[string, () => string, RegExp | undefined]>([
  ['a new folder below new folders', () => path.join(folder, 'a/b/c'), undefined],
  [
    'an empty folder',
    () => (fs.mkdirSync(path.join(folder, 'empty')), path.join(folder, 'empty')),
    undefined,
  ],
  [
    'an earlier bundle',
    () => (
      fs.mkdirSync(path.join(folder, 'old')),
      fs.writeFileSync(path.join(folder, 'old/MANIFEST.json'), ''),
      path.join(folder, 'old')
    ),
    undefined,
  ],
  [
    'a file',
    () => (fs.writeFileSync(path.join(folder, 'file'), ''), path.join(folder, 'file')),
    /is a file; choose a folder/,
  ],
  ['below a file', () => path.join(folder, 'file/x'), /cannot be written: (ENOTDIR|EEXIST)/],
  ['a folder of something else', () => folder, /holds something else than a bundle/],
  ['where nothing can be made', () => '/proc/nothing/here', /cannot be written: ENOENT/],
])('%s', (_, make, refused) => {
  const out = make();
  const before = fs.readdirSync(folder).sort();
  if (refused) expect(() => assertWritable(out)).toThrow(refused);
  else expect(() => assertWritable(out)).not.toThrow();
  expect(fs.readdirSync(folder).filter((name) => !before.includes(name) && name !== 'a')).toEqual(
    [],
  );
});
