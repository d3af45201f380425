import { ServerError } from '../errors';
import type { Collation } from '../values/collation';
import { compareValues } from '../values/compare';
import { ValueSet } from '../values/value-map';
import { isNullish, isTruthy, typeName, type Value } from '../bson/value';
import { binary, unary, variadic, type Family } from './expression';

function arrayOperand(v: Value, code: number, name: string): Value[] {
  if (!Array.isArray(v))
    throw new ServerError(
      code,
      `All operands of ${name} must be arrays. One argument is of type: ${typeName(v)}`,
    );
  return v;
}

/** null decides, but only over what comes after it: what is no array before it is an error. */
function arraysUpToNull(values: readonly Value[], code: number, name: string): Value[][] | null {
  const arrays: Value[][] = [];
  for (const v of values) {
    if (isNullish(v)) return null;
    arrays.push(arrayOperand(v, code, name));
  }
  return arrays;
}

const quantifier = (all: boolean) =>
  unary((v, name) => {
    if (!Array.isArray(v))
      throw new ServerError(
        all ? 17040 : 17041,
        `${name}'s argument must be an array, but is ${typeName(v)}`,
      );
    return all ? v.every(isTruthy) : v.some(isTruthy);
  });

const sorted = (values: ValueSet, collation: Collation): Value[] =>
  [...values.values].sort((a, b) => compareValues(a, b, collation.order));

export const set: Family = {
  $allElementsTrue: quantifier(true),
  $anyElementTrue: quantifier(false),
  $setDifference: binary((a, b, name, { collation }) => {
    if (isNullish(a) || isNullish(b)) return null;
    const seen = new ValueSet(collation, arrayOperand(b, 17049, name));
    return arrayOperand(a, 17048, name).filter((v) => seen.add(v));
  }),
  $setEquals: variadic((values, name, { collation }) => {
    if (values.length < 2)
      throw new ServerError(17045, `${name} needs at least two arguments had: ${values.length}`);
    const sets = values.map((v) => new ValueSet(collation, arrayOperand(v, 17044, name)));
    const [first, ...rest] = sets as [ValueSet, ...ValueSet[]];
    return rest.every(
      (other) => other.size === first.size && other.values.every((v) => first.has(v)),
    );
  }),
  // The manual leaves the order of a set's elements open; the server sorts these two.
  $setIntersection: variadic((values, name, { collation }) => {
    const arrays = arraysUpToNull(values, 17047, name);
    if (arrays === null) return null;
    const [first = [], ...rest] = arrays;
    const others = rest.map((items) => new ValueSet(collation, items));
    return sorted(
      new ValueSet(
        collation,
        first.filter((v) => others.every((o) => o.has(v))),
      ),
      collation,
    );
  }),
  $setIsSubset: binary((a, b, name, { collation }) => {
    const all = new ValueSet(collation, arrayOperand(b, 17042, name));
    return arrayOperand(a, 17046, name).every((v) => all.has(v));
  }),
  $setUnion: variadic((values, name, { collation }) => {
    const arrays = arraysUpToNull(values, 17043, name);
    if (arrays === null) return null;
    const out = new ValueSet(collation);
    for (const items of arrays) for (const item of items) out.add(item);
    return sorted(out, collation);
  }),
};
