import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Where this package and its TypeScript loader are installed, and how its files are run. */

const NAME = 'mongo-embedded';

function* foldersUp(from: string): Generator<string> {
  for (let folder = from; ; folder = path.dirname(folder)) {
    yield folder;
    if (folder === path.dirname(folder)) return;
  }
}

function isPackage(folder: string): boolean {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file)) return false;
  return (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name === NAME;
}

/**
 * The folder of this package. A bundler may have copied this module into another folder: then the
 * package is the one installed for the working directory.
 */
export function packageFolder(): string {
  const modules = path.dirname(fileURLToPath(import.meta.url));
  for (const folder of foldersUp(modules)) if (isPackage(folder)) return folder;
  for (const folder of foldersUp(process.cwd())) {
    const installed = path.join(folder, 'node_modules', NAME);
    if (isPackage(installed)) return realpathSync(installed);
  }
  throw new Error(
    `the package ${NAME} was not found from ${process.cwd()}: ` +
      'start the program from a folder where it is installed',
  );
}

/** Looked up by hand: a bundler would resolve `import.meta.resolve` itself. */
function tsxEntry(entry: string): string {
  const folder = packageFolder();
  for (const parent of foldersUp(folder)) {
    const installed = path.join(parent, 'node_modules', 'tsx');
    if (!existsSync(path.join(installed, 'package.json'))) continue;
    const { exports } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as {
      exports: Record<string, string | { import: { default: string } }>;
    };
    const target = exports[entry];
    if (target === undefined) throw new Error(`the installed tsx has no ${entry}`);
    const file = typeof target === 'string' ? target : target.import.default;
    return pathToFileURL(path.join(installed, file)).href;
  }
  throw new Error(`tsx is not installed for ${folder}`);
}

/** Node arguments with which TypeScript files run. */
export const typescriptArguments = (): string[] => ['--import', tsxEntry('.')];

/** In the repository these are TypeScript files, in the built package bundles of JavaScript. */
function scriptFile(name: string): { file: string; isTypescript: boolean } {
  const folder = packageFolder();
  const source = path.join(folder, 'src', `${name}.ts`);
  const isTypescript = existsSync(source);
  return { file: isTypescript ? source : path.join(folder, `${name}.js`), isTypescript };
}

/** Node arguments that run a script of this package. */
export function scriptArguments(name: 'process'): string[] {
  const { file, isTypescript } = scriptFile(name);
  return isTypescript ? [...typescriptArguments(), file] : [file];
}

/**
 * The first code of a new thread, as text: `--import tsx` does not reach threads, so the thread
 * registers the loader before it imports a TypeScript file.
 */
export function threadBootstrap(name: 'worker'): string {
  const { file, isTypescript } = scriptFile(name);
  const script = `import(${JSON.stringify(pathToFileURL(file).href)})`;
  if (!isTypescript) return script;
  const loader = JSON.stringify(tsxEntry('./esm/api'));
  return `import(${loader}).then(({ register }) => { register(); return ${script}; });`;
}
