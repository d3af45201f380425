import type { Catalog } from '../catalog';
import type { SelectStatement } from './ast';
import { bindSelect } from './bind';
import { SqlBindError } from './bind-error';
import type { Binding } from './bound';
import { parseSelect } from './parse-select';
import { SqlSyntaxError } from './syntax-error';

/** A SELECT, parsed and bound to the schema of its database. Both trees are immutable. */
export interface ReadSql {
  readonly statement: SelectStatement;
  readonly binding: Binding;
}

/**
 * Statements remembered per catalog. The steps of one item follow each other (translation, running
 * both sides, ambiguity, ties), so that a few hundred serve a whole stage; a tree has some 10 KiB.
 */
const MOST_REMEMBERED = 256;

/** A catalog never changes once it is read, so that what was bound to it stays bound. */
const remembered = new WeakMap<Catalog, Map<string, ReadSql>>();

/**
 * Parses and binds a SELECT: the one place where the text of an item becomes trees. The same text
 * on the same catalog is read once.
 *
 * @throws SqlSyntaxError where it cannot be parsed, SqlBindError where a name cannot be resolved
 */
export function readSql(sql: string, catalog: Catalog): ReadSql {
  const known = remembered.get(catalog) ?? new Map<string, ReadSql>();
  remembered.set(catalog, known);
  const before = known.get(sql);
  if (before) return before;
  const statement = parseSelect(sql);
  const read = { statement, binding: bindSelect(statement, catalog) };
  const [oldest] = known.keys();
  if (known.size >= MOST_REMEMBERED && oldest !== undefined) known.delete(oldest);
  known.set(sql, read);
  return read;
}

/** The same, undefined where the text cannot be read: the item is then untranslated, and says why. */
export function tryReadSql(sql: string, catalog: Catalog): ReadSql | undefined {
  try {
    return readSql(sql, catalog);
  } catch (error) {
    if (error instanceof SqlSyntaxError || error instanceof SqlBindError) return undefined;
    throw error;
  }
}
