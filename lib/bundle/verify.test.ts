import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { BSON, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectMongo } from '../mongo/client';
import { start as startMongoServer } from 'mongo-embedded';
import { toBsonValue, type Value } from '../results/value';
import { resultDigest } from '../results/result-digest';
import { installationKey } from './signature';
import { verifyBundle, type Verification } from './verify';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-verify-'));
const bundle = path.join(folder, 'bundle');
const key = installationKey(path.join(folder, 'key'));
let server: Awaited<ReturnType<typeof startMongoServer>>;
let mongo: MongoClient;
beforeAll(async () => {
  server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
  mongo = await connectMongo(server.uri);
});
afterAll(async () => {
  await mongo.close();
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

const item = {
  question_id: 'q1',
  db_id: 'shop',
  status: 'translated',
  MQL: { collection: 'c', pipeline: [{ $project: { _id: 0, v: 1 } }] },
  columns: [{ name: 'v', path: 'v' }],
  caveats: [],
  order_sensitive: false,
  row_count: 1,
};
const result = '{"question_id":"q1","db_id":"shop","row_count":1,"rows":[{"v":"x"}]}\n';
const sound: Readonly<Record<string, string | Buffer>> = {
  'README.md': 'a bundle\n',
  'data/dev.jsonl': `${JSON.stringify(item)}\n`,
  'results/dev.jsonl.gz': gzipSync(result),
  'databases/shop/ejson/c.jsonl.gz': gzipSync('{"_id":{"$numberInt":"1"},"v":"x"}\n'),
  'databases/shop/indexes.json': '{}\n',
};

/** Writes a bundle of these files, signed and summed. */
function write(
  files: Readonly<Record<string, string | Buffer>>,
  lines?: Record<string, { items: number; results: number }>,
): void {
  fs.rmSync(bundle, { recursive: true, force: true });
  const records: Record<string, { sha256: string; bytes: number }> = {};
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(bundle, name)), { recursive: true });
    fs.writeFileSync(path.join(bundle, name), content);
    records[name] = {
      sha256: createHash('sha256').update(content).digest('hex'),
      bytes: Buffer.from(content).length,
    };
  }
  const manifest = JSON.stringify({
    draft: false,
    publicKey: key.publicKey,
    lines,
    files: records,
  });
  fs.writeFileSync(path.join(bundle, 'MANIFEST.json'), manifest);
  fs.writeFileSync(path.join(bundle, 'MANIFEST.sig'), key.sign(Buffer.from(manifest)));
  fs.writeFileSync(
    path.join(bundle, 'SHA256SUMS'),
    Object.entries(records)
      .map(([name, { sha256 }]) => `${sha256}  ${name}\n`)
      .join(''),
  );
}
beforeEach(() => write(sound));

const verify = (publicKey?: string): Promise<Verification> =>
  verifyBundle(bundle, {
    mongo,
    signal: new AbortController().signal,
    ...(publicKey === undefined ? {} : { publicKey }),
  });
const at = (name: string): string => path.join(bundle, name);

test('a sound bundle, and whose key it was checked with', async () => {
  expect(await verify()).toMatchObject({
    gold: 1,
    equal: 1,
    problems: [],
    key: { publicKey: key.publicKey, from: 'bundle' },
  });
  expect(await verify(key.publicKey)).toMatchObject({ problems: [], key: { from: 'given' } });
  expect((await verify('bm9uc2Vuc2U=')).problems).toEqual([
    'MANIFEST.sig: cannot be checked: a public key is 32 bytes in base64',
  ]);
});

describe('files', () => {
  test.each<[string, () => void, string[]]>([
    ['no SHA256SUMS', () => fs.rmSync(at('SHA256SUMS')), ['SHA256SUMS: missing']],
    [
      'a file that SHA256SUMS leaves out',
      () =>
        fs.writeFileSync(
          at('SHA256SUMS'),
          fs.readFileSync(at('SHA256SUMS'), 'utf8').replace(/.*README.md\n/, ''),
        ),
      ['README.md: not in SHA256SUMS'],
    ],
    [
      'an altered file',
      () => fs.writeFileSync(at('README.md'), 'another\n'),
      ['README.md: differs from MANIFEST.json', 'README.md: differs from SHA256SUMS'],
    ],
    ['a missing file', () => fs.rmSync(at('README.md')), ['README.md: missing']],
    [
      'a further file',
      () => fs.writeFileSync(at('data/more.txt'), ''),
      ['data/more.txt: not listed in MANIFEST.json'],
    ],
    [
      'a further link',
      () => fs.symlinkSync('/etc/hostname', at('data/link')),
      ['data/link: a symbolic link, not listed in MANIFEST.json'],
    ],
    [
      'a further link to a folder',
      () => fs.symlinkSync('/etc', at('etc')),
      ['etc: a symbolic link, not listed in MANIFEST.json'],
    ],
    [
      'a file replaced by a link to the same bytes',
      () => (
        fs.renameSync(at('README.md'), path.join(folder, 'moved')),
        fs.symlinkSync(path.join(folder, 'moved'), at('README.md'))
      ),
      ['README.md: a symbolic link instead of a file'],
    ],
    ['no signature', () => fs.rmSync(at('MANIFEST.sig')), ['MANIFEST.sig: missing']],
  ])('%s', async (_, damage, problems) => {
    damage();
    expect((await verify()).problems).toEqual(problems);
  });

  test.each([
    ['no JSON', '{', /no bundle that can be verified: MANIFEST.json: no JSON/],
    ['another shape', '{"draft": false, "files": {}}', /MANIFEST.json: publicKey: /],
  ])('a manifest that is %s', async (_, text, message) => {
    fs.writeFileSync(at('MANIFEST.json'), text);
    await expect(verify()).rejects.toThrow(message);
  });
});

describe('contents that were signed, but are not what a bundle holds', () => {
  test.each<[string, Record<string, string | Buffer>, RegExp[]]>([
    [
      'an item line that is no JSON',
      { 'data/dev.jsonl': `${JSON.stringify(item)}\n{"question_id": \n` },
      [/^data\/dev.jsonl, line 2: no JSON/],
    ],
    [
      'an item without its columns',
      { 'data/dev.jsonl': `${JSON.stringify({ ...item, columns: undefined })}\n` },
      [/^data\/dev.jsonl, line 1: columns: /, /rows of an item that does not exist/],
    ],
    [
      'another query as text',
      { 'data/dev.jsonl': `${JSON.stringify({ ...item, MQL_text: 'db.c.aggregate([])' })}\n` },
      [/MQL_text is another query than MQL/],
    ],
    [
      'an item of a database that is not there',
      {
        'data/dev.jsonl': [item, { ...item, question_id: 'q2', db_id: 'gone' }]
          .map((entry) => `${JSON.stringify(entry)}\n`)
          .join(''),
      },
      [/item q2 is of gone, which is not in databases/],
    ],
    [
      'an empty dump',
      { 'databases/shop/dump/c.bson.gz': gzipSync('') },
      [/is not the document of the dump/],
    ],
    [
      'rows of no item',
      { 'results/dev.jsonl.gz': gzipSync(`${result}${result.replace('q1', 'q9')}`) },
      [/rows of an item that does not exist: .*q9/],
    ],
    [
      'a result line that is none',
      { 'results/dev.jsonl.gz': gzipSync('{"question_id":"q1"}\n') },
      [
        /^results\/dev.jsonl.gz, line 1: cannot be read/,
        /^shop\/q1: its expected rows are missing/,
      ],
    ],
    [
      'damaged compression',
      { 'results/dev.jsonl.gz': Buffer.from('not gzip') },
      [
        /^results\/dev.jsonl.gz: cannot be read: incorrect header check/,
        /expected rows are missing/,
      ],
    ],
    [
      'truncated compression of documents',
      { 'databases/shop/ejson/c.jsonl.gz': gzipSync('{"_id":1}\n').subarray(0, 20) },
      [/^databases\/shop: cannot be restored: unexpected end of file/],
    ],
    [
      'a database without documents',
      { 'databases/shop/ejson/c.jsonl.gz': '', 'databases/other/indexes.json': '{}' },
      [/^databases\/other: cannot be restored: .*ejson/, /^databases\/shop: cannot be restored/],
    ],
  ])('%s', async (_, files, problems) => {
    write({ ...sound, ...files });
    const found = (await verify()).problems;
    expect(found).toHaveLength(problems.length);
    problems.forEach((problem, n) => expect(found[n]).toMatch(problem));
  });
});

describe('gold against its expected rows', () => {
  const documents = [1, 2, 3, 4]
    .map((id) => `{"_id":${id},"v":"${'aabc'[id - 1]}","n":${id}}`)
    .join('\n');
  const columns = [
    { name: 'v', path: 'v' },
    { name: 'n', path: 'n' },
  ];
  const project = { $project: { _id: 0, v: 1, n: 1 } };
  const rows = [
    ['a', 1n],
    ['a', 2n],
    ['b', 3n],
    ['c', 4n],
  ] as const;
  const ordered = { ...item, columns, order_sensitive: true, row_count: 4 };

  interface Gold {
    readonly pipeline: readonly object[];
    readonly tied?: readonly (readonly [number, number])[];
    readonly item?: object;
    readonly shown?: number;
    readonly expected?: readonly (readonly Value[])[];
    readonly choices?:
      | readonly {
          readonly rows: readonly [number, number];
          readonly among: readonly (readonly Value[])[];
        }[]
      | undefined;
  }

  const verified = async ({
    pipeline,
    tied,
    item: change,
    shown = 4,
    expected = rows,
    choices,
  }: Gold): Promise<readonly string[]> => {
    const whole = { columns: ['v', 'n'], rows: expected };
    const entry = { ...ordered, MQL: { collection: 'c', pipeline }, ...change };
    const digest = resultDigest(whole, entry.order_sensitive);
    const asDocument = ([v, n]: readonly Value[]) => toBsonValue({ v: v!, n: n! });
    const shipped = expected.slice(0, shown).map(asDocument);
    const open = choices?.map(({ rows: at, among }) => ({
      rows: at,
      among: among.map(asDocument),
    }));
    const line = {
      question_id: 'q1',
      db_id: 'shop',
      row_count: expected.length,
      rows: shipped,
      ...(tied && { tied_rows: tied }),
      ...(open && { open_rows: open }),
    };
    write({
      ...sound,
      'data/dev.jsonl': `${JSON.stringify({ result_digest: digest, ...entry })}\n`,
      'results/dev.jsonl.gz': gzipSync(`${BSON.EJSON.stringify(line, { relaxed: false })}\n`),
      'databases/shop/ejson/c.jsonl.gz': gzipSync(`${documents}\n`),
    });
    const { problems, equal, ties } = await verify();
    if (problems.length === 0) expect(equal + ties).toBe(1);
    return problems;
  };
  const ascending = [{ $sort: { v: 1, n: 1 } }, project];
  const descending = [{ $sort: { v: -1, n: 1 } }, project];
  const swapped = [{ $sort: { v: 1, n: -1 } }, project];
  const only = (...ids: readonly number[]) => [
    { $match: { _id: { $in: ids } } },
    { $sort: { v: -1 } },
    project,
  ];
  /** `ORDER BY v DESC LIMIT 3`: two rows tie at the last place. */
  const cut = {
    item: { caveats: ['tie'], row_count: 3 },
    tied: [],
    expected: [rows[3], rows[2], rows[0]],
    choices: [{ rows: [2, 2], among: [rows[0], rows[1]] }],
  } as const;
  /** `LIMIT 2` without an order. */
  const any = {
    item: { caveats: ['unordered_limit'], row_count: 2, order_sensitive: false },
    expected: [rows[0], rows[1]],
    choices: [{ rows: [0, 1], among: rows }],
  } as const;

  test.each<[string, Gold]>([
    ['rows in order', { pipeline: ascending, tied: [] }],
    ['tied rows in another order', { pipeline: swapped, tied: [[0, 1]] }],
    ['any order where none counts', { pipeline: descending, item: { order_sensitive: false } }],
    ['the first rows of a longer result', { pipeline: ascending, tied: [], shown: 2 }],
    ['a tie that goes on beyond the shown rows', { pipeline: swapped, tied: [[0, 1]], shown: 1 }],
    [
      'another order of a tie that is named',
      { pipeline: descending, tied: [], item: { caveats: ['tie'] } },
    ],
    ['another row of a tie at a limit', { ...cut, pipeline: only(4, 3, 2) }],
    ['the same row of a tie at a limit', { ...cut, pipeline: only(4, 3, 1) }],
    ['any rows of a limit without order', { ...any, pipeline: only(4, 2) }],
    [
      'another row of a tie at a limit that older bundles do not describe',
      { ...cut, choices: undefined, pipeline: only(4, 3, 2) },
    ],
    [
      'the first rows of a longer result, and another row of the tie',
      { ...cut, shown: 2, pipeline: only(4, 3, 2) },
    ],
    [
      'a float within the tolerance',
      {
        pipeline: [...ascending, { $set: { n: { $add: ['$n', 0.5] } } }],
        tied: [],
        expected: rows.map(([v, n]) => [v, (Number(n) + 0.5) * (1 + 1e-12)]),
      },
    ],
  ])('%s: equal', async (_, gold) => {
    expect(await verified(gold)).toEqual([]);
  });

  test.each<[string, Gold, RegExp]>([
    ['a reversed sort', { pipeline: descending, tied: [] }, /come in another order/],
    [
      'a reversed sort beside a tie',
      { pipeline: descending, tied: [[0, 1]] },
      /come in another order/,
    ],
    [
      'tied rows in another order where no tie is known',
      { pipeline: swapped, tied: [] },
      /come in another order/,
    ],
    ['a reversed sort of a longer result', { pipeline: descending, tied: [], shown: 2 }, /digest/],
    [
      'a reversed sort of a longer result with a tie',
      { pipeline: descending, tied: [[0, 1]], shown: 3 },
      /another order/,
    ],
    [
      'other rows beyond the shown ones',
      {
        pipeline: [...ascending, { $set: { v: { $cond: [{ $eq: ['$n', 4] }, 'x', '$v'] } } }],
        tied: [],
        shown: 2,
      },
      /digest/,
    ],
    [
      'too few rows',
      { pipeline: [...ascending, { $limit: 3 }], tied: [] },
      /4 rows expected, 3 found/,
    ],
    [
      'another row count in data',
      { pipeline: ascending, tied: [], item: { row_count: 5 } },
      /data says 5 rows, results 4/,
    ],
    [
      'a field that is no column',
      { pipeline: [{ $sort: { v: 1 } }, { $project: { _id: 0, v: 1, n: 1, w: '$n' } }], tied: [] },
      /no column is named w/,
    ],
    [
      'expected rows with another digest',
      { pipeline: ascending, tied: [], item: { result_digest: 'x' } },
      /do not have the digest/,
    ],
    [
      'an integer as a float that is only close',
      { pipeline: [...ascending, { $set: { n: { $add: ['$n', 1e-10] } } }], tied: [] },
      /rows have no equal/,
    ],
    [
      'a status without MQL',
      { pipeline: ascending, tied: [], item: { status: 'untranslated' } },
      /its MQL says otherwise/,
    ],
    [
      'a sure row of a limit left out',
      { ...cut, pipeline: only(4, 1, 2) },
      /rows have no equal.*; no choice of the rows that tie gives these/,
    ],
    [
      'one row of a tie twice',
      { ...any, pipeline: [...only(4), { $set: { w: [1, 2] } }, { $unwind: '$w' }, project] },
      /no choice of the rows that tie/,
    ],
    [
      'a row that no legal answer has',
      { ...any, pipeline: [...only(4, 1), { $set: { n: { $add: ['$n', 10] } } }] },
      /no choice of the rows that tie/,
    ],
    [
      'too few rows of a limit',
      { ...any, pipeline: only(4) },
      /2 rows expected, 1 found; no choice of the rows that tie/,
    ],
    [
      'sure rows in another order',
      { ...cut, pipeline: [{ $match: { _id: { $gt: 1 } } }, { $sort: { n: 1 } }, project] },
      /no choice of the rows that tie/,
    ],
  ])('%s: named', async (_, gold, problem) => {
    const found = await verified({ ...gold });
    expect(found.join('\n')).toMatch(problem);
  });
});

test.each(['before', 'while'])(
  'MongoDB goes away %s it is restored: no problem of the bundle',
  async (when) => {
    const away = await startMongoServer({ dataDir: path.join(folder, 'away') });
    const client = new MongoClient(away.uri, {
      serverSelectionTimeoutMS: 1000,
      monitorCommands: true,
    });
    await client.connect();
    let stopped: Promise<void> | undefined;
    if (when === 'before') await away.stop();
    else client.once('commandSucceeded', () => (stopped = away.stop()));
    const found = await verifyBundle(bundle, {
      mongo: client,
      signal: new AbortController().signal,
    }).catch((error: unknown) => error);
    await stopped;
    await client.close();
    expect(found).toMatchObject({ name: 'Unavailable', resource: 'MongoDB' });
  },
  60_000,
);

test('lines that were taken out are missed, although all is signed', async () => {
  write(sound, { dev: { items: 2, results: 2 } });
  expect((await verify()).problems).toEqual([
    'data/dev.jsonl: 1 items instead of 2',
    'results/dev.jsonl.gz: 1 lines instead of 2',
  ]);
  write(sound, { dev: { items: 1, results: 1 } });
  expect((await verify()).problems).toEqual([]);
});
