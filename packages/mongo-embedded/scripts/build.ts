import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import ts from 'typescript';

/**
 * Writes the package as others install it: JavaScript that needs no TypeScript loader, the types of
 * its entries, and a manifest for that. Run: npm run build -w mongo-embedded [-- --out folder]
 */

const folder = path.resolve(import.meta.dirname, '..');
const ENTRIES = ['start', 'serve-folder'];
const SCRIPTS = ['process', 'worker', 'command'];

interface Manifest {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  [key: string]: unknown;
}

function typesOf(entry: string): string {
  const file = `${entry}.ts`;
  const source = readFileSync(path.join(folder, 'src', file), 'utf8');
  const { outputText, diagnostics } = ts.transpileDeclaration(source, { fileName: file });
  const [problem] = diagnostics ?? [];
  if (problem)
    throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(problem.messageText, '\n')}`);
  return outputText;
}

function manifest(): Manifest {
  const text = readFileSync(path.join(folder, 'package.json'), 'utf8');
  const {
    private: _private,
    scripts: _scripts,
    devDependencies: _development,
    ...source
  } = JSON.parse(text) as Manifest;
  const { tsx: _loader, ...dependencies } = source.dependencies;
  const entry = (name: string): object => ({ types: `./${name}.d.ts`, default: `./${name}.js` });
  return {
    ...source,
    dependencies,
    exports: { '.': entry('start'), './serve-folder': entry('serve-folder') },
    bin: { 'mongo-embedded': './bin/mongo-embedded.js' },
    files: ['*.js', '*.d.ts', 'bin', 'cases'],
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  const out = path.resolve(values.out ?? path.join(folder, 'out'));
  rmSync(out, { recursive: true, force: true });
  await build({
    absWorkingDir: folder,
    entryPoints: [...ENTRIES, ...SCRIPTS].map((name) => `src/${name}.ts`),
    outdir: out,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
  });
  for (const entry of ENTRIES) writeFileSync(path.join(out, `${entry}.d.ts`), typesOf(entry));
  writeFileSync(path.join(out, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  mkdirSync(path.join(out, 'bin'));
  writeFileSync(
    path.join(out, 'bin/mongo-embedded.js'),
    "#!/usr/bin/env node\nimport { main } from '../command.js';\n\n" +
      'await main(process.argv.slice(2));\n',
    { mode: 0o755 },
  );
  for (const name of ['README.md', 'LICENSE', 'cases'])
    cpSync(path.join(folder, name), path.join(out, name), { recursive: true });
  console.log(out);
}

await main();
