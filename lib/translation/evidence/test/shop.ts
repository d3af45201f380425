import Database from 'better-sqlite3';
import { deriveDesign } from '../../../design/logical/logical';
import { proposeDesign } from '../../../design/propose/propose';
import { readWorkload } from '../../../design/model/read-workload';
import { catalogOf } from '../../../sqlite/schema/introspect';
import { profileDatabase } from '../../../sqlite/profile/profile-database';
import { optimise } from '../../rules/optimise';
import { translate } from '../../translate';
import { rewriteEvidence, type EvidenceRewrite } from '../evidence';

// Names that BIRD has: with spaces, parentheses, hyphens and dots, several tables with the same
// ones, one table in two roles.
const sqlite = new Database(':memory:');
sqlite.defaultSafeIntegers(true);
sqlite.exec(`
CREATE TABLE shade (id INTEGER PRIMARY KEY, shade TEXT);
CREATE TABLE category (id INTEGER PRIMARY KEY, Description TEXT, Price REAL);
CREATE TABLE product (id INTEGER PRIMARY KEY, "Product Name" TEXT, Description TEXT, Price REAL,
  "Free Meal Count (K-12)" INTEGER, "T-BIL" REAL, "unit.size" INTEGER, sold TEXT,
  category_id INTEGER REFERENCES category(id), body_shade_id INTEGER REFERENCES shade(id),
  lid_shade_id INTEGER REFERENCES shade(id));
CREATE TABLE sale (sale_id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product(id),
  "Order Quantity" INTEGER, buyer TEXT);
INSERT INTO shade VALUES (1, 'Red'), (2, 'Blue');
INSERT INTO category VALUES (1, 'toys', 1.5), (2, 'tools', 2.5);
INSERT INTO product VALUES (1, 'Bear', 'soft', 3.5, 4, 0.1, 5, '2012-01-05', 1, 1, 2),
  (2, 'Saw', 'sharp', 9.5, 6, 0.2, 7, '2013-02-06', 2, 2, 1);
INSERT INTO sale VALUES (1, 1, 10, 'Ann'), (2, 2, 20, 'LAW AND ORDER BY NIGHT'), (3, 2, 5, NULL);`);
export const catalog = catalogOf(sqlite, { name: 'memory', sha256: '', descriptions: {} });
const profile = profileDatabase(sqlite, catalog);
const workload = readWorkload([], catalog, profile);
const conceptual = proposeDesign({
  catalog,
  profile,
  workload,
  strategy: 'one-to-one',
  limits: { maxArrayP99: 100, maxArray: 1000 },
  directives: [],
}).design;
export const design = deriveDesign({ conceptual, catalog, profile, directives: [] });

/** Rewrites a hint for the gold that an SQL query is translated to. */
export function rewrite(evidence: string, sql: string): EvidenceRewrite {
  const translation = translate(sql, { catalog, profile, design });
  if (translation.status !== 'translated') throw new Error(translation.reason);
  const { collection, pipeline } = optimise({ catalog, profile, design, ...translation });
  return rewriteEvidence(evidence, { catalog, design, collection, pipeline, sql });
}
