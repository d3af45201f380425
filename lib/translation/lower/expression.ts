import { NEGATED } from '../../sqlite/select/compare-operators';
import {
  type BoundComparison,
  type BoundExpression,
  type BoundInList,
  type BoundPattern,
  type CompareOperator,
  type ComparisonAffinity,
} from '../../sqlite/select/bound';
import type { Environment, Lowered } from './environment';
import { lowerCall } from './function';
import {
  castToInteger,
  castToNumeric,
  castToReal,
  decode,
  isAbsent,
  isFalse,
  isPresent,
  isTrue,
  literal,
  toNumber,
  toText,
  withNull,
} from './conversion';
import { computed } from './computed-value';
import { oneOf } from './number-text';
import {
  asFloats,
  differenceBounds,
  fitsDouble,
  fitsLong,
  integerQuotient,
  mixedQuotient,
  productBounds,
  quotientBounds,
  resultKinds,
  sumBounds,
} from './exact-integer';
import { globRegex, likeRegex, type PatternRegex } from './like-pattern';
import { and, cond, not, or, type Mql } from '../mql/mql';
import { sameMql } from '../mql/same-mql';
import { Untranslatable } from './untranslated';
import {
  INTEGER,
  isNeverZero,
  NUMBER,
  onlyKinds,
  REAL,
  TEXT,
  typeOf,
  unionType,
  type ValueType,
} from './value-type';
import {
  OPERATOR,
  type Operands,
  compareLowered,
  withAffinity,
  collated,
  retypedOperands,
  holdsNoNumericText,
} from './comparison';

/**
 * Lowers bound expressions to aggregation expressions. SQL's three-valued logic appears only here:
 * a condition is asked for its truth or for its falsity, each two-valued, so that no null guard is
 * written where neither operand can be null.
 */
export class Lowering {
  constructor(readonly env: Environment) {}

  /** The value of an expression, retyped columns decoded. */
  value(expression: BoundExpression): Lowered {
    return decode(this.stored(expression));
  }

  /** The value as it is stored: a retyped column keeps its transform. */
  stored(expression: BoundExpression): Lowered {
    const known = this.env.computed(expression);
    if (known) return known;
    switch (expression.kind) {
      case 'literal':
        return literal(expression.value);
      case 'column':
      case 'rowid':
        return this.env.column(expression);
      case 'clock': {
        this.env.timeDependent();
        const format = {
          CURRENT_DATE: '%Y-%m-%d',
          CURRENT_TIME: '%H:%M:%S',
          CURRENT_TIMESTAMP: '%Y-%m-%d %H:%M:%S',
        }[expression.name];
        return computed({ $dateToString: { date: '$$NOW', format } }, typeOf(TEXT));
      }
      case 'collate':
        return this.stored(expression.operand);
      case 'cast':
        return this.cast(expression.to, expression.operand);
      case 'arithmetic':
        return this.arithmetic(expression);
      case 'negate': {
        if (expression.operator === '+') return this.stored(expression.operand);
        const operand = toNumber(this.value(expression.operand));
        if (expression.operator === '~')
          return computed(
            { $bitNot: castToInteger(operand).mql },
            { ...typeOf(INTEGER), nullable: operand.type.nullable },
          );
        return this.arithmetic({
          kind: 'arithmetic',
          operator: '*',
          left: expression.operand,
          right: { kind: 'literal', value: -1n },
        });
      }
      case 'concat':
        return this.concat(expression);
      case 'case':
        return this.caseValue(expression.branches, expression.otherwise);
      case 'call':
        return lowerCall(expression, this);
      case 'subquery':
        return this.env.scalar(expression);
      case 'aggregate':
        throw new Untranslatable('aggregate', `misuse of the aggregate ${expression.name}()`);
      case 'window':
        throw new Untranslatable('window', `${expression.name}() OVER in this place`);
      default:
        return this.conditionValue(expression);
    }
  }

  /** MongoDB's boolean for: SQL finds the condition true. */
  truth(expression: BoundExpression): Mql {
    const known = this.env.computed(expression);
    if (known) return isTrue(known);
    switch (expression.kind) {
      case 'not':
        return this.falsity(expression.operand);
      case 'logic':
        return (expression.operator === 'AND' ? and : or)(
          ...expression.operands.map((operand) => this.truth(operand)),
        );
      case 'compare':
        return this.compare(expression, expression.operator);
      case 'nullTest':
        return expression.negated
          ? this.present(expression.operand)
          : this.absent(expression.operand);
      case 'pattern':
        return this.pattern(expression, expression.negated);
      case 'inList':
        return this.inList(expression, expression.negated);
      case 'inQuery':
      case 'exists': {
        const condition = this.env.condition(expression);
        return expression.kind === 'inQuery' && expression.negated
          ? condition.falsity()
          : condition.truth();
      }
      case 'case':
        if (this.isCondition(expression)) return this.caseCondition(expression, 'truth');
        return isTrue(this.value(expression));
      default:
        return isTrue(this.value(expression));
    }
  }

  /** MongoDB's boolean for: SQL finds the condition false (and not null). */
  falsity(expression: BoundExpression): Mql {
    const known = this.env.computed(expression);
    if (known) return isFalse(known);
    switch (expression.kind) {
      case 'not':
        return this.truth(expression.operand);
      case 'logic':
        return (expression.operator === 'AND' ? or : and)(
          ...expression.operands.map((operand) => this.falsity(operand)),
        );
      case 'compare':
        return this.compare(expression, NEGATED[expression.operator]);
      case 'nullTest':
        return expression.negated
          ? this.absent(expression.operand)
          : this.present(expression.operand);
      case 'pattern':
        return this.pattern(expression, !expression.negated);
      case 'inList':
        return this.inList(expression, !expression.negated);
      case 'inQuery':
      case 'exists': {
        const condition = this.env.condition(expression);
        return expression.kind === 'inQuery' && expression.negated
          ? condition.truth()
          : condition.falsity();
      }
      default:
        return isFalse(this.value(expression));
    }
  }

  /**
   * The expression is not null. Conditional values are asked branch by branch, so that COUNT(CASE
   * …) stays short.
   */
  present(expression: BoundExpression): Mql {
    if (expression.kind === 'case' && !this.env.computed(expression)) {
      let rest: Mql = this.present(expression.otherwise);
      for (const { when, then } of [...expression.branches].reverse()) {
        const here = this.present(then);
        const test = this.truth(when);
        rest = branchOf(test, here, rest);
      }
      return rest;
    }
    return isPresent(this.stored(expression));
  }

  absent(expression: BoundExpression): Mql {
    if (expression.kind === 'case') return not(this.present(expression));
    return isAbsent(this.stored(expression));
  }

  /** May the condition be null? */
  conditionNullable(expression: BoundExpression): boolean {
    const known = this.env.computed(expression);
    if (known) return known.type.nullable;
    switch (expression.kind) {
      case 'not':
        return this.conditionNullable(expression.operand);
      case 'logic':
        return expression.operands.some((operand) => this.conditionNullable(operand));
      case 'compare':
        return (
          !expression.nullSafe &&
          (this.stored(expression.left).type.nullable ||
            this.stored(expression.right).type.nullable)
        );
      case 'nullTest':
      case 'exists':
        return false;
      case 'pattern':
        return (
          this.stored(expression.operand).type.nullable ||
          this.stored(expression.pattern).type.nullable
        );
      case 'inList':
        return (
          expression.items.length > 0 &&
          [expression.operand, ...expression.items].some((item) => this.stored(item).type.nullable)
        );
      case 'inQuery':
        return this.env.condition(expression).nullable;
      default:
        return this.stored(expression).type.nullable;
    }
  }

  isCondition(expression: BoundExpression): boolean {
    if (expression.kind === 'case')
      return [...expression.branches.map(({ then }) => then), expression.otherwise].every(
        (branch) => this.isCondition(branch) || isZeroOrOne(branch),
      );
    return [
      'not',
      'logic',
      'compare',
      'nullTest',
      'pattern',
      'inList',
      'inQuery',
      'exists',
    ].includes(expression.kind);
  }

  /** Both operands of a comparison in one form. */
  operands(
    left: BoundExpression,
    right: BoundExpression,
    affinity: ComparisonAffinity,
    collation: string,
    equality = false,
  ): Operands {
    const a = this.stored(left);
    const b = this.stored(right);
    const kind = { affinity, equality };
    const encoded = retypedOperands(a, b, kind) ?? retypedOperands(b, a, kind, true);
    if (encoded && collation === 'BINARY') return encoded;
    return collated(
      this.converted(left, a, affinity),
      this.converted(right, b, affinity),
      collation,
    );
  }

  /**
   * A column of numeric affinity holds no text that looks like a number: storing it has made it one
   * already.
   */
  private converted(
    expression: BoundExpression,
    stored: Lowered,
    affinity: ComparisonAffinity,
  ): Lowered {
    const value = decode(stored);
    return affinity === 'NUMERIC' &&
      holdsNoNumericText(expression) &&
      stored.transform.kind === 'identity'
      ? value
      : withAffinity(value, affinity);
  }

  private conditionValue(expression: BoundExpression): Lowered {
    const truth = this.truth(expression);
    const type = { ...typeOf(INTEGER, this.conditionNullable(expression)), min: 0, max: 1 };
    if (typeof truth === 'boolean' && !type.nullable) return literal(truth ? 1n : 0n);
    if (!type.nullable) return computed(cond(truth, 1, 0), type);
    return computed(cond(truth, 1, cond(this.falsity(expression), 0, null)), type);
  }

  private compare(expression: BoundComparison, operator: CompareOperator): Mql {
    const { left, right } = this.operands(
      expression.left,
      expression.right,
      expression.affinity,
      expression.collation,
      isEquality(operator),
    );
    if (expression.nullSafe) return { [OPERATOR[operator]]: [withNull(left), withNull(right)] };
    return compareLowered(left, operator, right);
  }

  private inList(expression: BoundInList, negated: boolean): Mql {
    const { operand, items } = expression;
    if (items.length === 0) return negated;
    const pairs = items.map((item) =>
      this.operands(operand, item, expression.affinity, expression.collation, true),
    );
    const hasNull = pairs.some(({ right }) => right.constant?.value === null);
    const others = pairs.filter(({ right }) => right.constant?.value !== null);
    const simple = others.every(({ right }) => right.constant !== undefined);
    const [first] = pairs;
    if (!first) return negated;
    if (!simple || !sameLeft(pairs)) {
      if (!negated) return or(...pairs.map(({ left, right }) => compareLowered(left, '=', right)));
      return and(...pairs.map(({ left, right }) => compareLowered(left, '<>', right)));
    }
    const values = others.map(({ right }) => right.mql);
    if (negated && hasNull) return false;
    const isOneOf = (): Mql => {
      if (values.length === 0) return false;
      return values.length === 1
        ? { $eq: [first.left.mql, values[0] ?? null] }
        : { $in: [first.left.mql, values] };
    };
    const isIn = isOneOf();
    return negated ? and(isPresent(first.left), not(isIn)) : isIn;
  }

  private pattern(expression: BoundPattern, negated: boolean): Mql {
    const found = this.patternParts(expression);
    if (!found) return false;
    const { text, regex } = found;
    const input = text.type.nullable ? withNull(text) : text.mql;
    const test: Mql = {
      $regexMatch: { input, regex: regex.regex, ...(regex.options && { options: regex.options }) },
    };
    return negated ? and(isPresent(text), not(test)) : test;
  }

  /**
   * Text and regular expression of LIKE or GLOB; undefined when the pattern is null and so nothing
   * matches.
   */
  patternParts(
    expression: BoundPattern,
  ): { readonly text: Lowered; readonly regex: PatternRegex; readonly plain: boolean } | undefined {
    const pattern = this.value(expression.pattern);
    const escape = expression.escape && this.value(expression.escape);
    if (!pattern.constant || (escape && !escape.constant))
      throw new Untranslatable('pattern', `${expression.operator} with a computed pattern`);
    if (pattern.constant.value === null || escape?.constant?.value === null) return undefined;
    const source = String(pattern.constant.value as string | number | bigint);
    const operand = this.value(expression.operand);
    const text = toText(operand);
    if (expression.operator === 'LIKE')
      return {
        text,
        regex: likeRegex(source, escape?.constant?.value as string | undefined),
        plain: text === operand,
      };
    if (expression.operator === 'GLOB')
      return { text, regex: globRegex(source), plain: text === operand };
    throw new Untranslatable('function', `the operator ${expression.operator}`);
  }

  private cast(
    to: 'TEXT' | 'NUMERIC' | 'INTEGER' | 'REAL' | 'BLOB',
    operand: BoundExpression,
  ): Lowered {
    const value = this.value(operand);
    switch (to) {
      case 'INTEGER':
        return castToInteger(value);
      case 'REAL':
        return castToReal(value);
      case 'NUMERIC':
        return castToNumeric(value);
      case 'TEXT':
        return toText(value);
      case 'BLOB':
        throw new Untranslatable('types', 'CAST to BLOB');
    }
  }

  private arithmetic({
    operator,
    left,
    right,
  }: Extract<BoundExpression, { kind: 'arithmetic' }>): Lowered {
    const a = toNumber(this.value(left));
    const b = toNumber(this.value(right));
    if (a.constant?.value === null || b.constant?.value === null) return literal(null);
    const nullable = a.type.nullable || b.type.nullable;
    const combined = (range: Pick<ValueType, 'min' | 'max'>): ValueType => ({
      kinds: resultKinds(a.type, b.type, range),
      nullable,
      missing: false,
      ...range,
      ...([a, b].some(({ type }) => type.whole === true) && fitsDouble(range) && { whole: true }),
    });
    switch (operator) {
      case '+':
        return computed(
          nary('$add', ...asFloats(a, b, sumBounds(a.type, b.type))),
          combined(sumBounds(a.type, b.type)),
        );
      case '-':
        return computed(
          { $subtract: asFloats(a, b, differenceBounds(a.type, b.type)) },
          combined(differenceBounds(a.type, b.type)),
        );
      case '*':
        return computed(
          nary('$multiply', ...asFloats(a, b, productBounds(a.type, b.type))),
          combined(productBounds(a.type, b.type)),
        );
      case '/':
        return divide(a, b, nullable);
      case '%': {
        const x = castToInteger(a);
        const y = castToInteger(b);
        // The server works constants out beforehand, and fails on the branch that would never be
        // taken.
        if (y.constant && Number(y.constant.value) === 0) return literal(null);
        const rest: Mql = { $mod: [x.mql, y.mql] };
        const kinds =
          a.type.kinds === REAL || b.type.kinds === REAL ? REAL : a.type.kinds | b.type.kinds;
        const type: ValueType = {
          kinds,
          nullable,
          missing: false,
          ...quotientBounds(x.type, y.type),
          whole: true,
        };
        if (isNeverZero(y.type)) return computed(rest, type);
        return computed(cond({ $eq: [y.mql, 0] }, null, rest), { ...type, nullable: true });
      }
      case '&':
      case '|':
        return computed(
          {
            [operator === '&' ? '$bitAnd' : '$bitOr']: [castToInteger(a).mql, castToInteger(b).mql],
          },
          typeOf(INTEGER, nullable),
        );
      case '<<':
      case '>>':
        throw new Untranslatable('function', `the operator ${operator}`);
    }
  }

  private concat(expression: Extract<BoundExpression, { kind: 'concat' }>): Lowered {
    const parts: Lowered[] = [];
    const collect = (node: BoundExpression): void => {
      if (node.kind === 'concat') {
        collect(node.left);
        collect(node.right);
      } else parts.push(toText(this.value(node)));
    };
    collect(expression);
    return computed(
      { $concat: parts.map(({ mql }) => mql) },
      typeOf(
        TEXT,
        parts.some(({ type }) => type.nullable),
      ),
    );
  }

  caseValue(
    branches: readonly { readonly when: BoundExpression; readonly then: BoundExpression }[],
    otherwise: BoundExpression,
  ): Lowered {
    const lowered = branches
      .map(({ when, then }) => ({ test: this.truth(when), then: this.value(then) }))
      .filter(({ test }) => test !== false);
    const last = this.value(otherwise);
    const type = lowered.reduce((sum, { then }) => unionType(sum, then.type), last.type);
    const [only] = lowered;
    if (!only) return last;
    if (only.test === true) return only.then;
    const chosen = (values: readonly Mql[]): Mql => {
      const rest = values.at(-1) ?? null;
      if (lowered.length === 1) return cond(only.test, values[0] ?? null, rest);
      const branches = lowered.map(({ test }, index) => ({
        case: test,
        then: values[index] ?? null,
      }));
      return { $switch: { branches, default: rest } };
    };
    return oneOf([...lowered.map(({ then }) => then), last], chosen, type);
  }

  private caseCondition(
    expression: Extract<BoundExpression, { kind: 'case' }>,
    polarity: 'truth' | 'falsity',
  ): Mql {
    let rest =
      polarity === 'truth' ? this.truth(expression.otherwise) : this.falsity(expression.otherwise);
    for (const { when, then } of [...expression.branches].reverse()) {
      const here = polarity === 'truth' ? this.truth(then) : this.falsity(then);
      const test = this.truth(when);
      if (here === true && rest === false) rest = test;
      else if (here === false && rest === true) rest = not(test);
      else rest = cond(test, here, rest);
    }
    return rest;
  }
}

const isEquality = (operator: CompareOperator): boolean => operator === '=' || operator === '<>';

const isZeroOrOne = (expression: BoundExpression): boolean =>
  expression.kind === 'literal' &&
  (expression.value === null || expression.value === 0n || expression.value === 1n);

const sameLeft = (pairs: readonly Operands[]): boolean => {
  const [first] = pairs;
  return pairs.every(({ left }) => sameMql(left.mql, first?.left.mql));
};

function nary(operator: '$add' | '$multiply', left: Mql, right: Mql): Mql {
  const inner =
    typeof left === 'object' && left !== null && Object.hasOwn(left, operator)
      ? (left as unknown as Record<string, Mql>)[operator]
      : undefined;
  return { [operator]: Array.isArray(inner) ? [...(inner as Mql[]), right] : [left, right] };
}

function divide(a: Lowered, b: Lowered, nullable: boolean): Lowered {
  const bothInteger = onlyKinds(a.type, INTEGER) && onlyKinds(b.type, INTEGER);
  const oneReal = a.type.kinds === REAL || b.type.kinds === REAL;
  if (b.constant && Number(b.constant.value) === 0) return literal(null);
  const range = quotientBounds(a.type, b.type);
  const result = (kinds: number): ValueType => ({ kinds, nullable, missing: false, ...range });
  if (oneReal) return overZero(b, computed({ $divide: [a.mql, b.mql] }, result(REAL)));
  if (!bothInteger) return overZero(b, computed(mixedQuotient(a, b), result(NUMBER)));
  const overflows = !fitsLong(a.type) && mayBeMinusOne(b.type);
  return overZero(b, computed(integerQuotient(a, b), result(overflows ? NUMBER : INTEGER)));
}

const mayBeMinusOne = ({ min, max }: ValueType): boolean =>
  (min === undefined || min <= -1) && (max === undefined || max >= -1);

/** Null where the divisor is 0. */
function overZero(b: Lowered, { mql: value, type: result }: Lowered): Lowered {
  if (isNeverZero(b.type)) return computed(value, result);
  return computed(cond({ $eq: [b.mql, 0] }, null, value), { ...result, nullable: true });
}

/** `test ? here : rest` for booleans, in its shortest form. */
function branchOf(test: Mql, here: Mql, rest: Mql): Mql {
  if (here === true) return rest === false ? test : or(test, rest);
  return here === false ? and(not(test), rest) : cond(test, here, rest);
}
