import Database from 'better-sqlite3';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Db, MongoClient } from 'mongodb';
import type { Directive } from '../../design/model/directive';
import type { DocumentDesign, Strategy } from '../../design/model/document-design';
import { proposeIndexes } from '../../design/cost/indexes';
import { deriveDesign } from '../../design/logical/logical';
import { checkDesign, type DesignProblem } from '../../design/limits/loss-check';
import { proposeDesign } from '../../design/propose/propose';
import { readWorkload } from '../../design/model/read-workload';
import { migrate, type Migration, type MigrationInput } from '../../migration/migrate';
import { connectMongo } from '../../mongo/client';
import { start as startMongoServer } from 'mongo-embedded';
import type { Value } from '../../results/value';
import { quoteName, type Catalog } from '../../sqlite/catalog';
import { catalogOf } from '../../sqlite/schema/introspect';
import { openSource } from '../../sqlite/open';
import type { Profile } from '../../sqlite/profile/profile';
import { profileDatabase } from '../../sqlite/profile/profile-database';
import {
  collectionMappings,
  passed,
  reportCoverage,
  type CollectionValidation,
} from '../collection-validation';
import { validateReferences, type ReferenceCheck } from '../cross-validation';
import { readPlaces, ValueIds } from '../document-places';
import { runMapping } from '../mapping';
import { plantFaults } from '../planted-faults';
import { hasGenuineLoss, validateTables, type TableValidation } from '../table-validation';

/** For tests: a source from SQL, its design, its migration, and all three validations. */
export interface ConvertedSource {
  readonly sourcePath: string;
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly design: DocumentDesign;
  /** What the loss check says before a row moves. */
  readonly problems: readonly DesignProblem[];
  readonly input: MigrationInput;
  readonly migration: Migration;
  readonly db: Db;
  validate(): Promise<Validated>;
  /** One line for everything that is not as it should be; empty for a lossless conversion. */
  failing(): Promise<string[]>;
}

export interface Validated {
  readonly collections: readonly CollectionValidation[];
  readonly tables: readonly TableValidation[];
  readonly references: readonly ReferenceCheck[];
}

export interface ConvertOptions {
  readonly strategy?: Strategy;
  readonly directives?: readonly Directive[];
  change?(design: DocumentDesign): DocumentDesign;
  /** Queries that the design and its indexes are made for; none when absent. */
  readonly workload?: readonly string[];
}

/** SQL, a function that fills an empty database, or a file. */
export type TestSource = string | ((sqlite: Database.Database) => void) | { readonly file: string };

export const testLimits = { maxArrayP99: 100, maxArray: 1000 };

/** A server of its own in a folder of its own. */
export class ConversionFixture {
  #made = 0;

  private constructor(
    readonly folder: string,
    private readonly server: Awaited<ReturnType<typeof startMongoServer>>,
    readonly mongo: MongoClient,
  ) {}

  static async start(): Promise<ConversionFixture> {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-convert-'));
    const server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
    return new ConversionFixture(folder, server, await connectMongo(server.uri));
  }

  get uri(): string {
    return this.server.uri;
  }

  async stop(): Promise<void> {
    await this.mongo.close();
    await this.server.stop();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  /** Writes the source and designs it, without a row moving. */
  plan(
    source: TestSource,
    {
      strategy = 'access-pattern',
      change = (design) => design,
      workload: asked,
      directives = [],
    }: ConvertOptions = {},
  ): Omit<ConvertedSource, 'migration' | 'db' | 'validate' | 'failing'> {
    const name = `s${++this.#made}`;
    const sourcePath =
      typeof source === 'object' ? source.file : path.join(this.folder, `${name}.sqlite`);
    if (typeof source !== 'object') write(sourcePath, source);
    const sqlite = openSource(sourcePath);
    try {
      const catalog = catalogOf(sqlite, { name, sha256: name, descriptions: {} });
      const profile = profileDatabase(sqlite, catalog);
      const items = asked?.map((sql, index) => ({
        questionId: String(index),
        split: 'dev',
        database: name,
        question: '',
        evidence: '',
        sql,
        difficulty: null,
      }));
      const workload = items
        ? readWorkload(items, catalog, profile)
        : { database: name, patterns: [], unread: [] };
      const { design: conceptual } = proposeDesign({
        catalog,
        profile,
        workload,
        strategy,
        limits: testLimits,
        directives,
      });
      const design = change(deriveDesign({ conceptual, catalog, profile, directives: [] }));
      const input = {
        sourcePath,
        catalog,
        design,
        indexes: items ? proposeIndexes(design, catalog, profile, workload) : {},
        mongo: this.mongo,
        prefix: 'test',
        signal: new AbortController().signal,
      };
      return {
        sourcePath,
        catalog,
        profile,
        design,
        problems: checkDesign(design, catalog, profile, testLimits),
        input,
      };
    } finally {
      sqlite.close();
    }
  }

  async convert(source: TestSource, options: ConvertOptions = {}): Promise<ConvertedSource> {
    const planned = this.plan(source, options);
    const { catalog, profile, design, input, sourcePath } = planned;
    const migration = await migrate(input);
    const db = this.mongo.db(migration.mongoDatabase);
    const validate = async (): Promise<Validated> => {
      const sqlite = openSource(sourcePath);
      const run = (query: string): { columns: string[]; rows: Value[][] } => {
        const statement = sqlite.prepare(query);
        return {
          columns: statement.columns().map((column) => column.name),
          rows: statement.raw().all() as Value[][],
        };
      };
      try {
        const collections: CollectionValidation[] = [];
        for (const logical of design.logical) {
          const mappings = collectionMappings(logical, catalog);
          const results = [];
          for (const mapping of mappings) results.push(await runMapping(mapping, run, db));
          collections.push(
            reportCoverage(
              logical,
              results,
              await plantFaults(logical, mappings, db, this.mongo, input.signal),
            ),
          );
        }
        const ids = new ValueIds();
        const places = await readPlaces(db, ids, input.signal);
        const sources = catalog.tables.map((table) => ({
          table: table.name,
          columns: table.columns.map((column) => column.name),
          read: () =>
            run(
              `SELECT ${table.columns.map((column) => quoteName(column.name)).join(', ')} FROM ` +
                `${quoteName(table.name)}`,
            ).rows,
        }));
        const tables = validateTables(sources, places, ids);
        const references: ReferenceCheck[] = [];
        for (const logical of design.logical)
          references.push(
            ...(await validateReferences(logical.collection, design, profile, run, db)).references,
          );
        return { collections, tables, references };
      } finally {
        sqlite.close();
      }
    };
    const failing = async (): Promise<string[]> => {
      const { collections, tables, references } = await validate();
      return [
        ...profile.tables
          .filter(({ table, rowCount }) => migration.rows[table] !== rowCount)
          .map(({ table }) => `rows lost: ${table}`),
        ...collections.flatMap((entry) =>
          entry.mappings
            .filter((mapping) => !passed(mapping))
            .map((mapping) => `collection: ${mapping.name}`),
        ),
        ...collections.flatMap((entry) =>
          Object.entries(entry.coverage)
            .filter(([, names]) => names.length === 0)
            .map(([path]) => `hole: ${path}`),
        ),
        ...collections.flatMap((entry) =>
          entry.faults.holes.map((fault) => `not caught: ${fault.kind} at ${fault.path}`),
        ),
        ...tables.filter(hasGenuineLoss).map((entry) => `table: ${entry.table}`),
        ...references
          .filter((reference) => !reference.holds)
          .map((reference) => `reference: ${reference.relationship}`),
      ];
    };
    return { ...planned, migration, db, validate, failing };
  }
}

function write(file: string, source: string | ((sqlite: Database.Database) => void)): void {
  const sqlite = new Database(file);
  try {
    sqlite.pragma('foreign_keys = OFF');
    if (typeof source === 'string') sqlite.exec(source);
    else sqlite.transaction(source)(sqlite);
  } finally {
    sqlite.close();
  }
}
