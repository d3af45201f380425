import {
  columnPath,
  placementOf,
  type Placement,
  type PlacementStep,
} from '../../design/model/placement';
import { sameName } from '../../sqlite/catalog';
import {
  columnOf,
  type BoundExpression,
  type BoundQuery,
  type BoundSource,
} from '../../sqlite/select/bound';
import { columnsRead, conjuncts } from '../../sqlite/select/bound-references';
import { Lowering } from '../lower/expression';
import { toPredicate } from '../lower/predicate';
import { Untranslatable } from '../lower/untranslated';
import type { Mql, MqlDocument } from '../mql/mql';
import { under } from '../mql/pipeline-paths';
import { whole } from '../rewrite/membership';
import type { Location, TableLocation } from './location';
import type { Compiler } from './compiler';
import type { RowEnvironment } from './row-environment';
import { Draft } from './translation-state';

/** Rows of a subquery that are entries of an array (or one document) of the row at hand. */
export class EmbeddedRows {
  constructor(
    private readonly path: string,
    private readonly many: boolean,
    private readonly conditions: readonly BoundExpression[],
    private readonly asEntry: (variable: string) => Lowering,
  ) {}

  predicate(polarity: boolean): MqlDocument | undefined {
    if (!this.many)
      return this.conditions.length > 0
        ? undefined
        : { [this.path]: polarity ? { $ne: null } : null };
    if (this.conditions.length === 0) return { [this.path]: polarity ? { $ne: [] } : [] };
    const merged = toPredicate(whole(this.conditions), true, this.asEntry('$'));
    if (!merged) return undefined;
    return { [this.path]: polarity ? { $elemMatch: merged } : { $not: { $elemMatch: merged } } };
  }

  truth(): Mql | undefined {
    if (!this.many)
      return this.conditions.length > 0 ? undefined : { $gt: [`$${this.path}`, null] };
    if (this.conditions.length === 0) return { $ne: [`$${this.path}`, []] };
    return {
      $anyElementTrue: [
        {
          $map: {
            input: `$${this.path}`,
            in: this.asEntry('$$this.').truth(whole(this.conditions)),
          },
        },
      ],
    };
  }
}

/**
 * The subquery's rows, where they are embedded in a row that is at hand and joined to it as the
 * design embeds them; undefined where they are elsewhere.
 */
export function embeddedRows(
  query: BoundQuery,
  env: RowEnvironment,
  compiler: Compiler,
): EmbeddedRows | undefined {
  const subquery = plainSubquery(query, compiler);
  if (!subquery) return undefined;
  const { source, placement, step, conditions } = subquery;
  for (const location of env.locations.values()) {
    if (!holdsParents(location, placement)) continue;
    const path = under(location.base, step.path);
    const used = env.unwound.has(path) ? undefined : embedding(subquery, location, env);
    if (!used) continue;
    const rest = conditions.filter((condition) => !used.includes(condition));
    if (!rest.every((condition) => isOfEntries(condition, source))) return undefined;
    compiler.translation.touch(placement.collection, step.path);
    const asEntry = (variable: string): Lowering => {
      const inner = compiler.environment(new Draft(), undefined);
      inner.locations.set(source.id, {
        kind: 'table',
        placement,
        base: location.base,
        optional: false,
        entry: { path: step.path, variable },
      });
      return new Lowering(inner);
    };
    return isLowered(rest, asEntry('$'))
      ? new EmbeddedRows(path, step.kind === 'embedMany', rest, asEntry)
      : undefined;
  }
  return undefined;
}

interface PlainSubquery {
  readonly source: BoundSource;
  readonly placement: Placement;
  /** How its rows are embedded. */
  readonly step: PlacementStep;
  readonly conditions: readonly BoundExpression[];
}

/** A SELECT of the rows of one embedded table, with nothing but conditions. */
function plainSubquery(
  { body, limit, offset }: BoundQuery,
  { translation }: Compiler,
): PlainSubquery | undefined {
  if (body.kind !== 'select' || body.aggregated || limit || offset) return undefined;
  if (body.from?.kind !== 'source' || body.from.source.content.kind !== 'table') return undefined;
  const { source } = body.from;
  const placement = placementOf(translation.design, body.from.source.content.table.name);
  const step = placement?.steps.at(-1);
  return placement && step && { source, placement, step, conditions: conjuncts(body.where) };
}

/** The documents at the location are, or contain, the parents that rows of a placement lie in. */
function holdsParents(
  location: Location,
  { collection, steps }: Placement,
): location is TableLocation {
  if (location.kind !== 'table' || location.entry || location.optional) return false;
  const above = steps.slice(0, -1);
  return (
    location.placement.collection === collection &&
    location.placement.steps.length >= above.length &&
    above.every(({ path }, index) => path === location.placement.steps[index]?.path)
  );
}

/** The equalities by which the design embeds the rows; undefined where one is not asked for. */
function embedding(
  { source, placement, step, conditions }: PlainSubquery,
  location: TableLocation,
  env: RowEnvironment,
): readonly BoundExpression[] | undefined {
  const parent = {
    ...placement,
    table: step.parentTable,
    steps: placement.steps.slice(0, -1),
  };
  const used = step.join.flatMap((pair) => {
    const parentPath = columnPath(parent, pair.parent)?.path;
    const path = parentPath === undefined ? undefined : under(location.base, parentPath);
    const found = conditions.find((condition) =>
      isEmbedding(condition, source.id, pair.child, path, env),
    );
    return found ? [found] : [];
  });
  return used.length === step.join.length ? used : undefined;
}

/** Columns that an ancestor holds are not part of the entry, and cannot be asked of it. */
function isLowered(conditions: readonly BoundExpression[], lowering: Lowering): boolean {
  try {
    lowering.truth(whole(conditions.length > 0 ? conditions : [{ kind: 'literal', value: 1n }]));
    return true;
  } catch (error) {
    if (error instanceof Untranslatable) return false;
    throw error;
  }
}

function isEmbedding(
  condition: BoundExpression,
  source: number,
  child: string,
  parentPath: string | undefined,
  env: RowEnvironment,
): boolean {
  if (
    condition.kind !== 'compare' ||
    condition.operator !== '=' ||
    condition.nullSafe ||
    condition.collation !== 'BINARY' ||
    parentPath === undefined
  )
    return false;
  return (
    [
      [condition.left, condition.right],
      [condition.right, condition.left],
    ] as const
  ).some(
    ([inner, outer]) =>
      inner.kind === 'column' &&
      inner.source.id === source &&
      sameName(columnOf(inner).name, child) &&
      outer.kind === 'column' &&
      env.locations.has(outer.source.id) &&
      env.column(outer).path === parentPath,
  );
}

/** A condition on nothing but an entry, without a query of its own at the top. */
const isOfEntries = (condition: BoundExpression, source: BoundSource): boolean =>
  !['exists', 'inQuery', 'subquery'].includes(condition.kind) &&
  [...columnsRead(condition)].every((column) => column.source === source);
