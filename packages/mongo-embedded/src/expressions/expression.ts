import { Doc } from '../bson/doc';
import { failedToParse, ServerError, unsupported } from '../errors';
import { simpleCollation, type Collation } from '../values/collation';
import { pathReader, splitPath } from '../values/path';
import { argumentErrors } from './argument-errors';
import { Code, DateTime, type Value } from '../bson/value';

/**
 * Computes a value from the document that the pipeline is at. Variables live in the environment's
 * frame.
 */
export type Evaluate = (doc: Doc) => Value;

/** A parsed expression: what it is (for the planner) and how it is computed. */
export interface Expression {
  readonly kind: 'constant' | 'field' | 'variable' | 'object' | 'array' | 'operator';
  readonly evaluate: Evaluate;
  readonly value?: Value;
  /** Of a field: its dotted path. */
  readonly path?: readonly string[];
  /** Of a variable: its slot; of an operator: its name and operands. */
  readonly slot?: number;
  readonly operator?: string;
  readonly operands?: readonly Expression[];
}

/** Stands among the variables that something uses for chance: what uses it differs each time. */
export const RANDOM = -1;

/**
 * What a query shares among its parts: variables, clock, collation, and a way to be interrupted.
 */
export class Environment {
  readonly frame: Value[] = [];
  /** Variables whose value is known before the query starts: those of a command's `let`. */
  private readonly fixed = new Set<number>();
  fix(slot: number, value: Value): void {
    this.frame[slot] = value;
    this.fixed.add(slot);
  }
  isFixed(slot: number): boolean {
    return this.fixed.has(slot);
  }
  readonly now = new DateTime(Date.now());
  constructor(
    readonly collation: Collation = simpleCollation,
    /**
     * Throws when the query was killed or its time is over. Called now and then by whatever loops.
     */
    readonly checkpoint: () => void = () => undefined,
  ) {}
  private touched: Set<number> | undefined;
  /** Runs `parse` and says which variables it used. */
  tracking<T>(parse: () => T): { result: T; used: ReadonlySet<number> } {
    const outer = this.touched;
    const used = (this.touched = new Set<number>());
    try {
      return { result: parse(), used };
    } finally {
      this.touched = outer;
      if (outer) for (const slot of used) outer.add(slot);
    }
  }
  touch(slot: number): void {
    this.touched?.add(slot);
  }
  newSlot(): number {
    this.frame.push(undefined);
    return this.frame.length - 1;
  }
}

/** The variables in sight. */
export class Scope {
  private constructor(
    readonly environment: Environment,
    private readonly variables: ReadonlyMap<string, number>,
    /** Set where `$$ROOT` is not the document at hand (in `$redact`). */
    readonly rootSlot?: number,
  ) {}
  static root(environment: Environment): Scope {
    return new Scope(environment, new Map());
  }
  /** The same scope with one more variable. */
  with(name: string): { scope: Scope; slot: number } {
    const slot = this.environment.newSlot();
    const variables = new Map(this.variables).set(name, slot);
    return { scope: this.next(variables), slot };
  }
  withRoot(slot: number): Scope {
    return new Scope(this.environment, this.variables, slot);
  }
  private next(variables: ReadonlyMap<string, number>): Scope {
    return this.rootSlot === undefined
      ? new Scope(this.environment, variables)
      : new Scope(this.environment, variables, this.rootSlot);
  }
  slotOf(name: string): number | undefined {
    return this.variables.get(name);
  }
}

/** Builds an operator's computation from its unparsed operand. */
export type OperatorBuilder = (operand: Value, scope: Scope, name: string) => Built;
export interface Built {
  readonly evaluate: Evaluate;
  /**
   * Operands; an operator all of whose operands are constant is computed once. Absent: never
   * folded.
   */
  readonly operands?: readonly Expression[];
}
export type Family = Readonly<Record<string, OperatorBuilder>>;

const operators = new Map<string, OperatorBuilder>();
/** Adds a family of operators to the language. */
export function registerFamily(family: Family): void {
  for (const [name, build] of Object.entries(family)) operators.set(name, build);
}
export const operatorNames = (): string[] => [...operators.keys()].sort();

export const constant = (value: Value): Expression => ({
  kind: 'constant',
  value,
  evaluate: () => value,
});

export function parseExpression(value: Value, scope: Scope): Expression {
  if (typeof value === 'string') {
    if (value.startsWith('$$')) return parseVariable(value.slice(2), scope);
    if (value.startsWith('$')) return fieldExpression(splitPath(value.slice(1)));
    return constant(value);
  }
  if (Array.isArray(value)) return parseArray(value, scope);
  if (value instanceof Doc) return parseObject(value, scope);
  return constant(value);
}

export function fieldExpression(path: readonly string[]): Expression {
  return { kind: 'field', path, evaluate: pathReader(path) };
}

function parseVariable(text: string, scope: Scope): Expression {
  const dot = text.indexOf('.');
  const name = dot < 0 ? text : text.slice(0, dot);
  const rest = dot < 0 ? [] : splitPath(text.slice(dot + 1));
  const slot = scope.slotOf(name);
  if (slot !== undefined) return variable(slot, rest, scope);
  switch (name) {
    case 'ROOT':
      if (scope.rootSlot !== undefined) return variable(scope.rootSlot, rest, scope);
      return rest.length > 0
        ? fieldExpression(rest)
        : { kind: 'operator', operator: '$$ROOT', evaluate: (doc) => doc };
    case 'CURRENT':
      return rest.length > 0
        ? fieldExpression(rest)
        : { kind: 'operator', operator: '$$ROOT', evaluate: (doc) => doc };
    case 'REMOVE':
      return constant(undefined);
    case 'NOW':
      return constant(scope.environment.now);
    case 'DESCEND':
    case 'PRUNE':
    case 'KEEP':
      if (scope.rootSlot === undefined)
        throw new ServerError(17276, `Use of undefined variable: ${name}`);
      return constant(redactMarkers[name]);
    case 'CLUSTER_TIME':
    case 'USER_ROLES':
    case 'SEARCH_META':
    case 'JS_SCOPE':
    case 'IS_MR':
      throw unsupported(`variable $$${name}`);
    default:
      throw new ServerError(17276, `Use of undefined variable: ${name}`);
  }
}

/** What `$redact` recognises, by identity: no value of a document can be one of them. */
export const redactMarkers = {
  DESCEND: new Code('DESCEND'),
  PRUNE: new Code('PRUNE'),
  KEEP: new Code('KEEP'),
} as const;

function variable(slot: number, rest: readonly string[], scope: Scope): Expression {
  const { frame } = scope.environment;
  if (scope.environment.isFixed(slot))
    return constant(rest.length === 0 ? frame[slot] : pathReader(rest)(frame[slot]));
  scope.environment.touch(slot);
  if (rest.length === 0) return { kind: 'variable', slot, evaluate: () => frame[slot] };
  const read = pathReader(rest);
  return { kind: 'variable', slot, path: rest, evaluate: () => read(frame[slot]) };
}

function parseArray(items: Value[], scope: Scope): Expression {
  const operands = items.map((item) => parseExpression(item, scope));
  if (operands.every((o) => o.kind === 'constant')) {
    return constant(operands.map((o) => (o.value === undefined ? null : o.value)));
  }
  const parts = operands.map((o) => o.evaluate);
  return {
    kind: 'array',
    operands,
    // A missing element becomes null: an array has no holes.
    evaluate: (doc) => parts.map((part) => part(doc) ?? null),
  };
}

function parseObject(spec: Doc, scope: Scope): Expression {
  const first = spec.keys[0];
  if (first?.startsWith('$')) {
    if (spec.size !== 1) {
      throw new ServerError(
        15983,
        `an object representing an expression must have exactly one field, but has ${spec.size} ` +
          `fields: ${first}…`,
      );
    }
    return parseOperator(first, spec.values[0], scope);
  }
  const keys = [...spec.keys];
  for (const key of keys) checkFieldName(key);
  const operands = spec.values.map((value) => parseExpression(value, scope));
  const parts = operands.map((o) => o.evaluate);
  const evaluate = (doc: Doc): Doc => {
    const outKeys: string[] = [];
    const values: Value[] = [];
    for (let i = 0; i < parts.length; i++) {
      const value = (parts[i] as Evaluate)(doc);
      if (value !== undefined) {
        outKeys.push(keys[i] as string);
        values.push(value);
      }
    }
    return new Doc(outKeys, values);
  };
  if (operands.every((o) => o.kind === 'constant')) return constant(evaluate(Doc.empty()));
  return { kind: 'object', operands, evaluate };
}

function checkFieldName(name: string): void {
  if (name.startsWith('$')) throw failedToParse(`Unrecognized expression '${name}'`);
  if (name.includes('.'))
    throw new ServerError(
      16412,
      `FieldPath field names may not contain '.'. Consider using $getField or $setField.`,
    );
  if (name === '') throw new ServerError(15998, 'FieldPath field names may not be empty strings.');
}

function parseOperator(name: string, operand: Value, scope: Scope): Expression {
  const build = operators.get(name);
  if (!build) throw unsupported(`Unrecognized expression '${name}': it`, 168);
  const { evaluate, operands } = build(operand, scope, name);
  // As on the server, a constant that cannot be computed fails the whole pipeline, even where it is
  // never reached.
  if (operands?.every((o) => o.kind === 'constant')) return constant(evaluate(Doc.empty()));
  return operands
    ? { kind: 'operator', operator: name, operands, evaluate }
    : { kind: 'operator', operator: name, evaluate };
}

// ---- how operators take their operands

function operandList(operand: Value, scope: Scope): Expression[] {
  return Array.isArray(operand)
    ? operand.map((item) => parseExpression(item, scope))
    : [parseExpression(operand, scope)];
}

function wrongCount(name: string, expected: string, given: number): ServerError {
  return new ServerError(
    16020,
    `Expression ${name} takes ${expected} arguments. ${given} were passed in.`,
  );
}

/** One operand. */
export function unary(
  compute: (a: Value, name: string, environment: Environment) => Value,
): OperatorBuilder {
  return (operand, scope, name) => {
    const operands = operandList(operand, scope);
    if (operands.length !== 1) throw wrongCount(name, 'exactly 1', operands.length);
    const a = (operands[0] as Expression).evaluate;
    const { environment } = scope;
    return { operands, evaluate: (doc) => compute(a(doc), name, environment) };
  };
}

/** Two operands. */
export function binary(
  compute: (a: Value, b: Value, name: string, environment: Environment) => Value,
): OperatorBuilder {
  return (operand, scope, name) => {
    const operands = operandList(operand, scope);
    if (operands.length !== 2) throw wrongCount(name, 'exactly 2', operands.length);
    const a = (operands[0] as Expression).evaluate;
    const b = (operands[1] as Expression).evaluate;
    const { environment } = scope;
    return { operands, evaluate: (doc) => compute(a(doc), b(doc), name, environment) };
  };
}

/** Between `least` and `most` operands, all evaluated. */
export function variadic(
  compute: (values: Value[], name: string, environment: Environment) => Value,
  least = 0,
  most = Infinity,
): OperatorBuilder {
  return (operand, scope, name) => {
    const operands = operandList(operand, scope);
    if (operands.length < least || operands.length > most) {
      if (least === most) throw wrongCount(name, `exactly ${least}`, operands.length);
      if (most === Infinity) throw wrongCount(name, `at least ${least}`, operands.length);
      // Operators with a least and a most number of operands have a code of their own.
      throw new ServerError(
        28667,
        `Expression ${name} takes at least ${least} arguments, and at most ${most}, but ` +
          `${operands.length} were passed in.`,
      );
    }
    const parts = operands.map((o) => o.evaluate);
    const { environment } = scope;
    return {
      operands,
      evaluate: (doc) =>
        compute(
          parts.map((part) => part(doc)),
          name,
          environment,
        ),
    };
  };
}

/** Operands evaluated as the operator likes: `$and`, `$cond`, … */
export function lazy(
  build: (parts: Evaluate[]) => Evaluate,
  least = 0,
  most = Infinity,
): OperatorBuilder {
  return (operand, scope, name) => {
    const operands = operandList(operand, scope);
    if (operands.length < least || operands.length > most) {
      throw wrongCount(
        name,
        least === most ? `exactly ${least}` : `at least ${least}`,
        operands.length,
      );
    }
    return { operands, evaluate: build(operands.map((o) => o.evaluate)) };
  };
}

/** The unparsed named arguments of an operator; unknown and missing names are refused. */
export function namedArguments(
  operand: Value,
  name: string,
  required: readonly string[],
  optional: readonly string[] = [],
): Map<string, Value> {
  const codes = argumentErrors[name] ?? {};
  if (!(operand instanceof Doc))
    throw new ServerError(codes.notObject ?? 9, `${name} only supports an object as its argument`);
  const out = new Map<string, Value>();
  operand.keys.forEach((key, i) => {
    if (!required.includes(key) && !optional.includes(key))
      throw new ServerError(codes.unknown ?? 9, `Unrecognized argument to ${name}: ${key}`);
    out.set(key, operand.values[i]);
  });
  for (const key of required)
    if (!out.has(key))
      throw new ServerError(codes.missing?.[key] ?? 9, `Missing '${key}' parameter to ${name}`);
  return out;
}

/** Named operands, all evaluated; an absent optional one is `undefined` in `given`. */
export function named<R extends string, O extends string = never>(
  required: readonly R[],
  optional: readonly O[],
  compute: (
    read: Record<R, Value> & Partial<Record<O, Value>>,
    given: ReadonlySet<string>,
    name: string,
    environment: Environment,
  ) => Value,
): OperatorBuilder {
  return (operand, scope, name) => {
    const args = namedArguments(operand, name, required, optional);
    const names = [...args.keys()];
    const operands = names.map((key) => parseExpression(args.get(key), scope));
    const parts = operands.map((o) => o.evaluate);
    const given = new Set(names);
    const { environment } = scope;
    return {
      operands,
      evaluate: (doc) => {
        const read: Record<string, Value> = {};
        for (let i = 0; i < parts.length; i++)
          read[names[i] as string] = (parts[i] as Evaluate)(doc);
        return compute(
          read as Record<R, Value> & Partial<Record<O, Value>>,
          given,
          name,
          environment,
        );
      },
    };
  };
}

/** Variable names start with a lower-case letter; MongoDB keeps the others for itself. */
export function checkVariableName(name: string): void {
  if (!/^[a-z\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*$/.test(name)) {
    throw failedToParse(`'${name}' starts with an invalid character for a user variable name`);
  }
}
