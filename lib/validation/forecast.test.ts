import { BSON } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Directive } from '../design/model/directive';
import { forecastCollections } from '../design/limits/forecast';
import { assembleDocuments } from '../migration/assemble';
import { ConversionFixture } from './test/conversion-fixture';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

const numbers = (count: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
const sql = `
  CREATE TABLE station (code TEXT PRIMARY KEY, name TEXT, height REAL); ${numbers(20)} INSERT INTO station SELECT 's' || i, printf('Station %d', i), i * 1.5 FROM n;
  CREATE TABLE reading (rid INTEGER PRIMARY KEY, station TEXT NOT NULL REFERENCES station(code), heat REAL, note TEXT); ${numbers(3000)} INSERT INTO reading SELECT i, 's' || (1 + i % 20), i * 0.25, CASE WHEN i % 3 THEN 'text of some length' END FROM n;
  CREATE TABLE crew (station TEXT NOT NULL REFERENCES station(code), name TEXT, pay INTEGER); ${numbers(60)} INSERT INTO crew SELECT 's' || (1 + i % 20), 'Person ' || i, i * 1000 FROM n;`;
const choose = (table: string, choice: 'embed' | 'reference' | 'copy' | 'bucket'): Directive => ({
  kind: 'relationship',
  relationship: `${table}(station)->station(code)`,
  choice,
});

test.each<[string, readonly Directive[]]>([
  ['embedded, and in buckets', [choose('crew', 'embed'), choose('reading', 'bucket')]],
  ['apart', [choose('crew', 'reference'), choose('reading', 'reference')]],
  ['with copies', [choose('crew', 'copy'), choose('reading', 'copy')]],
])('documents are as large as forecast on average, and none is larger: %s', (_, directives) => {
  const { design, profile, catalog, sourcePath } = fixture.plan(sql, { directives });
  for (const forecast of forecastCollections(design, profile)) {
    const logical = design.logical.find(({ collection }) => collection === forecast.collection)!;
    const sizes = [...assembleDocuments(sourcePath, catalog, logical, new Map())].map((document) =>
      BSON.calculateObjectSize(document),
    );
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    expect(forecast.documents, forecast.collection).toBe(sizes.length);
    expect(forecast.meanBytes / mean, forecast.collection).toBeGreaterThan(0.9);
    expect(forecast.meanBytes / mean, forecast.collection).toBeLessThan(1.2);
    expect(forecast.largestBytes, forecast.collection).toBeGreaterThanOrEqual(Math.max(...sizes));
  }
});
