import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { BSON, type Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accumulatorNames } from '../accumulators/accumulator';
import { operatorNames } from '../expressions/expression';
import { stageNames } from '../stages/stage';
import { TestEngine } from './test-engine';

/** The aggregation cases, run in this thread. */

interface Case {
  name: string;
  documents: Document[];
  pipeline: Document[];
  collections?: Record<string, Document[]>;
  collation?: Document;
  expected?: Document[];
  error?: boolean;
  /** MongoDB's number of the error. */
  code?: number;
}

const folder = path.join(import.meta.dirname, '../../cases/aggregation');
let engine: TestEngine;
beforeAll(() => {
  engine = new TestEngine();
});
afterAll(() => engine.close());

const withIds = (documents: readonly Document[]): Document[] =>
  documents.map((d, i) => ('_id' in d ? d : { _id: `made ${i}`, ...d }));
const show = (d: Document): string => {
  const { _id, ...rest } = d;
  return BSON.EJSON.stringify(String(_id).startsWith('made ') ? rest : d, { relaxed: false });
};

for (const file of readdirSync(folder).sort()) {
  describe(file.replace('.jsonl', ''), () => {
    for (const line of readFileSync(path.join(folder, file), 'utf8').split('\n').filter(Boolean)) {
      const c = BSON.EJSON.parse(line, { relaxed: false }) as Case;
      it(c.name, () => {
        engine.fill('main', withIds(c.documents));
        for (const [name, documents] of Object.entries(c.collections ?? {}))
          engine.fill(name, withIds(documents));
        const run = (): string[] =>
          engine
            .aggregate('main', c.pipeline, c.collation ? { collation: c.collation } : {}, {
              promoteValues: false,
              bsonRegExp: true,
            })
            .map(show);
        // Other readers of the cases look for `error`.
        expect(c.error === true).toBe(c.expected === undefined);
        if (c.code !== undefined)
          expect(run).toThrow(expect.objectContaining({ code: Number(c.code) }));
        else if (c.error) expect(run).toThrow();
        else
          expect(run()).toEqual(
            (c.expected ?? []).map((d) => BSON.EJSON.stringify(d, { relaxed: false })),
          );
      });
    }
  });
}

it('every operator, accumulator and stage has a case', () => {
  // What is random or describes the server has no answer to write down; it is tested with the
  // commands.
  const unanswerable = new Set(['$rand', '$sample', '$collStats', '$indexStats']);
  const text = readdirSync(folder)
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .join('');
  const names = [...operatorNames(), ...accumulatorNames, ...stageNames()].filter(
    (name) => !unanswerable.has(name),
  );
  expect(names.length).toBeGreaterThan(150);
  expect(names.filter((name) => !text.includes(`"${name}"`))).toEqual([]);
});
