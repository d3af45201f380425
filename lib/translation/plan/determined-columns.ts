import {
  columnOf,
  type BoundColumn,
  type BoundExpression,
  type BoundFrom,
  type BoundRowid,
  type BoundSelect,
  type BoundSource,
} from '../../sqlite/select/bound';
import { conjuncts, sourcesOf } from '../../sqlite/select/bound-references';

/** The candidate keys of a table, by its name. */
export type KeysOf = (source: BoundSource) => readonly (readonly string[])[];

/** Keys that the table declares; of rows with null in one there may be several. */
export const declaredKeys: KeysOf = ({ content }) => {
  if (content.kind !== 'table') return [];
  const { primaryKey, uniqueKeys } = content.table;
  return [primaryKey, ...uniqueKeys].filter((key) => key.length > 0);
};

/** Declared keys without null, so that no two rows are equal in one. */
export const strictKeys: KeysOf = (source) => {
  if (source.content.kind !== 'table') return [];
  const { columns, rowidAlias, withoutRowid, primaryKey } = source.content.table;
  const isPresent = (name: string): boolean =>
    columns.some((column) => column.name.toLowerCase() === name.toLowerCase() && column.notNull);
  return declaredKeys(source).filter(
    (key) => ((rowidAlias || withoutRowid) && key === primaryKey) || key.every(isPresent),
  );
};

/** The columns whose values follow from those of the seeds, through equalities and keys. */
function determinedBy(
  body: BoundSelect,
  seeds: readonly BoundExpression[],
  keysOf: KeysOf,
): Determined {
  const known = new Set<string>();
  for (const seed of seeds) if (seed.kind === 'column') known.add(idOf(seed));
  const equalities = [...conjuncts(body.where), ...joinConditions(body.from)].flatMap(columnPair);
  const sources = sourcesOf(body.from);
  // Where an equality holds there is no null, of which there could be several in a key.
  const present = new Set(equalities.flat().map(idOf));
  const isWhole = (source: BoundSource): boolean => {
    const isKnown = (column: string): boolean => known.has(idFor(source, column));
    const isGiven = (column: string): boolean =>
      isKnown(column) && present.has(idFor(source, column));
    return (
      keysOf(source).some((key) => key.every(isKnown)) ||
      declaredKeys(source).some((key) => key.every(isGiven))
    );
  };
  for (let before = -1; before < known.size;) {
    before = known.size;
    for (const [left, right] of equalities) {
      if (known.has(idOf(left))) known.add(idOf(right));
      if (known.has(idOf(right))) known.add(idOf(left));
    }
    for (const source of sources.filter(isWhole)) {
      for (const column of source.columns) known.add(idFor(source, column.name));
    }
  }
  return { has: (column) => known.has(idOf(column)), isWhole };
}

interface Determined {
  has(column: BoundColumn): boolean;
  /** A key of the source is determined, and with it the row. */
  isWhole(source: BoundSource): boolean;
}

/** Do the seeds determine all of these columns, so that any row of equal seeds will do? */
export function determinesColumns(
  body: BoundSelect,
  seeds: readonly BoundExpression[],
  columns: readonly (BoundColumn | BoundRowid)[],
  keysOf: KeysOf,
): boolean {
  const determined = determinedBy(body, seeds, keysOf);
  return columns.every((column) => column.kind === 'column' && determined.has(column));
}

/** Do the seeds determine the whole row, so that no two rows have equal seeds? */
export function determinesRow(
  body: BoundSelect,
  seeds: readonly BoundExpression[],
  keysOf: KeysOf,
): boolean {
  const determined = determinedBy(body, seeds, keysOf);
  return sourcesOf(body.from).every((source) => determined.isWhole(source));
}

const idFor = (source: BoundSource, column: string): string =>
  `${String(source.id)}.${column.toLowerCase()}`;
const idOf = (column: BoundColumn): string => idFor(column.source, columnOf(column).name);

function columnPair(condition: BoundExpression): readonly (readonly [BoundColumn, BoundColumn])[] {
  if (condition.kind !== 'compare' || condition.operator !== '=') return [];
  const { left, right } = condition;
  return left.kind === 'column' && right.kind === 'column' ? [[left, right]] : [];
}

const joinConditions = (from: BoundFrom | undefined): readonly BoundExpression[] =>
  !from || from.kind === 'source'
    ? []
    : [...conjuncts(from.on), ...joinConditions(from.left), ...joinConditions(from.right)];
