import { BsonType, isNumeric, toDouble, typeOf, type Value } from '../bson/value';
import { badValue, failedToParse, typeMismatch } from '../errors';

/** BSON types as `$type` and `bsonType` name them: by alias, by number, or several of these. */

const typeAliases = new Map<string, number>(
  Object.entries(BsonType).filter(([name]) => name !== 'missing'),
);

const numbers = [BsonType.double, BsonType.int, BsonType.long, BsonType.decimal];

export function parseTypes(spec: Value): ReadonlySet<number> {
  const types = new Set<number>();
  for (const item of Array.isArray(spec) ? spec : [spec]) {
    if (item === 'number') for (const type of numbers) types.add(type);
    else if (typeof item === 'string') {
      const code = typeAliases.get(item);
      if (code === undefined) throw badValue(`Unknown type name alias: ${item}`);
      types.add(code);
    } else if (isNumeric(item)) {
      const code = toDouble(item);
      if (code === 0 || ![...typeAliases.values()].includes(code))
        throw badValue(`Invalid numerical type code: ${code}`);
      types.add(code);
    } else throw typeMismatch('type must be represented as a number or a string');
  }
  if (types.size === 0) throw failedToParse('$type must match at least one type');
  return types;
}
export function typeCondition(spec: Value): (value: Value) => boolean {
  const types = parseTypes(spec);
  return (v) => types.has(typeOf(v));
}
