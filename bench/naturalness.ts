/**
 * How natural the gold of bundles is: stages, length and nesting of the pipelines (median and 90th
 * percentile), and the share of items with each operator that a person writes rarely.
 *
 *   npx tsx bench/naturalness.ts <bundle>…
 *
 * Prints one JSON document; the figures of each bundle under its folder's name. A stage within a
 * `$lookup`, `$facet` or `$unionWith` counts as a stage.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const RARE = ['$lookup', '$let', '$regexFind', '$convert', '$facet', '$expr'] as const;

interface GoldItem {
  readonly MQL?: { readonly pipeline: readonly unknown[] } | null;
  readonly status: string;
}

interface PipelineFigures {
  readonly stages: number;
  readonly characters: number;
  readonly nesting: number;
  readonly operators: ReadonlySet<string>;
}

function goldOf(bundle: string): GoldItem[] {
  const folder = path.join(bundle, 'data');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as GoldItem);
}

const isStage = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length === 1 &&
  Object.keys(value)[0]!.startsWith('$');

/** Stages of pipelines within a stage: the values of `pipeline`, and the branches of `$facet`. */
function stagesIn(pipeline: readonly unknown[]): number {
  const within = (value: unknown): number => {
    if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + within(one), 0);
    if (typeof value !== 'object' || value === null) return 0;
    return Object.entries(value).reduce((sum, [key, child]) => {
      if (key === 'pipeline' && Array.isArray(child)) return sum + stagesIn(child);
      if (key === '$facet')
        return sum + Object.values(child as object).reduce((n: number, b) => n + stagesIn(b), 0);
      return sum + within(child);
    }, 0);
  };
  return pipeline.reduce((sum: number, stage) => sum + Number(isStage(stage)) + within(stage), 0);
}

const nestingOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce((most: number, one) => Math.max(most, nestingOf(one)), 0)
    : 0;

function operatorsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, child] of Object.entries(value)) {
    if (key.startsWith('$')) found.add(key);
    operatorsIn(child, found);
  }
  return found;
}

const figuresOf = (pipeline: readonly unknown[]): PipelineFigures => ({
  stages: stagesIn(pipeline),
  characters: JSON.stringify(pipeline).length,
  nesting: nestingOf(pipeline),
  operators: operatorsIn(pipeline),
});

function quantiles(numbers: readonly number[]): { median: number; p90: number } {
  const sorted = [...numbers].sort((a, b) => a - b);
  const quantile = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { median: quantile(0.5), p90: quantile(0.9) };
}

function naturalness(bundle: string): object {
  const items = goldOf(bundle);
  const figures = items.flatMap(({ MQL }) => (MQL ? [figuresOf(MQL.pipeline)] : []));
  const share = (operator: string): string => {
    const having = figures.filter(({ operators }) => operators.has(operator)).length;
    return `${((100 * having) / figures.length).toFixed(2)} %`;
  };
  return {
    items: items.length,
    translated: figures.length,
    stages: quantiles(figures.map(({ stages }) => stages)),
    characters: quantiles(figures.map(({ characters }) => characters)),
    nesting: quantiles(figures.map(({ nesting }) => nesting)),
    shares: Object.fromEntries(RARE.map((operator) => [operator, share(operator)])),
  };
}

const bundles = process.argv.slice(2);
if (bundles.length === 0) throw new Error('usage: naturalness.ts <bundle>…');
const report = Object.fromEntries(bundles.map((bundle) => [bundle, naturalness(bundle)]));
console.log(JSON.stringify(report, null, 2));
