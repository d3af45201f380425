import { sameName } from '../catalog';
import type { Expression, NameReference } from './ast';
import { SqlBindError } from './bind-error';
import type { BoundColumn, BoundExpression, BoundSource } from './bound';

/** A column that several sources share through USING or NATURAL; it is named once. */
export interface SharedColumn {
  readonly name: string;
  readonly expression: BoundExpression;
}

/** What a common table offers to the queries behind it. */
export interface CommonTableEntry {
  readonly name: string;
  readonly open: () => BoundSource['content'] & { readonly columns: BoundSource['columns'] };
}

/** The names that one SELECT can see, and the enclosing SELECT's behind them. */
export class Scope {
  readonly sources: BoundSource[] = [];
  /** Latest first: `a JOIN b USING (x) JOIN c USING (x)` replaces the entry of `x`. */
  readonly shared: SharedColumn[] = [];
  /**
   * Aliases of result columns, usable in WHERE, GROUP BY, HAVING and ORDER BY where no column has
   * the name.
   */
  aliases: { readonly name: string; readonly expression: Expression }[] = [];
  readonly outer: BoundColumn[] = [];

  constructor(
    readonly parent: Scope | undefined,
    readonly commonTables: readonly CommonTableEntry[],
  ) {}

  commonTable(name: string): CommonTableEntry | undefined {
    return (
      this.commonTables.findLast((entry) => sameName(entry.name, name)) ??
      this.parent?.commonTable(name)
    );
  }

  /** A column of this SELECT's own sources, or undefined. */
  find(reference: NameReference): BoundExpression | undefined {
    const { table, name } = reference;
    if (table === undefined) {
      const shared = this.shared.find((entry) => sameName(entry.name, name));
      if (shared) return shared.expression;
    }
    const hits: BoundColumn[] = [];
    const candidates = this.sources.filter(
      (source) => table === undefined || sameName(source.name, table),
    );
    for (const source of candidates) {
      const index = source.columns.findIndex((column) => sameName(column.name, name));
      if (index >= 0) hits.push({ kind: 'column', source, index });
    }
    if (hits.length > 1)
      throw new SqlBindError('ambiguous_column', `the column name ${name} is ambiguous`, reference);
    return hits[0] ?? this.rowid(candidates, name);
  }

  /** Notes that the queries from `inner` out to this scope read a column of this scope. */
  static noteOuter(from: Scope, owner: Scope, column: BoundColumn): void {
    for (let scope: Scope | undefined = from; scope && scope !== owner; scope = scope.parent) {
      if (
        !scope.outer.some((known) => known.source === column.source && known.index === column.index)
      )
        scope.outer.push(column);
    }
  }

  private rowid(candidates: readonly BoundSource[], name: string): BoundExpression | undefined {
    if (!/^(rowid|oid|_rowid_)$/i.test(name)) return undefined;
    const tables = candidates.filter(
      (source) => source.content.kind === 'table' && !source.content.table.withoutRowid,
    );
    const [source] = tables;
    if (tables.length !== 1 || source?.content.kind !== 'table') return undefined;
    const { table } = source.content;
    if (!table.rowidAlias) return { kind: 'rowid', source };
    const index = table.columns.findIndex((column) =>
      sameName(column.name, table.primaryKey[0] ?? ''),
    );
    return { kind: 'column', source, index };
  }
}
