import type { Document } from 'mongodb';
import type { DocumentDesign } from '../../design/model/document-design';
import { columnPath, placementOf } from '../../design/model/placement';
import type { Transform } from '../../design/model/transform-kind';
import { printValue } from '../../mql/print';
import { sameName, type Catalog } from '../../sqlite/catalog';
import { tokensIfAny } from '../../sqlite/select/lexer';
import { likeRegex } from '../lower/like-pattern';
import { operationsInWords } from './evidence-operations';
import { encode } from '../lower/comparison';
import { periodOf, type Period } from '../lower/period-predicate';
import type { MqlDocument } from '../mql/mql';
import { copiedFields } from '../../design/model/column-fields';
import { designPaths, queryPaths } from './query-paths';

/**
 * A `collection.field` path that a hint mentions, checked against the design and the gold query.
 */
export interface EvidencePath {
  readonly path: string;
  readonly inDesign: boolean;
  readonly inQuery: boolean;
}

export interface EvidenceRewrite {
  readonly text: string;
  /** Each path that the text names, once, in order of appearance. */
  readonly paths: readonly EvidencePath[];
  /** What looks like a name of the source and is none: for the reviewer. */
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
 * Characters of a hint that is rewritten. The longest of BIRD has 591; each mention looks at the
 * text behind it.
 */
const MAX_EVIDENCE = 5000;

/**
 * Rewrites a hint for the document model: tables and columns become `collection.field` paths,
 * preferring those that the gold query reads; values follow a retyped column. Text that refers to
 * no field stays as it was.
 */
export function rewriteEvidence(evidence: string, context: EvidenceContext): EvidenceRewrite {
  if (evidence.length > MAX_EVIDENCE)
    return {
      text: evidence,
      paths: [],
      unmatched: [`(longer than ${MAX_EVIDENCE} characters: not rewritten)`],
    };
  const names = new ColumnNames(context);
  const unmatched = new Set<string>();
  let text = '';
  let at = 0;
  while (at < evidence.length) {
    const mention = mentionAt(evidence, at);
    if (!mention) {
      // Whole words are skipped together: a name inside a word is no mention.
      const step = /^(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_])/u.exec(evidence.slice(at))?.[0].length ?? 1;
      text += evidence.slice(at, at + step);
      at += step;
      continue;
    }
    const dated = datePart(evidence, at, names);
    if (dated) {
      text += dated.text;
      at += dated.length;
      continue;
    }
    const found = names.find(mention, evidence);
    if (!found) {
      if (mention.certain) unmatched.add(mention.column);
      text += mention.source;
      at += mention.source.length;
      continue;
    }
    at += mention.source.length;
    const value = valueAfter(evidence.slice(at), found);
    text += value?.text ?? found.path;
    at += value?.length ?? 0;
  }
  text = operationsInWords(text);
  return {
    text,
    paths: evidencePaths(text, context.design, context.collection, context.pipeline),
    unmatched: [...unmatched],
  };
}

/** The `collection.field` paths in a text, each checked against the design and the gold query. */
export function evidencePaths(
  text: string,
  design: DocumentDesign,
  collection: string,
  pipeline: readonly Document[],
): EvidencePath[] {
  const known = designPaths(design);
  const inQuery = queryPaths(collection, pipeline as readonly MqlDocument[], design);
  const byLength = [...known].sort((a, b) => b.length - a.length);
  const collections = design.logical
    .map((logical) => logical.collection)
    .sort((a, b) => b.length - a.length);
  const found = new Map<string, EvidencePath>();
  for (let index = 0; index < text.length; index++) {
    if (index > 0 && /[\p{L}\p{N}_.]/u.test(text[index - 1] ?? '')) continue;
    const owner = collections.find((name) => text.startsWith(`${name}.`, index));
    if (owner === undefined) continue;
    const path = byLength.find(
      (candidate) =>
        text.startsWith(candidate, index) &&
        !/[\p{L}\p{N}_]/u.test(text[index + candidate.length] ?? ''),
    );
    const unknown = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*/u.exec(
      text.slice(index + owner.length + 1),
    )?.[0];
    // "in the race. Then …" ends a sentence; it names no field.
    const named = path ?? (unknown === undefined ? undefined : `${owner}.${unknown}`);
    if (named === undefined) continue;
    found.set(named, { path: named, inDesign: path !== undefined, inQuery: inQuery.has(named) });
    index += named.length - 1;
  }
  return [...found.values()];
}

interface Mention {
  /** As written, quotes included. */
  readonly source: string;
  readonly table?: string;
  readonly column: string;
  /** Quoted, or qualified by a table: it must be a name. */
  readonly certain: boolean;
  readonly start: number;
}

const QUOTED = '`[^`\\n]+`|"[^"\\n]+"|\\[[^\\]\\n]+\\]';
const WORD = '[\\p{L}_][\\p{L}\\p{N}_]*';
const MENTION = new RegExp(`(?:(${QUOTED}|${WORD})\\.)?(${QUOTED}|${WORD})`, 'uy');

function mentionAt(text: string, at: number): Mention | undefined {
  if (at > 0 && /[\p{L}\p{N}_'’.]/u.test(text[at - 1] ?? '')) return undefined;
  MENTION.lastIndex = at;
  const found = MENTION.exec(text);
  if (!found) return undefined;
  const [source, table, column = ''] = found;
  const plain = (name: string): string => (/^[`"[]/.test(name) ? name.slice(1, -1) : name);
  const quoted = /^[`[]/.test(column);
  return {
    source,
    ...(table !== undefined && { table: plain(table) }),
    column: plain(column),
    certain: quoted || (table !== undefined && /_|[a-z][A-Z]/.test(column)),
    start: at,
  };
}

interface Candidate {
  readonly path: string;
  readonly transform: Transform;
}

/** `FROM table AS alias`, as far as the text is SQL. */
function aliasesIn(sql: string, catalog: Catalog): Map<string, string> {
  const aliases = new Map<string, string>();
  const tokens = tokensIfAny(sql);
  for (const [index, { keyword, value }] of tokens.entries()) {
    if (!['FROM', 'JOIN'].includes(keyword) && value !== ',') continue;
    const [table, word, other] = tokens.slice(index + 1, index + 4);
    const alias = word?.keyword === 'AS' ? other : word;
    const isNamed = alias?.kind === 'word' || alias?.kind === 'quoted';
    const isTable =
      table !== undefined && catalog.tables.some(({ name }) => sameName(name, table.value));
    if (isNamed && isTable) aliases.set(alias.value.toLowerCase(), table.value);
  }
  return aliases;
}

class ColumnNames {
  private readonly inQuery: ReadonlySet<string>;
  private readonly usedTables: readonly string[];
  /** `T1` in a hint is what the SQL calls so. */
  private readonly aliases: ReadonlyMap<string, string>;

  constructor(private readonly context: EvidenceContext) {
    this.inQuery = queryPaths(
      context.collection,
      context.pipeline as readonly MqlDocument[],
      context.design,
    );
    this.aliases = aliasesIn(context.sql, context.catalog);
    const words = new Set(context.sql.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
    this.usedTables = context.catalog.tables
      .map(({ name }) => name)
      .filter(
        (name) =>
          words.has(name.toLowerCase()) || context.sql.toLowerCase().includes(name.toLowerCase()),
      );
  }

  find(mention: Mention, text: string): Candidate | undefined {
    const { column } = mention;
    const table =
      mention.table === undefined
        ? undefined
        : (this.aliases.get(mention.table.toLowerCase()) ?? mention.table);
    const tables = this.context.catalog.tables.filter(
      ({ name }) => table === undefined || sameName(name, table),
    );
    const candidates = tables.flatMap((owner) => {
      const found = owner.columns.find(({ name }) => sameName(name, column));
      return found
        ? this.pathsOf(owner.name, found.name).map((path) => ({
            ...path,
            table: owner.name,
            plain: found.name,
          }))
        : [];
    });
    if (candidates.length === 0) return table === undefined ? this.tablePath(column) : undefined;
    if (
      table === undefined &&
      !mention.certain &&
      !isDeliberate(mention, candidates[0]?.plain ?? '', text)
    )
      return undefined;
    const score = (candidate: (typeof candidates)[number]): number =>
      (this.inQuery.has(candidate.path) ? 2 : 0) +
      (this.usedTables.includes(candidate.table) ? 1 : 0);
    return candidates.sort((a, b) => score(b) - score(a))[0];
  }

  /** An embedded table is where its rows are. */
  private tablePath(name: string): Candidate | undefined {
    const table = this.context.catalog.tables.find(
      (entry) => sameName(entry.name, name) && /_|[a-z][A-Z]/.test(entry.name),
    );
    const placement = table && placementOf(this.context.design, table.name);
    if (!placement) return undefined;
    const last = placement.steps.at(-1);
    return {
      path: last ? `${placement.collection}.${last.path}` : placement.collection,
      transform: { kind: 'identity' },
    };
  }

  /** The column's place first, then its copies. */
  private pathsOf(table: string, column: string): Candidate[] {
    const placement = placementOf(this.context.design, table);
    const own = placement && columnPath(placement, column);
    const copies = copiedFields(this.context.design).filter(
      (field) => field.table === table && field.column === column,
    );
    return [
      ...(placement && own
        ? [{ path: `${placement.collection}.${own.path}`, transform: own.transform }]
        : []),
      ...copies.map(({ collection, path, transform }) => ({
        path: `${collection}.${path}`,
        transform,
      })),
    ];
  }
}

/**
 * An ordinary word is a column only where it is used like one: compared, in a function's
 * parentheses, or "refers to" it.
 */
function isDeliberate({ source, start }: Mention, column: string, text: string): boolean {
  if (/^"/.test(source)) return false;
  if (/_|\d|[a-z][A-Z]/.test(column) && source === column) return true;
  const before = text.slice(0, start);
  const after = text.slice(start + source.length);
  // "the average consumption = AVG(…)" says what it is called, and compares nothing.
  const defines = /^\s*=\s*(?:[[(]|[a-z]+\s*\()/i.test(after);
  const compared =
    !defines &&
    /^\s*(=|!\s*=|<>|<=?|>=?|(?:is|like|in|between|not)\b(?!\s+(?:the|a|an)\b))/i.test(after) &&
    /^\s*(=|!\s*=|<|>|is\s+(?:not\s+)?(?:null|empty)|like\s*['"]|(?:not\s+)?in\s*\(|between\s+['"\d])/i.test(
      after,
    );
  return (
    compared ||
    (/\b(?:count|sum|avg|min|max|distinct|divide|subtract|multiply|add|strftime|substr|year)\s*\(\s*(?:distinct\s+)?$/i.test(
      before,
    ) &&
      /^\s*[,)]/.test(after)) ||
    (/\brefers? to\s+(?:the\s+)?$/i.test(before) && /^\s*(?:[;,.]|$)/.test(after))
  );
}

/**
 * The mention and the comparison behind it: constants of a retyped column become what is stored,
 * LIKE a regular expression.
 */
function valueAfter(
  text: string,
  { path, transform }: Candidate,
): { text: string; length: number } | undefined {
  const like = /^(\s+)like\s+(['"])(.*?)\2/i.exec(text);
  if (like) {
    const period =
      transform.kind === 'date' ? periodOf(/^(.*?)-?%$/.exec(like[3] ?? '')?.[1] ?? '') : undefined;
    if (period) return { text: rangeOf(path, period), length: like[0].length };
    const { regex, options } = likeRegex(like[3] ?? '');
    return { text: `${path}${like[1] ?? ' '}matches /${regex}/${options}`, length: like[0].length };
  }
  if (transform.kind === 'identity') return undefined;
  const compared =
    /^(\s*(?:=|==|!\s*=|<>|<\s*=|>\s*=|<|>|is|refers to)\s*)(['"‘’])(.*?)['"‘’]/i.exec(text);
  if (!compared) return undefined;
  const [whole, operator = '', , constant = ''] = compared;
  const value = encode(transform, constant);
  if (value !== undefined) return { text: path + operator + printed(value), length: whole.length };
  const period = transform.kind === 'date' ? periodOf(constant) : undefined;
  if (!period) return undefined;
  if (/^\s*(?:=|==|is|refers to)\s*$/i.test(operator))
    return { text: rangeOf(path, period), length: whole.length };
  // As texts, a part of a date is less than what it begins.
  const upper = operator.includes('>') ? '>=' : undefined;
  const side = operator.includes('<') ? '<' : upper;
  return side && { text: `${path} ${side} ${printed(period.start)}`, length: whole.length };
}

const rangeOf = (path: string, { start, end }: Period): string =>
  `${path} >= ${printed(start)} and ${path} < ${printed(end)}`;

/** A day without its midnight. */
/** Evidence is prose: a long is its digits there. */
const printed = (value: unknown): string =>
  printValue(value)
    .replace(/^NumberLong\("(-?\d+)"\)$/, '$1')
    .replace(/T00:00:00(?:\.000)?Z(?=")/, '');

const PARTS: Readonly<Record<string, string>> = {
  '%Y': 'year',
  '%m': 'month',
  '%d': 'day',
  '%Y-%m': 'month',
  '%Y-%m-%d': 'day',
  '%H': 'hour',
};
const DATE_PART =
  /strftime\s*\(\s*(['"])(%[^'"]+)\1\s*,\s*([^(),]+)\)(?:(\s*(?:=|==)\s*)(['"])([^'"]*)\5)?/iy;

/** `strftime('%Y', d) = '2012'`: of a date the range, of text the part in words. */
function datePart(
  text: string,
  at: number,
  names: ColumnNames,
): { text: string; length: number } | undefined {
  DATE_PART.lastIndex = at;
  const found = DATE_PART.exec(text);
  if (!found) return undefined;
  const [whole, , format = '', name = '', , , constant] = found;
  const part = PARTS[format];
  const plain = name.trim();
  const mention = mentionAt(plain, 0);
  const column =
    mention?.source === plain ? names.find({ ...mention, certain: true }, plain) : undefined;
  if (!column || part === undefined) return undefined;
  const period =
    column.transform.kind === 'date' && constant !== undefined ? periodOf(constant) : undefined;
  if (period && format.startsWith('%Y'))
    return { text: rangeOf(column.path, period), length: whole.length };
  return {
    text: `the ${part} of ${column.path}${constant === undefined ? '' : ` is '${constant}'`}`,
    length: whole.length,
  };
}
