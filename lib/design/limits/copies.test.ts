import { describe, expect, test } from 'vitest';
import { profiledSource } from '../test/design-fixture';
import type { Directive } from '../model/directive';
import { proposeIndexes } from '../cost/indexes';
import { deriveDesign } from '../logical/logical';
import { checkDesign } from './loss-check';
import { proposeDesign } from '../propose/propose';
import { readWorkload } from '../model/read-workload';

const limits = { maxArrayP99: 100, maxArray: 1000 };

/** Too many children for an array: they stay documents of their own. */
const DDL = `
  CREATE TABLE colour (id INTEGER PRIMARY KEY, colour TEXT, warm INTEGER, story TEXT);
  CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT, eye_id INTEGER REFERENCES colour(id), skin_id INTEGER REFERENCES colour(id), boss INTEGER REFERENCES hero(id));
  INSERT INTO colour VALUES (1, 'red', 1, '${'long '.repeat(60)}'), (2, 'blue', 0, 'short');
  INSERT INTO hero VALUES (1, 'Ann', 1, 2, 1), (2, 'Bob', 2, NULL, 1), (3, 'Cat', 2, 2, 2);
  WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO hero SELECT i, 'Hero ' || i, 1 + i % 2, 1 + i % 2, 1 FROM n;`;
const ALONE = Array.from({ length: 9 }, (_, index) => `SELECT name FROM hero WHERE id = ${index}`);

function propose(sql: readonly string[], directives: readonly Directive[] = [], ddl = DDL) {
  const { catalog, profile } = profiledSource(ddl);
  const items = [...ALONE, ...sql].map((text, index) => ({
    questionId: String(index),
    split: 'dev',
    database: 'db',
    question: '',
    evidence: '',
    sql: text,
    difficulty: null,
  }));
  const workload = readWorkload(items, catalog, profile);
  const { design: conceptual, cannotAct } = proposeDesign({
    catalog,
    profile,
    workload,
    strategy: 'access-pattern',
    limits,
    directives,
  });
  const design = deriveDesign({ conceptual, catalog, profile, directives });
  expect(checkDesign(design, catalog, profile, limits)).toEqual([]);
  const choice = (id: string) =>
    conceptual.relationships.find(({ relationship }) => relationship === id);
  return { design, cannotAct, choice, indexes: proposeIndexes(design, catalog, profile, workload) };
}

const EYE = 'hero(eye_id)->colour(id)';
const SKIN = 'hero(skin_id)->colour(id)';

describe('copies', () => {
  test('repeat what the workload reads beside a reference, and say how many queries that serves', () => {
    const { choice, indexes } = propose([
      "SELECT h.name FROM hero h JOIN colour c ON h.eye_id = c.id WHERE c.colour = 'red'",
      "SELECT h.name FROM hero h JOIN colour c ON h.eye_id = c.id WHERE c.colour = 'blue'",
      'SELECT c.story FROM hero h JOIN colour c ON h.eye_id = c.id',
    ]);
    expect(choice(EYE)).toMatchObject({ choice: 'copy', field: 'colour', columns: ['colour'] });
    expect(choice(EYE)!.reason).toMatch(
      /copy of colour: of 3 queries with a join to colour here, 2 read no other column/,
    );
    expect(choice(SKIN)!.choice).toBe('reference');
    expect(indexes['hero']!.map(({ key }) => Object.keys(key).join())).toContain('colour.colour');
  });

  test('are left out where they save no lookup', () => {
    const rows = (multiplier: number, name: string): string =>
      'WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49) INSERT INTO ' +
      `${name} SELECT i, (i * ${multiplier} + 1) % 50, '${name}' || i FROM n;`;
    const circle = `
      CREATE TABLE hero (id INTEGER, name TEXT);
      CREATE TABLE a (id INTEGER PRIMARY KEY, next INTEGER REFERENCES b(id), name TEXT);
      CREATE TABLE b (id INTEGER PRIMARY KEY, next INTEGER REFERENCES a(id), name TEXT);
      PRAGMA foreign_keys = OFF; ${rows(1, 'a')} ${rows(3, 'b')}`;
    const { choice } = propose(
      [
        'SELECT a.name, b.name FROM a JOIN b ON a.next = b.id',
        'SELECT a.name, other.name FROM a JOIN b ON a.next = b.id JOIN a AS other ON b.next = ' +
          'other.id',
      ],
      [],
      circle,
    );
    expect(choice('a(next)->b(id)')).toMatchObject({ choice: 'copy', columns: ['next', 'name'] });
    expect(choice('b(next)->a(id)')).toMatchObject({ choice: 'reference' });
  });

  test('are named by role where a row refers to one table twice', () => {
    const { choice } = propose(
      [
        'SELECT e.colour, s.warm FROM hero h JOIN colour e ON h.eye_id = e.id JOIN colour s ON ' +
          'h.skin_id = s.id',
      ],
      [EYE, SKIN].map((relationship) => ({ kind: 'relationship', relationship, choice: 'copy' })),
    );
    expect(choice(EYE)).toMatchObject({
      choice: 'copy',
      field: 'eye',
      columns: ['colour', 'warm'],
    });
    expect(choice(SKIN)).toMatchObject({
      choice: 'copy',
      field: 'skin',
      columns: ['colour', 'warm'],
    });
  });

  test.each([
    [
      'only the key is read',
      'SELECT h.name FROM hero h JOIN colour c ON h.eye_id = c.id WHERE c.id = 1',
    ],
    ['a value is long', 'SELECT c.story FROM hero h JOIN colour c ON h.eye_id = c.id'],
    ['nothing joins the parent', 'SELECT colour FROM colour'],
  ])('are not made where %s', (_, sql) => {
    expect(propose([sql]).choice(EYE)!.choice).toBe('reference');
  });

  test('are not made of a row’s own table unless a directive says so', () => {
    const boss = 'hero(boss)->hero(id)';
    const sql = ['SELECT b.name FROM hero h JOIN hero b ON h.boss = b.id'];
    expect(propose(sql).choice(boss)!.choice).toBe('reference');
    expect(
      propose(sql, [{ kind: 'relationship', relationship: boss, choice: 'copy' }]).choice(boss),
    ).toMatchObject({ choice: 'copy', columns: ['name'], directed: true });
  });

  test('follow directives', () => {
    const joined = [
      "SELECT h.name FROM hero h JOIN colour c ON h.eye_id = c.id WHERE c.colour = 'red'",
    ];
    expect(
      propose(joined, [{ kind: 'relationship', relationship: EYE, choice: 'reference' }]).choice(
        EYE,
      ),
    ).toMatchObject({ choice: 'reference', directed: true });
    expect(
      propose([], [{ kind: 'relationship', relationship: EYE, choice: 'copy' }]).choice(EYE),
    ).toMatchObject({ choice: 'copy', columns: ['colour', 'warm'], directed: true });
  });

  test('need a unique parent', () => {
    const ddl = `CREATE TABLE p (k INTEGER, v TEXT); CREATE TABLE c (id INTEGER PRIMARY KEY, k INTEGER REFERENCES p(k)); CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO p VALUES (1, 'a'), (1, 'b'); INSERT INTO c VALUES (1, 1);`;
    const { cannotAct, choice } = propose(
      [],
      [{ kind: 'relationship', relationship: 'c(k)->p(k)', choice: 'copy' }],
      `PRAGMA foreign_keys = OFF; ${ddl}`,
    );
    expect(cannotAct[0]!.reason).toMatch(/not unique/);
    expect(choice('c(k)->p(k)')!.choice).toBe('reference');
  });
});
