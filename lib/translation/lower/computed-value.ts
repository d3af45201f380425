import type { Lowered } from './environment';
import { type Mql } from '../mql/mql';
import { type ValueType } from './value-type';
import type { Transform } from '../../design/model/transform-kind';

export const IDENTITY: Transform = { kind: 'identity' };

export const computed = (mql: Mql, type: ValueType): Lowered => ({
  mql,
  type,
  transform: IDENTITY,
});

export const isPlain = (mql: Mql): boolean => typeof mql === 'string';

/** Binds a long expression to a variable when it is used more than once. */
export function bound(mql: Mql, use: (mql: Mql) => Mql): Mql {
  return isPlain(mql) ? use(mql) : { $let: { vars: { value: mql }, in: use('$$value') } };
}

/** A BSON value of type int or long: SQL divides two of them without a rest. */
export const isIntegerValue = (mql: Mql): Mql => ({ $in: [{ $type: mql }, ['int', 'long']] });
