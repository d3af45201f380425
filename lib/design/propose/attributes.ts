import { sameName, type Table, tableNamed } from '../../sqlite/catalog';
import {
  rowCount,
  type ColumnProfile,
  type Profile,
  tableProfile,
} from '../../sqlite/profile/profile';
import type { BlockSource } from '../../sqlite/select/query-blocks';
import type { ChoiceContext } from '../limits/choices';
import { MAX_COPIED_BYTES } from '../limits/copies';
import { score } from '../model/score';
import { CostModel } from '../cost/cost-model';
import {
  entryPaths,
  type AttributeChoice,
  type DocumentDesign,
  type IndexDesign,
} from '../model/document-design';
import { proposeIndexes } from '../cost/indexes';
import { legalFieldName, NameSet } from '../model/names';
import type { Workload } from '../model/workload';
import { typeOf } from '../logical/retype';

/** A column is sparse when it is null in more than this share of the rows. */
export const SPARSE = 0.8;
/**
 * Of two columns an index each is no burden; what is asked twice does not pay for entries in every
 * document.
 */
const MIN_COLUMNS = 3;
const MIN_QUERIES = 3;
/** Of a wider family those that are asked have to do. */
const MAX_ENTRIES = 64;
/** Cheaper by this share is cheaper. */
const MIN_GAIN = 0.01;
/**
 * Longer documents are dearer to read: up to this share the indexes that are spared outweigh it.
 */
const CLEAR_RISE = 0.2;

/**
 * Columns of one root table that the workload asks by value, as one attribute; with what became of
 * it.
 */
export interface AttributeProposal {
  readonly table: string;
  readonly choice: AttributeChoice;
  /** Columns that queries compare with constants. */
  readonly asked: number;
  /** Entries of a document, on average. */
  readonly entries: number;
  /** Indexes of single columns that are not needed beside it. */
  readonly replaced: number;
  /** The workload's estimated cost without it and with it. */
  readonly before: number;
  readonly after: number;
  /** Why it is left; undefined: the design has it. */
  readonly obstacle?: string;
}

/**
 * The attribute pattern (guidebook, section 4.6): names and values of columns of a kind as one
 * array with one index, where queries compare at least three of them with constants, or ask several
 * for the same value. `design` is the design without it, `having` the same with some; adopted is
 * what spares indexes at no cost, or costs less.
 */
export function proposeAttributes(
  context: Pick<ChoiceContext, 'catalog' | 'profile' | 'workload'>,
  design: DocumentDesign,
  having: (attributes: ReadonlyMap<string, AttributeChoice>) => DocumentDesign,
): AttributeProposal[] {
  const { catalog, profile, workload } = context;
  const estimate = (of: DocumentDesign): { indexes: IndexDesign; cost: number } => {
    const indexes = proposeIndexes(of, catalog, profile, workload);
    return { indexes, cost: score(new CostModel(of, indexes, profile).workload(workload)) };
  };
  const candidates = design.conceptual.collections.flatMap(({ name, rootTable, id }) => {
    // An index would find buckets, not the rows in them.
    if (id.kind === 'bucket') return [];
    const table = tableNamed(catalog, rootTable)!;
    const found = candidateOf(table, id.kind === 'column' ? id.column : undefined, context);
    return found ? [{ collection: name, ...found }] : [];
  });
  if (candidates.length === 0) return [];
  const without = estimate(design);
  return candidates.map(({ collection, table, choice, asked, entries }): AttributeProposal => {
    const changed = having(new Map([[table, choice]]));
    const after = estimate(changed);
    const fields =
      changed.logical
        .find((logical) => logical.collection === collection)
        ?.fields.find((field) => field.kind === 'attribute')?.fields ?? [];
    const singles = ({ [collection]: own = [] }: IndexDesign): number =>
      own.filter(
        ({ key }) =>
          Object.keys(key).length === 1 && fields.some(({ name }) => Object.hasOwn(key, name)),
      ).length;
    const replaced = singles(without.indexes) - singles(after.indexes);
    const figures = {
      table,
      choice,
      asked,
      entries,
      replaced,
      before: without.cost,
      after: after.cost,
    };
    const isUsed = (after.indexes[collection] ?? []).some(({ key }) =>
      entryPaths(choice.field).every((path) => Object.hasOwn(key, path)),
    );
    const obstacle = isUsed
      ? obstacleOf(figures)
      : 'the collection has as many indexes as it may have';
    return { ...figures, ...(obstacle ? { obstacle } : {}) };
  });
}

function obstacleOf({
  replaced,
  before,
  after,
}: Pick<AttributeProposal, 'replaced' | 'before' | 'after'>): string | undefined {
  if (after < before * (1 - MIN_GAIN)) return undefined;
  if (after > before * (1 + CLEAR_RISE))
    return (
      `the estimated cost of the workload would rise from ${figure(before)} to ` +
      `${figure(after)}`
    );
  return replaced >= MIN_COLUMNS
    ? undefined
    : `it would spare ${replaced === 1 ? 'one index' : `${replaced} indexes`} of a single ` +
        'column, and the workload would cost about the same';
}

const figure = (value: number): string => Math.round(value).toLocaleString('en');

/** The columns of one kind that most queries ask by value. */
function candidateOf(
  table: Table,
  idColumn: string | undefined,
  { profile, workload }: Pick<ChoiceContext, 'profile' | 'workload'>,
): Pick<AttributeProposal, 'table' | 'choice' | 'asked' | 'entries'> | undefined {
  const variants = workload.patterns.flatMap(({ variants: all }) => all);
  const candidates = kindsOf(table, idColumn, profile, workload.textUses).flatMap((families) => {
    const all = new Set(families.flat().map(({ column }) => column));
    const asked = new Set<string>();
    let queries = 0;
    let together = false;
    for (const { blocks, questionIds } of variants) {
      const asks = blocks.flatMap(({ sources }) =>
        sources
          .filter((source) => source.table === table.name)
          .flatMap((source) => askedOf(source, all)),
      );
      for (const columns of asks) for (const column of columns) asked.add(column);
      together ||= asks.some((columns) => columns.length > 1);
      if (asks.length > 0) queries += questionIds.length;
    }
    // An OR over two columns is two indexes' work.
    if (queries < MIN_QUERIES || asked.size < MIN_COLUMNS) return [];
    const wide = families.filter((family) => family.some(({ column }) => asked.has(column))).flat();
    const columns =
      wide.length > MAX_ENTRIES ? wide.filter(({ column }) => asked.has(column)) : wide;
    return columns.length <= MAX_ENTRIES ? [{ columns, asked: asked.size, queries, together }] : [];
  });
  const best = candidates.sort(
    (a, b) =>
      b.queries - a.queries ||
      b.asked - a.asked ||
      (a.columns[0]!.column < b.columns[0]!.column ? -1 : 1),
  )[0];
  if (!best) return undefined;
  const rows = rowCount(profile, table.name);
  const names = new NameSet();
  for (const { name } of table.columns) names.take(legalFieldName(name));
  // In the order of the source, whatever the families are.
  const columns = table.columns
    .map(({ name }) => name)
    .filter((name) => best.columns.some(({ column }) => column === name));
  return {
    table: table.name,
    choice: { field: names.take('attributes'), columns, queries: best.queries },
    asked: best.asked,
    entries:
      best.columns.reduce((sum, { stored }) => sum + (rows - stored.null), 0) / Math.max(1, rows),
  };
}

/** What a use of the table asks of these columns: one for a value, or several for the same. */
const askedOf = (
  { equality, notLiteral = [], anyOf = [] }: BlockSource,
  of: ReadonlySet<string>,
): (readonly string[])[] => [
  ...equality
    .filter((column) => of.has(column) && !notLiteral.includes(column))
    .map((column) => [column]),
  ...anyOf.filter((columns) => columns.every((column) => of.has(column))),
];

/**
 * Columns whose values are of one storage class and get one type, as families: those whose names
 * differ in a number, and those that are mostly null. A family alone is no kind of its own: a
 * question can ask home and away players alike.
 */
function kindsOf(
  table: Table,
  idColumn: string | undefined,
  profile: Profile,
  textUses: Workload['textUses'],
): ColumnProfile[][][] {
  const found = tableProfile(profile, table.name);
  if (!found || found.rowCount === 0) return [];
  const kinds = new Map<string, Map<string, ColumnProfile[]>>();
  for (const column of found.columns) {
    const kind = column.column === idColumn ? undefined : kindOf(table, column, profile, textUses);
    if (kind === undefined) continue;
    const isSparse = column.stored.null / found.rowCount > SPARSE;
    const family = familyOf(column.column, isSparse);
    if (family === undefined) continue;
    const families = kinds.get(kind) ?? new Map<string, ColumnProfile[]>();
    kinds.set(kind, families.set(family, [...(families.get(family) ?? []), column]));
  }
  return [...kinds.values()].map((families) =>
    [...families].flatMap(([, family]) => (family.length > 1 ? [family] : [])),
  );
}

/** Undefined for what no entry could hold, or no equality would find by its value. */
function kindOf(
  table: Table,
  { column, stored, maxBytes, invalidUtf8, nonFinite }: ColumnProfile,
  profile: Profile,
  textUses: Workload['textUses'] = [],
): string | undefined {
  const classes = (['integer', 'real', 'text'] as const).filter((name) => stored[name] > 0);
  if (
    classes.length !== 1 ||
    stored.blob > 0 ||
    maxBytes > MAX_COPIED_BYTES ||
    invalidUtf8 > 0 ||
    nonFinite > 0
  )
    return undefined;
  if (table.columns.find(({ name }) => sameName(name, column))?.collation !== 'BINARY')
    return undefined;
  const types = (['stored', 'string'] as const).map((identifiers) =>
    typeOf(profile, table.name, column, { retype: 'proven', identifiers, textUses }),
  );
  return JSON.stringify([classes, types]);
}

/** Columns whose names differ in their numbers alone; columns that are mostly null form one, too. */
function familyOf(column: string, isSparse: boolean): string | undefined {
  if (/\d/.test(column)) return column.toLowerCase().replace(/\d+/g, '#');
  return isSparse ? '' : undefined;
}
