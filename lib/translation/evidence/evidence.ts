import type { Document } from 'mongodb';
import type { DocumentDesign } from '../../design/model/document-design';
import { placementOf } from '../../design/model/placement';
import type { Catalog } from '../../sqlite/catalog';
import { IDENTITY } from '../lower/computed-value';
import { evidencePaths, type EvidencePath } from './gold/evidence-paths';
import { columnsIn, type ColumnName, type Formula } from './formula/formula';
import { goldUses } from './gold/gold-uses';
import { isFormula } from './names/is-formula';
import { isMentioned, spelledColumn, termOf } from './names/mention';
import type { Place } from './names/place';
import { phraseAt } from './formula/sql-phrase';
import { functionNamed } from './formula/functions';
import { FormulaParser } from './formula/parse-formula';
import { printFormula } from './print/print-formula';
import type { PrintedColumn } from './print/printed';
import { ColumnResolver } from './names/resolve-column';
import { SourceNames } from './names/source-names';
import { tokensOf, type Token } from './formula/tokens';
import { sourceUses } from './gold/witness';

export interface EvidenceRewrite {
  readonly text: string;
  /** Each path that the text names, once, in order of appearance. */
  readonly paths: readonly EvidencePath[];
  /** What looks like a name of the source and stayed as it was, with why: for the reviewer. */
  readonly unmatched: readonly string[];
}

export interface EvidenceContext {
  readonly catalog: Catalog;
  readonly design: DocumentDesign;
  readonly collection: string;
  readonly pipeline: readonly Document[];
  readonly sql: string;
}

/**
 * Characters of a hint that is rewritten. The longest of BIRD has 591; each word looks at what
 * stands around it.
 */
const MAX_EVIDENCE = 5000;

/**
 * Rewrites a hint for the document model: columns become the `collection.field` paths that the gold
 * query uses for the same, formulas the words of a pipeline, values what is stored. Prose and
 * quoted text stay as they were, and so does what cannot be decided, which is reported.
 */
export function rewriteEvidence(evidence: string, context: EvidenceContext): EvidenceRewrite {
  if (evidence.length > MAX_EVIDENCE)
    return {
      text: evidence,
      paths: [],
      unmatched: [`(longer than ${MAX_EVIDENCE} characters: not rewritten)`],
    };
  const rewriting = new Rewriting(evidence, context);
  const text = rewriting.run();
  return { text, paths: evidencePaths(text, context), unmatched: [...rewriting.unmatched] };
}

class Rewriting {
  readonly unmatched = new Set<string>();
  private readonly names: SourceNames;
  private readonly resolver: ColumnResolver;
  private readonly tokens: readonly Token[];
  private readonly parser: FormulaParser;
  /** The last thing that was rewritten was a column by itself: a list may go on. */
  private inList = false;

  constructor(
    evidence: string,
    private readonly context: EvidenceContext,
  ) {
    const { catalog, design, collection, pipeline, sql } = context;
    const uses = sourceUses(sql, catalog);
    const gold = goldUses(collection, pipeline, design);
    this.names = new SourceNames(
      catalog,
      new Map(uses.map(({ alias, table }) => [alias.toLowerCase(), table])),
    );
    this.resolver = new ColumnResolver(catalog, design, uses, gold);
    this.tokens = tokensOf(evidence, this.names.longName);
    this.parser = new FormulaParser(this.tokens, this.names);
  }

  run(): string {
    let text = '';
    for (let index = 0; index < this.tokens.length;) {
      const found = this.formulaAt(index) ?? this.tableAt(index) ?? this.phraseAt(index);
      const token = this.tokens[index]!;
      text += found?.text ?? token.source;
      index = found?.end ?? index + 1;
      if (!found && token.kind !== 'space') this.noteUnknown(token);
    }
    this.noteFunctions(text);
    return text;
  }

  private formulaAt(index: number): { readonly text: string; readonly end: number } | undefined {
    const place = this.placeAt(index);
    if (!place) return undefined;
    const spelled = spelledColumn(place, this.names, this.resolver);
    if (spelled) return this.columnAt(spelled.column, place, spelled.end);
    const parsed = this.parser.parse(index);
    if (!parsed) return undefined;
    const { formula, end, isRepaired } = parsed;
    const isMeant =
      formula.kind === 'column'
        ? isMentioned(formula, place, end, this.names, this.resolver)
        : isFormula(formula, place, end, this.names, this.resolver);
    if (!isMeant) return undefined;
    if (formula.kind === 'column') return this.columnAt(formula, place, end);
    this.inList = false;
    if (isRepaired) this.unmatched.add('parentheses: not balanced, completed');
    return { text: this.print(formula, index), end };
  }

  /** A column by itself; what the hint says to be its value tells which. */
  private columnAt(
    column: ColumnName,
    place: Place,
    end: number,
  ): { readonly text: string; readonly end: number } {
    this.inList = true;
    const term = termOf(place);
    const isValue = term !== undefined && this.resolver.isCompared(column.column, term);
    return { text: this.print(isValue ? { ...column, constant: term } : column, place.index), end };
  }

  /** Functions of SQL that the text still has: nothing says what they mean. */
  private noteFunctions(text: string): void {
    const tokens = tokensOf(text, () => undefined);
    for (const [index, { kind, source }] of tokens.entries())
      if (
        kind === 'word' &&
        (functionNamed(source) !== undefined || /^[A-Z_]{3,}$/.test(source)) &&
        tokens[index + 1]?.source === '('
      )
        this.unmatched.add(`${source}(…): not in words`);
  }

  private placeAt(index: number): Place | undefined {
    const token = this.tokens[index];
    const before = this.tokens[index - 1];
    // A part of "3-D" or of "Ann’s" is no name.
    const isInWord =
      before !== undefined &&
      /^[-'’.]$/.test(before.source) &&
      this.tokens[index - 2]?.kind !== 'space' &&
      index > 1;
    return !token || token.kind === 'space' || isInWord
      ? undefined
      : { tokens: this.tokens, index, inList: this.inList };
  }

  private print(formula: Formula, index: number): string {
    const clause = clauseOf(this.tokens, index);
    const words = clause
      .filter(({ kind }) => kind === 'word')
      .map(({ value }) => value.toLowerCase());
    const columns = [...columnsIn(formula)].map(({ column }) => column.toLowerCase());
    const around = { words, columns: [...columns, ...words.filter((word) => word.includes('_'))] };
    return printFormula(formula, (column): PrintedColumn => {
      const { constant, within } = column;
      const found = this.resolver.resolve(column, {
        ...around,
        ...(constant !== undefined && { constant }),
        ...(within !== undefined && { within }),
      });
      if (found?.kind === 'field')
        return {
          text: found.path,
          transform: found.transform,
          isName: this.resolver.isName(found),
        };
      if (found) this.unmatched.add(`${column.source}: ${found.paths.join(' or ')}`);
      return { text: column.source, transform: IDENTITY };
    });
  }

  /** An embedded table is where its rows are. */
  private tableAt(index: number): { readonly text: string; readonly end: number } | undefined {
    const token = this.tokens[index]!;
    const table = this.placeAt(index) && this.names.tableAt(token);
    const placement = table === undefined ? undefined : placementOf(this.context.design, table);
    if (!placement) return undefined;
    const last = placement.steps.at(-1);
    const text = last ? `${placement.collection}.${last.path}` : placement.collection;
    return { text, end: index + 1 };
  }

  private phraseAt(index: number): { readonly text: string; readonly end: number } | undefined {
    return phraseAt(this.tokens, index);
  }

  private noteUnknown(token: Token): void {
    const ends = token.kind === 'mark' && token.value !== ',';
    const isJoiner = token.value === ',' || /^(?:and|or|&)$/i.test(token.value);
    if (ends || !isJoiner) this.inList = false;
    if (token.kind === 'name' && token.source.startsWith('`')) this.unmatched.add(token.value);
  }
}

/** The tokens of a hint's clause: up to the semicolons on both sides. */
function clauseOf(tokens: readonly Token[], index: number): readonly Token[] {
  const isEnd = ({ kind, value, source }: Token): boolean =>
    (kind === 'mark' && value === ';') || (kind === 'space' && source.includes('\n'));
  const start = tokens.findLastIndex((token, at) => at < index && isEnd(token)) + 1;
  const end = tokens.findIndex((token, at) => at > index && isEnd(token));
  return tokens.slice(start, end < 0 ? undefined : end);
}
