import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';

export interface FileRecord {
  readonly sha256: string;
  readonly bytes: number;
}

/** Writes the files of a bundle below one folder and remembers the hash and size of each. */
export class BundleFiles {
  readonly #records = new Map<string, FileRecord>();

  constructor(readonly root: string) {
    fs.mkdirSync(root, { recursive: true });
  }

  /** Files written so far, by path relative to the root, in the order of their names. */
  get records(): ReadonlyMap<string, FileRecord> {
    return new Map([...this.#records].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  async write(
    name: string,
    content: string | Uint8Array | AsyncIterable<string | Uint8Array>,
  ): Promise<void> {
    const target = path.join(this.root, name);
    if (!path.resolve(target).startsWith(path.resolve(this.root) + path.sep))
      throw new Error(`${name} would lie outside the bundle`);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    const source =
      typeof content === 'string' || content instanceof Uint8Array
        ? Readable.from([content])
        : Readable.from(inBlocks(content));
    const hash = createHash('sha256');
    let bytes = 0;
    const measured = async function* (
      chunks: AsyncIterable<Buffer | string>,
    ): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        const buffer = typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk;
        hash.update(buffer);
        bytes += buffer.length;
        yield buffer;
      }
    };
    // The header of node's gzip holds no time, so that the same content gives the same bytes.
    if (name.endsWith('.gz'))
      await pipeline(source, createGzip({ level: 6 }), measured, fs.createWriteStream(target));
    else await pipeline(source, measured, fs.createWriteStream(target));
    this.#records.set(name, { sha256: hash.digest('hex'), bytes });
  }

  json(name: string, value: unknown): Promise<void> {
    return this.write(name, `${JSON.stringify(value, null, 1)}\n`);
  }
}

const BLOCK = 64 * 1024;

/** The same bytes in larger pieces: compressing line by line costs more than compressing. */
async function* inBlocks(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Buffer> {
  let block: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    const piece = typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk;
    block.push(piece);
    bytes += piece.length;
    if (bytes < BLOCK) continue;
    yield Buffer.concat(block);
    [block, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(block);
}

export async function hashFile(file: string): Promise<FileRecord> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of fs.createReadStream(file)) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

/** The lines of a compressed text file. Throws where the compression is damaged. */
export async function* gunzippedLines(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  const source = fs.createReadStream(file);
  const unzip = createGunzip();
  // `pipe` hands on no errors: without this, a file that cannot be read would never end.
  source.on('error', (error) => unzip.destroy(error));
  for await (const chunk of source.pipe(unzip)) {
    const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
