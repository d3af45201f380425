import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { MongoClient, type Db, type Document } from 'mongodb';
import type { Directive } from '../../design/model/directive';
import {
  isEmbed,
  type DocumentDesign,
  type Field,
  type Strategy,
} from '../../design/model/document-design';
import { deriveDesign } from '../../design/logical/logical';
import type { TypeSettings } from '../../design/logical/retype';
import { readWorkload } from '../../design/model/read-workload';
import { proposeDesign } from '../../design/propose/propose';
import { applyTransform } from '../../design/model/transform';
import { type Transform } from '../../design/model/transform-kind';
import { assembleDocuments } from '../../migration/assemble';
import { start as startMongoServer, type EmbeddedServer } from 'mongo-embedded';
import { compareResults, type Verdict } from '../../results/compare';
import { fromBson, type SqliteValue, type Value } from '../../results/value';
import type { Catalog } from '../../sqlite/catalog';
import type { Item } from '../../sqlite/benchmark';
import { catalogOf } from '../../sqlite/schema/introspect';
import { openSource } from '../../sqlite/open';
import { profileDatabase } from '../../sqlite/profile/profile-database';
import type { Profile } from '../../sqlite/profile/profile';
import { parseSelect } from '../../sqlite/select/parse-select';
import { runnableSql } from '../../sqlite/select/runnable-sql';
import { lintMql } from '../check/lint-mql';
import { pinPipeline, pinSql } from '../check/pinned-clock';
import type { MqlDocument } from '../mql/mql';
import { sameMql } from '../mql/same-mql';
import { readPipeline } from '../mql/stage';
import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import { optimise } from '../rules/optimise';
import { PLAIN_AGGREGATE } from '../rules/plain-aggregate';
import { translate, type Translated, type Translation } from '../translate';

export interface Outcome {
  readonly translation: Translation;
  readonly verdict: Verdict['kind'] | 'untranslated';
  /** What differs, for the message of a failing test. */
  readonly detail: string;
}

const itemOf = (sql: string, index: number): Item => ({
  questionId: String(index + 1),
  split: 'dev',
  database: 'source',
  question: '',
  evidence: '',
  sql,
  difficulty: '',
});

/** A small source database with its documents on the embedded server. */
export class World {
  private constructor(
    private readonly folder: string,
    private readonly server: EmbeddedServer,
    private readonly client: MongoClient,
    private readonly db: Db,
    readonly sqlite: Database.Database,
    readonly catalog: Catalog,
    readonly profile: Profile,
    readonly design: DocumentDesign,
  ) {}

  static async create(
    ddl: string,
    options: {
      strategy?: Strategy;
      retyped?: Readonly<Record<string, Transform>>;
      directives?: readonly Directive[];
      change?: (design: DocumentDesign) => DocumentDesign;
      /** SQL that the design is made for: types are then chosen by what it asks. */
      asked?: readonly string[];
    } = {},
  ): Promise<World> {
    const folder = mkdtempSync(path.join(tmpdir(), 'translation-'));
    const file = path.join(folder, 'source.sqlite');
    const writer = new Database(file);
    writer.exec(ddl);
    writer.close();
    const sqlite = openSource(file);
    const catalog = catalogOf(sqlite, { name: 'source', sha256: '', descriptions: {} });
    const profile = profileDatabase(sqlite, catalog);
    const workload = options.asked && readWorkload(options.asked.map(itemOf), catalog, profile);
    const types: TypeSettings | undefined = workload && {
      retype: 'proven',
      identifiers: 'stored',
      textUses: workload.textUses ?? [],
    };
    const conceptual = proposeDesign({
      catalog,
      profile,
      workload: workload ?? { database: 'source', patterns: [], unread: [] },
      strategy: options.strategy ?? 'one-to-one',
      limits: { maxArrayP99: 100, maxArray: 1000 },
      directives: options.directives ?? [],
    }).design;
    const retyped = retype(
      deriveDesign({ conceptual, catalog, profile, directives: [], ...(types && { types }) }),
      options.retyped ?? {},
    );
    const design = options.change?.(retyped) ?? retyped;
    const server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
    const client = await new MongoClient(server.uri).connect();
    const db = client.db('source');
    for (const logical of design.logical) {
      const documents = [...assembleDocuments(file, catalog, logical, new Map())] as Document[];
      if (documents.length > 0) await db.collection(logical.collection).insertMany(documents);
    }
    return new World(folder, server, client, db, sqlite, catalog, profile, design);
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.server.stop();
    this.sqlite.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  translate(sql: string): Translated {
    const translation = translate(sql, this);
    if (translation.status !== 'translated')
      throw new Error(`${String(translation.code)}: ${translation.reason}`);
    return translation;
  }

  /** Whether the source runs the SQL; otherwise its complaint. */
  runs(sql: string): true | string {
    try {
      this.sqlite.prepare(runnableSql(sql, this.catalog)).raw(true).all();
      return true;
    } catch (error) {
      return (error as Error).message;
    }
  }

  optimised(sql: string): Document[] {
    const { collection, pipeline } = this.translate(sql);
    return optimise({ ...this, collection, pipeline }).pipeline;
  }

  async run(
    collection: string,
    pipeline: readonly Document[],
    options: { readonly promoteValues?: false } = {},
  ): Promise<Document[]> {
    return this.db
      .collection(collection)
      .aggregate([...pipeline], options)
      .toArray();
  }

  /** Runs SQL on the source and its translation, as it is and optimised, on the documents. */
  async check(sql: string, clock = new Date().toISOString()): Promise<Outcome> {
    const translation = translate(sql, this);
    if (translation.status !== 'translated')
      return { translation, verdict: 'untranslated', detail: translation.reason };
    // Whether an aggregate has rows the data says, not the rules.
    const optimised = optimise({
      ...this,
      collection: translation.collection,
      pipeline: translation.pipeline,
      without: [PLAIN_AGGREGATE],
    });
    for (const { collection, pipeline } of [translation, optimised]) {
      this.assertWellFormed(collection, pipeline);
      const verdict = await this.compare(
        pinSql(sql, clock),
        { ...translation, collection },
        pinPipeline(pipeline, clock),
      );
      if (verdict.kind !== 'equal')
        return { translation, verdict: verdict.kind, detail: verdict.detail };
    }
    return { translation, verdict: 'equal', detail: '' };
  }

  /**
   * What holds of every pipeline of ours, whatever its rows: each path that it reads is there by
   * the design and the stages before, and its plan is read as what is written again.
   */
  private assertWellFormed(collection: string, pipeline: readonly Document[]): void {
    const stages = readPipeline(pipeline);
    if (!stages) throw new Error(`no pipeline: ${JSON.stringify(pipeline)}`);
    const again = writePlan(readPlan(stages));
    if (!sameMql(again, stages))
      throw new Error(`read as another plan: ${JSON.stringify([stages, again])}`);
    const [problem] = lintMql(collection, pipeline as MqlDocument[], this.design);
    if (problem) throw new Error(`${problem.message}: ${JSON.stringify(pipeline)}`);
  }

  private async compare(
    sql: string,
    { collection, columns }: Translated,
    pipeline: readonly Document[],
  ): Promise<Verdict> {
    const rows = this.sqlite
      .prepare(runnableSql(sql, this.catalog))
      .raw(true)
      .all() as SqliteValue[][];
    const documents = (await this.run(collection, pipeline, { promoteValues: false })).map(
      (document) => fromBson(document) as Record<string, Value>,
    );
    const names = columns.map(({ path: field }) => field);
    const extra = documents
      .flatMap((document) => Object.keys(document))
      .find((name) => !names.includes(name));
    const missing = documents.find((document) =>
      names.some((name) => !Object.hasOwn(document, name)),
    );
    const expected = {
      columns: names,
      rows: rows.map((row) =>
        row.map((value, index) =>
          applyTransform(columns[index]?.transform ?? { kind: 'identity' }, value),
        ),
      ),
    };
    const actual = {
      columns: names,
      rows: documents.map((document) => names.map((name) => document[name] ?? null)),
    };
    const verdict = compareResults(expected, actual, {
      columns: 'named',
      extraColumns: 'refuse',
      order: parseSelect(sql).orderBy.length > 0 ? 'sequence' : 'bag',
    });
    const show = (value: unknown): string =>
      JSON.stringify(value, (_, inner: unknown) =>
        typeof inner === 'bigint' ? Number(inner) : inner,
      );
    const detail = `${verdict.detail}\n${show(expected.rows)}\n${show(actual.rows)}\n${show(pipeline)}`;
    if (extra !== undefined || missing)
      return {
        ...verdict,
        kind: 'extra_column',
        detail: `fields ${extra ?? show(missing)}\n${detail}`,
      };
    return { ...verdict, detail };
  }
}

function retype(
  design: DocumentDesign,
  retyped: Readonly<Record<string, Transform>>,
): DocumentDesign {
  const change = (table: string, fields: readonly Field[]): Field[] =>
    fields.map((field) => {
      if (field.kind === 'column')
        return { ...field, transform: retyped[`${table}.${field.column}`] ?? field.transform };
      if (field.kind === 'computed' || field.kind === 'subset') return field;
      if (field.kind === 'attribute')
        return {
          ...field,
          fields: field.fields.map((own) => ({
            ...own,
            transform: retyped[`${table}.${own.column}`] ?? own.transform,
          })),
        };
      if (!isEmbed(field))
        return {
          ...field,
          fields: field.fields.map((copied) => ({
            ...copied,
            transform: retyped[`${field.table}.${copied.column}`] ?? copied.transform,
          })),
        };
      return { ...field, fields: change(field.table, field.fields) };
    });
  return {
    ...design,
    logical: design.logical.map((logical) => ({
      ...logical,
      fields: change(logical.rootTable, logical.fields),
    })),
  };
}
