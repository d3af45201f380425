import Database from 'better-sqlite3';
import type { Catalog } from '../../sqlite/catalog';
import { catalogOf } from '../../sqlite/schema/introspect';
import type { Profile } from '../../sqlite/profile/profile';
import { profileDatabase } from '../../sqlite/profile/profile-database';

/** A profiled source database for tests, from its SQL; keys that lead nowhere are let in. */
export function profiledSource(sql: string): { catalog: Catalog; profile: Profile } {
  const sqlite = new Database(':memory:');
  sqlite.pragma('foreign_keys = OFF');
  sqlite.exec(sql);
  sqlite.defaultSafeIntegers(true);
  const catalog = catalogOf(sqlite, { name: 'db', sha256: 'x', descriptions: {} });
  const profile = profileDatabase(sqlite, catalog);
  sqlite.close();
  return { catalog, profile };
}
