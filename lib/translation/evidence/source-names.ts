import { sameName, type Catalog } from '../../sqlite/catalog';
import type { ColumnAt } from './parse-formula';
import type { LongName, Token } from './tokens';

const SINGLE_WORD = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** The names of a source database as hints write them: in any case, quoted or not. */
export class SourceNames {
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
    const [first, dot, second] = tokens.slice(index, index + 3);
    if (!first || !isName(first)) return undefined;
    if (dot?.source === '.' && second && isName(second)) {
      const table = this.tableNamed(first.value);
      if (table !== undefined && this.has(second.value, table)) {
        const source = first.source + dot.source + second.source;
        const column = {
          kind: 'column',
          source,
          // An alias tells two uses of a table apart.
          table: this.aliases.has(first.value.toLowerCase()) ? first.value : table,
          column: second.value,
        } as const;
        return { column: { ...column, start: first.start }, length: 3 };
      }
    }
    const { source, value, start } = first;
    const column = this.columns.has(value.toLowerCase()) ? value : this.misspelled(first);
    return column === undefined
      ? undefined
      : { column: { kind: 'column', source, column, start }, length: 1 };
  };

  /** The column whose name these words spell, with `_`, nothing or a space between them. */
  spelled(words: readonly string[]): string | undefined {
    return ['_', '', ' ']
      .map((joint) => words.join(joint).toLowerCase())
      .find((name) => this.columns.has(name));
  }

  /** The one name of the tables in use that differs in a letter, as `color` does from `colour`. */
  private misspelled({ kind, value }: Token): string | undefined {
    if (kind !== 'word' || value.length < LEAST_LETTERS) return undefined;
    const near = this.usedColumns.filter((name) => isNear(name, value.toLowerCase()));
    return near.length === 1 ? near[0] : undefined;
  }

  /** The table that a name or an alias stands for. */
  tableNamed(name: string): string | undefined {
    const alias = this.aliases.get(name.toLowerCase());
    const isNamed = (test: (table: string) => boolean): string | undefined =>
      this.catalog.tables.find((entry) => test(entry.name))?.name;
    return (
      isNamed((table) => sameName(table, alias ?? name)) ??
      (name.length < LEAST_LETTERS
        ? undefined
        : isNamed((table) => isNear(table.toLowerCase(), name.toLowerCase())))
    );
  }

  /** A table that text names on purpose: one whose name is no ordinary word. */
  tableAt(token: Token): string | undefined {
    if (token.kind !== 'word' && token.kind !== 'name') return undefined;
    const found = this.catalog.tables.find(({ name }) => sameName(name, token.value));
    return found && isUnmistakable(found.name) ? found.name : undefined;
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

/** A shorter word is near too many others. */
const LEAST_LETTERS = 5;

/** One letter was added, left out or exchanged. */
function isNear(name: string, written: string): boolean {
  if (name === written || Math.abs(name.length - written.length) > 1) return false;
  const [short, long] = name.length < written.length ? [name, written] : [written, name];
  let same = 0;
  while (same < short.length && short[same] === long[same]) same++;
  const rest = short.slice(same + Number(short.length === long.length));
  return long.slice(same + 1) === rest;
}

/** Words and quoted names; text in single quotes is a value. */
const isName = ({ kind, source }: Token): boolean =>
  kind === 'word' || kind === 'name' || (kind === 'literal' && source.startsWith('"'));

/** No word of a sentence looks like this: `full_name`, `isTextless`, `A11`, `Free Meal Count`. */
export const isUnmistakable = (name: string): boolean =>
  /_|\d|\p{Ll}\p{Lu}/u.test(name) || (/[^\p{L}\p{N}]/u.test(name) && /\p{Lu}/u.test(name));
