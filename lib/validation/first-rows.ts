import type { Document } from 'mongodb';
import { invertTransform, identity } from '../design/model/transform';
import { documentsToResultSet } from '../results/compare';
import { equalWithin, rowKey } from '../results/equality';
import { fromBson, type Value } from '../results/value';
import { quoteName as q } from '../sqlite/catalog';
import type { AskSource } from './document-sources';
import { transformed, type ValidationMapping } from './mapping';
import { sqlLiteral } from './sql-literal';

/** The first rows of a mapping's documents, each beside the row of the source that it equals. */
export interface FirstRows {
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly document: readonly Value[];
    /** Null: none equals it. */ readonly source: readonly Value[] | null;
  }[];
}

// Every mapping but a count carries the documents' key under this name.
const KEY = '_key';

/**
 * Runs both sides as far as the first rows of the documents need: neither side is ordered, so the
 * source is asked for all rows with the same keys, and those that are equal are laid side by side.
 */
export async function firstRows(
  mapping: ValidationMapping,
  most: number,
  ask: AskSource,
  run: (pipeline: readonly Document[]) => Promise<readonly Document[]>,
): Promise<FirstRows> {
  const documents = documentsToResultSet(
    (await run([...mapping.pipeline, { $limit: most }])).map(fromBson),
  );
  const source = transformed(
    await ask(restricted(mapping, documents.columns.indexOf(KEY), documents.rows)),
    mapping.transforms,
  );
  const places = source.columns.map((name) => documents.columns.indexOf(name));
  const left = [...source.rows];
  const rows = documents.rows.map((row) => {
    const document = places.map((at) => row[at] ?? null);
    const key = rowKey(document);
    const exact = left.findIndex((own) => rowKey(own) === key);
    const at =
      exact >= 0
        ? exact
        : left.findIndex((own) =>
            own.every((value, column) => equalWithin(value, document[column]!)),
          );
    return { document, source: at < 0 ? null : left.splice(at, 1)[0]! };
  });
  return { columns: source.columns, rows };
}

function restricted(
  { sql, transforms }: ValidationMapping,
  at: number,
  rows: readonly (readonly Value[])[],
): string {
  if (at < 0) return sql;
  const keys = rows.map((row) =>
    invertTransform(
      (Object.hasOwn(transforms, KEY) && transforms[KEY]) || identity,
      row[at] ?? null,
    ),
  );
  return (
    `SELECT * FROM (${sql}) WHERE ${q(KEY)} IN ` +
    `(${[...new Set(keys.map(sqlLiteral))].join(', ')})`
  );
}
