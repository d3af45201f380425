import {
  parseAccumulatorField,
  type Accumulator,
  type AccumulatorFactory,
} from '../accumulators/accumulator';
import { Doc } from '../bson/doc';
import { eitherPast } from '../bson/past';
import { ServerError } from '../errors';
import { parseExpression, type Evaluate } from '../expressions/expression';
import { compareValues } from '../values/compare';
import { ValueMap } from '../values/value-map';
import type { Value } from '../bson/value';
import { blocking, fromArray, type Next, type StageBuilder, type StageContext } from './stage';

export type Fields = readonly (readonly [string, AccumulatorFactory])[];

/**
 * Streams documents into groups and gives one document for each, in the order in which the groups
 * appeared.
 */
export function groupBy(
  id: Evaluate,
  fields: Fields,
  { scope }: StageContext,
): (input: Next) => Next {
  const { checkpoint, collation } = scope.environment;
  const names = ['_id', ...fields.map(([name]) => name)];
  const factories = fields.map(([, factory]) => factory);
  return (input) => {
    const groups = new ValueMap<Accumulator[]>(collation);
    let key: Value;
    const make = (): Accumulator[] => factories.map((f) => f.create(key));
    let n = 0;
    for (let doc = input(); doc !== null; doc = input()) {
      key = id(doc);
      if (key === undefined) key = null;
      const states = groups.upsert(key, make);
      for (let i = 0; i < states.length; i++) (states[i] as Accumulator).add(doc);
      if ((++n & 1023) === 0) checkpoint();
    }
    let at = 0;
    return () => {
      if (at >= groups.size) return null;
      const states = groups.items[at] as Accumulator[];
      const values: Value[] = [groups.keys[at++]];
      for (const state of states) values.push(state.result());
      return new Doc(names, values).from(eitherPast);
    };
  };
}

const group: StageBuilder = (operand, context, name) => {
  if (!(operand instanceof Doc))
    throw new ServerError(15947, "a group's fields must be specified in an object");
  if (!operand.has('_id'))
    throw new ServerError(15955, 'a group specification must include an _id');
  const id = parseExpression(operand.get('_id'), context.scope).evaluate;
  const fields: [string, AccumulatorFactory][] = [];
  operand.keys.forEach((key, i) => {
    if (key !== '_id')
      fields.push([key, parseAccumulatorField(key, operand.values[i], context.scope)]);
  });
  return blocking(name, groupBy(id, fields, context));
};

const countField = (context: StageContext): Fields => [
  ['count', parseAccumulatorField('count', Doc.of({ $sum: 1 }), context.scope)],
];

export function outputFields(output: Value, context: StageContext): Fields {
  if (output === undefined) return countField(context);
  if (!(output instanceof Doc))
    throw new ServerError(40196, "The 'output' field must be an object");
  return output.keys.map(
    (key, i) => [key, parseAccumulatorField(key, output.values[i], context.scope)] as const,
  );
}

const sortByCount: StageBuilder = (operand, context, name) => {
  const valid =
    operand instanceof Doc
      ? operand.keys[0]?.startsWith('$') === true
      : typeof operand === 'string' && operand.startsWith('$');
  if (!valid)
    throw new ServerError(
      operand instanceof Doc ? 40147 : 40148,
      'the sortByCount field must be defined as a $-prefixed path or an expression inside ' +
        'an object',
    );
  const grouped = groupBy(
    parseExpression(operand, context.scope).evaluate,
    countField(context),
    context,
  );
  return blocking(name, (input) => {
    const next = grouped(input);
    const docs: Doc[] = [];
    for (let doc = next(); doc !== null; doc = next()) docs.push(doc);
    return fromArray(docs.sort((a, b) => compareValues(b.get('count'), a.get('count'))));
  });
};

export const groupStages: Record<string, StageBuilder> = {
  $group: group,
  $sortByCount: sortByCount,
};
