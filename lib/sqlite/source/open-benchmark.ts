import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { SourceBenchmark } from '../benchmark';
import { readBenchmarkFolder, type ReadOptions } from './benchmark-folder';
import { extractBenchmarkZip } from './benchmark-zip';

export interface OpenOptions extends Omit<ReadOptions, 'copies'> {
  /**
   * Where the copies of the databases and an unpacked archive go; by default the system's folder
   * for such files.
   */
  readonly scratch?: string;
  readonly onUnpack?: (done: number, total: number) => void;
}

/** A benchmark and copies of its files, which are there until it is closed. */
export interface OpenBenchmark {
  readonly benchmark: SourceBenchmark;
  /** Removes the copies. */
  close(): Promise<void>;
}

/**
 * Opens a benchmark folder or .zip. Nothing is written beside it, and later changes of it are not
 * seen.
 */
export async function openBenchmark(
  source: string,
  options: OpenOptions = {},
): Promise<OpenBenchmark> {
  const { scratch = os.tmpdir(), onUnpack, ...read } = options;
  fs.mkdirSync(scratch, { recursive: true });
  const home = await fs.promises.mkdtemp(path.join(scratch, 'aptmql-benchmark-'));
  const close = (): Promise<void> => fs.promises.rm(home, { recursive: true, force: true });
  try {
    const unpacked = path.join(home, 'benchmark');
    const isArchive =
      /\.zip$/i.test(source) && fs.existsSync(source) && fs.statSync(source).isFile();
    if (isArchive) await extractBenchmarkZip(source, unpacked, undefined, onUnpack);
    const benchmark = await readBenchmarkFolder(isArchive ? unpacked : source, {
      ...read,
      copies: path.join(home, 'copies'),
    });
    if (isArchive) await fs.promises.rm(unpacked, { recursive: true, force: true });
    return { benchmark, close };
  } catch (error) {
    await close();
    throw error;
  }
}
