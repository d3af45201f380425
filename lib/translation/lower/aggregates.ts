import type { BoundAggregate, BoundExpression } from '../../sqlite/select/bound';
import { describeExpression } from './field-names';
import type { Lowered } from './environment';
import { decode, isPresent, toNumber, toSummand, toText, withNull } from './conversion';
import { IDENTITY } from './computed-value';
import { computed } from './computed-value';
import { type Lowering } from './expression';
import { foldCollation, isOrderPreserving } from './comparison';
import { collationOfExpression } from '../../sqlite/select/expression-type';
import { integerAsReal, MOST_ROWS, totalBounds } from './exact-integer';
import { and, cond, constant, type Mql } from '../mql/mql';
import { Untranslatable } from './untranslated';
import { INTEGER, NUMBER, onlyKinds, REAL, TEXT, type ValueType } from './value-type';

/**
 * Accumulators of one `$group`, by field; `value` reads the aggregate from the grouped document.
 */
export interface LoweredAggregate {
  readonly accumulators: readonly { readonly field: string; readonly accumulator: Mql }[];
  readonly value: Lowered;
}

/** What is known of the rows of every group. */
export interface GroupedRows {
  readonly mayBeEmpty: boolean;
  /** The one group is a whole table: a column that has values at all has some here. */
  readonly wholeTable: boolean;
  /** There are no more of them. */
  readonly most: number;
}

/**
 * Lowers an aggregate to accumulators. Null is skipped as SQL skips it: `$sum`, `$avg`, `$min` and
 * `$max` ignore it by themselves; only a sum over nothing but nulls has to become null, and a count
 * has to look.
 */
export function lowerAggregate(
  aggregate: BoundAggregate,
  lowering: Lowering,
  take: (wanted: string) => string,
  rows: GroupedRows,
): LoweredAggregate {
  const named = take(describeExpression(aggregate));
  const filter = aggregate.filter ? lowering.truth(aggregate.filter) : true;
  const [argument] = aggregate.args;
  if (aggregate.distinct && argument)
    return distinctAggregate(aggregate, argument, filter, lowering, named, rows);
  const least = rows.mayBeEmpty ? 0 : 1;
  const column = argument?.kind === 'column' ? lowering.stored(argument).type : undefined;
  const hasValues =
    rows.wholeTable &&
    filter === true &&
    column !== undefined &&
    column.kinds !== 0 &&
    !column.missing;
  switch (aggregate.name) {
    case 'count': {
      const test = and(filter, argument ? lowering.present(argument) : true);
      const type: ValueType = {
        kinds: INTEGER,
        nullable: false,
        missing: false,
        min: test === true ? least : 0,
      };
      return single(named, { $sum: cond(test, 1, 0) }, { ...type, max: MOST_ROWS });
    }
    case 'sum':
    case 'total':
      return sum(
        aggregate,
        need(argument, aggregate),
        filter,
        lowering,
        named,
        take,
        hasValues,
        rows,
      );
    case 'avg': {
      const value = toNumber(lowering.value(need(argument, aggregate)));
      const nullable = !hasValues && (value.type.nullable || filter !== true);
      return single(
        named,
        { $avg: cond(filter, value.mql, null) },
        { kinds: REAL, nullable, missing: false, ...boundsOf(value.type) },
      );
    }
    case 'min':
    case 'max': {
      const value = lowering.stored(need(argument, aggregate));
      const stored = isOrderPreserving(value.transform) ? value : decode(value);
      if (
        collationOfExpression(need(argument, aggregate)) !== 'BINARY' &&
        !onlyKinds(stored.type, NUMBER)
      )
        throw new Untranslatable('collation', `${aggregate.name}() by a collation`);
      const type: ValueType = {
        kinds: stored.type.kinds,
        nullable: !hasValues && (stored.type.nullable || filter !== true),
        missing: false,
        ...boundsOf(stored.type),
      };
      return {
        ...single(named, { [`$${aggregate.name}`]: cond(filter, stored.mql, null) }, type),
        value: { mql: `$${named}`, path: named, type, transform: stored.transform },
      };
    }
    case 'group_concat':
    case 'string_agg':
      return concatenation(aggregate, need(argument, aggregate), filter, lowering, named);
    default:
      throw new Untranslatable('function', `${aggregate.name}()`);
  }
}

const need = (argument: BoundExpression | undefined, { name }: BoundAggregate): BoundExpression => {
  if (!argument) throw new Untranslatable('aggregate', `${name}() without an argument`);
  return argument;
};

const boundsOf = ({ min, max }: ValueType): { min?: number; max?: number } => ({
  ...(min !== undefined && { min }),
  ...(max !== undefined && { max }),
});

const single = (field: string, accumulator: Mql, type: ValueType): LoweredAggregate => ({
  accumulators: [{ field, accumulator }],
  value: { mql: `$${field}`, path: field, type, transform: IDENTITY },
});

function sum(
  aggregate: BoundAggregate,
  argument: BoundExpression,
  filter: Mql,
  lowering: Lowering,
  named: string,
  take: (wanted: string) => string,
  hasValues: boolean,
  rows: GroupedRows,
): LoweredAggregate {
  const value = toSummand(lowering.value(argument));
  const total = aggregate.name === 'total';
  const added = cond(filter, value.mql, 0);
  const range = totalBounds(value.type, rows.most);
  const least =
    value.type.min !== undefined && value.type.min >= 0 && filter === true
      ? { min: value.type.min }
      : {};
  const type: ValueType = {
    kinds: total ? REAL : value.type.kinds || INTEGER,
    nullable: false,
    missing: false,
    ...range,
    ...least,
    ...(value.type.whole && { whole: true }),
  };
  const sums = { field: named, accumulator: { $sum: added } };
  if (total) {
    const { mql, type: real } = integerAsReal(
      computed(`$${named}`, { ...type, kinds: value.type.kinds }),
    );
    const path = mql === `$${named}` ? { path: named } : {};
    return { accumulators: [sums], value: { ...computed(mql, { ...real, kinds: REAL }), ...path } };
  }
  if (hasValues || (!value.type.nullable && filter === true))
    return {
      accumulators: [sums],
      value: { mql: `$${named}`, path: named, type, transform: IDENTITY },
    };
  // The sum of no value is null, not 0: count what was added.
  const counted = take(`${named}_values`);
  const count = {
    field: counted,
    accumulator: { $sum: cond(and(filter, isPresent(value)), 1, 0) },
  };
  return {
    accumulators: [sums, count],
    value: computed(cond({ $eq: [`$${counted}`, 0] }, null, `$${named}`), {
      ...type,
      nullable: true,
    }),
  };
}

function distinctAggregate(
  aggregate: BoundAggregate,
  argument: BoundExpression,
  filter: Mql,
  lowering: Lowering,
  named: string,
  rows: GroupedRows,
): LoweredAggregate {
  const numeric =
    aggregate.name === 'sum' || aggregate.name === 'avg' || aggregate.name === 'total';
  // Texts that differ can be the same number: the set is of what is stored.
  const raw = numeric ? lowering.value(argument) : lowering.stored(argument);
  if (aggregate.name === 'min' || aggregate.name === 'max')
    return lowerAggregate({ ...aggregate, distinct: false }, lowering, () => named, {
      ...rows,
      mayBeEmpty: false,
      wholeTable: false,
    });
  const value = foldCollation(raw, collationOfExpression(argument));
  // $addToSet skips a missing value, not a null.
  const kept = value.type.nullable ? { $ifNull: [value.mql, '$$REMOVE'] } : value.mql;
  const accumulators = [
    { field: named, accumulator: { $addToSet: cond(filter, kept, '$$REMOVE') } },
  ];
  const element = toSummand({
    mql: '$$this',
    type: { ...value.type, nullable: false, missing: false },
    transform: IDENTITY,
  });
  const set: Mql =
    numeric && element.mql !== '$$this'
      ? { $map: { input: `$${named}`, in: element.mql } }
      : `$${named}`;
  const maybeNone = value.type.nullable || filter !== true;
  switch (aggregate.name) {
    case 'count':
      return {
        accumulators,
        value: computed(
          { $size: set },
          {
            kinds: INTEGER,
            nullable: false,
            missing: false,
            min: maybeNone ? 0 : 1,
            max: MOST_ROWS,
          },
        ),
      };
    case 'sum':
    case 'total': {
      const type: ValueType = {
        ...totalBounds(element.type, rows.most),
        kinds: element.type.kinds,
        nullable: maybeNone && aggregate.name === 'sum',
        missing: false,
      };
      if (aggregate.name === 'total') {
        const real = integerAsReal(computed({ $sum: set }, type));
        return { accumulators, value: { ...real, type: { ...real.type, kinds: REAL } } };
      }
      return {
        accumulators,
        value: computed(
          type.nullable ? cond({ $eq: [set, []] }, null, { $sum: set }) : { $sum: set },
          type,
        ),
      };
    }
    case 'avg':
      return {
        accumulators,
        value: computed({ $avg: set }, { kinds: REAL, nullable: maybeNone, missing: false }),
      };
    case 'group_concat':
    case 'string_agg':
      return { accumulators, value: joined(set, ',', maybeNone) };
    default:
      throw new Untranslatable('function', `${aggregate.name}(DISTINCT …)`);
  }
}

function concatenation(
  aggregate: BoundAggregate,
  argument: BoundExpression,
  filter: Mql,
  lowering: Lowering,
  named: string,
): LoweredAggregate {
  const separator = aggregate.args[1] ? lowering.value(aggregate.args[1]).constant?.value : ',';
  if (typeof separator !== 'string' || aggregate.orderBy.length > 0)
    throw new Untranslatable('function', `${aggregate.name}() in this form`);
  const text = toText(lowering.value(argument));
  const kept = text.type.nullable ? { $ifNull: [withNull(text), '$$REMOVE'] } : text.mql;
  return {
    accumulators: [{ field: named, accumulator: { $push: cond(filter, kept, '$$REMOVE') } }],
    value: joined(`$${named}`, separator, text.type.nullable || filter !== true),
  };
}

function joined(list: Mql, separator: string, maybeNone: boolean): Lowered {
  const type: ValueType = { kinds: TEXT, nullable: maybeNone, missing: false };
  const glue: Mql = cond(
    { $eq: ['$$value', null] },
    { $toString: '$$this' },
    { $concat: ['$$value', constant(separator), { $toString: '$$this' }] },
  );
  return computed({ $reduce: { input: list, initialValue: null, in: glue } }, type);
}
