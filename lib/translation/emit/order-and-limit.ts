import type { BoundExpression, BoundOrder, BoundQuery } from '../../sqlite/select/bound';
import { columnsRead } from '../../sqlite/select/bound-references';
import { decode, isAbsent } from '../lower/conversion';
import { valueOverNoRows } from '../lower/empty-value';
import type { Lowered } from '../lower/environment';
import { foldCollation, isOrderPreserving } from '../lower/comparison';
import type { FieldNames } from '../lower/field-names';
import { Untranslatable } from '../lower/untranslated';
import { cond, type Mql } from '../mql/mql';
import type { Draft } from './translation-state';

export type QueryEnds = Pick<BoundQuery, 'orderBy' | 'limit' | 'offset' | 'columns'>;

export interface SortKey {
  readonly term: BoundOrder;
  readonly value: Lowered;
}

/**
 * A `$sort` document, and the fields that have to be computed first because a sort key is a path.
 */
export function sortSpec(
  keys: readonly SortKey[],
  names: FieldNames,
): { spec: Record<string, 1 | -1>; prepared: Record<string, Mql> } {
  const spec: Record<string, 1 | -1> = {};
  const prepared: Record<string, Mql> = {};
  for (const { term, value } of keys) {
    if (value.constant) continue;
    const stored = isOrderPreserving(value.transform) ? value : decode(value);
    const folded =
      stored.transform.kind === 'identity' ? foldCollation(stored, term.collation) : stored;
    const direction = term.direction === 'ASC' ? 1 : -1;
    const usual = (term.direction === 'ASC') === (term.nulls === 'FIRST');
    if (!usual && folded.type.nullable) {
      const absent = names.take('absent');
      prepared[absent] = cond(isAbsent(folded), 1, 0);
      spec[absent] = term.nulls === 'FIRST' ? -1 : 1;
    }
    let path = folded.path;
    if (path === undefined) {
      path = names.take('sort_key');
      prepared[path] = folded.mql;
    }
    if (!Object.hasOwn(spec, path)) spec[path] = direction;
  }
  return { spec, prepared };
}

export function pushLimit({ limit, offset }: QueryEnds, draft: Draft): number | undefined {
  const number = (expression: BoundExpression | undefined): number | undefined => {
    if (!expression) return undefined;
    const known = valueOverNoRows(expression)?.value;
    if (
      [...columnsRead(expression)].length > 0 ||
      (typeof known !== 'bigint' && !(typeof known === 'number' && Number.isInteger(known)))
    )
      throw new Untranslatable('limit', 'LIMIT or OFFSET is computed');
    return Number(known);
  };
  const skip = number(offset);
  const size = number(limit);
  if (skip !== undefined && skip > 0) draft.push({ kind: 'skip', rows: skip });
  if (size === undefined || size < 0) return undefined;
  draft.push({ kind: 'limit', rows: size });
  return size;
}
