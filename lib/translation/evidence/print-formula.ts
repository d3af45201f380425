import type { Transform } from '../../design/model/transform-kind';
import { printValue } from '../../mql/print';
import { encode } from '../lower/comparison';
import { likeRegex } from '../lower/like-pattern';
import { periodOf, type Period } from '../lower/period-predicate';
import {
  isCondition,
  type Call,
  type ColumnName,
  type Comparison,
  type Formula,
  type Pattern,
} from './formula';

/** What a column became. */
export interface PrintedColumn {
  readonly text: string;
  readonly transform: Transform;
  /** It holds names or keys: nothing to add up. */
  readonly isName?: boolean;
}

/** Gives the field of a column; `constant` is what it is compared with. */
export type PrintColumn = (column: ColumnName, constant?: string) => PrintedColumn;

/** How tightly a piece of text holds together; a looser one gets parentheses. */
const LEVEL = { where: 0, or: 1, and: 2, condition: 3, phrase: 4, sum: 5, product: 6, atom: 7 };

interface Printed {
  readonly text: string;
  readonly level: number;
}

const atom = (text: string): Printed => ({ text, level: LEVEL.atom });
const phrase = (text: string): Printed => ({ text, level: LEVEL.phrase });

/**
 * A formula in the words of a pipeline: it matches, groups, counts and divides; it has no functions
 * of SQL. Operators and literals stay as they were, and so does the grouping.
 */
export const printFormula = (formula: Formula, column: PrintColumn): string =>
  new FormulaPrinter(column).print(formula).text;

const OPERATIONS = {
  divide: { word: 'divided by', most: 2 },
  multiply: { word: 'times', most: Infinity },
  subtract: { word: 'minus', most: 2 },
  add: { word: 'plus', most: Infinity },
} as const;

const DATE_PARTS: Readonly<Record<string, string>> = {
  '%Y': 'year',
  '%m': 'month',
  '%d': 'day',
  '%Y-%m': 'month',
  '%Y-%m-%d': 'day',
  '%H': 'hour',
};

class FormulaPrinter {
  constructor(private readonly column: PrintColumn) {}

  print(formula: Formula): Printed {
    switch (formula.kind) {
      case 'literal':
        return atom(closed(formula.source));
      case 'number':
      case 'bare':
        return atom(formula.source);
      case 'column':
        return atom(this.column(formula).text);
      case 'group':
        return atom(`(${this.print(formula.operand).text})`);
      case 'negate':
        return atom(`-${this.at(formula.operand, LEVEL.atom)}`);
      case 'compare':
        return this.comparison(formula);
      case 'logic': {
        const level = LEVEL[formula.operator];
        const parts = formula.operands.map((operand) => this.at(operand, level + 1));
        return { text: parts.join(` ${formula.operator} `), level };
      }
      case 'null': {
        const operand = this.at(formula.operand, LEVEL.phrase);
        return condition(`${operand} is ${formula.negated ? 'not ' : ''}null`);
      }
      case 'range':
        return this.range(formula.operand, formula.low, formula.high, formula.negated);
      case 'list': {
        const items = formula.items.map((item) => this.value(formula.operand, item));
        const operand = this.at(formula.operand, LEVEL.phrase);
        return condition(`${operand} is ${formula.negated ? 'not ' : ''}in [${items.join(', ')}]`);
      }
      case 'pattern':
        return this.pattern(formula);
      case 'arithmetic':
        return this.arithmetic(
          formula.operator,
          [formula.left, formula.right],
          ['*', '/', '%'].includes(formula.operator) ? LEVEL.product : LEVEL.sum,
        );
      case 'where':
        return this.where(formula.value, formula.condition);
      case 'call':
        return this.call(formula);
    }
  }

  private at(formula: Formula, least: number): string {
    const { text, level } = this.print(formula);
    return level < least ? `(${text})` : text;
  }

  private where(value: Formula, limit: Formula): Printed {
    return {
      text: `${this.at(value, LEVEL.or)} where ${this.at(limit, LEVEL.or)}`,
      level: LEVEL.where,
    };
  }

  /** The right side binds one step tighter: `a - (b - c)` must stay so. */
  private arithmetic(operator: string, operands: readonly Formula[], level: number): Printed {
    const parts = operands.map((operand, index) =>
      this.at(operand, index === 0 ? level : level + 1),
    );
    return { text: parts.join(` ${operator} `), level };
  }

  // ---- conditions

  private comparison({ left, operator, right }: Comparison): Printed {
    if (right.kind === 'bare' && /^null$/i.test(right.source) && ['=', '!='].includes(operator))
      return this.print({ kind: 'null', operand: left, negated: operator === '!=' });
    const dated = this.datePeriod(left, operator, right);
    if (dated !== undefined) return condition(dated);
    const value = this.value(left, right);
    return condition(`${this.at(compared(left, right), LEVEL.phrase)} ${operator} ${value}`);
  }

  /** What a formula is compared with, as its field stores it. */
  private value(left: Formula, right: Formula): string {
    const constant = constantOf(right);
    if (left.kind !== 'column' || constant === undefined) return this.at(right, LEVEL.phrase);
    const { transform } = this.column(left, constant);
    const encoded = transform.kind === 'identity' ? undefined : encode(transform, constant);
    return encoded === undefined ? this.at(right, LEVEL.phrase) : printConstant(encoded);
  }

  private range(operand: Formula, low: Formula, high: Formula, negated: boolean): Printed {
    const [from, to] = [this.value(operand, low), this.value(operand, high)];
    const text = this.at(compared(operand, low), LEVEL.phrase);
    return negated
      ? { text: `${text} < ${from} or ${text} > ${to}`, level: LEVEL.or }
      : { text: `${text} >= ${from} and ${text} <= ${to}`, level: LEVEL.and };
  }

  private pattern({ operand, pattern, negated }: Pattern): Printed {
    const column = operand.kind === 'column' ? this.column(operand, pattern.value) : undefined;
    const prefix = /^(.*?)-?%$/.exec(pattern.value)?.[1];
    const period =
      column?.transform.kind === 'date' && prefix !== undefined && !negated
        ? periodOf(prefix)
        : undefined;
    if (column && period) return condition(rangeOf(column.text, '=', period) ?? '');
    const { regex, options } = likeRegex(pattern.value);
    const text = column?.text ?? this.at(operand, LEVEL.phrase);
    const verb = negated ? 'does not match' : 'matches';
    return condition(`${text} ${verb} /${regex}/${options}`);
  }

  /** A comparison with a year, a month or a day, of a field that stores dates. */
  private datePeriod(
    left: Formula,
    operator: Comparison['operator'],
    right: Formula,
  ): string | undefined {
    const constant = constantOf(right);
    const subject = left.kind === 'call' ? dateArgument(left) : left;
    if (constant === undefined || subject?.kind !== 'column') return undefined;
    const { text, transform } = this.column(subject, constant);
    const period = transform.kind === 'date' ? periodOf(constant) : undefined;
    if (!period || (left.kind === 'column' && encode(transform, constant) !== undefined))
      return undefined;
    return rangeOf(text, operator, period);
  }

  // ---- functions

  private call(call: Call): Printed {
    const operation = OPERATIONS[call.name as keyof typeof OPERATIONS] as
      (typeof OPERATIONS)[keyof typeof OPERATIONS] | undefined;
    if (operation) return this.operation(call, operation);
    return this.aggregate(call) ?? this.scalar(call) ?? this.unknown(call);
  }

  private operation(
    call: Call,
    { word, most }: (typeof OPERATIONS)[keyof typeof OPERATIONS],
  ): Printed {
    const { args } = call;
    const [only] = args;
    // DIVIDE(a / b) says it twice.
    if (args.length === 1 && only?.kind === 'arithmetic') return this.print(only);
    if (args.length < 2 || args.length > most) return this.unknown(call);
    // Nobody knows a precedence of words: every part of them stands by itself.
    const parts = args.map((arg) => this.at(arg, LEVEL.atom));
    return { text: parts.join(` ${word} `), level: LEVEL.sum };
  }

  private aggregate({ name, args, distinct }: Call): Printed | undefined {
    const [argument, ...more] = args;
    if (!argument || more.length > 0) return undefined;
    switch (name) {
      case 'count':
        return this.over(
          argument,
          (value) => `the number of ${distinct ? 'distinct ' : ''}${value}`,
        );
      case 'sum':
      case 'total':
        // Names cannot be added up: what is meant is how many there are.
        return this.over(argument, (value) =>
          this.isName(limited(argument).value) ? `the number of ${value}` : `the sum of ${value}`,
        );
      case 'avg':
      case 'average':
        return this.over(argument, (value) => `the average of ${value}`);
      case 'max':
        return this.over(argument, (value) => `the largest ${withoutArticle(value)}`);
      case 'min':
        return this.over(argument, (value) => `the smallest ${withoutArticle(value)}`);
      case 'distinct':
        return phrase(`distinct ${this.at(argument, LEVEL.atom)}`);
      default:
        return undefined;
    }
  }

  /** An aggregate over all rows, or over those that its argument names; of a condition, a count. */
  private over(argument: Formula, words: (value: string) => string): Printed {
    const { value, limits } = limited(argument);
    const conditions = isCondition(value) ? [value, ...limits] : limits;
    const what = isCondition(value) || isStar(value) ? 'documents' : this.aggregated(value);
    const counts = isCondition(value) || isOne(value);
    const text = counts ? 'the number of documents' : words(what);
    if (conditions.length === 0) return phrase(text);
    const all = conditions.map((one) => this.at(one, LEVEL.and + Number(conditions.length > 1)));
    return { text: `${text} where ${all.join(' and ')}`, level: LEVEL.where };
  }

  /** An aggregate of an aggregate reads as one phrase; what is calculated stands by itself. */
  private aggregated(value: Formula): string {
    const { text, level } = this.print(value);
    return level === LEVEL.phrase ? text : this.at(value, LEVEL.atom);
  }

  private isName(value: Formula): boolean {
    return value.kind === 'column' && this.column(value).isName === true;
  }

  private scalar(call: Call): Printed | undefined {
    const { name, args } = call;
    const part = datePartOf(call);
    const [first, second] = args;
    if (part && first) {
      const subject = name === 'strftime' ? args[1]! : first;
      return isClock(subject)
        ? phrase(`the current ${part}`)
        : phrase(`the ${part} of ${this.at(subject, LEVEL.atom)}`);
    }
    if (!first) return undefined;
    const of = (): string => this.at(first, LEVEL.atom);
    switch (name) {
      case 'cast':
        return this.cast(first);
      case 'length':
        return phrase(`the length of ${of()}`);
      case 'abs':
        return phrase(`the absolute value of ${of()}`);
      case 'round':
        return phrase(
          second ? `${of()} rounded to ${this.print(second).text} decimals` : `${of()} rounded`,
        );
      case 'upper':
      case 'lower':
        return phrase(`${of()} in ${name} case`);
      case 'substr':
      case 'substring':
        return this.characters(call);
      case 'iif':
      case 'if':
        return this.choice(args);
      default:
        return undefined;
    }
  }

  private cast(argument: Formula): Printed | undefined {
    const [value, type] = argument.kind === 'call' && argument.name === 'as' ? argument.args : [];
    if (!value || type?.kind !== 'bare') return undefined;
    if (/^int/i.test(type.source)) return phrase(`the whole part of ${this.at(value, LEVEL.atom)}`);
    if (/^(?:text|(?:var)?char)/i.test(type.source))
      return phrase(`${this.at(value, LEVEL.atom)} as text`);
    return this.print(value);
  }

  private characters({ args: [value, from, count] }: Call): Printed | undefined {
    if (!value || from?.kind !== 'number') return undefined;
    const start = Number(from.source);
    const length = count?.kind === 'number' ? Number(count.source) : undefined;
    if (count && length === undefined) return undefined;
    if (length === 1) return phrase(`character ${start} of ${this.at(value, LEVEL.atom)}`);
    const end = length === undefined ? 'on' : `to ${start + length - 1}`;
    return phrase(`characters ${start} ${end} of ${this.at(value, LEVEL.atom)}`);
  }

  private choice([when, then, otherwise]: readonly Formula[]): Printed | undefined {
    if (!when || !then) return undefined;
    const rest = otherwise ? `, else ${this.at(otherwise, LEVEL.or)}` : '';
    return {
      text: `${this.at(then, LEVEL.or)} if ${this.at(when, LEVEL.or)}${rest}`,
      level: LEVEL.where,
    };
  }

  /** A call in no form that there are words for: its fields are named all the same. */
  private unknown({ source, args, distinct }: Call): Printed {
    const inner = args.map((arg) => this.print(arg).text).join(', ');
    return atom(`${source}(${distinct ? 'DISTINCT ' : ''}${inner})`);
  }
}

const condition = (text: string): Printed => ({ text, level: LEVEL.condition });

/** A quote that nobody closed is closed. */
const closed = (source: string): string => {
  const [quote = ''] = source;
  const closing = { '‘': '’', '“': '”' }[quote] ?? quote;
  return source.length > 1 && source.endsWith(closing) ? source : `${source.trimEnd()}${closing}`;
};

const constantOf = (formula: Formula): string | undefined => {
  if (formula.kind === 'literal') return formula.value;
  if (formula.kind === 'number' || formula.kind === 'bare') return formula.source;
  return undefined;
};

/** The left side of a comparison; a column knows what it is compared with. */
const compared = (left: Formula, right: Formula): Formula => {
  const constant = constantOf(right);
  return left.kind === 'column' && constant !== undefined ? { ...left, constant } : left;
};

const isStar = (formula: Formula): boolean => formula.kind === 'bare' && formula.source === '*';
const isOne = (formula: Formula): boolean => formula.kind === 'number' && formula.source === '1';
const isZero = (formula: Formula | undefined): boolean =>
  formula === undefined ||
  (formula.kind === 'number' && Number(formula.source) === 0) ||
  (formula.kind === 'bare' && /^null$/i.test(formula.source));

/** A value and the conditions under which it counts: `x WHERE c`, `IIF(c, x, 0)`. */
function limited(formula: Formula): {
  readonly value: Formula;
  readonly limits: readonly Formula[];
} {
  if (formula.kind === 'where') {
    const inner = limited(formula.value);
    return { value: inner.value, limits: [...inner.limits, formula.condition] };
  }
  const [when, then, otherwise] =
    formula.kind === 'call' && ['iif', 'if'].includes(formula.name) ? formula.args : [];
  if (when && then && isZero(otherwise)) return { value: then, limits: [when] };
  return { value: formula, limits: [] };
}

const withoutArticle = (text: string): string => text.replace(/^the /, '');

const isClock = (formula: Formula): boolean =>
  formula.kind === 'bare' && /^current_/i.test(formula.source);

/** `strftime('%Y', d)`, `YEAR(d)`: the part of the date. */
function datePartOf({ name, args }: Call): string | undefined {
  const [first] = args;
  if (name === 'strftime')
    return first?.kind === 'literal' && args.length === 2 ? DATE_PARTS[first.value] : undefined;
  return ['year', 'month', 'day'].includes(name) && args.length === 1 ? name : undefined;
}

/** What a date function, or the first characters of a date, are taken of. */
function dateArgument(call: Call): Formula | undefined {
  const [first, second, third] = call.args;
  if (call.name === 'strftime')
    return first?.kind === 'literal' && first.value.startsWith('%Y') ? second : undefined;
  if (call.name === 'year' || (call.name === 'date' && call.args.length === 1)) return first;
  const isStart =
    ['substr', 'substring'].includes(call.name) &&
    second?.kind === 'number' &&
    second.source === '1' &&
    third?.kind === 'number' &&
    ['4', '7', '10'].includes(third.source);
  return isStart ? first : undefined;
}

function rangeOf(
  path: string,
  operator: Comparison['operator'],
  { start, end }: Period,
): string | undefined {
  const [from, to] = [printConstant(start), printConstant(end)];
  switch (operator) {
    case '=':
      return `${path} >= ${from} and ${path} < ${to}`;
    case '>':
      return `${path} >= ${to}`;
    case '>=':
      return `${path} >= ${from}`;
    case '<':
      return `${path} < ${from}`;
    case '<=':
      return `${path} < ${to}`;
    case '!=':
      return undefined;
  }
}

/** Evidence is prose: a long is its digits there, a day has no midnight. */
const printConstant = (value: unknown): string =>
  printValue(value)
    .replace(/^NumberLong\("(-?\d+)"\)$/, '$1')
    .replace(/T00:00:00(?:\.000)?Z(?=")/, '');
