import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../migration/migrate';
import { ConversionFixture, testLimits } from '../validation/test/conversion-fixture';
import { studyIntegrity } from './integrity';
import { lossFixtures } from './test/loss-fixtures';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

describe.each(lossFixtures)('$name', ({ sql, fkEmbedding, design }) => {
  test('access-pattern and one-to-one lose nothing, and all three validations say so', async () => {
    for (const strategy of ['access-pattern', 'one-to-one'] as const) {
      const converted = await fixture.convert(sql, { strategy });
      expect(converted.problems).toEqual([]);
      expect(await converted.failing()).toEqual([]);
    }
  });

  test('foreign-key embedding fails or loses what the paper says, by the same engines', () => {
    const { sourcePath } = fixture.plan(sql);
    const { strategies } = studyIntegrity(
      { name: 's', path: sourcePath, sha256: '', bytes: 0, descriptions: {} },
      [],
      testLimits,
    );
    expect(strategies).toEqual({
      'access-pattern': { outcome: 'lossless' },
      'one-to-one': { outcome: 'lossless' },
      'fk-embedding': fkEmbedding,
    });
  });

  test.skipIf(!design)('designed by hand, it loses nothing either', async () => {
    const converted = await fixture.convert(sql, { strategy: 'one-to-one', change: design! });
    expect(converted.problems).toEqual([]);
    expect(await converted.failing()).toEqual([]);
  });
});

test.each(lossFixtures)('repeated runs add nothing: $name', async ({ sql }) => {
  const { input, migration, db } = await fixture.convert(sql);
  const contents = async (): Promise<unknown> =>
    Promise.all(
      migration.collections.map(({ name }) =>
        db
          .collection(name)
          .find({}, { hint: { $natural: 1 } })
          .toArray(),
      ),
    );
  const before = await contents();
  expect(await migrate(input)).toEqual(migration);
  await fixture.mongo
    .db('test_meta')
    .collection<{ _id: string }>('aptmql_migrations')
    .deleteOne({ _id: migration.mongoDatabase });
  expect(await migrate(input)).toEqual(migration);
  expect(await contents()).toEqual(before);
});

test('the hand-made shapes are what they are called', async () => {
  const shape = async (name: string): Promise<unknown> => {
    const { sql, design } = lossFixtures.find((candidate) => candidate.name.startsWith(name))!;
    const { db, migration } = await fixture.convert(sql, {
      strategy: 'one-to-one',
      ...(design ? { change: design } : {}),
    });
    return db
      .collection(migration.collections[0]!.name)
      .find({}, { sort: { _id: 1 } })
      .toArray();
  };
  expect(await shape('merge into a parent')).toEqual([
    { _id: 1, v: 'a', detail: { v: 'x', w: null } },
    { _id: 2, v: 'b' },
    { _id: 3, v: null, detail: { v: null, w: null } },
  ]);
  expect(await shape('an array in a document in an array')).toEqual([
    { _id: 1, v: 'r1', m: [{ id: 2, v: 'b' }] },
    {
      _id: 2,
      v: 'r2',
      m: [
        { id: 1, v: 'a', one: { id: 2, v: 'y', leaf: [{ v: 'l1' }, { v: 'l1' }, { v: null }] } },
        { id: 3, v: 'c', one: { id: 1, v: 'x', leaf: [{ v: 'l2' }] } },
      ],
    },
  ]);
  expect(await shape('renamed fields')).toEqual([
    { _id: 1, b: 'x', a: 'y' },
    { _id: 2, b: 'y', a: 'x' },
    { _id: 3, b: null, a: 'z' },
  ]);
});
