import { BSON } from 'mongodb';
import { deriveDesign } from '../design/logical/logical';
import { checkDesign } from '../design/limits/loss-check';
import { StrategyFails } from '../design/propose/fk-embedding';
import { MAX_DOCUMENT_BYTES, type DesignLimits } from '../design/limits/obstacles';
import { proposeDesign } from '../design/propose/propose';
import { readWorkload } from '../design/model/read-workload';
import type { Strategy } from '../design/model/document-design';
import { assembleDocuments } from '../migration/assemble';
import type { Item, SourceDatabase } from '../sqlite/benchmark';
import { catalogOf } from '../sqlite/schema/introspect';
import { openSource } from '../sqlite/open';
import { profileDatabase } from '../sqlite/profile/profile-database';

/** One cell of the paper's Table 3. */
export type Integrity =
  | { readonly outcome: 'lossless' }
  /** Source rows that are in no document, by table, and their share of all rows. */
  | {
      readonly outcome: 'lossy';
      readonly lostRows: Readonly<Record<string, number>>;
      readonly share: number;
    }
  | { readonly outcome: 'failed'; readonly reason: string };

export interface IntegrityRow {
  readonly database: string;
  readonly tables: number;
  readonly rows: number;
  readonly strategies: Readonly<Record<Strategy, Integrity>>;
}

export const studiedStrategies: readonly Strategy[] = [
  'one-to-one',
  'fk-embedding',
  'access-pattern',
];

/**
 * Builds the documents of a database under each strategy, by the same engines, and counts the
 * source rows that they hold. No MongoDB is needed: a document beyond its limit fails here as it
 * would there.
 */
export function studyIntegrity(
  source: SourceDatabase,
  items: readonly Item[],
  limits: DesignLimits,
): IntegrityRow {
  const sqlite = openSource(source.path);
  try {
    const catalog = catalogOf(sqlite, source);
    const profile = profileDatabase(sqlite, catalog);
    const workload = readWorkload(items, catalog, profile);
    const total = profile.tables.reduce((sum, table) => sum + table.rowCount, 0);
    const convert = (strategy: Strategy): Integrity => {
      try {
        const { design: conceptual } = proposeDesign({
          catalog,
          profile,
          workload,
          strategy,
          limits,
          directives: [],
        });
        const design = deriveDesign({ conceptual, catalog, profile, directives: [] });
        const problems =
          strategy === 'fk-embedding' ? [] : checkDesign(design, catalog, profile, limits);
        if (problems.length > 0)
          return { outcome: 'failed', reason: `${problems[0]!.subject}: ${problems[0]!.detail}` };
        const used = new Map<string, number>();
        for (const logical of design.logical) {
          for (const document of assembleDocuments(source.path, catalog, logical, used)) {
            const bytes = BSON.calculateObjectSize(document);
            if (bytes > MAX_DOCUMENT_BYTES)
              return {
                outcome: 'failed',
                reason: `a document of ${logical.collection} takes ${Math.round(bytes / 1e6)} MB`,
              };
          }
        }
        const lost = profile.tables
          .map((table) => [table.table, table.rowCount - (used.get(table.table) ?? 0)] as const)
          .filter(([, rows]) => rows > 0);
        const rows = lost.reduce((sum, [, n]) => sum + n, 0);
        return rows === 0
          ? { outcome: 'lossless' }
          : { outcome: 'lossy', lostRows: Object.fromEntries(lost), share: rows / total };
      } catch (error) {
        if (error instanceof StrategyFails) return { outcome: 'failed', reason: error.message };
        throw error;
      }
    };
    const strategies = Object.fromEntries(
      studiedStrategies.map((strategy) => [strategy, convert(strategy)]),
    ) as Record<Strategy, Integrity>;
    return { database: source.name, tables: catalog.tables.length, rows: total, strategies };
  } finally {
    sqlite.close();
  }
}
