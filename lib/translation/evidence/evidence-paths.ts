import type { Document } from 'mongodb';
import type { DocumentDesign } from '../../design/model/document-design';
import { sameName, type Catalog } from '../../sqlite/catalog';
import { isDocument, type Mql } from '../mql/mql';
import { columnAtPath } from './design-columns';
import { goldUses, type FieldUse } from './gold-uses';
import { designPaths } from './design-paths';
import { sameText } from './resolve-column';
import { sourceUses, type SourceUse } from './witness';

/** What a path of a hint is for the item's gold query. */
export type PathUse =
  /** The gold uses the field, and for the value that the hint gives, if it gives one. */
  | 'used'
  /** A key by which the SQL joins: the design made the join needless. */
  | 'join_key'
  /** The SQL of the source does not use the column, or not with this value: the hint is at fault. */
  | 'source_flaw'
  /** The gold uses another field, or another value: to be looked at. */
  | 'doubt'
  /** The design has no such field. */
  | 'unknown';

/** A `collection.field` path that a hint mentions, checked against the design and the gold query. */
export interface EvidencePath {
  readonly path: string;
  readonly use: PathUse;
}

export interface PathContext {
  readonly catalog: Catalog;
  readonly design: DocumentDesign;
  readonly collection: string;
  readonly pipeline: readonly Document[];
  readonly sql: string;
}

/**
 * The `collection.field` paths in a text, each once. Of several values of a field one that the gold
 * uses is enough: a hint may list them all.
 */
export function evidencePaths(text: string, context: PathContext): EvidencePath[] {
  const judge = new PathJudge(context);
  const found = new Map<string, PathUse>();
  for (const mention of mentionsIn(text, context.design)) {
    const use = judge.use(mention);
    const before = found.get(mention.path);
    if (before === undefined || GRAVITY.indexOf(use) > GRAVITY.indexOf(before))
      found.set(mention.path, use);
  }
  return [...found].map(([path, use]) => ({ path, use }));
}

const GRAVITY: readonly PathUse[] = ['source_flaw', 'join_key', 'used', 'doubt', 'unknown'];

interface PathMention {
  readonly path: string;
  readonly isKnown: boolean;
  /** The value that it is said to equal. */
  readonly value?: string;
  /** It is what is counted. */
  readonly isCounted: boolean;
}

function mentionsIn(text: string, design: DocumentDesign): PathMention[] {
  const known = [...designPaths(design)].sort((a, b) => b.length - a.length);
  const collections = design.logical
    .map(({ collection }) => collection)
    .sort((a, b) => b.length - a.length);
  const found: PathMention[] = [];
  for (let index = 0; index < text.length; index++) {
    if (index > 0 && /[\p{L}\p{N}_.]/u.test(text[index - 1] ?? '')) continue;
    const owner = collections.find((name) => text.startsWith(`${name}.`, index));
    if (owner === undefined) continue;
    const path = known.find(
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
    const value = valueBehind(text.slice(index + named.length));
    found.push({
      path: named,
      isKnown: path !== undefined,
      ...(value !== undefined && { value }),
      isCounted: /\bnumber of (?:distinct )?$/.test(text.slice(0, index)),
    });
    index += named.length - 1;
  }
  return found;
}

/** The text or number that a path is said to be equal to. */
function valueBehind(text: string): string | undefined {
  const found =
    /^\s*=\s*(?:(['"])(.*?)\1|(-?\d+(?:\.\d+)?)|([\p{L}][\p{L}\p{N}]*))(?![\p{L}\p{N}.])/u.exec(
      text,
    );
  return found ? (found[2] ?? found[3] ?? found[4]) : undefined;
}

class PathJudge {
  private readonly gold: ReadonlyMap<string, FieldUse>;
  private readonly uses: readonly SourceUse[];

  constructor(private readonly context: PathContext) {
    const { catalog, design, collection, pipeline, sql } = context;
    this.gold = goldUses(collection, pipeline, design);
    this.uses = sourceUses(sql, catalog);
  }

  use({ path, isKnown, value, isCounted }: PathMention): PathUse {
    if (!isKnown) return 'unknown';
    if (isCounted) {
      const counted = this.countUse(path);
      if (counted !== undefined) return counted;
    }
    const gold = this.gold.get(path);
    const source = this.sourceUse(path, value);
    // Counting identifiers is counting documents.
    if (!gold && source === 'counted' && isRootId(path)) return 'used';
    if (gold) {
      const isValue = value === undefined || gold.constants.some((one) => isText(one, value));
      if (isValue) return 'used';
      return source === 'value' ? 'doubt' : 'source_flaw';
    }
    // A key that is compared with a constant is more than a join.
    if (source === 'key') return value === undefined ? 'join_key' : 'source_flaw';
    return source === undefined || source === 'other_value' ? 'source_flaw' : 'doubt';
  }

  /** Of what is counted: rows have one identifier each; the SQL may count another column. */
  private countUse(path: string): PathUse | undefined {
    const field = columnAtPath(this.context.design, path);
    if (isRootId(path)) return 'used';
    if (!field || this.uses.every(({ counted }) => counted.size === 0)) return undefined;
    const isCounted = this.uses.some(
      ({ table, counted }) =>
        sameName(table, field.table) && counted.has(field.column.toLowerCase()),
    );
    return isCounted ? 'used' : 'source_flaw';
  }

  /** What the SQL does with the column of a path; undefined where it does not name it. */
  private sourceUse(
    path: string,
    value: string | undefined,
  ): 'value' | 'other_value' | 'read' | 'counted' | 'key' | undefined {
    const field = columnAtPath(this.context.design, path);
    // A container or a computed field is no column: nothing can be said of the source.
    if (!field) return 'read';
    const key = field.column.toLowerCase();
    const uses = this.uses.filter(({ table }) => sameName(table, field.table));
    if (this.uses.length === 0) return 'read';
    if (uses.some(({ reads }) => reads.has(key))) {
      if (value === undefined)
        return uses.some(({ counted }) => counted.has(key)) ? 'counted' : 'read';
      const constants = uses.flatMap((use) => use.constants.get(key) ?? []);
      return constants.some((one) => one === value || Number(one) === Number(value))
        ? 'value'
        : 'other_value';
    }
    const isKey = uses.some(({ links }) => links.some((link) => sameName(link.column, key)));
    return isKey ? 'key' : undefined;
  }
}

const isRootId = (path: string): boolean => /^[^.]+\._id$/.test(path);

function isText(value: Mql, text: string): boolean {
  if (isDocument(value) || Array.isArray(value)) return false;
  if (value instanceof RegExp || (typeof value === 'string' && value.startsWith('^')))
    return isBegunBy(value instanceof RegExp ? value.source : value, text);
  const own = typeof value === 'string' ? value : String(value);
  return own === text || (typeof value !== 'string' && sameText(own, text));
}

/** What LIKE with a plain text, or with one at the beginning, became. */
function isBegunBy(pattern: string, text: string): boolean {
  const whole = pattern.endsWith('\\z') || pattern.endsWith('$');
  const plain = pattern.replace(/^\^|(?:\\z|\$)$/g, '').replace(/\\([^\p{L}\p{N}])/gu, '$1');
  const [own, given] = [plain.toLowerCase(), text.toLowerCase()];
  return whole ? own === given : given.startsWith(own) || own.startsWith(given);
}
