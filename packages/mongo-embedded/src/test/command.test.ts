import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { start } from '../start';
import { connect } from './connect';

/** The program `mongo-embedded`, and `start` without a folder. */

const program = path.join(import.meta.dirname, '../../bin/mongo-embedded.mjs');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-command-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcess;
  output(): string;
  errors(): string;
  readonly ended: Promise<number | null>;
}

function run(...args: string[]): Run {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder },
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const ended = once(child, 'close').then(([status]) => status as number | null);
  return { child, output: () => output, errors: () => errors, ended };
}

async function uriOf({ child, output, errors, ended }: Run): Promise<string> {
  await Promise.race([once(child.stdout!, 'data'), ended]);
  expect(errors()).toBe('');
  return output().trim();
}

it.each(['SIGTERM', 'SIGINT'] as const)('serves a data folder until %s', async (signal) => {
  const dataDir = path.join(folder, 'data');
  for (const expected of [0, 1]) {
    const server = run('--port', '0', '--data-dir', dataDir);
    const client = await connect(await uriOf(server));
    const collection = client.db('test').collection('kept');
    expect(await collection.countDocuments()).toBe(expected);
    await collection.insertOne({ a: 1 });
    await client.close();
    // A terminal and npx both send it.
    server.child.kill(signal);
    await sleep(5);
    server.child.kill(signal);
    expect(await server.ended).toBe(0);
  }
});

it('removes its own temporary folder', async () => {
  const server = run();
  expect(await uriOf(server)).toMatch(/^mongodb:\/\//);
  expect(readdirSync(folder).filter((name) => name.startsWith('mongo-embedded-'))).toHaveLength(1);
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(readdirSync(folder).filter((name) => name.startsWith('mongo-embedded-'))).toEqual([]);
});

it.each([
  [['--port', 'x'], /--port must be an integer between 0 and 65535, not 'x'/],
  [['--port', '65536'], /--port must be an integer between 0 and 65535, not '65536'/],
  [['--port', '1.5'], /not '1\.5'/],
  [['--data-dir', ''], /--data-dir must name a folder/],
  [['--prot', '1'], /Unknown option '--prot'/],
  [['folder'], /Unexpected argument 'folder'/],
])('refuses %j', async (args, message) => {
  const { ended, output, errors } = run(...args);
  expect(await ended).toBe(2);
  expect(output()).toBe('');
  expect(errors()).toMatch(message);
});

it('names the folder that another process serves', async () => {
  const first = run('--data-dir', folder);
  await uriOf(first);
  const second = run('--data-dir', folder);
  expect(await second.ended).toBe(1);
  expect(second.errors()).toContain(folder);
  first.child.kill('SIGTERM');
  await first.ended;
});

it('start without a folder keeps nothing', async () => {
  const server = await start();
  const client = await connect(server.uri);
  await client.db('test').collection('gone').insertOne({ a: 1 });
  await client.close();
  const other = await start();
  expect(other.uri).not.toBe(server.uri);
  await Promise.all([server.stop(), other.stop()]);
});
