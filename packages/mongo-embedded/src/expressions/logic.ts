import { Doc } from '../bson/doc';
import { ServerError } from '../errors';
import { compareValues } from '../values/compare';
import { isNullish, isTruthy, type Value } from '../bson/value';
import {
  binary,
  lazy,
  namedArguments,
  parseExpression,
  type Evaluate,
  type Family,
} from './expression';

const comparing = (holds: (c: number) => boolean) =>
  binary((a, b, _name, environment) => {
    return holds(compareValues(a, b, environment.collation.order));
  });

export const comparison: Family = {
  $cmp: binary((a, b, _name, environment) => compareValues(a, b, environment.collation.order)),
  $eq: comparing((c) => c === 0),
  $ne: comparing((c) => c !== 0),
  $lt: comparing((c) => c < 0),
  $lte: comparing((c) => c <= 0),
  $gt: comparing((c) => c > 0),
  $gte: comparing((c) => c >= 0),
};

export const boolean: Family = {
  $and: lazy((parts) => (doc) => {
    for (const part of parts) if (!isTruthy(part(doc))) return false;
    return true;
  }),
  $or: lazy((parts) => (doc) => {
    for (const part of parts) if (isTruthy(part(doc))) return true;
    return false;
  }),
  $not: lazy(
    ([part]) =>
      (doc) =>
        !isTruthy((part as Evaluate)(doc)),
    1,
    1,
  ),
};

const firstNotNull = lazy((parts) => (doc) => {
  let value: Value;
  for (const part of parts) {
    value = part(doc);
    if (!isNullish(value)) return value;
  }
  return value;
});

export const conditional: Family = {
  $cond: (operand, scope, name) => {
    let parts: Value[];
    if (Array.isArray(operand)) {
      if (operand.length !== 3)
        throw new ServerError(
          16020,
          `Expression ${name} takes exactly 3 arguments. ${operand.length} were passed in.`,
        );
      parts = operand;
    } else {
      const args = namedArguments(operand, name, ['if', 'then', 'else']);
      parts = [args.get('if'), args.get('then'), args.get('else')];
    }
    const operands = parts.map((part) => parseExpression(part, scope));
    const [test, yes, no] = operands.map((o) => o.evaluate) as [Evaluate, Evaluate, Evaluate];
    return { operands, evaluate: (doc) => (isTruthy(test(doc)) ? yes(doc) : no(doc)) };
  },
  $ifNull: (operand, scope, name) => {
    if (!Array.isArray(operand) || operand.length < 2)
      throw new ServerError(
        1257300,
        `$ifNull needs at least two arguments, had: ${Array.isArray(operand) ? operand.length : 1}`,
      );
    return firstNotNull(operand, scope, name);
  },
  $switch: (operand, scope, name) => {
    const args = namedArguments(operand, name, ['branches'], ['default']);
    const branches = args.get('branches');
    if (!Array.isArray(branches))
      throw new ServerError(40061, "$switch expected an array for 'branches'");
    if (branches.length === 0)
      throw new ServerError(40068, '$switch requires at least one branch.');
    const parsed = branches.map((branch) => {
      if (!(branch instanceof Doc))
        throw new ServerError(40062, '$switch expected each branch to be an object');
      for (const key of branch.keys)
        if (key !== 'case' && key !== 'then')
          throw new ServerError(40063, `$switch found an unknown argument to a branch: ${key}`);
      if (!branch.has('case'))
        throw new ServerError(40064, "$switch requires each branch have a 'case' expression");
      if (!branch.has('then'))
        throw new ServerError(40065, "$switch requires each branch have a 'then' expression.");
      return {
        test: parseExpression(branch.get('case'), scope),
        then: parseExpression(branch.get('then'), scope),
      };
    });
    const fallback = args.has('default') ? parseExpression(args.get('default'), scope) : undefined;
    const operands = [...parsed.flatMap((b) => [b.test, b.then]), ...(fallback ? [fallback] : [])];
    return {
      operands,
      evaluate: (doc) => {
        for (const { test, then } of parsed)
          if (isTruthy(test.evaluate(doc))) return then.evaluate(doc);
        if (!fallback)
          throw new ServerError(
            40066,
            '$switch could not find a matching branch for an input, and no default was specified.',
          );
        return fallback.evaluate(doc);
      },
    };
  },
};
