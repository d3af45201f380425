import { applyTransform, TransformError, sameTransform } from '../../design/model/transform';
import { type Transform } from '../../design/model/transform-kind';
import {
  columnOf,
  type BoundExpression,
  type CompareOperator,
  type ComparisonAffinity,
} from '../../sqlite/select/bound';
import { numberFormat, sortsAsText } from '../../sqlite/profile/number-format';
import { foldText } from '../../sqlite/schema/fold-text';
import type { Lowered } from './environment';
import { isPresent, literal, withNumericAffinity, withTextAffinity } from './conversion';
import { IDENTITY } from './computed-value';
import { bound } from './computed-value';
import { and, cond, constant, type Mql, type Scalar } from '../mql/mql';
import { Untranslatable } from './untranslated';
import { mayBe, onlyKinds, TEXT } from './value-type';

export const OPERATOR = {
  '=': '$eq',
  '<>': '$ne',
  '<': '$lt',
  '<=': '$lte',
  '>': '$gt',
  '>=': '$gte',
} as const;

/** Two operands ready to be compared: affinity applied, one representation, one collation. */
export interface Operands {
  readonly left: Lowered;
  readonly right: Lowered;
}

/** True when SQL finds `left operator right` true. */
export function compareLowered(left: Lowered, operator: CompareOperator, right: Lowered): Mql {
  if (left.constant?.value === null || right.constant?.value === null) return false;
  const folded = foldComparison(left, operator, right);
  if (folded !== undefined) return folded;
  // A value equals itself unless it is null.
  if (
    left.path !== undefined &&
    left.path === right.path &&
    (operator === '=' || operator === '<=' || operator === '>=')
  )
    return isPresent(left);
  const test: Mql = { [OPERATOR[operator]]: [left.mql, right.mql] };
  switch (operator) {
    case '=':
      return left.type.nullable && right.type.nullable ? and(isPresent(left), test) : test;
    case '<>':
      return and(isPresent(left), isPresent(right), test);
    // Null sorts below everything: it can only wrongly pass on the smaller side.
    case '<':
    case '<=':
      return and(isPresent(left), test);
    case '>':
    case '>=':
      return and(isPresent(right), test);
  }
}

function foldComparison(
  { constant: a }: Lowered,
  operator: CompareOperator,
  { constant: b }: Lowered,
): boolean | undefined {
  if (!a || !b || a.value === null || b.value === null) return undefined;
  const [x, y] = [a.value, b.value];
  const number = (value: Scalar): boolean => typeof value === 'bigint' || typeof value === 'number';
  if (
    !(number(x) && number(y)) &&
    !(typeof x === 'string' && typeof y === 'string' && /^\p{ASCII}*$/u.test(x + y))
  )
    return undefined;
  switch (operator) {
    // bigint and number compare by value under the loose operator.
    case '=':
      return x == y;
    case '<>':
      return x != y;
    case '<':
      return x < y;
    case '<=':
      return x <= y;
    case '>':
      return x > y;
    case '>=':
      return x >= y;
  }
}

export function withAffinity(value: Lowered, affinity: ComparisonAffinity): Lowered {
  if (affinity === 'NUMERIC') return withNumericAffinity(value);
  return affinity === 'TEXT' ? withTextAffinity(value) : value;
}

/** Both operands folded for a collation; ASCII case for NOCASE, trailing spaces for RTRIM. */
export function collated(left: Lowered, right: Lowered, collation: string): Operands {
  return { left: foldCollation(left, collation), right: foldCollation(right, collation) };
}

export function foldCollation(value: Lowered, collation: string): Lowered {
  if (collation === 'BINARY' || !mayBe(value.type, TEXT)) return value;
  if (collation !== 'NOCASE' && collation !== 'RTRIM')
    throw new Untranslatable('collation', `the collation ${collation}`);
  if (typeof value.constant?.value === 'string') {
    return literal(foldText(value.constant.value, collation));
  }
  const fold = (mql: Mql): Mql =>
    collation === 'NOCASE' ? { $toLower: mql } : { $rtrim: { input: mql, chars: ' ' } };
  const { type } = value;
  if (onlyKinds(type, TEXT) && !type.nullable)
    return { mql: fold(value.mql), type, transform: IDENTITY };
  const folded = bound(value.mql, (mql) =>
    cond({ $eq: [{ $type: mql }, 'string'] }, fold(mql), mql),
  );
  return { mql: folded, type, transform: IDENTITY };
}

/** How two operands are compared: for equality alone, and with what applied to them. */
export interface ComparisonKind {
  readonly affinity: ComparisonAffinity;
  readonly equality: boolean;
}

/** A retyped column against a constant, or against a column retyped alike: compared as stored. */
export function retypedOperands(
  a: Lowered,
  b: Lowered,
  kind: ComparisonKind,
  swapped = false,
): Operands | undefined {
  if (a.transform.kind === 'identity') return undefined;
  if (!kind.equality && !isOrderPreserving(a.transform)) return undefined;
  const give = (left: Lowered, right: Lowered): Operands =>
    swapped ? { left: right, right: left } : { left, right };
  if (b.transform.kind !== 'identity')
    return sameTransform(a.transform, b.transform) ? give(a, b) : undefined;
  if (!b.constant) return undefined;
  const { value } = (kind.affinity === 'TEXT' ? withTextAffinity(b) : b).constant ?? b.constant;
  const encoded = value === null ? null : encode(a.transform, value);
  return encoded === undefined
    ? undefined
    : give(a, {
        mql: constant(encoded),
        type: b.type,
        transform: a.transform,
        constant: { value: encoded },
      });
}

export const holdsNoNumericText = (expression: BoundExpression): boolean =>
  expression.kind === 'column' &&
  expression.source.content.kind === 'table' &&
  ['NUMERIC', 'INTEGER', 'REAL'].includes(columnOf(expression).affinity ?? '');

/** A constant as a retyped column stores it, undefined when the column cannot hold it. */
export function encode(transform: Transform, value: Scalar): Scalar | undefined {
  try {
    return applyTransform(transform, value as Parameters<typeof applyTransform>[1]) as Scalar;
  } catch (error) {
    if (error instanceof TransformError) return undefined;
    throw error;
  }
}

/** Do the stored values sort as the source values do? */
export function isOrderPreserving(transform: Transform): boolean {
  switch (transform.kind) {
    case 'identity':
      return true;
    case 'bool':
      return transform.false < transform.true;
    case 'date':
      return transform.format === 'YYYY-MM-DD' || transform.format === 'YYYY-MM-DD HH:MM:SS';
    case 'number': {
      const format = numberFormat(transform.format);
      return format !== undefined && sortsAsText(format);
    }
    case 'string':
    case 'bytes':
      return false;
  }
}
