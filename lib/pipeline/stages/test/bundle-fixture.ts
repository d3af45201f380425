import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import type { MongoClient } from 'mongodb';
import { builtinAgent } from '../../../../agents/drivers/builtin';
import type { BundleDatabase } from '../../../bundle/content';
import { exportBundle } from '../../../bundle/export';
import { signingKey, type SigningKey } from '../../../bundle/signature';
import { connectMongo } from '../../../mongo/client';
import { start as startMongoServer } from 'mongo-embedded';
import type { SourceBenchmark, SourceDatabase } from '../../../sqlite/benchmark';
import { readBenchmarkFolder } from '../../../sqlite/source/benchmark-folder';
import { collectBundleDatabase, runInMemory } from '../memory-run';
import { defaultSettings } from '../stage';

export interface Converted {
  readonly benchmark: SourceBenchmark;
  readonly source: SourceDatabase;
  readonly database: BundleDatabase;
}

/**
 * For tests of what ships: a MongoDB and a folder, in which small benchmarks are converted and
 * exported.
 */
export class ConversionWorld {
  readonly signal = new AbortController().signal;

  private constructor(
    readonly folder: string,
    readonly mongo: MongoClient,
    readonly key: SigningKey,
    private readonly server: Awaited<ReturnType<typeof startMongoServer>>,
  ) {}

  static async start(): Promise<ConversionWorld> {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-conversion-'));
    const server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
    const { privateKey } = generateKeyPairSync('ed25519');
    const key = signingKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    return new ConversionWorld(folder, await connectMongo(server.uri), key, server);
  }

  async close(): Promise<void> {
    await this.mongo.close();
    await this.server.stop();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * A benchmark of one database of this name, with these queries by question file, numbered from 0.
   */
  async convert(
    name: string,
    ddl: string,
    files: Readonly<Record<string, readonly string[]>>,
  ): Promise<Converted> {
    const home = path.join(this.folder, name);
    fs.mkdirSync(path.join(home, 'dev_databases', name), { recursive: true });
    const sqlite = new Sqlite(path.join(home, 'dev_databases', name, `${name}.sqlite`));
    sqlite.exec(ddl);
    sqlite.close();
    for (const [file, queries] of Object.entries(files)) {
      const items = queries.map((SQL, id) => {
        const told = { question: `${file} ${id}`, evidence: `hint of ${file} ${id}` };
        return { question_id: id, db_id: name, ...told, SQL };
      });
      fs.writeFileSync(path.join(home, `${file}.json`), JSON.stringify(items));
    }
    const copies = path.join(this.folder, 'copies', name);
    const benchmark = await readBenchmarkFolder(home, { copies });
    const [source] = benchmark.databases;
    const { mongo, signal } = this;
    const { items } = benchmark;
    const work = { source: source!, items, settings: defaultSettings, agent: builtinAgent };
    const { artefacts } = await runInMemory({ ...work, mongo, mongoPrefix: name, signal });
    const database = await collectBundleDatabase(source!, items, artefacts);
    return { benchmark, source: source!, database };
  }

  /** Writes the bundle; returns its faults. `missing` as in `BundleContent`. */
  async export(
    out: string,
    { benchmark, database }: Converted,
    missing: readonly string[] | undefined,
  ): Promise<readonly string[]> {
    const { questionFiles, problems } = benchmark;
    const provenance = { decisions: [], effort: [], agentRuns: [], auditHead: null };
    const made = { name: 'test', toolVersion: '0', engine: { name: 'test', version: '8.0.0' } };
    const content = {
      ...made,
      questionFiles,
      databases: [database],
      problems,
      provenance,
      missing,
    };
    const { mongo, key, signal } = this;
    return (await exportBundle(content, { out, mongo, key, signal })).faults;
  }
}
