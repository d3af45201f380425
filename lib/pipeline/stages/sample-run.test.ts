import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { MongoClient } from 'mongodb';
import { builtinAgent } from '../../../agents/drivers/builtin';
import { generateSampleBenchmark } from '../../../sample/generate';
import type { BundleContent } from '../../bundle/content';
import { exportBundle, ExportRefused } from '../../bundle/export';
import { signingKey } from '../../bundle/signature';
import { verifyBundle } from '../../bundle/verify';
import { connectMongo } from '../../mongo/client';
import { start as startMongoServer } from 'mongo-embedded';
import type { Directive } from '../../design/model/directive';
import type { ConceptualDesign, LogicalDesign } from '../../design/model/document-design';
import { storedTypes } from '../../design/model/bson-types';
import { logicalCsv } from '../../design/logical/logical-csv';
import type { ProfileContent } from './design-stages';
import { QueryProcess } from '../../sqlite/query/query-process';
import { KnownResults } from '../../translation/check/known-results';
import type { SourceBenchmark } from '../../sqlite/benchmark';
import { readBenchmarkFolder } from '../../sqlite/source/benchmark-folder';
import type { GoldContent, TranslationContent } from './artefacts';
import { checkEdit } from './check-edit';
import { inputHash } from './input-hash';
import type { Migration } from '../../migration/migrate';
import { collectBundleDatabase, runInMemory, type MemoryRun } from './memory-run';
import { stages } from './index';
import { defaultSettings, stageNames, type ArtefactInput, type StageInput } from './stage';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-stages-'));
const key = signingKey(
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
);
const signal = new AbortController().signal;
const known = new KnownResults();
let server: Awaited<ReturnType<typeof startMongoServer>>;
let mongo: MongoClient;
let benchmark: SourceBenchmark;
let run: MemoryRun;
const database = () => benchmark.databases.find((entry) => entry.name === 'river_sensors')!;
const items = () => benchmark.items.filter((item) => item.database === 'river_sensors');
const stageInput = (
  directives: readonly Directive[] = [],
  only?: readonly string[],
): StageInput => ({
  source: database(),
  items: items(),
  settings: defaultSettings,
  agent: builtinAgent,
  mongo,
  mongoPrefix: 'stages',
  read: run.artefacts,
  directives,
  ...(only ? { only } : {}),
});

beforeAll(async () => {
  server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
  mongo = await connectMongo(server.uri);
  generateSampleBenchmark(path.join(folder, 'sample'));
  benchmark = await readBenchmarkFolder(path.join(folder, 'sample'), {
    copies: path.join(folder, 'copies'),
  });
  run = await runInMemory({
    source: database(),
    items: items(),
    settings: defaultSettings,
    agent: builtinAgent,
    mongo,
    mongoPrefix: 'stages',
    known,
    signal,
  });
});
afterAll(async () => {
  await mongo.close();
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('the sample has what makes migrations and translations go wrong', () => {
  expect(benchmark.items).toHaveLength(40);
  expect(benchmark.problems).toEqual([]);
  expect(
    benchmark.databases.find((entry) => entry.name === 'river_sensors')!.descriptions.station![
      'größe'
    ],
  ).toBe('catchment area in km²');
  expect(
    benchmark.databases.find((entry) => entry.name === 'town_library')!.descriptions.members!
      .member_id,
  ).toBe('number on the library card');
  const again = path.join(folder, 'again');
  generateSampleBenchmark(again);
  const bytes = (root: string): Buffer =>
    fs.readFileSync(path.join(root, 'dev_databases/river_sensors/river_sensors.sqlite'));
  expect(bytes(again).equals(bytes(path.join(folder, 'sample')))).toBe(true);
});

test('every stage runs, every item is translated, every stage repeats to the same content', async () => {
  expect(Object.keys(run.reports)).toEqual([...stageNames]);
  expect(run.reports.translation).toMatchObject({ total: 14, translated: 14, untranslated: 0 });
  expect(run.reports.table_validation).toMatchObject({ failed: 0 });
  expect(run.reports.collection_validation).toMatchObject({ failed: 0, holes: 0 });
  const { artefacts } = await stages.translation(stageInput([], ['26', '29']), {
    signal,
    progress: () => undefined,
  });
  expect(artefacts.map((artefact) => artefact.key)).toEqual([
    'river_sensors/26',
    'river_sensors/29',
  ]);
  for (const artefact of artefacts)
    expect(inputHash({ kind: artefact.kind, key: artefact.key, hash: '' }, artefact.content)).toBe(
      inputHash(
        { kind: artefact.kind, key: artefact.key, hash: '' },
        await run.artefacts(artefact),
      ),
    );
});

test('an item depends on the fields that its query touches, not on the whole design', async () => {
  const { artefacts } = await stages.translation(stageInput([], ['28']), {
    signal,
    progress: () => undefined,
  });
  const input = artefacts[0]!.inputs.find(
    (entry): entry is ArtefactInput & { part: string } =>
      entry.kind === 'logical_design' && entry.key.endsWith('/reading'),
  )!;
  const design = (await run.artefacts<LogicalDesign>({
    kind: 'logical_design',
    key: 'river_sensors/reading',
  }))!;
  expect(inputHash(input, design)).toBe(input.hash);
  const without = (name: string): LogicalDesign => ({
    ...design,
    fields: design.fields.filter((field) => field.name !== name),
  });
  expect(inputHash(input, without('flag'))).toBe(input.hash);
  expect(inputHash(input, without('level'))).not.toBe(input.hash);
});

test('a stage without its predecessors says what is missing', async () => {
  await expect(
    stages.migration(
      { ...stageInput(), read: async () => undefined },
      { signal, progress: () => undefined },
    ),
  ).rejects.toThrow('the profile of river_sensors is missing');
});

describe('edits pass the same checks', () => {
  const gold = { kind: 'gold', key: 'river_sensors/26' } as const;
  test.each<[string, string, RegExp]>([
    ['text that is no query', 'station.find(', /./],
    [
      'another result',
      'db.station.aggregate([{ $match: { automatic: "false" } }, { $count: "count" }])',
      /not equal/,
    ],
    ['a forbidden stage', 'db.station.aggregate([{ $out: "x" }])', /\$out/],
    [
      'a forbidden stage inside',
      'db.station.aggregate([{ $facet: { a: [{ $lookup: { from: "x", pipeline: [{ $merge: "y" ' +
        '}], as: "z" } }] } }])',
      /\$merge/,
    ],
    ['an unknown collection', 'db.stations.aggregate([{ $count: "n" }])', /no collection stations/],
    [
      'an unknown field in a filter',
      'db.station.aggregate([{ $match: { automatik: true } }, { $count: "n" }])',
      /no field automatik/,
    ],
    [
      'an unknown field in an expression',
      'db.station.aggregate([{ $group: { _id: null, n: { $sum: { $cond: ["$x.y", 1, 0] } } } }])',
      /no field x\.y/,
    ],
    [
      'an unknown collection in a join',
      'db.station.aggregate([{ $lookup: { from: "nowhere", localField: "_id", foreignField: "a", ' +
        'as: "b" } }])',
      /no collection nowhere/,
    ],
    ['server-side code', 'db.station.aggregate([{ $match: { $where: "true" } }])', /\$where/],
  ])('%s is refused', async (_, text, message) => {
    const outcome = await checkEdit(gold, { text }, stageInput(), signal);
    expect(outcome.ok).toBe(false);
    expect(outcome.ok ? '' : outcome.problems.map((problem) => problem.message).join()).toMatch(
      message,
    );
  });

  test('an equal query under other field names is taken, with its columns matched', async () => {
    const outcome = await checkEdit(
      gold,
      {
        text:
          'db.station.aggregate([{ $match: { automatic: true } }, { $group: { _id: null, ' +
          'stations: { $sum: 1 } } }, { $project: { _id: 0, stations: 1 } }])',
      },
      stageInput(),
      signal,
    );
    expect(outcome.ok && (outcome.artefact.content as GoldContent).columns).toEqual([
      { name: 'COUNT(*)', path: 'stations', transform: { kind: 'identity' } },
    ]);
    expect(outcome.ok && outcome.restart).toEqual({ stage: 'evidence', only: ['26'] });
  });

  test('two empty results are equal, and said to prove nothing', async () => {
    const sql = 'SELECT COUNT(*) FROM station GROUP BY rowid HAVING COUNT(*) > 99';
    const empty = items().map((item) => (item.questionId === '26' ? { ...item, sql } : item));
    const text = 'db.station.aggregate([{ $match: { _id: { $lt: -1 } } }])';
    const outcome = await checkEdit(gold, { text }, { ...stageInput(), items: empty }, signal);
    expect(outcome, JSON.stringify(outcome)).toMatchObject({
      ok: true,
      notes: [expect.stringMatching(/proves nothing/)],
    });
    const same = await checkEdit(
      gold,
      {
        text:
          'db.station.aggregate([{ $match: { automatic: true } }, { $group: { _id: null, ' +
          'stations: { $sum: 1 } } }, { $project: { _id: 0, stations: 1 } }])',
      },
      stageInput(),
      signal,
    );
    expect(same.ok && same.notes).toBeUndefined();
  });

  test('a design that loses a column, embeds orphans, or is not one, is refused', async () => {
    const logical = (await run.artefacts<LogicalDesign>({
      kind: 'logical_design',
      key: 'river_sensors/station',
    }))!;
    const { profile } = (await run.artefacts<ProfileContent>({
      kind: 'profile',
      key: 'river_sensors',
    }))!;
    const csv = logicalCsv(logical, storedTypes(profile));
    const ref = { kind: 'collection_validation', key: 'river_sensors/station' } as const;
    expect(await checkEdit(ref, { csv }, stageInput(), signal)).toMatchObject({
      ok: true,
      restart: { stage: 'migration' },
    });
    const short = csv
      .split('\r\n')
      .filter((line) => !line.includes('station.river'))
      .join('\r\n');
    const rows = csv.split('\r\n');
    const river = rows.find((line) => line.includes('station.river'))!;
    const at = `line ${rows.indexOf(river) + 1}`;
    const problems = async (text: string) => {
      const edited = await checkEdit(ref, { csv: text }, stageInput(), signal);
      return edited.ok ? [] : edited.problems;
    };
    expect(await problems(short)).toEqual([
      {
        path: 'station.river',
        message:
          'the row of "station.river" is missing: no field holds the values of this ' +
          `column. It was: ${river}`,
      },
    ]);
    expect(await problems(csv.replace('"station.river",', '"station.brook",'))).toEqual([
      {
        path: at,
        message:
          '"station.river" held station.river before: no field holds the values of this column',
      },
      { path: at, message: '"station.river": station has no column brook' },
    ]);
    expect(
      await problems(
        csv.replace(river, '"station.river","station.river","String","integer→string"'),
      ),
    ).toContainEqual({
      path: at,
      message: expect.stringMatching(
        /^"station.river": integer→string cannot carry the column: /,
      ) as string,
    });
    const readings =
      '"reading","station.readings","Array","rows of reading where station_id = parent id; ' +
      'order: source order; relationship ""none"""';
    expect(await problems(`${csv}${readings}\r\n`)).toContainEqual({
      path: `line ${rows.length}`,
      message: '"station.readings": none is no relationship between reading and station',
    });
    expect(await problems(csv.replaceAll(',"station.', ',"stations.'))).toEqual([
      {
        path: 'line 2',
        message: expect.stringContaining('this is the design of station;') as string,
      },
    ]);
    const conceptual = (await run.artefacts<ConceptualDesign>({
      kind: 'conceptual_design',
      key: 'river_sensors',
    }))!;
    const orphaned = {
      ...conceptual,
      collections: conceptual.collections,
      relationships: conceptual.relationships.map((choice) =>
        choice.relationship.startsWith('inspection')
          ? { ...choice, choice: 'embed', field: 'visits', cardinality: 'many' }
          : choice,
      ),
    };
    const outcome = await checkEdit(
      { kind: 'conceptual_design', key: 'river_sensors' },
      orphaned,
      stageInput(),
      signal,
    );
    expect(outcome.ok ? '' : outcome.problems.map((problem) => problem.message).join()).toMatch(
      /placed 2 times/,
    );
    expect(
      (
        await checkEdit(
          { kind: 'conceptual_design', key: 'river_sensors' },
          { hello: 1 },
          stageInput(),
          signal,
        )
      ).ok,
    ).toBe(false);
  });

  test('evidence must name fields that exist', async () => {
    const ref = { kind: 'evidence', key: 'river_sensors/26' } as const;
    expect(
      await checkEdit(ref, { evidenceMql: 'see station.colour' }, stageInput(), signal),
    ).toMatchObject({
      ok: false,
      problems: [{ message: 'the design has no field station.colour' }],
    });
    expect(
      await checkEdit(
        ref,
        { evidenceMql: "automatic refers to station.automatic = 'true'" },
        stageInput(),
        signal,
      ),
    ).toMatchObject({ ok: true });
  });
});

test('builtin honours what it can and names what it cannot', async () => {
  const note: Directive = { kind: 'free_text', note: 'Make it nicer.' };
  const reference: Directive = {
    kind: 'relationship',
    relationship: 'sensor(type_id)->sensor.type(id)',
    choice: 'reference',
  };
  const { artefacts, report } = await stages.conceptual_design(stageInput([note, reference]), {
    signal,
    progress: () => undefined,
  });
  const design = artefacts.find((artefact) => artefact.kind === 'conceptual_design')!
    .content as ConceptualDesign;
  expect(
    design.relationships.find((choice) => choice.relationship === reference.relationship),
  ).toMatchObject({ choice: 'reference', directed: true });
  expect(report.cannotAct).toMatchObject([{ directive: note }]);
});

describe('bundle', () => {
  const content = async (missing: readonly string[] | undefined): Promise<BundleContent> => ({
    name: 'sample',
    toolVersion: '0.0.0',
    engine: { name: 'test', version: '8.0.0' },
    questionFiles: benchmark.questionFiles,
    databases: [await collectBundleDatabase(database(), items(), run.artefacts)],
    problems: [],
    provenance: { decisions: [{ by: 'somebody' }], effort: [], agentRuns: [], auditHead: null },
    missing,
  });
  const listing = (root: string): string[] =>
    fs
      .readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .sort();

  test('exporting twice gives identical bytes, and verifies', async () => {
    const [a, b] = [path.join(folder, 'a'), path.join(folder, 'b')];
    await exportBundle(await content(undefined), { out: a, mongo, key, signal });
    await exportBundle(await content(undefined), { out: b, mongo, key, signal });
    expect(listing(a)).toEqual(listing(b));
    for (const name of listing(a))
      expect(
        fs.readFileSync(path.join(a, name)).equals(fs.readFileSync(path.join(b, name))),
        name,
      ).toBe(true);
    expect(listing(a)).toEqual(
      expect.arrayContaining([
        'MANIFEST.json',
        'MANIFEST.sig',
        'README.md',
        'SHA256SUMS',
        'VERSION',
        'data/dev.jsonl',
        'databases/river_sensors/conceptual.md',
        'databases/river_sensors/dump/reading.bson.gz',
        'databases/river_sensors/ejson/reading.jsonl.gz',
        'databases/river_sensors/indexes.json',
        'databases/river_sensors/logical/reading.csv',
        'databases/river_sensors/validation/table.json',
        'provenance/decisions.jsonl',
        'results/dev.jsonl.gz',
      ]),
    );
    expect(await verifyBundle(a, { mongo, signal })).toMatchObject({
      draft: false,
      gold: 14,
      equal: 14,
      problems: [],
    });
    const stranger = signingKey(
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    );
    expect(
      (await verifyBundle(a, { mongo, signal, publicKey: stranger.publicKey })).problems,
    ).toHaveLength(1);
    fs.appendFileSync(path.join(a, 'data/dev.jsonl'), '\n');
    fs.writeFileSync(path.join(a, 'extra.txt'), '');
    const { problems } = await verifyBundle(a, { mongo, signal });
    expect(problems.join()).toMatch(
      /data\/dev\.jsonl: differs from MANIFEST\.json.*extra\.txt: not listed/s,
    );
  });

  test('gold that is not equal on the shipped bytes is refused; a draft says so', async () => {
    const sound = await content(undefined);
    const [first] = sound.databases;
    const wrong = {
      ...first!,
      items: first!.items.map((item, index) =>
        index === 0
          ? { ...item, mql: { collection: 'station', pipeline: [{ $count: 'count' }] } }
          : item,
      ),
    };
    const out = path.join(folder, 'refused');
    await expect(
      exportBundle({ ...sound, databases: [wrong] }, { out, mongo, key, signal }),
    ).rejects.toThrow(ExportRefused);
    expect(fs.existsSync(out)).toBe(false);
    await exportBundle(
      { ...sound, databases: [wrong], missing: ['review'] },
      { out, mongo, key, signal },
    );
    expect(fs.readFileSync(path.join(out, 'README.md'), 'utf8')).toMatch(
      /DRAFT[\s\S]*gold is not equal/,
    );
    expect(fs.readFileSync(path.join(out, 'VERSION'), 'utf8')).toContain('DRAFT');
  });

  test('a draft asks for nothing that its stages found out; what is finalised is run again, all of it', async () => {
    const bundle = async (
      name: string,
      missing: readonly string[] | undefined,
    ): Promise<{ asked: number; files: Buffer[] }> => {
      const out = path.join(folder, name);
      const queries = vi.spyOn(QueryProcess.prototype, 'query');
      await exportBundle(await content(missing), {
        out,
        mongo,
        key,
        signal,
        ...(name.includes('known') && { known }),
      });
      const asked = queries.mock.calls.length;
      queries.mockRestore();
      return {
        asked,
        files: ['data/dev.jsonl', 'results/dev.jsonl.gz'].map((file) =>
          fs.readFileSync(path.join(out, file)),
        ),
      };
    };
    const [draft, shared, final] = [
      await bundle('draft', ['review']),
      await bundle('known draft', ['review']),
      await bundle('known final', undefined),
    ];
    expect(shared.asked).toBe(0);
    expect(shared.files).toEqual(draft.files);
    expect(draft.asked).toBeGreaterThanOrEqual(14);
    expect(final.asked).toBe(draft.asked);
  });

  test('a folder that holds something else is left alone', async () => {
    const out = path.join(folder, 'mine');
    fs.mkdirSync(out);
    fs.writeFileSync(path.join(out, 'letter.txt'), 'dear');
    await expect(
      exportBundle(await content(['review']), { out, mongo, key, signal }),
    ).rejects.toThrow(/something else than a bundle/);
    expect(fs.readdirSync(out)).toEqual(['letter.txt']);
  });
});

test('translations of one-to-one designs are equal too', async () => {
  const oneToOne = await runInMemory({
    source: database(),
    items: items(),
    settings: { ...defaultSettings, strategy: 'one-to-one' },
    agent: builtinAgent,
    mongo,
    mongoPrefix: 'one',
    signal,
  });
  expect(oneToOne.reports.translation).toMatchObject({ translated: 14 });
  const content = (await oneToOne.artefacts<TranslationContent>({
    kind: 'translation',
    key: 'river_sensors/34',
  }))!;
  expect(JSON.stringify(content.mql!.pipeline)).toContain('$lookup');
});

test('without rules the gold stays as it was translated', async () => {
  const plain = await runInMemory({
    source: database(),
    items: items(),
    settings: { ...defaultSettings, strategy: 'one-to-one', rules: 'none' },
    agent: builtinAgent,
    mongo,
    mongoPrefix: 'plain',
    signal,
  });
  for (const { questionId } of items()) {
    const key = `river_sensors/${questionId}`;
    const translation = await plain.artefacts<TranslationContent>({ kind: 'translation', key });
    const gold = await plain.artefacts<GoldContent>({ kind: 'gold', key });
    expect(gold?.mql).toEqual(translation?.mql);
  }
});

test('integer keys as text: every document refers by text, nothing is lost, translations are equal', async () => {
  const asText = await runInMemory({
    source: database(),
    items: items(),
    settings: { ...defaultSettings, identifiers: 'string' },
    agent: builtinAgent,
    mongo,
    mongoPrefix: 'ids',
    signal,
  });
  const { mongoDatabase } = (await asText.artefacts<Migration>({
    kind: 'migration',
    key: 'river_sensors',
  }))!;
  const station = await mongo.db(mongoDatabase).collection('station').findOne();
  expect(typeof station?._id).toBe('string');
  expect(asText.reports.translation).toMatchObject({ translated: 14, untranslated: 0 });
  for (const stage of ['collection_validation', 'cross_validation', 'table_validation'] as const)
    expect(asText.reports[stage]).toMatchObject({ failed: 0 });
});
