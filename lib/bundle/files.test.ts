import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Transform } from 'node:stream';
import zlib, { gunzipSync } from 'node:zlib';
import { afterAll, expect, test, vi } from 'vitest';
import { BundleFiles } from './files';

const folder = mkdtempSync(path.join(tmpdir(), 'files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const lines = Array.from({ length: 20_000 }, (_, at) => `{"line":${at},"text":"größer"}\n`);
async function* each(): AsyncGenerator<string | Uint8Array> {
  for (const [at, line] of lines.entries())
    yield await Promise.resolve(at % 2 === 0 ? line : Buffer.from(line));
}

async function* texts(...parts: string[]): AsyncGenerator<string> {
  for (const part of parts) yield await Promise.resolve(part);
}

test('many lines are one compressed file, written in large pieces', async () => {
  const compressing = vi.spyOn(Transform.prototype, '_write');
  const files = new BundleFiles(folder);
  await files.write('a/lines.jsonl.gz', each());
  const pieces = compressing.mock.contexts.filter((stream) => stream instanceof zlib.Gzip).length;
  compressing.mockRestore();
  const bytes = readFileSync(path.join(folder, 'a/lines.jsonl.gz'));
  expect(gunzipSync(bytes).toString('utf8')).toBe(lines.join(''));
  expect(files.records.get('a/lines.jsonl.gz')).toEqual({
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
  });
  expect(pieces).toBeGreaterThan(5);
  expect(pieces).toBeLessThan(20);
});

test('nothing, and plain texts', async () => {
  const files = new BundleFiles(folder);
  await files.write('none.gz', texts());
  await files.write('plain.txt', texts('a', 'b'));
  expect(gunzipSync(readFileSync(path.join(folder, 'none.gz'))).length).toBe(0);
  expect(readFileSync(path.join(folder, 'plain.txt'), 'utf8')).toBe('ab');
  await expect(files.write('../out', 'x')).rejects.toThrow(/outside/);
});
