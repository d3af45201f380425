import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';

const projectFolder = path.resolve(import.meta.dirname, '..');
const nextProgram = path.join(projectFolder, 'node_modules/next/dist/bin/next');
const stampFile = path.join(projectFolder, '.next/built-from');
const sources = [
  'app',
  'components',
  'lib',
  'agents',
  'packages/mongo-embedded/src',
  'public',
  'prisma/schema.prisma',
  'next.config.ts',
  'proxy.ts',
  'postcss.config.mjs',
  'tsconfig.json',
  'package-lock.json',
];

/** Builds the web application when there is no build, or one of other sources. */
export async function ensureWebBuild(say: (line: string) => void): Promise<void> {
  const digest = await digestSources();
  if ((await fs.readFile(stampFile, 'utf8').catch(() => '')) === digest) return;
  say('Building the web application: this takes a minute or two, once.');
  const { status, output } = await build();
  if (status !== 0) throw new Error(`the web application could not be built:\n${output.trim()}`);
  await fs.writeFile(stampFile, digest);
}

function build(): Promise<{ status: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [nextProgram, 'build'], {
      cwd: projectFolder,
      env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (output += data.toString()));
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, output }));
  });
}

async function digestSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources) {
    for (const file of await filesOf(source)) {
      hash.update(`${file}\n`);
      hash.update(await fs.readFile(path.join(projectFolder, file)));
    }
  }
  return hash.digest('hex');
}

async function filesOf(source: string): Promise<string[]> {
  const found = await fs.stat(path.join(projectFolder, source)).catch(() => undefined);
  if (!found) return [];
  if (found.isFile()) return [source];
  const entries = await fs.readdir(path.join(projectFolder, source), {
    recursive: true,
    withFileTypes: true,
  });
  return entries
    .filter((entry) => entry.isFile() && !/\.(test|bench)\.tsx?$/.test(entry.name))
    .map((entry) => path.relative(projectFolder, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith(path.join('lib', 'db', 'generated')))
    .sort();
}

/** Arguments that make node serve the build on a port. */
export const webArguments = (port: number, host: string): string[] => [
  nextProgram,
  'start',
  '--port',
  String(port),
  '--hostname',
  host,
];
