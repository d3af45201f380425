import type { DocumentDesign, EmbedField, Field } from '../../design/model/document-design';
import { identity } from '../../design/model/transform';
import type { Integrity } from '../integrity';

/**
 * A source in which migrations elsewhere lost data silently, or which foreign-key embedding cannot
 * convert.
 */
export interface LossFixture {
  readonly name: string;
  readonly sql: string;
  /** What becomes of it under foreign-key embedding. */
  readonly fkEmbedding: Integrity;
  /**
   * A hand-made design instead of the proposed one, where the proposal would not have the shape in
   * question.
   */
  design?(proposed: DocumentDesign): DocumentDesign;
}

const columns = (names: readonly string[]): Field[] =>
  names.map((name) => ({ kind: 'column', name, column: name, transform: identity }));
const embed = (
  kind: EmbedField['kind'],
  table: string,
  relationship: string,
  join: [parent: string, child: string],
  fields: readonly Field[],
): EmbedField => ({
  kind,
  name: table,
  table,
  relationship,
  join: [{ parent: join[0], child: join[1] }],
  orderBy: [],
  fields,
});

/** One collection that starts from this table; its parts are all the others. */
const single =
  (rootTable: string, fields: readonly Field[]) =>
  (proposed: DocumentDesign): DocumentDesign => {
    const collection = {
      name: rootTable,
      rootTable,
      id: { kind: 'column', column: 'id', transform: identity } as const,
    };
    const relationships = proposed.conceptual.relationships.map((choice) => ({
      ...choice,
      choice: 'embed' as const,
    }));
    return {
      conceptual: { ...proposed.conceptual, collections: [collection], relationships },
      logical: [{ collection: rootTable, rootTable, id: collection.id, fields }],
    };
  };

const lossless = { outcome: 'lossless' } as const;

export const lossFixtures: readonly LossFixture[] = [
  {
    name: 'cyclic mappings: two tables that refer to each other',
    sql: `CREATE TABLE a (id INTEGER PRIMARY KEY, b_id INTEGER REFERENCES b(id), v TEXT); CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a(id), v TEXT);
      INSERT INTO a VALUES (1, 11, 'x'), (2, 12, 'y'); INSERT INTO b VALUES (11, 2, 'p'), (12, 1, 'q');`,
    fkEmbedding: { outcome: 'failed', reason: 'the foreign keys of a, b form a cycle' },
  },
  {
    name: 'a table that feeds several collections, by copies',
    sql: `CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE shop (id INTEGER PRIMARY KEY, city_id INTEGER REFERENCES city(id), v TEXT); CREATE TABLE person (id INTEGER PRIMARY KEY, city_id INTEGER REFERENCES city(id), v TEXT);
      INSERT INTO city VALUES (1, 'Oslo'), (2, NULL), (3, 'Rome'); INSERT INTO shop VALUES (1, 1, 'a'), (2, 2, 'b'), (3, NULL, 'c'); INSERT INTO person VALUES (1, 1, 'x'), (2, 9, 'y');`,
    fkEmbedding: { outcome: 'lossy', lostRows: { shop: 1, person: 1 }, share: 2 / 8 },
    design: (proposed) => ({
      ...proposed,
      logical: proposed.logical.map((logical) =>
        logical.rootTable === 'city'
          ? logical
          : {
              ...logical,
              fields: [
                ...logical.fields,
                {
                  kind: 'extendedReference',
                  name: 'city',
                  table: 'city',
                  relationship: `${logical.rootTable}(city_id)->city(id)`,
                  join: [{ parent: 'id', child: 'city_id' }],
                  fields: columns(['name']) as never,
                },
              ],
            },
      ),
    }),
  },
  {
    name: 'renamed fields that bear each other’s columns’ names',
    sql:
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT); INSERT INTO t VALUES (1, 'x', " +
      "'y'), (2, 'y', 'x'), (3, NULL, 'z');",
    fkEmbedding: lossless,
    design: (proposed) => ({
      ...proposed,
      logical: proposed.logical.map((logical) => ({
        ...logical,
        fields: logical.fields.map((field) =>
          field.kind === 'column' ? { ...field, name: field.column === 'a' ? 'b' : 'a' } : field,
        ),
      })),
    }),
  },
  {
    name: 'merge into a parent: one document each, absent where there is none',
    sql: `CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE detail (p_id INTEGER PRIMARY KEY REFERENCES p(id), v TEXT, w TEXT);
      INSERT INTO p VALUES (1, 'a'), (2, 'b'), (3, NULL); INSERT INTO detail VALUES (1, 'x', NULL), (3, NULL, NULL);`,
    fkEmbedding: lossless,
    design: single('p', [
      ...columns(['v']),
      embed('embedOne', 'detail', 'detail(p_id)->p(id)', ['id', 'p_id'], columns(['v', 'w'])),
    ]),
  },
  {
    name: 'an array in a document in an array',
    sql: `CREATE TABLE r (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE m (id INTEGER PRIMARY KEY, r_id INTEGER REFERENCES r(id), v TEXT); CREATE TABLE one (id INTEGER PRIMARY KEY, m_id INTEGER UNIQUE REFERENCES m(id), v TEXT); CREATE TABLE leaf (one_id INTEGER REFERENCES one(id), v TEXT);
      INSERT INTO r VALUES (1, 'r1'), (2, 'r2'); INSERT INTO m VALUES (1, 2, 'a'), (2, 1, 'b'), (3, 2, 'c'); INSERT INTO one VALUES (1, 3, 'x'), (2, 1, 'y'); INSERT INTO leaf VALUES (2, 'l1'), (1, 'l2'), (2, 'l1'), (2, NULL);`,
    fkEmbedding: lossless,
    design: single('r', [
      ...columns(['v']),
      embed(
        'embedMany',
        'm',
        'm(r_id)->r(id)',
        ['id', 'r_id'],
        [
          ...columns(['id', 'v']),
          embed(
            'embedOne',
            'one',
            'one(m_id)->m(id)',
            ['id', 'm_id'],
            [
              ...columns(['id', 'v']),
              embed('embedMany', 'leaf', 'leaf(one_id)->one(id)', ['id', 'one_id'], columns(['v'])),
            ],
          ),
        ],
      ),
    ]),
  },
  {
    name: 'arrays of single values, repeated and null',
    sql: `CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE tag (p_id INTEGER REFERENCES p(id), word TEXT);
      INSERT INTO p VALUES (1, 'a'), (2, 'b'); INSERT INTO tag VALUES (1, 'red'), (1, 'red'), (1, NULL), (2, ''), (1, 'blue');`,
    fkEmbedding: lossless,
  },
  {
    name: 'parents without children, at every level',
    sql: `CREATE TABLE g (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE p (id INTEGER PRIMARY KEY, g_id INTEGER REFERENCES g(id), v TEXT); CREATE TABLE c (p_id INTEGER REFERENCES p(id), v TEXT);
      INSERT INTO g VALUES (1, 'a'), (2, 'b'), (3, 'c'); INSERT INTO p VALUES (1, 2, 'x'), (2, 2, 'y'); INSERT INTO c VALUES (2, 'z');`,
    fkEmbedding: lossless,
  },
  {
    name: 'names that differ in case, or only before they are repaired',
    sql:
      'CREATE TABLE "é" ("a b" TEXT, aB TEXT, "ö" TEXT, "Ö" TEXT); CREATE TABLE "É" ' +
      "(v TEXT); INSERT INTO \"é\" VALUES ('1', '2', '3', '4'), ('2', '1', '4', '3'); INSERT " +
      'INTO "É" VALUES (\'5\');',
    fkEmbedding: lossless,
  },
  {
    name: 'a self-reference',
    sql:
      'CREATE TABLE t (id INTEGER PRIMARY KEY, up INTEGER REFERENCES t(id), v TEXT); INSERT ' +
      "INTO t VALUES (1, NULL, 'a'), (2, 1, 'b'), (3, 1, 'c');",
    fkEmbedding: { outcome: 'failed', reason: 't refers to itself (up)' },
  },
  {
    name: 'a parent whose children take more than 16 MB',
    sql: `CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p_id INTEGER REFERENCES p(id), v TEXT); INSERT INTO p VALUES (1, 'a'), (2, 'b');
      WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 180) INSERT INTO c SELECT 1, hex(zeroblob(50000)) FROM r;`,
    fkEmbedding: { outcome: 'failed', reason: 'a document of p takes 18 MB' },
  },
  {
    name: 'orphans at 26 % of all rows',
    sql: `CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p_id INTEGER REFERENCES p(id), v TEXT); INSERT INTO p VALUES (1, 'a'), (2, 'b');
      WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 98) INSERT INTO c SELECT CASE WHEN n <= 26 THEN 100 + n ELSE 1 + n % 2 END, 'v' || n FROM r;`,
    fkEmbedding: { outcome: 'lossy', lostRows: { c: 26 }, share: 0.26 },
  },
];
