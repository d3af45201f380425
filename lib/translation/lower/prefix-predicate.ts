import type { BoundComparison } from '../../sqlite/select/bound';
import { escapeRegex } from './like-pattern';
import type { Lowering } from './expression';
import type { MqlDocument } from '../mql/mql';
import { onlyKinds, TEXT } from './value-type';

/**
 * `substr(month, 1, 4) = '2012'` asks how a text begins: an anchored expression says so, and an
 * index serves it.
 */
export function prefixPredicate(
  { left, right, operator, collation, nullSafe }: BoundComparison,
  polarity: boolean,
  lowering: Lowering,
): MqlDocument | undefined {
  if (collation !== 'BINARY' || nullSafe || (operator !== '=' && operator !== '<>'))
    return undefined;
  const [subject, literal] = left.kind === 'literal' ? [right, left] : [left, right];
  if (literal.kind !== 'literal' || typeof literal.value !== 'string') return undefined;
  if (
    subject.kind !== 'call' ||
    (subject.name !== 'substr' && subject.name !== 'substring') ||
    lowering.env.computed(subject)
  )
    return undefined;
  const [text, start, length] = subject.args;
  if (
    text?.kind !== 'column' ||
    start?.kind !== 'literal' ||
    start.value !== 1n ||
    length?.kind !== 'literal'
  )
    return undefined;
  // Another length could match a whole text only, or none.
  if (
    literal.value === '' ||
    literal.value.includes('\0') ||
    length.value !== BigInt([...literal.value].length)
  )
    return undefined;
  const { path, transform, type } = lowering.stored(text);
  if (path === undefined || transform.kind !== 'identity' || !onlyKinds(type, TEXT))
    return undefined;
  const test = { $regex: `^${escapeRegex(literal.value)}` };
  if ((operator === '=') === polarity) return { [path]: test };
  return { [path]: { $not: test, ...(type.nullable && { $ne: null }) } };
}
