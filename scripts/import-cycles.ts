/**
 * Refuses files that import each other, directly or through others: `npm test` calls it. Types
 * count as well, since who reads the one file has to know the other all the same.
 *
 *   npx tsx scripts/import-cycles.ts [folder]
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.resolve(process.argv[2] ?? path.resolve(import.meta.dirname, '..'));
const SOURCE = ['agents', 'app', 'bench', 'cli', 'components', 'lib', 'packages', 'sample'];
const GENERATED = /(^|\/)(node_modules|generated|out|\.next)\//;

type Graph = ReadonlyMap<string, readonly string[]>;

const files = SOURCE.filter((folder) => existsSync(path.join(root, folder)))
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      path.join(folder, name),
    ),
  )
  .filter((file) => /\.tsx?$/.test(file) && !GENERATED.test(file));
const known = new Set(files);

/** The file of ours that an import leads to; undefined for a library. */
function target(from: string, specifier: string): string | undefined {
  if (!/^(\.|@\/)/.test(specifier)) return undefined;
  const base = specifier.startsWith('@/')
    ? specifier.slice(2)
    : path.join(path.dirname(from), specifier);
  return [base, `${base}.ts`, `${base}.tsx`, path.join(base, 'index.ts')].find((candidate) =>
    known.has(candidate),
  );
}

const graph: Graph = new Map(
  files.map((file) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(path.join(root, file), 'utf8'));
    const targets = importedFiles.flatMap(({ fileName }) => target(file, fileName) ?? []);
    return [file, targets];
  }),
);

/** Groups of files of which each leads to each, by Tarjan's algorithm. */
function cyclesIn(imports: Graph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    lowest.set(file, index);
    open.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!order.has(next)) lowest.set(file, Math.min(lowest.get(file)!, visit(next)));
      else if (open.includes(next)) lowest.set(file, Math.min(lowest.get(file)!, order.get(next)!));
    }
    if (lowest.get(file) === index) {
      const group = open.splice(open.indexOf(file));
      if (group.length > 1 || imports.get(file)?.includes(file)) found.push(group);
    }
    return lowest.get(file)!;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return found;
}

/**
 * What is recursive itself: a BSON value can be a document, whose values are decoded when they are
 * read.
 */
const RECURSIVE = ['decode', 'doc', 'value'].map(
  (name) => `packages/mongo-embedded/src/bson/${name}.ts`,
);

const cycles = cyclesIn(graph).filter((cycle) => !cycle.every((file) => RECURSIVE.includes(file)));
for (const cycle of cycles) {
  console.error(`These ${String(cycle.length)} files import each other:`);
  for (const file of cycle.sort()) {
    const others = (graph.get(file) ?? []).filter((other) => cycle.includes(other));
    console.error(`  ${file} → ${others.join(', ')}`);
  }
}
if (cycles.length === 0) console.log(`No import cycle in ${String(files.length)} files.`);
process.exitCode = cycles.length > 0 ? 1 : 0;
