import type { DocumentDesign } from '../../../design/model/document-design';
import { sameName, type Catalog } from '../../../sqlite/catalog';
import { fieldsOfColumn, type ColumnField } from '../gold/design-columns';
import type { ColumnName } from '../formula/formula';
import type { FieldUse } from '../gold/gold-uses';
import { isSameValue, sameText } from '../gold/same-value';
import { isRoleOf, type SourceUse } from '../gold/witness';

/** Where the column that a hint names is found, or the fields among which nothing decides. */
export type Resolution =
  | ({ readonly kind: 'field' } & Pick<ColumnField, 'path' | 'transform' | 'table' | 'column'>)
  | { readonly kind: 'undecided'; readonly paths: readonly string[] };

/** What stands around a column in its clause. */
export interface Surroundings {
  /** In lower case. */
  readonly words: readonly string[];
  /** Other columns of the clause, in lower case. */
  readonly columns: readonly string[];
  /** What the column is compared with. */
  readonly constant?: string;
  /** The aggregate that is taken of the column. */
  readonly within?: string;
}

/** Chooses the field by what the item's SQL and its gold do with the column. */
export class ColumnResolver {
  constructor(
    private readonly catalog: Catalog,
    private readonly design: DocumentDesign,
    private readonly uses: readonly SourceUse[],
    private readonly gold: ReadonlyMap<string, FieldUse>,
  ) {}

  resolve(name: ColumnName, around: Surroundings): Resolution | undefined {
    const uses = this.likelyUses(name, around);
    const fields =
      uses.length > 0
        ? uses.flatMap((use) => this.fieldFor(use, name.column, around.constant) ?? [])
        : this.unusedFields(name);
    const paths = [...new Set(fields.map(({ path }) => path))];
    const [only] = fields;
    if (!only) return undefined;
    if (paths.length === 1) return { kind: 'field', ...only };
    const read = fields.filter(({ path }) => this.gold.has(path));
    const [first = only] = read;
    // What the join makes equal needs no choice.
    const isShared = uses.every(({ links }) =>
      links.some((link) => sameName(link.column, name.column)),
    );
    const roles = new Set(fields.flatMap(({ copy }) => copy?.columns.join() ?? []));
    const isOneColumn = fields.every(({ table }) => table === only.table) && roles.size < 2;
    const isOneRead = read.length > 0 && read.every(({ path }) => path === first.path);
    return isShared || isOneColumn || isOneRead
      ? { kind: 'field', ...first }
      : { kind: 'undecided', paths };
  }

  /** Whether the SQL reads a column of this name for more than a join. */
  isRead(column: string): boolean {
    return this.uses.some(({ reads }) => reads.has(column.toLowerCase()));
  }

  /** Whether the SQL compares a column of this name with a text. */
  isCompared(column: string, text: string): boolean {
    return this.uses.some(({ constants }) =>
      constants
        .get(column.toLowerCase())
        ?.some((value) => sameText(value.replace(/^%+|%+$/g, ''), text)),
    );
  }

  /** Texts and keys: adding them up makes no sense. */
  isName({ table, column }: Pick<ColumnField, 'table' | 'column'>): boolean {
    const owner = this.catalog.tables.find(({ name }) => sameName(name, table));
    const found = owner?.columns.find(({ name }) => sameName(name, column));
    const isSummed = this.uses.some(
      (use) =>
        sameName(use.table, table) &&
        ['sum', 'avg', 'total'].some((name) => use.aggregates.get(column.toLowerCase())?.has(name)),
    );
    if (isSummed) return false;
    const isKey = owner?.primaryKey.some((name) => sameName(name, column)) ?? false;
    return isKey || found?.affinity === 'TEXT';
  }

  /** The uses of tables that the name can mean; those that more speaks for, if any. */
  private likelyUses({ table, column }: ColumnName, around: Surroundings): readonly SourceUse[] {
    const key = column.toLowerCase();
    const named = this.uses.filter(
      (use) =>
        this.hasColumn(use.table, column) &&
        (table === undefined || sameName(use.alias, table) || sameName(use.table, table)),
    );
    const { constant, within } = around;
    const tests: readonly ((use: SourceUse) => boolean)[] = [
      ({ constants }) =>
        constant !== undefined &&
        (constants.get(key) ?? []).some((value) => sameText(value, constant)),
      ({ aggregates }) => within !== undefined && aggregates.get(key)?.has(within) === true,
      ({ links }) =>
        links.some(({ otherColumn }) => around.columns.includes(otherColumn.toLowerCase())),
      ({ links }) => links.some((link) => namesRole(link.otherColumn, column, around.words)),
      ({ reads }) => reads.has(key),
      ({ links }) => links.some((link) => sameName(link.column, column)),
      // Where no value is given, that of which no value is asked.
      ({ constants }) => constant === undefined && !constants.has(key),
    ];
    return tests.reduce<readonly SourceUse[]>((left, test) => {
      const some = left.filter(test);
      return some.length > 0 ? some : left;
    }, named);
  }

  private hasColumn(tableName: string, column: string): boolean {
    return this.catalog.tables.some(
      ({ name, columns }) =>
        sameName(name, tableName) && columns.some((own) => sameName(own.name, column)),
    );
  }

  /**
   * The field that gold reads for this use of the table: what it compares with the same constant, a
   * copy of its role, or the column's own.
   */
  private fieldFor(
    use: SourceUse,
    column: string,
    constant: string | undefined,
  ): ColumnField | undefined {
    const fields = fieldsOfColumn(this.design, use.table, column);
    const isOfRole = ({ copy }: ColumnField): boolean => copy !== undefined && isRoleOf(copy, use);
    const isOwn = ({ copy }: ColumnField): boolean => copy === undefined;
    const isRead = ({ path }: ColumnField): boolean => this.gold.has(path);
    const isCompared = ({ path }: ColumnField): boolean =>
      constant !== undefined &&
      this.gold.get(path)?.constants.some((value) => isSameValue(value, constant)) === true;
    // A key has the same values on both sides of a join.
    const others = use.links
      .filter((link) => sameName(link.column, column))
      .flatMap(({ otherTable, otherColumn }) =>
        fieldsOfColumn(this.design, otherTable, otherColumn),
      );
    const candidates = [...fields.filter(isOfRole), ...fields.filter(isOwn), ...others];
    return candidates.find(isCompared) ?? candidates.find(isRead) ?? candidates[0];
  }

  /** Of tables that the SQL does not use. */
  private unusedFields({ table, column }: ColumnName): ColumnField[] {
    return this.catalog.tables
      .filter(({ name }) => table === undefined || sameName(name, table))
      .flatMap(({ name }) => fieldsOfColumn(this.design, name, column).slice(0, 1));
  }
}

/**
 * The clause speaks of the role that a key gives: of `skin` in "green-skinned", for `skin_colour_id`
 * and the column `colour`.
 */
function namesRole(key: string, column: string, words: readonly string[]): boolean {
  const own = wordsOf(column);
  return wordsOf(key).some(
    (part) => part.length > 2 && !own.includes(part) && words.some((word) => word.startsWith(part)),
  );
}

const wordsOf = (name: string): string[] =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && word !== 'id');
