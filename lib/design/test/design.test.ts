import Database from 'better-sqlite3';
import { describe as suite, expect, test } from 'vitest';
import { catalogOf } from '../../sqlite/schema/introspect';
import { profileDatabase } from '../../sqlite/profile/profile-database';
import { profiledSource } from './design-fixture';
import type { Directive } from '../model/directive';
import { isEmbed } from '../model/document-design';
import { dispositions } from '../document/disposition';
import { deriveDesign } from '../logical/logical';
import { LogicalCsvError, logicalCsv, parseLogicalCsv } from '../logical/logical-csv';
import { checkDesign } from '../limits/loss-check';
import { NameSet, legalFieldName } from '../model/names';
import { columnPath, placementOf } from '../model/placement';
import { proposeDesign } from '../propose/propose';
import {
  applyTransform,
  invertTransform,
  parseTransform,
  toBson,
  TransformError,
} from '../model/transform';
import { type Transform } from '../model/transform-kind';
import { describe } from '../model/transform-kind';

const limits = { maxArrayP99: 100, maxArray: 1000 };

function design(sql: string, directives: Directive[] = []) {
  const { catalog, profile } = profiledSource(sql);
  const workload = { database: 'db', patterns: [], unread: [] };
  const { design: conceptual, cannotAct } = proposeDesign({
    catalog,
    profile,
    workload,
    strategy: 'access-pattern',
    limits,
    directives,
  });
  const whole = deriveDesign({ conceptual, catalog, profile, directives });
  for (const logical of whole.logical)
    expect(parseLogicalCsv(logicalCsv(logical))).toEqual(logical);
  return {
    catalog,
    profile,
    whole,
    cannotAct,
    embedded: conceptual.relationships
      .filter((choice) => choice.choice === 'embed')
      .map((choice) => choice.relationship),
  };
}

const parentAndChild = (childRows: string): string => `
  CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE child (n INTEGER, parent_id INTEGER REFERENCES parent(id), v TEXT);
  INSERT INTO parent VALUES (1, 'a'), (2, 'b'), (3, 'c');
  ${childRows}`;

suite('embedding', () => {
  test('a bounded and total child is embedded; its key is held by the parent', () => {
    const { whole, embedded, catalog, profile } = design(
      parentAndChild("INSERT INTO child VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'z');"),
    );
    expect(embedded).toEqual(['child(parent_id)->parent(id)']);
    const placement = placementOf(whole, 'child')!;
    expect(placement.steps.map((step) => step.path)).toEqual(['child']);
    expect(columnPath(placement, 'PARENT_ID')).toMatchObject({ path: '_id', inherited: true });
    expect(columnPath(placement, 'v')).toMatchObject({ path: 'child.v', inherited: false });
    expect(checkDesign(whole, catalog, profile, limits)).toEqual([]);
  });

  test.each([
    ['an orphan', "INSERT INTO child VALUES (1, 1, 'x'), (2, 9, 'y');"],
    ['a null key', "INSERT INTO child VALUES (1, 1, 'x'), (2, NULL, 'y');"],
    ['an empty child table', ''],
  ])('%s keeps the child a collection', (_, rows) => {
    const { whole, embedded, catalog, profile } = design(parentAndChild(rows));
    expect(embedded).toEqual([]);
    expect(checkDesign(whole, catalog, profile, limits)).toEqual([]);
  });

  test('an unbounded child keeps its collection, and a directive cannot force it', () => {
    const many =
      'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1500) ' +
      `INSERT INTO child SELECT n, 1, 'x' FROM r;`;
    const relationship = 'child(parent_id)->parent(id)';
    const { embedded, cannotAct } = design(parentAndChild(many), [
      { kind: 'relationship', relationship, choice: 'embed' },
    ]);
    expect(embedded).toEqual([]);
    expect(cannotAct[0]!.reason).toMatch(/1500 rows of child/);
  });

  test('arrays in arrays count together: what fits level by level may be too large as a whole', () => {
    const rows = (table: string, count: number, value: string) =>
      `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${count}) INSERT ` +
      `INTO ${table} SELECT ${value} FROM r;`;
    const sql = `CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a(id)); CREATE TABLE c (id INTEGER PRIMARY KEY, b_id INTEGER REFERENCES b(id), v TEXT);
      INSERT INTO a VALUES (1); ${rows('b', 90, 'n, 1')} ${rows('c', 7200, 'n, 1 + n % 90, hex(zeroblob(1000))')}`;
    const { embedded, whole, catalog, profile, cannotAct } = design(
      sql,
      ['b(a_id)->a(id)', 'c(b_id)->b(id)'].map((relationship) => ({
        kind: 'relationship',
        relationship,
        choice: 'embed',
      })),
    );
    expect(embedded).toHaveLength(1);
    expect(cannotAct[0]!.reason).toMatch(/the largest document would reach about 1\d MB/);
    expect(checkDesign(whole, catalog, profile, limits)).toEqual([]);
  });

  test('a directive turns an embedding into a reference', () => {
    const { embedded, whole } = design(parentAndChild("INSERT INTO child VALUES (1, 1, 'x');"), [
      { kind: 'relationship', relationship: 'child(parent_id)->parent(id)', choice: 'reference' },
    ]);
    expect(embedded).toEqual([]);
    expect(whole.conceptual.relationships[0]).toMatchObject({
      choice: 'reference',
      directed: true,
    });
  });

  test('self-references and cycles never embed', () => {
    const { embedded, whole, catalog, profile } = design(`
      CREATE TABLE a (id INTEGER PRIMARY KEY, up INTEGER REFERENCES a(id), b_id INTEGER UNIQUE REFERENCES b(id));
      CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER UNIQUE REFERENCES a(id));
      INSERT INTO a VALUES (1, 1, 1), (2, 1, 2); INSERT INTO b VALUES (1, 1), (2, 2);`);
    expect(embedded.length).toBeLessThanOrEqual(1);
    expect(embedded.join()).not.toContain('up');
    expect(checkDesign(whole, catalog, profile, limits)).toEqual([]);
  });

  test('only a declared key makes one child at most a rule', () => {
    const { whole } = design(`
      CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p_id INTEGER PRIMARY KEY REFERENCES p(id), v TEXT); CREATE TABLE d (p_id INTEGER REFERENCES p(id), v TEXT);
      INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1, 'x'); INSERT INTO d VALUES (2, 'y');`);
    const fields = whole.logical
      .find((logical) => logical.rootTable === 'p')!
      .fields.filter(isEmbed);
    expect(Object.fromEntries(fields.map((field) => [field.table, field.kind]))).toEqual({
      c: 'embedOne',
      d: 'embedMany',
    });
  });

  test('a key that is stored otherwise than its parent’s keeps a field of its own', () => {
    const { whole } = design(`
      CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p_id TEXT REFERENCES p(id), v TEXT);
      INSERT INTO p VALUES (1, 'a'); INSERT INTO c VALUES ('1', 'x');`);
    const placement = placementOf(whole, 'c')!;
    expect(placement.steps).toHaveLength(1);
    expect(columnPath(placement, 'p_id')!.inherited).toBe(false);
  });

  test('every table has a disposition', () => {
    const { whole, profile } = design(parentAndChild("INSERT INTO child VALUES (1, 1, 'x');"));
    expect(dispositions(whole.conceptual, profile)).toEqual([
      { table: 'parent', disposition: 'standalone', collections: ['parent'], copies: [] },
      { table: 'child', disposition: 'embedded', collections: ['parent'], copies: [] },
    ]);
  });
});

suite('loss check', () => {
  const { whole, catalog, profile } = design(
    parentAndChild("INSERT INTO child VALUES (1, 1, 'x'), (2, 1, 'y');"),
  );
  type LooseField = Record<string, unknown> & {
    fields: LooseField[];
    join: Record<string, string>[];
  };
  const altered = (change: (fields: LooseField[]) => unknown): string[] => {
    const copy = structuredClone(whole);
    change(copy.logical[0]!.fields as unknown as LooseField[]);
    return checkDesign(copy, catalog, profile, limits).map((problem) => problem.detail);
  };
  test.each<[string, (fields: LooseField[]) => unknown, RegExp]>([
    ['a column without a field', (fields) => fields.shift(), /no field holds/],
    ['a table without a place', (fields) => fields.pop(), /no collection holds/],
    [
      'a table in two places',
      (fields) => fields.push({ ...fields[1]!, name: 'again' }),
      /placed 2 times/,
    ],
    [
      'a column that does not exist',
      (fields) => fields.push({ ...fields[0]!, name: 'x', column: 'nope' }),
      /has no column nope/,
    ],
    ['two fields with one path', (fields) => fields.push({ ...fields[0]! }), /two fields/],
    [
      'one document for several children',
      (fields) => (fields[1]!.kind = 'embedOne'),
      /a parent has 2 children/,
    ],
    ['a join on other columns', (fields) => (fields[1]!.join[0]!.child = 'n'), /its join is not/],
    [
      'a retyping of the wrong kind',
      (fields) => (fields[1]!.fields[0]!.transform = { kind: 'date', format: 'YYYY-MM-DD' }),
      /2 values are no text/,
    ],
  ])('finds %s', (_, change, message) => {
    expect(altered(change).join('\n')).toMatch(message);
  });
});

suite('names', () => {
  test('a numbered column takes the few words that the benchmark describes it with; others keep their name', () => {
    const sqlite = new Database(':memory:');
    sqlite.exec(
      'CREATE TABLE district (district_id INTEGER PRIMARY KEY, A2 TEXT, A3 TEXT, A4 TEXT, region ' +
        'TEXT); INSERT INTO district VALUES (1, 2, 3, 4, 5);',
    );
    sqlite.defaultSafeIntegers(true);
    const catalog = catalogOf(sqlite, {
      name: 'db',
      sha256: 'x',
      descriptions: {
        district: {
          A2: 'district name',
          A3: 'the number of inhabitants, as counted in the year before the last',
          region: 'a region',
        },
      },
    });
    const profile = profileDatabase(sqlite, catalog);
    sqlite.close();
    const { design: conceptual } = proposeDesign({
      catalog,
      profile,
      workload: { database: 'db', patterns: [], unread: [] },
      strategy: 'access-pattern',
      limits,
      directives: [],
    });
    const names = (directives: Directive[]) =>
      deriveDesign({ conceptual, catalog, profile, directives }).logical[0]!.fields.map(
        ({ name }) => name,
      );
    expect(names([])).toEqual(['districtName', 'A3', 'A4', 'region']);
    expect(
      names([{ kind: 'rename_field', table: 'district', column: 'A2', name: 'label' }])[0],
    ).toBe('label');
  });

  test.each([
    ['plain', 'plain'],
    ['größe', 'größe'],
    ['with space', 'withSpace'],
    ['a.b', 'aB'],
    ['$cost', 'cost'],
    ['_id', 'id'],
    ['12', 'n12'],
    ['__proto__', 'proto'],
    ['Amount ($)', 'amount'],
    ['$', 'unnamed'],
    ['FRPM Count (K-12)', 'frpmCountK12'],
    ['T-CHO', 'tCHO'],
  ])('%s → %s', (name, legal) => expect(legalFieldName(name)).toBe(legal));

  test('names that differ in case only get a number', () => {
    const names = new NameSet();
    expect(['a', 'A', 'a'].map((name) => names.take(name))).toEqual(['a', 'A_2', 'a_3']);
  });
});

suite('logical design as CSV', () => {
  const hostile = design(`
    CREATE TABLE "Order ""Lines"".x" ("a.b" TEXT, "=SUM(A1)" INTEGER, "naïve, name" REAL, id INTEGER PRIMARY KEY);
    CREATE TABLE kid ("o id" INTEGER REFERENCES "Order ""Lines"".x"(id), "-v" TEXT);
    INSERT INTO "Order ""Lines"".x" VALUES ('p', 1, 2.5, 1); INSERT INTO kid VALUES (1, 'x');`).whole;

  test('reading back gives the same design', () => {
    for (const logical of hostile.logical)
      expect(parseLogicalCsv(logicalCsv(logical))).toEqual(logical);
  });

  test.each([
    [
      'a wrong header',
      (csv: string) => csv.replace('Source (SQLite)', 'Source'),
      /line 1: the header/,
    ],
    [
      'an unknown transform',
      (csv: string) => csv.replace(/"identity"/, '"upper"'),
      /there is no transform "upper"/,
    ],
    [
      'a field in no document',
      (csv: string) => csv.replace(/"([^"]*)\.(\w+)","as stored"/, '"$1.none.$2","as stored"'),
      /lies in no document/,
    ],
    [
      'a type that does not follow',
      (csv: string) => csv.replace(/"as stored","identity"/, '"Date","identity"'),
      /line \d: the type "Date" does not follow from the transformation "identity", which gives "as stored"; write the transformation date\(YYYY-MM-DD\)/,
    ],
    [
      'a quote too many',
      (csv: string) => csv.replace('"identity"\r\n', '"iden"tity"\r\n'),
      /line \d: cell 4 goes on behind its closing quote, "iden"tity": a quote within a cell is doubled/,
    ],
    [
      'a mistake behind an empty line and a cell of two lines',
      (csv: string) =>
        csv.replace('"identity"\r\n', '"identity"\r\n\r\n"a\nb","x.y","","identity"\r\n'),
      /line 5: the target "x.y" lies in no document/,
    ],
    [
      'a field twice',
      (csv: string) => csv + csv.trimEnd().split('\r\n').at(-1)! + '\r\n',
      /occurs twice/,
    ],
  ])('%s is a precise error', (_, change, message) => {
    const csv = logicalCsv(
      design(parentAndChild("INSERT INTO child VALUES (1, 1, 'x');")).whole.logical[0]!,
    );
    expect(() => parseLogicalCsv(change(csv))).toThrow(message);
    expect(() => parseLogicalCsv(change(csv))).toThrow(LogicalCsvError);
  });
});

suite('transforms', () => {
  const cases: [Transform, (string | bigint)[]][] = [
    [{ kind: 'bool', true: 'TRUE', false: 'FALSE' }, ['TRUE', 'FALSE']],
    [{ kind: 'date', format: 'YYYY-MM-DD' }, ['2024-02-29', '1900-01-01']],
    [{ kind: 'date', format: 'M/D/YYYY' }, ['1/2/2024', '12/31/1999']],
    [{ kind: 'date', format: 'YYYY-MM-DD HH:MM:SS' }, ['2024-02-29 23:59:59']],
    [{ kind: 'string' }, [5n, -(2n ** 63n)]],
  ];
  test.each(cases)('%o is invertible', (transform, values) => {
    expect(parseTransform(describe(transform))).toEqual(transform);
    for (const value of values)
      expect(invertTransform(transform, applyTransform(transform, value))).toBe(value);
  });

  test.each<[Transform, string | bigint]>([
    [{ kind: 'bool', true: 'TRUE', false: 'FALSE' }, 'true'],
    [{ kind: 'date', format: 'YYYY-MM-DD' }, '2023-02-29'],
    [{ kind: 'date', format: 'M/D/YYYY' }, '01/02/2024'],
    [{ kind: 'string' }, 'x'],
  ])('%o refuses what it could not give back', (transform, value) => {
    expect(() => toBson(transform, value)).toThrow(TransformError);
  });
});
