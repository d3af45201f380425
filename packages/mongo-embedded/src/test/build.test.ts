import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageFolder, typescriptArguments } from '../installation';

/** The package as others install it: built JavaScript in their node_modules, run by plain Node. */

let project: string;
const run = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' }).trim();

beforeAll(() => {
  project = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-build-'));
  const modules = path.join(project, 'node_modules');
  mkdirSync(modules);
  const { resolve } = createRequire(import.meta.url);
  for (const name of ['better-sqlite3', 'mongodb'])
    symlinkSync(path.dirname(resolve(`${name}/package.json`)), path.join(modules, name));
  const build = path.join(packageFolder(), 'scripts/build.ts');
  run(...typescriptArguments(), build, '--out', path.join(modules, 'mongo-embedded'));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

it('is a fixture for a project without TypeScript', () => {
  writeFileSync(
    path.join(project, 'fixture.mjs'),
    `import { MongoClient } from 'mongodb';
     import { start } from 'mongo-embedded';
     const server = await start();
     const client = await MongoClient.connect(server.uri);
     const items = client.db('test').collection('items');
     await items.insertMany([{ a: 1 }, { a: 2 }]);
     console.log(await items.countDocuments({ a: { $gt: 1 } }));
     await client.close();
     await server.stop();`,
  );
  expect(run('fixture.mjs')).toBe('1');
});

it('is a command', () => {
  expect(run('node_modules/mongo-embedded/bin/mongo-embedded.js', '--help')).toContain(
    'usage: mongo-embedded [--port n] [--data-dir folder]',
  );
});
