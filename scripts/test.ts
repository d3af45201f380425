import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/**
 * `npm test`: types, lint, unit and integration tests, browser tests; everything runs even when
 * something failed, and the last line counts. Exit status 0 only when nothing failed and something
 * passed.
 */
const root = path.resolve(import.meta.dirname, '..');
const results = path.join(root, 'test-results');
fs.rmSync(results, { recursive: true, force: true });
fs.mkdirSync(results, { recursive: true });

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const add = (counts: Counts): void => {
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
};

function run(title: string, file: string, args: readonly string[]): boolean {
  console.log(`\n── ${title} ──`);
  const { status, error } = spawnSync(
    process.execPath,
    [path.join(root, 'node_modules', file), ...args],
    { cwd: root, stdio: 'inherit' },
  );
  if (error) console.error(error.message);
  return status === 0;
}

/** A step that is one check: it passes or fails as a whole. */
const check = (title: string, file: string, args: readonly string[]): void => {
  const ok = run(title, file, args);
  add({ passed: Number(ok), failed: Number(!ok), skipped: 0 });
};

/** A runner that dies without a report is a failure, however its exit status reads. */
function readReport(name: string, ok: boolean, count: (report: never) => Counts): void {
  const file = path.join(results, name);
  if (!fs.existsSync(file)) return add({ passed: 0, failed: 1, skipped: 0 });
  const counts = count(JSON.parse(fs.readFileSync(file, 'utf8')) as never);
  add(ok || counts.failed > 0 ? counts : { ...counts, failed: 1 });
}

// Next and Prisma write types that the checks below need.
if (!fs.existsSync(path.join(root, 'lib/db/generated')))
  run('Prisma client', 'prisma/build/index.js', ['generate']);
run('Route types', 'next/dist/bin/next', ['typegen']);
check('Types', 'typescript/bin/tsc', ['--noEmit', '-p', '.']);
check('Lint', 'eslint/bin/eslint.js', ['.']);
check('Import cycles', 'tsx/dist/cli.mjs', ['scripts/import-cycles.ts']);
check('Type set', 'prettier/bin/prettier.cjs', ['--check', '--log-level', 'warn', '.']);
const unit = run('Unit and integration tests', 'vitest/vitest.mjs', [
  'run',
  '--reporter=default',
  '--reporter=json',
  '--outputFile.json=test-results/unit.json',
]);
readReport(
  'unit.json',
  unit,
  (report: {
    numPassedTests: number;
    numFailedTests: number;
    numPendingTests: number;
    numFailedTestSuites: number;
  }) => ({
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests,
  }),
);
if (!process.argv.includes('--no-browser')) {
  const browser = run('Browser tests', '@playwright/test/cli.js', ['test']);
  readReport(
    'e2e.json',
    browser,
    (report: {
      stats: { expected: number; unexpected: number; flaky: number; skipped: number };
    }) => ({
      passed: report.stats.expected + report.stats.flaky,
      failed: report.stats.unexpected,
      skipped: report.stats.skipped,
    }),
  );
}
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
