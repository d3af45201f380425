import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { deriveDesign } from '../../../design/logical/logical';
import { proposeDesign } from '../../../design/propose/propose';
import { readWorkload } from '../../../design/model/read-workload';
import { catalogOf } from '../../../sqlite/schema/introspect';
import { openSource } from '../../../sqlite/open';
import { profileDatabase } from '../../../sqlite/profile/profile-database';
import { generateSource, type SchemaFile } from '../../../studies/generated-source';
import { optimise } from '../../rules/optimise';
import { translate } from '../../translate';
import { rewriteEvidence, type EvidenceRewrite } from '../evidence';

const BIRD = path.resolve('../shared/data/bird');

/** Items, by what a reading of every hint against its gold found: not decided, or at fault. */
interface Reviewed {
  readonly database: string;
  /** Something stays as it was, or was completed. */
  readonly reported: readonly number[];
  /** The SQL uses another column, or another value, than the hint says. */
  readonly flawed: readonly number[];
  /** The gold leaves out what the SQL has, since it changes nothing. */
  readonly doubtful: readonly number[];
}

const REVIEWED: readonly Reviewed[] = [
  {
    database: 'superhero',
    reported: [760],
    flawed: [
      ...[720, 724, 741, 756, 758, 760, 762, 765, 766, 769, 795, 800, 801, 803, 813, 815, 817],
      ...[818],
    ],
    doubtful: [],
  },
  {
    database: 'student_club',
    reported: [],
    flawed: [1324, 1342, 1350, 1388, 1403, 1442, 1451, 1452, 1456, 1458],
    doubtful: [],
  },
  {
    database: 'thrombosis_prediction',
    reported: [1150, 1168, 1189, 1191, 1204, 1225],
    flawed: [
      ...[1175, 1179, 1180, 1186, 1189, 1194, 1196, 1197, 1199, 1201, 1212, 1233, 1245, 1265],
      ...[1269, 1271, 1279, 1284, 1311],
    ],
    // `x = 'negative' OR '0' AND y`: the second part is always false.
    doubtful: [1273, 1274],
  },
];

/** Hints of superhero that were once given another role, value, or operation than the gold's. */
const ROLES: Readonly<Record<number, string>> = {
  720: '15 super powers refers to the number of superhero.full_name > 15',
  724: "blond hair refers to superhero.hair_colour.colour = 'Blond'",
  743: "(the number of documents where superhero.alignment.alignment = 'Bad') divided by (the",
  782: "where superhero.eye_colour.colour = 'Black'",
  783: "skin colours are gold refers to superhero.skin_colour.colour = 'Gold'",
  790: "(the sum of superhero.weight_kg where superhero.full_name = 'Emil Blonsky') minus (the sum",
};

const SQL_WORDS =
  /\b(?:WHERE|BETWEEN|LIKE|GROUP BY|ORDER BY|IIF|(?:COUNT|SUM|AVG|MAX|MIN|DIVIDE|SUBTRACT|MULTIPLY|ADD|STRFTIME|SUBSTR|CAST|YEAR)\()/;

interface Item {
  readonly question_id: number;
  readonly db_id: string;
  readonly evidence: string;
  readonly SQL: string;
}

const isThere = existsSync(path.join(BIRD, 'dev_tables.json'));
if (!isThere) console.warn(`BIRD is not at ${BIRD}: its hints are not read`);

const readJson = <T>(file: string): T =>
  JSON.parse(readFileSync(path.join(BIRD, file), 'utf8')) as T;

describe.skipIf(!isThere)('hints of BIRD', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'evidence-bird-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(REVIEWED)('$database', { timeout: 120_000 }, (reviewed) => {
    const rewritten = rewriteAll(reviewed.database, folder);
    const withUse = (use: string): number[] =>
      [...rewritten].filter(([, { paths }]) => paths.some((one) => one.use === use)).map(first);
    const reported = [...rewritten].filter(([, { unmatched }]) => unmatched.length > 0).map(first);
    expect({
      reported,
      flawed: withUse('source_flaw'),
      doubtful: withUse('doubt'),
      unknown: withUse('unknown'),
    }).toEqual({
      reported: reviewed.reported,
      flawed: reviewed.flawed,
      doubtful: reviewed.doubtful,
      unknown: [],
    });
    const sql = [...rewritten]
      .filter(([id, { text }]) => SQL_WORDS.test(unquoted(text)) && !reported.includes(id))
      .map(first);
    expect(sql).toEqual([]);
    if (reviewed.database !== 'superhero') return;
    for (const [id, text] of Object.entries(ROLES))
      expect(rewritten.get(Number(id))?.text).toContain(text);
  });
});

const first = ([id]: readonly [number, unknown]): number => id;
const unquoted = (text: string): string => text.replace(/'[^']*'|"[^"]*"/g, '');

function rewriteAll(name: string, folder: string): ReadonlyMap<number, EvidenceRewrite> {
  const items = readJson<Item[]>('dev.json').filter(({ db_id }) => db_id === name);
  const file = sourceOf(name, folder, items);
  const sqlite = openSource(file);
  const catalog = catalogOf(sqlite, { name, sha256: '', descriptions: {} });
  const profile = profileDatabase(sqlite, catalog);
  sqlite.close();
  const workload = readWorkload(
    items.map(({ question_id, SQL }) => ({
      questionId: String(question_id),
      split: 'dev',
      database: name,
      question: '',
      evidence: '',
      sql: SQL,
      difficulty: '',
    })),
    catalog,
    profile,
  );
  const conceptual = proposeDesign({
    catalog,
    profile,
    workload,
    strategy: 'access-pattern',
    limits: { maxArrayP99: 100, maxArray: 1000 },
    directives: [],
  }).design;
  const design = deriveDesign({ conceptual, catalog, profile, directives: [] });
  const rewritten = new Map<number, EvidenceRewrite>();
  for (const { question_id, evidence, SQL: sql } of items) {
    const translation = translate(sql, { catalog, profile, design });
    if (translation.status !== 'translated' || evidence.trim() === '') continue;
    const { collection, pipeline } = optimise({ catalog, profile, design, ...translation });
    rewritten.set(
      question_id,
      rewriteEvidence(evidence, { catalog, design, collection, pipeline, sql }),
    );
  }
  return rewritten;
}

/** The database itself, or one with its schema and rows that the queries ask for. */
function sourceOf(name: string, folder: string, items: readonly Item[]): string {
  const real = path.join(BIRD, 'dev_databases', name, `${name}.sqlite`);
  if (existsSync(real)) return real;
  const schema = readJson<SchemaFile[]>('dev_tables.json').find(({ db_id }) => db_id === name);
  if (!schema) throw new Error(`${name} is no schema of BIRD dev`);
  const file = path.join(folder, `${name}.sqlite`);
  let state = 7;
  generateSource(file, {
    schema,
    sql: items.map(({ SQL }) => SQL),
    random: () => (state = (state * 16807) % 2147483647) / 2147483647,
  });
  return file;
}
