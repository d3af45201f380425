import type Database from 'better-sqlite3';
import type { AskedJoin } from './asked-joins';
import { quoteName as q, sameName, type Catalog, type Table, tableNamed } from '../catalog';
import type { FanOut, Relationship, TableProfile } from './profile';

interface Candidate {
  readonly child: Table;
  readonly childColumns: readonly string[];
  readonly parent: Table;
  readonly parentColumns: readonly string[];
  readonly declared: boolean;
  readonly evidence?: string;
}

/**
 * Declared foreign keys, and undeclared ones inferred from names, or from what queries join, and
 * inclusion; each measured on the data.
 */
export function readRelationships(
  sqlite: Database.Database,
  catalog: Catalog,
  profiles: readonly TableProfile[],
  asked: readonly AskedJoin[] = [],
): Relationship[] {
  const declared = catalog.tables.flatMap((child) =>
    child.foreignKeys
      .filter((key) => key.resolved)
      .map((key): Candidate => ({
        child,
        childColumns: key.columns,
        parent: tableNamed(catalog, key.toTable)!,
        parentColumns: key.toColumns,
        declared: true,
      })),
  );
  const inferred = [
    ...inferCandidates(catalog, profiles, declared),
    ...joinedCandidates(asked, catalog, profiles, declared),
  ]
    .map((candidate) => measure(sqlite, candidate, profiles))
    .filter((relationship) => relationship.orphans === 0);
  const measured = [
    ...declared.map((candidate) => measure(sqlite, candidate, profiles)),
    ...inferred,
  ];
  return measured.filter(
    (relationship, index) => measured.findIndex((other) => other.id === relationship.id) === index,
  );
}

/**
 * A column that bears the name of another table's single-column key (or of the table and the key
 * together), is not part of a declared foreign key, and is not its own table's key. Inclusion is
 * measured afterwards: one value that the parent lacks ends the inference.
 */
function inferCandidates(
  catalog: Catalog,
  profiles: readonly TableProfile[],
  declared: readonly Candidate[],
): Candidate[] {
  const out: Candidate[] = [];
  for (const parent of catalog.tables) {
    const key = parent.primaryKey.length === 1 ? parent.primaryKey[0]! : undefined;
    const parentProfile = profiles.find((p) => p.table === parent.name);
    if (!key || !parentProfile || parentProfile.rowCount === 0) continue;
    if (!parentProfile.keys.some((columns) => columns.length === 1 && columns[0] === key)) continue;
    for (const child of catalog.tables) {
      if (child === parent) continue;
      const childProfile = profiles.find((p) => p.table === child.name);
      if (!childProfile || childProfile.rowCount === 0) continue;
      for (const column of child.columns) {
        if (declared.some((d) => d.child === child && d.childColumns.includes(column.name)))
          continue;
        if (child.primaryKey.length === 1 && child.primaryKey[0] === column.name) continue;
        const evidence = nameEvidence(parent.name, key, column.name);
        const stored = childProfile.columns.find((c) => c.column === column.name)?.stored;
        if (!evidence || !stored || stored.null === childProfile.rowCount) continue;
        out.push({
          child,
          childColumns: [column.name],
          parent,
          parentColumns: [key],
          declared: false,
          evidence,
        });
      }
    }
  }
  return out;
}

/** A join that one query makes may be its own mistake. */
const MIN_QUERIES = 3;

/**
 * A column that at least three queries join with another table's key. One that a declared foreign
 * key leads elsewhere has to bear the key's name as well: queries do join what does not belong
 * together.
 */
function joinedCandidates(
  asked: readonly AskedJoin[],
  catalog: Catalog,
  profiles: readonly TableProfile[],
  declared: readonly Candidate[],
): Candidate[] {
  return asked.flatMap(({ sides: [a, b], queries }) =>
    [[a, b] as const, [b, a] as const].flatMap(([own, key]): Candidate[] => {
      const [child, parent] = [own, key].map(({ table }) => tableNamed(catalog, table));
      const childProfile = profiles.find(({ table }) => table === own.table);
      const isKey = profiles.some(
        ({ table, keys }) =>
          table === key.table &&
          keys.some((columns) => columns.length === 1 && columns[0] === key.column),
      );
      if (!child || !parent || queries < MIN_QUERIES || !isKey) return [];
      if (child.primaryKey.length === 1 && child.primaryKey[0] === own.column) return [];
      if (
        declared.some(
          (known) => known.child === child && known.childColumns.includes(own.column),
        ) &&
        !sameName(own.column, key.column)
      )
        return [];
      const stored = childProfile?.columns.find(({ column }) => column === own.column)?.stored;
      if (!stored || stored.null === childProfile?.rowCount) return [];
      return [
        {
          child,
          childColumns: [own.column],
          parent,
          parentColumns: [key.column],
          declared: false,
          evidence:
            `${queries} queries of the benchmark join it with ${key.table}'s ` +
            `${key.column}, and every value is one of them`,
        },
      ];
    }),
  );
}

function nameEvidence(parentTable: string, key: string, column: string): string | undefined {
  const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
  const singular = plain(parentTable).replace(/ies$/, 'y').replace(/s$/, '');
  const [k, c] = [plain(key), plain(column)];
  if (sameName(key, column) && k !== 'id' && k !== 'name' && k !== 'code')
    return `the column has the name of ${parentTable}'s key, and every value is one of its keys`;
  if (
    c === singular + k ||
    c === plain(parentTable) + k ||
    (k === 'id' && c.endsWith(`${singular}id`) && singular.length > 2)
  )
    return (
      `the column is named after ${parentTable} and its key, and every value is one of ` +
      'its keys'
    );
  if (singular.length > 2 && (c === singular || c === plain(parentTable)))
    return `the column has the name of ${parentTable}, and every value is one of its keys`;
  return undefined;
}

function measure(
  sqlite: Database.Database,
  candidate: Candidate,
  profiles: readonly TableProfile[],
): Relationship {
  const { child, parent, childColumns, parentColumns, declared, evidence } = candidate;
  const pairs = childColumns.map((column, index) => [q(column), q(parentColumns[index]!)] as const);
  const on = (c: string, p: string): string =>
    pairs.map(([cc, pc]) => `${p}.${pc} = ${c}.${cc}`).join(' AND ');
  const notNull = pairs.map(([cc]) => `c.${cc} IS NOT NULL`).join(' AND ');
  const parentKeys = pairs.map(([, pc]) => pc).join(', ');
  const number = (sql: string): number => Number(sqlite.prepare(sql).pluck().get());

  const nullKeys = number(`SELECT count(*) FROM ${q(child.name)} c WHERE NOT (${notNull})`);
  // Joins against a materialised set of distinct keys: SQLite then builds an index where the source
  // has none.
  const orphans = number(
    `SELECT count(*) FROM ${q(child.name)} c LEFT JOIN (SELECT DISTINCT ${parentKeys}, 1 AS ` +
      `"here?" FROM ${q(parent.name)}) p ON ${on('c', 'p')} WHERE ${notNull} AND p."here?" IS NULL`,
  );
  const differs = pairs
    .map(
      ([cc, pc]) =>
        `typeof(c.${cc}) <> typeof(p.${pc}) OR CAST(c.${cc} AS BLOB) IS NOT CAST(p.${pc} AS BLOB)`,
    )
    .join(' OR ');
  const sameStorage =
    number(
      `SELECT EXISTS (SELECT 1 FROM ${q(child.name)} c JOIN (SELECT DISTINCT ${parentKeys} FROM ` +
        `${q(parent.name)}) p ON ${on('c', 'p')} WHERE ${differs})`,
    ) === 0;
  const parentProfile = profiles.find((profile) => profile.table === parent.name)!;
  const counts = sqlite
    .prepare(
      `SELECT fan, sum("rows?") FROM (SELECT coalesce(sum(g."n?"), 0) AS fan, p."rows?" FROM ${byBytes(
        parent.name,
        pairs.map(([, pc]) => pc),
        'rows?',
        '',
      )} p LEFT JOIN ${byBytes(
        child.name,
        pairs.map(([cc]) => cc),
        'n?',
        ` WHERE ${notNull}`,
      )} g ON ${on('g', 'p')} GROUP BY ${pairs.map(([, pc]) => `p.${pc} COLLATE BINARY`).join(', ')}) GROUP BY fan ORDER BY fan`,
    )
    .raw()
    .all() as [bigint, bigint][];
  // Affinity can make one child equal to two parents ('1' and 1 in an untyped column): then the
  // parent is no key.
  const childRows = profiles.find((profile) => profile.table === child.name)!.rowCount;
  const matches = counts.reduce((sum, [fan, n]) => sum + Number(fan * n), 0);
  const parentIsKey =
    parentProfile.keys.some((key) => key.every((column) => parentColumns.includes(column))) &&
    matches === childRows - nullKeys - orphans;
  return {
    id: `${child.name}(${childColumns.join(',')})->${parent.name}(${parentColumns.join(',')})`,
    childTable: child.name,
    childColumns,
    parentTable: parent.name,
    parentColumns,
    declared,
    ...(evidence ? { evidence } : {}),
    parentIsKey,
    orphans,
    nullKeys,
    sameStorage,
    selfReference: child === parent,
    fanOut: distribution(counts.map(([fan, n]) => [Number(fan), Number(n)])),
  };
}

/**
 * Rows by their keys' bytes, with how many there are: a collation of the column would take several
 * spellings for one.
 */
const byBytes = (table: string, keys: readonly string[], as: string, where: string): string =>
  `(SELECT ${keys.join(', ')}, count(*) AS ${q(as)} FROM ${q(table)} c${where} GROUP BY ` +
  `${keys.map((key) => `c.${key} COLLATE BINARY`).join(', ')})`;

function distribution(counts: readonly (readonly [fan: number, parents: number])[]): FanOut {
  const parents = counts.reduce((sum, [, n]) => sum + n, 0);
  const children = counts.reduce((sum, [fan, n]) => sum + fan * n, 0);
  const percentile = (share: number): number => {
    let seen = 0;
    for (const [fan, n] of counts) {
      seen += n;
      if (seen >= parents * share) return fan;
    }
    return 0;
  };
  return {
    mean: parents ? children / parents : 0,
    p50: percentile(0.5),
    p99: percentile(0.99),
    max: counts.at(-1)?.[0] ?? 0,
    childlessParents: counts.find(([fan]) => fan === 0)?.[1] ?? 0,
  };
}
