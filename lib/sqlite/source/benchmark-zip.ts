import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Transform } from 'node:stream';
import yauzl from 'yauzl';
import { BenchmarkFolderError } from './benchmark-folder';

/**
 * Bounds of an archive that is unpacked: BIRD's train set is 30 GB; a bomb is far beyond its
 * compressed size.
 */
export interface ZipLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
  readonly maxRatio: number;
}
export const defaultZipLimits: ZipLimits = {
  maxBytes: 64 * 2 ** 30,
  maxEntries: 20_000,
  maxRatio: 200,
};

/**
 * Unpacks a benchmark archive into an empty folder. Entries that would leave the folder, links and
 * bombs are refused; on any error the folder is removed.
 */
export async function extractBenchmarkZip(
  file: string,
  folder: string,
  limits = defaultZipLimits,
  onProgress?: (done: number, total: number) => void,
): Promise<void> {
  fs.mkdirSync(folder, { recursive: true });
  try {
    await extract(file, folder, limits, onProgress);
  } catch (error) {
    fs.rmSync(folder, { recursive: true, force: true });
    if (error instanceof BenchmarkFolderError) throw error;
    throw new BenchmarkFolderError(
      `the archive cannot be unpacked: ${error instanceof Error ? error.message : String(error)} ` +
        'Make it again as a plain .zip file.',
    );
  }
}

async function extract(
  file: string,
  folder: string,
  limits: ZipLimits,
  onProgress?: (done: number, total: number) => void,
): Promise<void> {
  // yauzl refuses absolute paths, "..", backslashes and NULs in names, and sizes that the data does
  // not have.
  const zip = await yauzl.openPromise(file, {
    lazyEntries: true,
    strictFileNames: true,
    validateEntrySizes: true,
  });
  try {
    if (zip.entryCount > limits.maxEntries)
      throw new BenchmarkFolderError(
        `the archive has ${zip.entryCount} entries; at most ${limits.maxEntries} are taken`,
      );
    let [written, done] = [0, 0];
    for await (const entry of zip.eachEntry()) {
      onProgress?.(done++, zip.entryCount);
      const target = path.resolve(folder, entry.fileName);
      if (!target.startsWith(path.resolve(folder) + path.sep))
        throw new BenchmarkFolderError(
          `the archive's entry ${JSON.stringify(entry.fileName)} would leave the folder`,
        );
      const mode = (entry.externalFileAttributes >>> 16) & 0o170000;
      if (mode !== 0 && mode !== 0o100000 && mode !== 0o040000)
        throw new BenchmarkFolderError(
          `the archive's entry ${JSON.stringify(entry.fileName)} is a link or a device`,
        );
      if (entry.isEncrypted()) throw new BenchmarkFolderError('the archive is encrypted');
      if (entry.fileName.endsWith('/')) {
        fs.mkdirSync(target, { recursive: true });
        continue;
      }
      if (
        entry.uncompressedSize > 1e6 &&
        entry.uncompressedSize > entry.compressedSize * limits.maxRatio
      )
        throw new BenchmarkFolderError(
          `the archive's entry ${JSON.stringify(entry.fileName)} grows ` +
            `${Math.round(entry.uncompressedSize / Math.max(1, entry.compressedSize))}-fold: ` +
            'refused as a zip bomb',
        );
      fs.mkdirSync(path.dirname(target), { recursive: true });
      const bounded = new Transform({
        transform(chunk: Buffer, _encoding, callback) {
          written += chunk.length;
          callback(
            written > limits.maxBytes
              ? new BenchmarkFolderError(
                  `the archive unpacks to more than ${limits.maxBytes} bytes`,
                )
              : null,
            chunk,
          );
        },
      });
      await pipeline(
        await zip.openReadStreamPromise(entry),
        bounded,
        fs.createWriteStream(target, { flags: 'wx' }),
      );
    }
  } finally {
    zip.close();
  }
}
