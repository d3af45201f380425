import Database from 'better-sqlite3';
import { expect, it, describe } from 'vitest';
import { deriveDesign } from '../design/logical';
import { proposeDesign } from '../design/propose';
import type { DocumentDesign } from '../design/document-design';
import { catalogOf } from '../sqlite/introspect';
import { profileDatabase } from '../sqlite/profile-database';
import { evidencePaths, rewriteEvidence } from './evidence';
import { translate } from './translate';

const sqlite = new Database(':memory:');
sqlite.defaultSafeIntegers(true);
sqlite.exec(`CREATE TABLE superhero (id INTEGER PRIMARY KEY, superhero_name TEXT, eye_colour_id INTEGER REFERENCES colour(id), isTextless TEXT, height INTEGER);
  CREATE TABLE hero_power (hero_id INTEGER REFERENCES superhero(id), power_id INTEGER);
  CREATE TABLE colour (id INTEGER PRIMARY KEY, colour TEXT);
  INSERT INTO colour VALUES (1, 'Blue'); INSERT INTO superhero VALUES (1, 'A', 1, 'TRUE', 3), (2, 'B', 1, 'FALSE', 3); INSERT INTO hero_power VALUES (1, 5), (2, 6);`);
const catalog = catalogOf(sqlite, { name: 'memory', sha256: '', descriptions: {} });
const profile = profileDatabase(sqlite, catalog);
const conceptual = proposeDesign({
  catalog,
  profile,
  workload: { database: 'memory', patterns: [], unread: [] },
  strategy: 'access-pattern',
  limits: { maxArrayP99: 100, maxArray: 1000 },
  directives: [{ kind: 'relationship', relationship: 'superhero(eye_colour_id)->colour(id)', choice: 'reference' }],
}).design;
const plain = deriveDesign({ conceptual, catalog, profile, directives: [] });
const design: DocumentDesign = {
  ...plain,
  logical: plain.logical.map((logical) => ({
    ...logical,
    fields: logical.fields.map((field) => (field.kind === 'column' && field.column === 'isTextless' ? { ...field, transform: { kind: 'bool', true: 'TRUE', false: 'FALSE' } as const } : field)),
  })),
};

const rewrite = (evidence: string, sql = "SELECT superhero_name FROM superhero JOIN colour ON eye_colour_id = colour.id JOIN hero_power ON hero_id = superhero.id WHERE colour = 'Blue' AND power_id = 5") => {
  const translation = translate(sql, { catalog, profile, design });
  if (translation.status !== 'translated') throw new Error(translation.reason);
  return rewriteEvidence(evidence, { catalog, design, collection: translation.collection, pipeline: translation.pipeline, sql });
};

describe('evidence', () => {
  it.each([
    ["blue eyes refers to colour = 'Blue' and eye_colour_id = colour.id", "blue eyes refers to colour.colour = 'Blue' and superhero.eye_colour_id = colour._id"],
    ['the hero refers to superhero_name; the colour of the eyes', 'the hero refers to superhero.superhero_name; the colour of the eyes'],
    ['MAX(height) is the tallest', 'MAX(superhero.height) is the tallest'],
    ['a power refers to hero_power.power_id', 'a power refers to superhero.hero_power.power_id'],
    ["a text box refers to isTextless = 'FALSE'", 'a text box refers to superhero.isTextless = false'],
    ['`superhero_name` LIKE "A%"', 'superhero.superhero_name matches /^A/i'],
    ['no field is meant by the height of the tower', 'no field is meant by the height of the tower'],
    ['', ''],
  ])('%s', (evidence, expected) => {
    expect(rewrite(evidence).text).toBe(expected);
  });

  it('names the paths, and which of them the query reads', () => {
    expect(rewrite("colour = 'Blue' and MAX(height)").paths).toEqual([
      { path: 'colour.colour', inDesign: true, inQuery: true },
      { path: 'superhero.height', inDesign: true, inQuery: false },
    ]);
    expect(rewrite('power_id refers to the power').paths).toEqual([{ path: 'superhero.hero_power.power_id', inDesign: true, inQuery: true }]);
  });

  it('marks what it cannot match', () => {
    expect(rewrite('see `full name` and superhero.weight_kg').unmatched).toEqual(['full name', 'weight_kg']);
    expect(evidencePaths('superhero.weight_kg is unknown, colour. Then it ends', design, 'superhero', [])).toEqual([{ path: 'superhero.weight_kg', inDesign: false, inQuery: false }]);
  });
});
