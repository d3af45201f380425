import { Doc } from '../bson/doc';
import { Environment, Scope } from '../expressions/expression';
import { typeName, type Value } from '../bson/value';
import { compileJsonSchema } from './json-schema';
import { parseFilter, valuesAt } from './match';

/** Says why a document does not pass a validator, in the form of the server's `errInfo.details`. */
export function explainFilter(spec: Doc, doc: Doc): Doc {
  const clauses = spec.keys.map((key, i) => ({ key, operand: spec.values[i] as Value }));
  const [only] = clauses;
  if (clauses.length === 1 && only) return explainClause(only.key, only.operand, doc);
  return Doc.of({
    operatorName: '$and',
    clausesNotSatisfied: failing(
      clauses.map((c) => Doc.of({ [c.key]: c.operand })),
      doc,
    ),
  });
}

const passes = (spec: Doc, doc: Doc): boolean =>
  parseFilter(spec, Scope.root(new Environment())).test(doc);

function failing(clauses: readonly Doc[], doc: Doc): Doc[] {
  return clauses.flatMap((clause, index) =>
    passes(clause, doc) ? [] : [Doc.of({ index, details: explainFilter(clause, doc) })],
  );
}

function explainClause(key: string, operand: Value, doc: Doc): Doc {
  const specifiedAs = Doc.of({ [key]: operand });
  if (key === '$jsonSchema' && operand instanceof Doc)
    return Doc.of({ operatorName: key, schemaRulesNotSatisfied: schemaRules(operand, doc) });
  if (key === '$and' || key === '$or')
    return Doc.of({
      operatorName: key,
      clausesNotSatisfied: failing(
        (operand as Value[]).filter((o) => o instanceof Doc),
        doc,
      ),
    });
  if (key === '$nor') {
    const satisfied = (operand as Value[]).flatMap((o, index) =>
      o instanceof Doc && passes(o, doc) ? [Doc.of({ index, details: o })] : [],
    );
    return Doc.of({ operatorName: key, clausesSatisfied: satisfied });
  }
  if (key.startsWith('$'))
    return Doc.of({ operatorName: key, specifiedAs, reason: 'expression did not match' });
  return explainField(key, operand, doc);
}

const reasons: Readonly<Record<string, string>> = {
  $type: 'type did not match',
  $in: 'no matching value found in array',
  $nin: 'matching value found in array',
  $regex: 'regular expression did not match',
  $exists: 'path does not exist',
  $size: 'array length was not equal to given size',
};

function explainField(path: string, operand: Value, doc: Doc): Doc {
  if (operand instanceof Doc && operand.keys[0]?.startsWith('$') && operand.size > 1) {
    return Doc.of({
      operatorName: '$and',
      clausesNotSatisfied: failing(
        operand.keys.map((name, i) => Doc.of({ [path]: Doc.of({ [name]: operand.values[i] }) })),
        doc,
      ),
    });
  }
  const name = operand instanceof Doc && operand.keys[0]?.startsWith('$') ? operand.keys[0] : '$eq';
  const out = Doc.of({ operatorName: name, specifiedAs: Doc.of({ [path]: operand }) }).copy();
  const found = valuesAt(path)(doc);
  const value = found[found.length - 1];
  if (value === undefined)
    return out.set('reason', name === '$exists' ? 'path does not exist' : 'field was missing');
  out.set('reason', reasons[name] ?? 'comparison failed').set('consideredValue', value);
  return name === '$type' ? out.set('consideredType', typeName(value)) : out;
}

/** The rules of a schema that a value breaks. */
function schemaRules(schema: Doc, value: Value): Doc[] {
  return schema.keys.flatMap((keyword, i) => {
    const rule = schema.values[i];
    const broken = schemaRule(keyword, rule, schema, value);
    return broken ? [withDescription(broken, schema)] : [];
  });
}

const withDescription = (rule: Doc, schema: Doc): Doc =>
  rule.get('operatorName') === 'properties' || !schema.has('description')
    ? rule
    : rule.copy().set('description', schema.get('description'));

/** Keywords that another one reads. */
const companions: Readonly<Record<string, readonly string[]>> = {
  minimum: ['exclusiveMinimum'],
  maximum: ['exclusiveMaximum'],
  additionalProperties: ['properties', 'patternProperties'],
  additionalItems: ['items'],
};

function breaks(keyword: string, schema: Doc, value: Value): boolean {
  const keys = [keyword, ...(companions[keyword] ?? [])].filter((k) => schema.has(k));
  const part = Doc.of(Object.fromEntries(keys.map((k) => [k, schema.get(k)])));
  return (
    !compileJsonSchema(part)(value as Doc) &&
    (keys.length === 1 || compileJsonSchema(withoutKey(part, keyword))(value as Doc))
  );
}
const withoutKey = (doc: Doc, key: string): Doc => doc.copy().set(key, undefined);

function schemaRule(keyword: string, rule: Value, schema: Doc, value: Value): Doc | null {
  if (keyword === 'properties' && rule instanceof Doc && value instanceof Doc) {
    const propertiesNotSatisfied = rule.keys.flatMap((name, i) => {
      const inner = rule.values[i] as Doc;
      const item = value.get(name);
      const details = item === undefined ? [] : schemaRules(inner, item);
      if (details.length === 0) return [];
      return [
        Doc.of({
          propertyName: name,
          ...(inner.has('description') ? { description: inner.get('description') } : {}),
          details: details.map((d) => withoutKey(d, 'description')),
        }),
      ];
    });
    return propertiesNotSatisfied.length > 0
      ? Doc.of({ operatorName: keyword, propertiesNotSatisfied })
      : null;
  }
  if (!breaks(keyword, schema, value)) return null;
  const specifiedAs = Doc.of({ [keyword]: rule });
  if (keyword === 'required' && value instanceof Doc) {
    return Doc.of({
      operatorName: keyword,
      specifiedAs,
      missingProperties: (rule as Value[]).filter((name) => !value.has(name as string)),
    });
  }
  const out = Doc.of({
    operatorName: keyword,
    specifiedAs,
    reason: schemaReasons[keyword] ?? 'value did not match',
    consideredValue: value,
  }).copy();
  if (keyword === 'bsonType' || keyword === 'type') out.set('consideredType', typeName(value));
  if (keyword === 'additionalProperties' && value instanceof Doc) {
    const known = schema.get('properties');
    return Doc.of({
      operatorName: keyword,
      specifiedAs,
      additionalProperties: value.keys.filter((k) => !(known instanceof Doc && known.has(k))),
    });
  }
  return out;
}

const schemaReasons: Readonly<Record<string, string>> = {
  bsonType: 'type did not match',
  type: 'type did not match',
  minimum: 'comparison failed',
  maximum: 'comparison failed',
  enum: 'value was not found in enum',
  pattern: 'regular expression did not match',
  minLength: 'specified string length was not satisfied',
  maxLength: 'specified string length was not satisfied',
  minItems: 'array did not match specified length',
  maxItems: 'array did not match specified length',
  uniqueItems: 'found a duplicate item',
  multipleOf: 'considered value is not a multiple of the specified value',
  not: 'child expression matched',
};
