import path from 'node:path';
import { build, type Plugin } from 'esbuild';

let script: Promise<string> | undefined;

/**
 * The stand-alone migration script of a bundle: our own migration code, with all that it imports
 * but the two packages that it names. The same for every database, which its design beside it
 * describes.
 */
export function migrateScript(): Promise<string> {
  return (script ??= bundleScript());
}

async function bundleScript(): Promise<string> {
  const root = process.cwd();
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [path.join(root, 'lib/migration/standalone.ts')],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    charset: 'utf8',
    legalComments: 'none',
    external: ['better-sqlite3', 'mongodb'],
    plugins: [withoutSchemas],
    banner: {
      js:
        '// Builds the MongoDB database of the design beside this file: node migrate.mjs ' +
        '--help\n// Made from the sources of AptMQL Studio (MIT).',
    },
  });
  return outputFiles[0]!.text;
}

/** Schemas are declared beside the types of the design, but the script checks nothing with them. */
const withoutSchemas: Plugin = {
  name: 'without-schemas',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^zod$/ }, () => ({ path: 'zod', namespace: 'without-schemas' }));
    onLoad({ filter: /.*/, namespace: 'without-schemas' }, () => ({
      contents: 'export const z = new Proxy(() => undefined, { get: () => z, apply: () => z });',
    }));
  },
};
