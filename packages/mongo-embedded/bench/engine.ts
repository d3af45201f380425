import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { BSON } from 'mongodb';
import { Doc } from '../src/bson/doc';
import { readInt32, skipValue } from '../src/bson/decode';
import { encode } from '../src/bson/encode';
import { Engine, type Request } from '../src/commands/engine';
import { prepareAggregate } from '../src/commands/read';
import { insert } from '../src/commands/write';
import { createIndexes } from '../src/commands/indexes';
import { checkHeap, tidy } from '../src/memory';
import { Store } from '../src/storage/store';
import type { Value } from '../src/bson/value';

/**
 * How much the engine adds to a hand-written loop over the same raw BSON, and how it compares with
 * mingo on the same documents as objects in memory.
 *
 * Run: npx tsx packages/mongo-embedded/bench/engine.ts [documents]
 *
 * mingo is not a dependency: MINGO names the folder of a copy installed elsewhere
 * (`…/node_modules/mingo`).
 */

const count = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-bench-'));

function document(i: number): Buffer {
  return encode(
    Doc.of({
      _id: i,
      city: `city ${(i * 7919) % 400}`,
      user: (i * 104729) % 100_000,
      price: ((i * 31) % 10_007) + 0.5,
      quantity: (i * 17) % 50,
      tags: [`t${i % 7}`, `t${i % 11}`, `t${i % 13}`],
      note: 'some text that is never read',
    }),
  );
}

/** Spec as JSON. */
function value(v: unknown): Value {
  if (Array.isArray(v)) return v.map(value);
  if (typeof v === 'object' && v !== null)
    return Doc.of(Object.fromEntries(Object.entries(v).map(([k, x]) => [k, value(x)])));
  return v as Value;
}

const store = new Store(path.join(folder, 'data.sqlite'), true);
const engine = new Engine(store, 0);
const request = (command: unknown, sequences = new Map<string, Buffer[]>()): Request => {
  const doc = value(command) as Doc;
  return {
    database: 'b',
    name: doc.keys[0] as string,
    command: doc,
    sequences,
    checkpoint: checkHeap,
  };
};
const aggregate = (pipeline: unknown, collection = 'main'): number => {
  const { next } = prepareAggregate(
    engine,
    request({ aggregate: collection, pipeline, cursor: {} }),
    value(pipeline),
  );
  let n = 0;
  while (next() !== null) n++;
  return n;
};

function timed(work: () => unknown, runs = 3): number {
  let best = Infinity;
  for (let i = 0; i < runs; i++) {
    const t = performance.now();
    work();
    best = Math.min(best, performance.now() - t);
    // As a query thread does between two commands.
    tidy();
  }
  return best;
}

// ---- inserting

/**
 * The only copy that this program keeps, so that little but the engine's own memory is measured.
 */
const all = Buffer.concat(
  Array.from({ length: Math.ceil(count / 10_000) }, (_, c) =>
    Buffer.concat(
      Array.from({ length: Math.min(10_000, count - c * 10_000) }, (_unused, i) =>
        document(c * 10_000 + i),
      ),
    ),
  ),
);
/** Milliseconds that it takes to insert them, in batches of 10,000. */
function timedInserts(insertBatch: (docs: Buffer[]) => void): number {
  let total = 0;
  for (let at = 0; at < all.length;) {
    const docs: Buffer[] = [];
    for (; docs.length < 10_000 && at < all.length; at += readInt32(all, at))
      docs.push(all.subarray(at, at + readInt32(all, at)));
    const t = performance.now();
    insertBatch(docs);
    total += performance.now() - t;
    tidy();
  }
  return total;
}
const plain = new Database(path.join(folder, 'plain.sqlite'));
plain.pragma('journal_mode = WAL');
plain.pragma('synchronous = NORMAL');
plain.exec('CREATE TABLE c(rid INTEGER PRIMARY KEY, d BLOB NOT NULL)');
const statement = plain.prepare('INSERT INTO c(d) VALUES(?)');
const direct = timedInserts((docs) =>
  plain.transaction(() => docs.forEach((d) => statement.run(d)))(),
);
plain.close();
const viaEngine = timedInserts(
  (docs) =>
    void insert(engine, request({ insert: 'main', $db: 'b' }, new Map([['documents', docs]]))),
);
console.log(`${count} documents, ${(all.length / count).toFixed(0)} bytes each`);
console.log(
  `insert: ${viaEngine.toFixed(0)} ms, directly into SQLite ${direct.toFixed(0)} ms, ratio ` +
    `${(viaEngine / direct).toFixed(2)}`,
);

// ---- the same bytes, read by hand

/** Calls back with the offset of the wanted field's value in each document. */
function scan(name: string, visit: (at: number, type: number) => void): void {
  const wanted = Buffer.from(name);
  for (let start = 0; start < all.length; start += readInt32(all, start)) {
    let at = start + 4;
    for (;;) {
      const type = all[at] as number;
      if (type === 0) break;
      let i = 0;
      while (i < wanted.length && all[at + 1 + i] === wanted[i]) i++;
      let end = at + 1 + i;
      if (i === wanted.length && all[end] === 0) {
        visit(end + 1, type);
        break;
      }
      while (all[end] !== 0) end++;
      at = skipValue(all, type, end + 1);
    }
  }
}
const text = (at: number): string => all.toString('latin1', at + 4, at + 3 + readInt32(all, at));

const cases: { name: string; pipeline: object[]; hand: () => unknown }[] = [
  {
    name: '$match',
    pipeline: [{ $match: { quantity: { $gt: 40 } } }, { $count: 'n' }],
    hand: () => {
      let n = 0;
      scan('quantity', (at) => void (readInt32(all, at) > 40 && n++));
      return n;
    },
  },
  {
    name: '$group, 400 groups',
    pipeline: [{ $group: { _id: '$city', n: { $sum: 1 }, q: { $sum: '$quantity' } } }],
    hand: () => {
      const groups = new Map<string, { n: number; q: number }>();
      let city = '';
      const both = (): void =>
        scanTwo('city', 'quantity', (a, b) => {
          city = text(a);
          let g = groups.get(city);
          if (!g) groups.set(city, (g = { n: 0, q: 0 }));
          g.n++;
          g.q += readInt32(all, b);
        });
      both();
      return groups.size;
    },
  },
  {
    name: '$group, 100 k groups',
    pipeline: [{ $group: { _id: '$user', q: { $sum: '$quantity' } } }],
    hand: () => {
      const groups = new Map<number, { q: number }>();
      scanTwo('user', 'quantity', (a, b) => {
        const user = readInt32(all, a);
        let g = groups.get(user);
        if (!g) groups.set(user, (g = { q: 0 }));
        g.q += readInt32(all, b);
      });
      return groups.size;
    },
  },
  {
    name: '$unwind + $group',
    pipeline: [{ $unwind: '$tags' }, { $group: { _id: '$tags', n: { $sum: 1 } } }],
    hand: () => {
      const groups = new Map<string, number>();
      scan('tags', (start) => {
        let at = start + 4;
        while (all[at] !== 0) {
          const type = all[at] as number;
          while (all[++at] !== 0);
          const tag = text(++at);
          groups.set(tag, (groups.get(tag) ?? 0) + 1);
          at = skipValue(all, type, at);
        }
      });
      return groups.size;
    },
  },
  {
    name: 'computed $project',
    pipeline: [{ $project: { total: { $multiply: ['$price', '$quantity'] } } }],
    hand: () => {
      let last: unknown;
      scanTwo('price', 'quantity', (a, b) => {
        last = { _id: 0, total: all.readDoubleLE(a) * readInt32(all, b) };
      });
      return last;
    },
  },
  {
    name: '$sort by two keys',
    pipeline: [{ $sort: { quantity: 1, price: -1 } }, { $count: 'n' }],
    hand: () => {
      const rows: { q: number; p: number }[] = [];
      scanTwo(
        'price',
        'quantity',
        (a, b) => void rows.push({ q: readInt32(all, b), p: all.readDoubleLE(a) }),
      );
      return rows.sort((x, y) => x.q - y.q || y.p - x.p).length;
    },
  },
  {
    name: 'top 10',
    pipeline: [{ $sort: { price: -1 } }, { $limit: 10 }],
    hand: () => {
      const top: number[] = [];
      scan('price', (at) => {
        const p = all.readDoubleLE(at);
        if (top.length < 10 || p > (top[9] as number)) {
          top.push(p);
          top.sort((a, b) => b - a);
          top.length = Math.min(10, top.length);
        }
      });
      return top;
    },
  },
];

/** Two fields of each document in one pass. */
function scanTwo(first: string, second: string, visit: (a: number, b: number) => void): void {
  const names = [Buffer.from(first), Buffer.from(second)] as const;
  for (let start = 0; start < all.length; start += readInt32(all, start)) {
    let at = start + 4;
    let a = -1;
    let b = -1;
    for (;;) {
      const type = all[at] as number;
      if (type === 0) break;
      let end = at + 1;
      while (all[end] !== 0) end++;
      if (a < 0 && matches(names[0], at + 1, end)) a = end + 1;
      else if (b < 0 && matches(names[1], at + 1, end)) b = end + 1;
      if (a >= 0 && b >= 0) break;
      at = skipValue(all, type, end + 1);
    }
    visit(a, b);
  }
}
function matches(name: Buffer, start: number, end: number): boolean {
  if (end - start !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (all[start + i] !== name[i]) return false;
  return true;
}

aggregate([{ $count: 'n' }]);
const measured = new Map<string, number>();
for (const c of cases) {
  const hand = timed(c.hand);
  const ours = timed(() => aggregate(c.pipeline));
  measured.set(c.name, ours);
  console.log(
    `${c.name.padEnd(22)} ${ours.toFixed(0).padStart(6)} ms   by hand ` +
      `${hand.toFixed(0).padStart(6)} ms   ratio ${(ours / hand).toFixed(2)}`,
  );
}

// ---- joins

const people = 100_000;
insert(
  engine,
  request(
    { insert: 'small', $db: 'b' },
    new Map([
      [
        'documents',
        Array.from({ length: 1000 }, (_, i) => encode(Doc.of({ _id: i, k: (i * 97) % people }))),
      ],
    ]),
  ),
);
for (let i = 0; i < people; i += 10_000) {
  const docs = Array.from({ length: 10_000 }, (_, j) =>
    encode(Doc.of({ _id: i + j, k: i + j, name: `person ${i + j}` })),
  );
  insert(engine, request({ insert: 'people', $db: 'b' }, new Map([['documents', docs]])));
}
createIndexes(
  engine,
  request({ createIndexes: 'people', indexes: [{ key: { k: 1 }, name: 'k_1' }] }),
);
// A join takes milliseconds: more runs, until both sides are compiled.
const JOIN_RUNS = 15;
const joins = (mode: string, within: (work: () => unknown) => unknown): void => {
  const measure = (work: () => unknown): number => timed(() => within(work), JOIN_RUNS);
  const byId = measure(() => {
    const people_ = store.require('b', 'people');
    for (let i = 0; i < 1000; i++) people_.byId((i * 97) % people);
  });
  const field = measure(() =>
    aggregate(
      [{ $lookup: { from: 'people', localField: 'k', foreignField: 'k', as: 'p' } }],
      'small',
    ),
  );
  const letForm = measure(() =>
    aggregate(
      [
        {
          $lookup: {
            from: 'people',
            let: { k: '$k' },
            pipeline: [{ $match: { $expr: { $eq: ['$k', '$$k'] } } }],
            as: 'p',
          },
        },
      ],
      'small',
    ),
  );
  console.log(
    `$lookup 1,000 × ${people}, ${mode}: ${field.toFixed(1)} ms, reading by _id ` +
      `${byId.toFixed(1)} ms, ratio ${(field / byId).toFixed(2)}; let form ${letForm.toFixed(1)} ` +
      `ms, ${(letForm / field).toFixed(2)} of the field form`,
  );
};
joins('each look by itself', (work) => work());
joins('in one read transaction, as query threads do', (work) => store.reading.within(work));
const rss = process.memoryUsage.rss() / 1048576;
console.log(
  `resident ${rss.toFixed(0)} MB, of which ${(all.length / 1048576).toFixed(0)} MB are this ` +
    `program's own copy; limit ${((2.5 * all.length) / 1048576 + 300).toFixed(0)} MB`,
);

// ---- mingo

interface Mingo {
  aggregate(documents: object[], pipeline: object[]): object[];
}
const mingoFolder = process.env.MINGO;
if (!mingoFolder) console.log('mingo: not compared (MINGO names no folder)');
else {
  const { version, main } = JSON.parse(
    readFileSync(path.join(mingoFolder, 'package.json'), 'utf8'),
  ) as { version: string; main: string };
  const mingo = (
    (await import(pathToFileURL(path.join(mingoFolder, main)).href)) as { default: Mingo }
  ).default;
  const objects: object[] = [];
  for (let at = 0; at < all.length; at += readInt32(all, at))
    objects.push(BSON.deserialize(all.subarray(at, at + readInt32(all, at))));
  for (const c of cases) {
    const theirs = timed(() => mingo.aggregate(objects, c.pipeline));
    console.log(
      `${c.name.padEnd(22)} mingo ${version} ${theirs.toFixed(0).padStart(6)} ms   ours / mingo ` +
        `${((measured.get(c.name) as number) / theirs).toFixed(2)}`,
    );
  }
}
store.close();
rmSync(folder, { recursive: true, force: true });
