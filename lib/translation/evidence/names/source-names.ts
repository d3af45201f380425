import { sameName, type Catalog } from '../../../sqlite/catalog';
import { isNear, LEAST_LETTERS } from '../formula/near-name';
import type { ColumnAt, FormulaNames } from '../formula/grammar';
import type { LongName, Token } from '../formula/tokens';

const SINGLE_WORD = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** The names of a source database as hints write them: in any case, quoted or not. */
export class SourceNames implements FormulaNames {
  /** Longest first. */
  private readonly long: readonly string[];
  private readonly columns: ReadonlySet<string>;
  /** Of the tables that the item's SQL uses. */
  private readonly usedColumns: readonly string[];

  constructor(
    private readonly catalog: Catalog,
    /** Tables by the names that the item's SQL gives them. */
    private readonly aliases: ReadonlyMap<string, string>,
  ) {
    const columns = catalog.tables.flatMap((table) => table.columns.map(({ name }) => name));
    const tables = catalog.tables.map(({ name }) => name);
    this.columns = new Set(columns.map((name) => name.toLowerCase()));
    const used = new Set([...aliases.values()]);
    this.usedColumns = [
      ...new Set(
        catalog.tables
          .filter(({ name }) => used.has(name))
          .flatMap((table) => table.columns.map(({ name }) => name.toLowerCase())),
      ),
    ];
    this.long = [...new Set([...columns, ...tables].map((name) => name.toLowerCase()))]
      .filter((name) => !SINGLE_WORD.test(name))
      .sort((a, b) => b.length - a.length);
  }

  readonly longName: LongName = (text, start) => {
    const isBracketed = text[start] === '[';
    const rest = text.slice(isBracketed ? start + 1 : start).toLowerCase();
    if (isBracketed) {
      const end = rest.indexOf(']');
      const name = rest.slice(0, Math.max(0, end));
      return this.columns.has(name) || this.long.includes(name) ? end + 2 : undefined;
    }
    const found = this.long.find(
      (name) => rest.startsWith(name) && !/^[\p{L}\p{N}_]/u.test(rest.slice(name.length)),
    );
    return found?.length;
  };

  readonly columnAt: ColumnAt = (tokens, index) => {
    const first = tokens[index];
    if (!first || !isName(first)) return undefined;
    const qualified = this.qualifiedAt(tokens, index) ?? this.spelledOperand(tokens, index);
    if (qualified) return qualified;
    const { source, value, start } = first;
    const column = this.columns.has(value.toLowerCase()) ? value : this.misspelled(first);
    return column === undefined
      ? undefined
      : { column: { kind: 'column', source, column, start }, length: 1 };
  };

  /** `table.column`, or `T1.column` by the alias of the SQL. */
  private readonly qualifiedAt: ColumnAt = (tokens, index) => {
    const [first, dot, second] = tokens.slice(index, index + 3);
    if (!first || dot?.source !== '.' || !second || !isName(second)) return undefined;
    const isAlias = this.aliases.has(first.value.toLowerCase());
    const table = this.tableNamed(first.value);
    if (table === undefined) return undefined;
    const source = first.source + dot.source + second.source;
    const column = { kind: 'column', source, column: second.value, start: first.start } as const;
    // An alias distinguishes two uses of a table.
    if (this.has(second.value, table))
      return { column: { ...column, table: isAlias ? first.value : table }, length: 3 };
    // The hint takes the alias of another table.
    return isAlias && this.isUsed(second.value) ? { column, length: 3 } : undefined;
  };

  /** Words that spell a column of a table in use, where they are compared or a function's argument. */
  private readonly spelledOperand: ColumnAt = (tokens, index) => {
    for (const count of SPELLED_WORDS) {
      const spelled = this.spelledAt(tokens, index, count);
      if (!spelled) continue;
      const [behind] = tokens.slice(index + spelled.length).filter(({ kind }) => kind !== 'space');
      const before = tokens.slice(0, index).findLast(({ kind }) => kind !== 'space');
      const isCompared =
        (behind?.kind === 'operator' && /^[=!<>]/.test(behind.value)) ||
        /^\s*(?:is|are)\s+(?:not\s+)?null\b/i.test(
          textOf(tokens.slice(index + spelled.length, index + spelled.length + 6)),
        );
      const isArgument = before?.value === '(' && (behind?.value === ')' || behind?.value === ',');
      if (isCompared || isArgument) return spelled;
    }
    return undefined;
  };

  /** A column of a table in use that so many words spell: `major name` for `major_name`. */
  spelledAt(tokens: readonly Token[], index: number, count: number): ReturnType<ColumnAt> {
    const words = tokens.slice(index, index + 2 * count - 1);
    const isSpelled =
      words.length === 2 * count - 1 &&
      words.every(({ kind }, nth) => kind === (nth % 2 === 0 ? 'word' : 'space'));
    if (!isSpelled) return undefined;
    const column = this.spelled(
      words.filter(({ kind }) => kind === 'word').map(({ value }) => value),
    );
    if (column === undefined) return undefined;
    const { start } = words[0]!;
    return {
      column: { kind: 'column', source: textOf(words), column, start },
      length: words.length,
    };
  }

  isUsed(column: string): boolean {
    return this.usedColumns.includes(column.toLowerCase());
  }

  isPlain(word: string): boolean {
    return (
      this.isUsed(word) &&
      this.catalog.tables.some(({ columns }) =>
        columns.some(
          ({ name }) =>
            (sameName(name, word) && isUnmistakable(name)) ||
            (name === word && /^\p{Lu}/u.test(name)),
        ),
      )
    );
  }

  /** The column whose name these words spell, with `_`, nothing or a space between them. */
  private spelled(words: readonly string[]): string | undefined {
    return ['_', '', ' ']
      .map((joint) => words.join(joint).toLowerCase())
      .find((name) => this.isUsed(name));
  }

  /** The one name of the tables in use that differs in a letter, as `color` does from `colour`. */
  private misspelled({ kind, value }: Token): string | undefined {
    if (kind !== 'word') return undefined;
    const written = value.toLowerCase();
    const near = this.usedColumns.filter((name) =>
      value.length < LEAST_LETTERS ? name === `${written}s` : isNear(name, written),
    );
    return near.length === 1 ? near[0] : undefined;
  }

  /** The table that a name or an alias stands for. */
  tableNamed(name: string): string | undefined {
    const alias = this.aliases.get(name.toLowerCase());
    const isNamed = (test: (table: string) => boolean): string | undefined =>
      this.catalog.tables.find((entry) => test(entry.name))?.name;
    return (
      isNamed((table) => sameName(table, alias ?? name)) ??
      isNamed((table) => sameName(table, `${name}s`) || sameName(`${table}s`, name)) ??
      (name.length < LEAST_LETTERS
        ? undefined
        : isNamed((table) => isNear(table.toLowerCase(), name.toLowerCase())))
    );
  }

  /** A table that text names on purpose: one whose name is no ordinary word. */
  tableAt(token: Token): string | undefined {
    if (token.kind !== 'word' && token.kind !== 'name') return undefined;
    const found = this.catalog.tables.find(({ name }) => sameName(name, token.value));
    const isQuoted = /^[`[]/.test(token.source);
    return found && (isQuoted || isUnmistakable(found.name)) ? found.name : undefined;
  }

  /** Written as it is called, and unlike any word; with the table, quoted or not. */
  isPlainlyWritten(source: string): boolean {
    const name = source.slice(source.lastIndexOf('.') + 1).replace(/^[`["]|[`\]"]$/g, '');
    return this.isExact(name) && isUnmistakable(name);
  }

  /** Whether a column is called exactly so. */
  isExact(column: string): boolean {
    return this.catalog.tables.some((table) => table.columns.some(({ name }) => name === column));
  }

  private has(column: string, table: string): boolean {
    return this.catalog.tables.some(
      (entry) =>
        sameName(entry.name, table) && entry.columns.some(({ name }) => sameName(name, column)),
    );
  }
}

/** Of a name that is spelled in words. */
export const SPELLED_WORDS = [3, 2] as const;

export const textOf = (tokens: readonly Token[]): string =>
  tokens.map(({ source }) => source).join('');

/** Words and quoted names; text in single quotes is a value. */
const isName = ({ kind, source }: Token): boolean =>
  kind === 'word' || kind === 'name' || (kind === 'literal' && source.startsWith('"'));

/** No word of a sentence looks like this: `full_name`, `isTextless`, `A11`, `Free Meal Count`. */
const isUnmistakable = (name: string): boolean =>
  /_|\d|\p{Ll}\p{Lu}/u.test(name) || (/[^\p{L}\p{N}]/u.test(name) && /\p{Lu}/u.test(name));
