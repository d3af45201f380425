import { migrate, type Migration } from '../../migration/migrate';
import { contentHash } from '../../results/hash';
import type { Value } from '../../results/value';
import { quoteName } from '../../sqlite/catalog';
import { openSource } from '../../sqlite/open';
import { collectionMappings, passed, reportCoverage } from '../../validation/collection-validation';
import { validateReferences } from '../../validation/cross-validation';
import { readPlaces, ValueIds } from '../../validation/document-places';
import { runMapping, type MappingResult, type SqlRunner } from '../../validation/mapping';
import { plantFaults } from '../../validation/planted-faults';
import { hasGenuineLoss, validateTables } from '../../validation/table-validation';
import { inputOf, need, readDesign, readIndexes, type ProfileContent } from './design-stages';
import type { ProducedArtefact, Stage, StageInput } from './stage';

export const migrationStage: Stage = async (input, context) => {
  const database = input.source.name;
  const { catalog, profile } = await need<ProfileContent>(input, 'profile', database);
  const design = await readDesign(input);
  const indexes = await readIndexes(input);
  const expected = profile.tables.reduce((sum, table) => sum + table.rowCount, 0);
  const migration = await migrate({
    sourcePath: input.source.path,
    catalog,
    design,
    indexes,
    mongo: input.mongo,
    prefix: input.mongoPrefix,
    signal: context.signal,
    onDocuments: (_, documents) => context.progress(documents, expected, 'documents'),
  });
  const lostRows = lostRowsOf(migration, profile);
  const inputs = [
    ...(await Promise.all(
      design.logical.map((logical) =>
        inputOf(input, 'logical_design', `${database}/${logical.collection}`),
      ),
    )),
    await inputOf(input, 'index_design', database),
  ];
  return {
    artefacts: [{ kind: 'migration', key: database, content: migration, inputs }],
    report: {
      documents: migration.collections.reduce((sum, collection) => sum + collection.documents, 0),
      lossless: Object.keys(lostRows).length === 0,
      lostRows,
    },
  };
};

/** Source rows that went into no document, by table. */
export function lostRowsOf(
  migration: Migration,
  profile: ProfileContent['profile'],
): Record<string, number> {
  const lost = profile.tables.map(
    (table) => [table.table, table.rowCount - (migration.rows[table.table] ?? 0)] as const,
  );
  return Object.fromEntries(lost.filter(([, rows]) => rows !== 0));
}

export const collectionValidationStage: Stage = async (input, context) => {
  const { catalog } = await need<ProfileContent>(input, 'profile', input.source.name);
  const design = await readDesign(input);
  const db = await migratedDatabase(input);
  return withSource(input, async (sql) => {
    const artefacts: ProducedArtefact[] = [];
    let [ok, failed, planted, holes] = [0, 0, 0, 0];
    const chosen = design.logical.filter(
      (logical) => !input.only || input.only.includes(logical.collection),
    );
    for (const [index, logical] of chosen.entries()) {
      context.progress(index, chosen.length, 'collections');
      const results: MappingResult[] = [];
      const mappings = collectionMappings(logical, catalog);
      for (const mapping of mappings) {
        context.signal.throwIfAborted();
        results.push(await runMapping(mapping, sql, db));
      }
      const faults = await plantFaults(logical, mappings, db, input.mongo, context.signal);
      planted += faults.planted;
      holes += faults.holes.length;
      ok += results.filter(passed).length;
      failed += results.filter((result) => !passed(result)).length;
      const key = `${input.source.name}/${logical.collection}`;
      artefacts.push({
        kind: 'collection_validation',
        key,
        content: reportCoverage(logical, results, faults),
        inputs: [await inputOf(input, 'logical_design', key)],
        gate: 'collection_validation',
      });
    }
    return { artefacts, report: { passed: ok, failed, faultsPlanted: planted, holes } };
  });
};

export const crossValidationStage: Stage = async (input, context) => {
  const { profile } = await need<ProfileContent>(input, 'profile', input.source.name);
  const design = await readDesign(input);
  const db = await migratedDatabase(input);
  return withSource(input, async (sql) => {
    const artefacts: ProducedArtefact[] = [];
    let [ok, failed] = [0, 0];
    const chosen = design.logical.filter(
      (logical) => !input.only || input.only.includes(logical.collection),
    );
    for (const [index, logical] of chosen.entries()) {
      context.signal.throwIfAborted();
      context.progress(index, chosen.length, 'collections');
      const content = await validateReferences(logical.collection, design, profile, sql, db);
      ok += content.references.filter((reference) => reference.holds).length;
      failed += content.references.filter((reference) => !reference.holds).length;
      const targets = [
        ...new Set([
          logical.collection,
          ...content.references.map((reference) => reference.to.split('.')[0]!),
        ]),
      ];
      const inputs = await Promise.all(
        targets.map((collection) =>
          inputOf(input, 'logical_design', `${input.source.name}/${collection}`),
        ),
      );
      const gate = content.references.length > 0 ? { gate: 'cross_validation' as const } : {};
      artefacts.push({
        kind: 'cross_validation',
        key: `${input.source.name}/${logical.collection}`,
        content,
        inputs,
        ...gate,
      });
    }
    return { artefacts, report: { passed: ok, failed } };
  });
};

export const tableValidationStage: Stage = async (input, context) => {
  const { catalog } = await need<ProfileContent>(input, 'profile', input.source.name);
  const db = await migratedDatabase(input);
  const ids = new ValueIds();
  const places = await readPlaces(db, ids, context.signal);
  const inputs = [await inputOf(input, 'migration', input.source.name)];
  return withSource(input, async (sql) => {
    const artefacts: ProducedArtefact[] = [];
    let [ok, failed] = [0, 0];
    const sources = catalog.tables.map((table) => {
      const query =
        `SELECT ${table.columns.map((column) => quoteName(column.name)).join(', ')} ` +
        `FROM ${quoteName(table.name)}`;
      return {
        table: table.name,
        columns: table.columns.map((column) => column.name),
        read: () => sql(query).rows,
      };
    });
    const contents = validateTables(sources, places, ids, (at) => {
      context.signal.throwIfAborted();
      context.progress(at, sources.length, 'tables');
    });
    for (const content of contents) {
      if (hasGenuineLoss(content)) failed++;
      else ok++;
      // No flags: passed and recorded, nothing for a person to look at.
      const gate =
        content.flags.length > 0 || content.rowsApart > 0
          ? { gate: 'table_validation' as const }
          : {};
      artefacts.push({
        kind: 'table_validation',
        key: `${input.source.name}/${content.table}`,
        content,
        inputs,
        ...gate,
      });
    }
    return { artefacts, report: { passed: ok, failed } };
  });
};

/** The MongoDB database of the current migration. */
export async function migratedDatabase(
  input: StageInput,
): Promise<ReturnType<StageInput['mongo']['db']>> {
  const { mongoDatabase } = await need<Migration>(input, 'migration', input.source.name);
  return input.mongo.db(mongoDatabase);
}

/** Hash of the migrated data and how it is laid out, for artefacts that depend on all of it. */
export const migrationHash = async (input: StageInput): Promise<string> =>
  contentHash(await need(input, 'migration', input.source.name));

async function withSource<T>(input: StageInput, use: (sql: SqlRunner) => Promise<T>): Promise<T> {
  const sqlite = openSource(input.source.path);
  try {
    return await use((sql) => {
      const statement = sqlite.prepare(sql);
      return {
        columns: statement.columns().map((column) => column.name),
        rows: statement.raw().iterate() as Iterable<Value[]>,
      };
    });
  } finally {
    sqlite.close();
  }
}
