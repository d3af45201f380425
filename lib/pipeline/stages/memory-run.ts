import type { MongoClient } from 'mongodb';
import type { Agent } from '../../../agents/contract';
import type { BundleDatabase, BundleItem } from '../../bundle/content';
import type {
  ConceptualDesign,
  IndexDesign,
  LogicalDesign,
} from '../../design/model/document-design';
import type { Migration } from '../../migration/migrate';
import { canonicalText, parseCanonical } from '../../results/extended-json';
import type { Item, SourceDatabase } from '../../sqlite/benchmark';
import { KnownResults } from '../../translation/check/known-results';
import type { CollectionValidation } from '../../validation/collection-validation';
import type { CrossValidation } from '../../validation/cross-validation';
import type { TableValidation } from '../../validation/table-validation';
import type { EvidenceContent, GoldContent, TranslationContent } from './artefacts';
import type { ProfileContent } from './design-stages';
import { stages } from './index';
import { stageNames, type ArtefactRef, type BenchmarkSettings, type StageName } from './stage';

export interface MemoryRunInput {
  readonly source: SourceDatabase;
  readonly items: readonly Item[];
  readonly settings: BenchmarkSettings;
  readonly agent: Agent;
  readonly mongo: MongoClient;
  readonly mongoPrefix: string;
  readonly signal: AbortSignal;
  /** Given by callers that go on with what the stages found out. */
  readonly known?: KnownResults;
  onProgress?(stage: StageName, done: number, total: number, unit: string): void;
}

export interface MemoryRun {
  readonly artefacts: ArtefactReader;
  readonly reports: Readonly<Partial<Record<StageName, Readonly<Record<string, unknown>>>>>;
  readonly seconds: Readonly<Partial<Record<StageName, number>>>;
}

/** Reads current contents by kind and key. */
export type ArtefactReader = <T>(ref: ArtefactRef) => Promise<T | undefined>;

/**
 * All stages of one source database, one after the other, artefacts kept in memory: no Postgres, no
 * reviewers.
 */
export async function runInMemory(input: MemoryRunInput): Promise<MemoryRun> {
  const kept = new Map<string, string>();
  const read: ArtefactReader = async <T>(ref: ArtefactRef) => {
    const text = kept.get(`${ref.kind}\n${ref.key}`);
    return text === undefined ? undefined : parseCanonical<T>(text);
  };
  const known = input.known ?? new KnownResults();
  const reports: Partial<Record<StageName, Readonly<Record<string, unknown>>>> = {};
  const seconds: Partial<Record<StageName, number>> = {};
  for (const name of stageNames) {
    const started = performance.now();
    const { artefacts, report } = await stages[name](
      { ...input, known, read, directives: [] },
      {
        signal: input.signal,
        progress: (done, total, unit) => input.onProgress?.(name, done, total, unit),
      },
    );
    // Kept as text, as the blob store does: what a stage reads is never the object that another one
    // still holds.
    for (const artefact of artefacts)
      kept.set(`${artefact.kind}\n${artefact.key}`, canonicalText(artefact.content));
    reports[name] = report;
    seconds[name] = (performance.now() - started) / 1000;
  }
  return { artefacts: read, reports, seconds };
}

/** The current artefacts of a database as the exporter takes them. */
export async function collectBundleDatabase(
  source: SourceDatabase,
  items: readonly Item[],
  read: ArtefactReader,
  decisions: (questionId: string) => readonly unknown[] = () => [],
): Promise<BundleDatabase> {
  const need = async <T>(kind: ArtefactRef['kind'], key: string): Promise<T> => {
    const found = await read<T>({ kind, key });
    if (found === undefined) throw new Error(`${key} has no ${kind.replaceAll('_', ' ')} yet`);
    return found;
  };
  const { catalog, profile } = await need<ProfileContent>('profile', source.name);
  const conceptual = await need<ConceptualDesign>('conceptual_design', source.name);
  const each = <T>(kind: ArtefactRef['kind'], names: readonly string[]): Promise<T[]> =>
    Promise.all(names.map((name) => need<T>(kind, `${source.name}/${name}`)));
  const collections = conceptual.collections.map(({ name }) => name);
  return {
    source,
    catalog,
    profile,
    conceptual,
    logical: await each<LogicalDesign>('logical_design', collections),
    indexes: await need<IndexDesign>('index_design', source.name),
    migration: await need<Migration>('migration', source.name),
    validation: {
      collection: await each<CollectionValidation>('collection_validation', collections),
      crossCollection: await each<CrossValidation>('cross_validation', collections),
      table: await each<TableValidation>(
        'table_validation',
        catalog.tables.map((table) => table.name),
      ),
    },
    items: await Promise.all(
      items.map((item) => bundleItem(item, read, decisions(item.questionId))),
    ),
  };
}

async function bundleItem(
  item: Item,
  read: ArtefactReader,
  decisions: readonly unknown[],
): Promise<BundleItem> {
  const key = `${item.database}/${item.questionId}`;
  const translation = await read<TranslationContent>({ kind: 'translation', key });
  const gold =
    translation?.status === 'translated'
      ? await read<GoldContent>({ kind: 'gold', key })
      : undefined;
  const evidence = await read<EvidenceContent>({ kind: 'evidence', key });
  const withoutGold = translation?.status === 'excluded' ? 'excluded' : 'untranslated';
  return {
    item,
    status: gold ? 'translated' : withoutGold,
    mql: gold
      ? {
          collection: gold.mql.collection,
          pipeline: gold.mql.pipeline as Record<string, unknown>[],
        }
      : null,
    columns: gold?.columns ?? [],
    caveats: gold?.caveats ?? translation?.caveats ?? [],
    defects: gold?.defects ?? translation?.defects ?? [],
    optimised: gold?.optimised ?? false,
    ...(gold?.clock !== undefined ? { clock: gold.clock } : {}),
    evidenceMql: gold ? (evidence?.evidenceMql ?? item.evidence) : item.evidence,
    ...(translation?.reason ? { reason: translation.reason } : {}),
    attempts: gold ? [] : (translation?.attempts ?? []),
    decisions,
  };
}
