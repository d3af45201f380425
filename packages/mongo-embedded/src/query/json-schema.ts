import { Doc } from '../bson/doc';
import { failedToParse, typeMismatch, unsupported } from '../errors';
import { equalValues } from '../values/compare';
import { ValueSet } from '../values/value-map';
import { isNumeric, toDouble, type Value } from '../bson/value';
import { toDecimal } from '../values/arithmetic';
import { typeCondition } from './type-condition';
import { compileRegex, testRegex } from '../values/regex';

type Check = (value: Value) => boolean;

/**
 * `$jsonSchema`: draft 4 with MongoDB's `bsonType`. Keywords that are not listed here are refused.
 */
export function compileJsonSchema(schema: Value): (doc: Doc) => boolean {
  return compileSchema(schema);
}

function compileSchema(schema: Value): Check {
  if (!(schema instanceof Doc)) throw typeMismatch('$jsonSchema must be an object');
  const checks = schema.keys.map((keyword, i) => {
    const build = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    if (!build) throw failedToParse(`Unknown $jsonSchema keyword: ${keyword}`);
    return build(schema.values[i], schema);
  });
  return (value) => checks.every((check) => check(value));
}

const count = (v: Value, keyword: string): number => {
  if (!isNumeric(v) || !Number.isInteger(toDouble(v)) || toDouble(v) < 0)
    throw failedToParse(`$jsonSchema keyword '${keyword}' must be a non-negative integer`);
  return toDouble(v);
};
const list = (v: Value, keyword: string): Value[] => {
  if (!Array.isArray(v) || v.length === 0)
    throw failedToParse(`$jsonSchema keyword '${keyword}' must be a non-empty array`);
  return v;
};
const pass: Check = () => true;
const ofDoc =
  (check: (doc: Doc) => boolean): Check =>
  (v) =>
    !(v instanceof Doc) || check(v);
const ofArray =
  (check: (items: Value[]) => boolean): Check =>
  (v) =>
    !Array.isArray(v) || check(v);
const ofString =
  (check: (text: string) => boolean): Check =>
  (v) =>
    typeof v !== 'string' || check(v);
const ofNumber =
  (check: (n: number) => boolean): Check =>
  (v) =>
    !isNumeric(v) || check(toDouble(v));

const jsonTypes: Record<string, string> = {
  object: 'object',
  array: 'array',
  number: 'number',
  boolean: 'bool',
  string: 'string',
  null: 'null',
};

function properties(schema: Doc): { named: Map<string, Check>; patterns: [RegExp, Check][] } {
  const named = new Map<string, Check>();
  const patterns: [RegExp, Check][] = [];
  const own = schema.get('properties');
  if (own instanceof Doc)
    own.keys.forEach((key, i) => named.set(key, compileSchema(own.values[i])));
  const byPattern = schema.get('patternProperties');
  if (byPattern instanceof Doc)
    byPattern.keys.forEach((key, i) =>
      patterns.push([compileRegex(key, ''), compileSchema(byPattern.values[i])]),
    );
  return { named, patterns };
}

const keywords: Record<string, (operand: Value, schema: Doc) => Check> = {
  title: () => pass,
  description: () => pass,
  bsonType: (v) => typeCondition(v),
  type: (v) => {
    const names = (Array.isArray(v) ? v : [v]).map((name) => {
      const alias = typeof name === 'string' ? jsonTypes[name] : undefined;
      if (!alias) throw failedToParse(`Unknown type name alias: ${String(name)}`);
      return alias;
    });
    return typeCondition(names);
  },
  required: (v) => {
    const names = list(v, 'required');
    return ofDoc((doc) => names.every((name) => doc.has(name as string)));
  },
  properties: (_v, schema) => {
    const { named } = properties(schema);
    return ofDoc((doc) => [...named].every(([key, check]) => !doc.has(key) || check(doc.get(key))));
  },
  patternProperties: (_v, schema) => {
    const { patterns } = properties(schema);
    return ofDoc((doc) =>
      doc.keys.every((key) =>
        patterns.every(([regex, check]) => !testRegex(regex, key) || check(doc.get(key))),
      ),
    );
  },
  additionalProperties: (v, schema) => {
    const { named, patterns } = properties(schema);
    const other: Check = typeof v === 'boolean' ? () => v : compileSchema(v);
    return ofDoc((doc) =>
      doc.keys.every(
        (key) =>
          named.has(key) ||
          patterns.some(([regex]) => testRegex(regex, key)) ||
          other(doc.get(key)),
      ),
    );
  },
  minProperties: (v) => {
    const n = count(v, 'minProperties');
    return ofDoc((doc) => doc.size >= n);
  },
  maxProperties: (v) => {
    const n = count(v, 'maxProperties');
    return ofDoc((doc) => doc.size <= n);
  },
  dependencies: (v) => {
    if (!(v instanceof Doc))
      throw failedToParse("$jsonSchema keyword 'dependencies' must be an object");
    const rules = v.keys.map((key, i) => {
      const rule = v.values[i];
      const check: Check = Array.isArray(rule)
        ? (doc) => rule.every((name) => (doc as Doc).has(name as string))
        : compileSchema(rule);
      return { key, check };
    });
    return ofDoc((doc) => rules.every(({ key, check }) => !doc.has(key) || check(doc)));
  },
  items: (v) => {
    if (Array.isArray(v)) {
      const checks = v.map(compileSchema);
      return ofArray((items) => items.every((item, i) => checks[i]?.(item) ?? true));
    }
    const check = compileSchema(v);
    return ofArray((items) => items.every(check));
  },
  additionalItems: (v, schema) => {
    const fixed = schema.get('items');
    if (!Array.isArray(fixed)) return pass;
    const check: Check = typeof v === 'boolean' ? () => v : compileSchema(v);
    return ofArray((items) => items.slice(fixed.length).every(check));
  },
  minItems: (v) => {
    const n = count(v, 'minItems');
    return ofArray((items) => items.length >= n);
  },
  maxItems: (v) => {
    const n = count(v, 'maxItems');
    return ofArray((items) => items.length <= n);
  },
  uniqueItems: (v) =>
    v === true ? ofArray((items) => new ValueSet(undefined, items).size === items.length) : pass,
  minLength: (v) => {
    const n = count(v, 'minLength');
    return ofString((text) => Array.from(text).length >= n);
  },
  maxLength: (v) => {
    const n = count(v, 'maxLength');
    return ofString((text) => Array.from(text).length <= n);
  },
  pattern: (v) => {
    if (typeof v !== 'string') throw typeMismatch("$jsonSchema keyword 'pattern' must be a string");
    const regex = compileRegex(v, '');
    return ofString((text) => testRegex(regex, text));
  },
  minimum: (v, schema) => {
    const n = bound(v, 'minimum');
    return ofNumber(schema.get('exclusiveMinimum') === true ? (x) => x > n : (x) => x >= n);
  },
  maximum: (v, schema) => {
    const n = bound(v, 'maximum');
    return ofNumber(schema.get('exclusiveMaximum') === true ? (x) => x < n : (x) => x <= n);
  },
  exclusiveMinimum: () => pass,
  exclusiveMaximum: () => pass,
  multipleOf: (v) => {
    if (!isNumeric(v)) throw typeMismatch("$jsonSchema keyword 'multipleOf' must be a number");
    const divisor = toDecimal(v);
    return (value) => !isNumeric(value) || toDecimal(value).modulo(divisor).isZero;
  },
  enum: (v) => {
    const values = list(v, 'enum');
    return (value) => values.some((allowed) => equalValues(allowed, value));
  },
  allOf: (v) => {
    const checks = list(v, 'allOf').map(compileSchema);
    return (value) => checks.every((check) => check(value));
  },
  anyOf: (v) => {
    const checks = list(v, 'anyOf').map(compileSchema);
    return (value) => checks.some((check) => check(value));
  },
  oneOf: (v) => {
    const checks = list(v, 'oneOf').map(compileSchema);
    return (value) => checks.filter((check) => check(value)).length === 1;
  },
  not: (v) => {
    const check = compileSchema(v);
    return (value) => !check(value);
  },
  encrypt: () => {
    throw unsupported("$jsonSchema keyword 'encrypt'");
  },
};

function bound(v: Value, keyword: string): number {
  if (!isNumeric(v)) throw typeMismatch(`$jsonSchema keyword '${keyword}' must be a number`);
  return toDouble(v);
}
