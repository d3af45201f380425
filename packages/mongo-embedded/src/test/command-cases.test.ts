import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { BSON, type Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestEngine } from './test-engine';

/**
 * Cases of commands other than aggregate, as data: what they answer, and what they leave behind.
 */

interface Case {
  name: string;
  documents: Document[];
  indexes?: Document[];
  /** All but the last set the scene. */
  commands: Document[];
  /** Fields of the last one's reply; of a cursor, its documents. */
  reply?: Document;
  batch?: Document[];
  /** MongoDB's number of the error, of the command or of its first write. */
  code?: number;
  /** The collection afterwards. */
  after?: Document[];
}

const folder = path.join(import.meta.dirname, '../../cases/commands');
let engine: TestEngine;
beforeAll(() => {
  engine = new TestEngine();
});
afterAll(() => engine.close());

const text = (value: unknown): string => BSON.EJSON.stringify(value, { relaxed: false });
const exact: BSON.DeserializeOptions = { promoteValues: false, bsonRegExp: true };
const contents = (command: Document): Document[] =>
  (engine.run(command, exact).cursor as { firstBatch: Document[] }).firstBatch;

function failure(command: Document): number {
  let reply: Document;
  try {
    reply = engine.run(command);
  } catch (error) {
    return (error as { code: number }).code;
  }
  return (reply.writeErrors as { code: number }[] | undefined)?.[0]?.code ?? 0;
}

for (const file of readdirSync(folder).sort()) {
  describe(file.replace('.jsonl', ''), () => {
    for (const line of readFileSync(path.join(folder, file), 'utf8').split('\n').filter(Boolean)) {
      const c = BSON.EJSON.parse(line, { relaxed: false }) as Case;
      it(c.name, () => {
        engine.fill('main', c.documents);
        if (c.indexes) engine.run({ createIndexes: 'main', indexes: c.indexes });
        const last = c.commands[c.commands.length - 1] as Document;
        for (const command of c.commands.slice(0, -1)) engine.run(command);
        expect([c.code, c.batch, c.reply, c.after].some((x) => x !== undefined)).toBe(true);
        if (c.code !== undefined) expect(failure(last)).toBe(Number(c.code));
        else if (c.batch) expect(contents(last).map(text)).toEqual(c.batch.map(text));
        else {
          const reply = engine.run(last, exact);
          for (const [key, value] of Object.entries(c.reply ?? {}))
            expect(text({ [key]: reply[key] as unknown })).toBe(text({ [key]: value as unknown }));
          expect(reply.writeErrors).toBeUndefined();
        }
        if (c.after) expect(contents({ find: 'main' }).map(text)).toEqual(c.after.map(text));
      });
    }
  });
}
