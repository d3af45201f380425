import { columnsIn, isCondition, type Call, type Formula } from '../formula/formula';
import { datePartOf, isClock, isWholeDate } from './print-date';
import { atom, LEVEL, phrase, type FormulaPrinting, type Printed } from './printed';

const OPERATIONS = {
  divide: { word: 'divided by', most: 2 },
  multiply: { word: 'times', most: Infinity },
  subtract: { word: 'minus', most: 2 },
  add: { word: 'plus', most: Infinity },
} as const;

/** Aggregates in words, before what they are of; one of names counts them. */
const AGGREGATES = {
  count: 'the number of',
  sum: 'the sum of',
  total: 'the sum of',
  avg: 'the average of',
  average: 'the average of',
  max: 'the largest',
  min: 'the smallest',
} as const;

const isKeyOf = <T extends object>(object: T, key: PropertyKey): key is keyof T =>
  Object.hasOwn(object, key);

/** A call in the words of a pipeline, which has no functions of SQL. */
export function printCall(call: Call, printing: FormulaPrinting): Printed {
  const printer = new CallPrinter(printing);
  return (
    printer.operation(call) ??
    printer.aggregate(call) ??
    printer.scalar(call) ??
    printer.unknown(call)
  );
}

class CallPrinter {
  constructor(private readonly printing: FormulaPrinting) {}

  private at(formula: Formula, least: number): string {
    return this.printing.at(formula, least);
  }

  operation({ name, args }: Call): Printed | undefined {
    if (!isKeyOf(OPERATIONS, name)) return undefined;
    const { word, most } = OPERATIONS[name];
    const [only] = args;
    // DIVIDE(a / b) says it twice.
    if (args.length === 1 && only?.kind === 'arithmetic') return this.printing.print(only);
    if (args.length < 2 || args.length > most) return undefined;
    // Nobody knows a precedence of words: every part of them stands by itself.
    const parts = args.map((arg) => this.at(arg, LEVEL.atom));
    return { text: parts.join(` ${word} `), level: LEVEL.sum };
  }

  aggregate({ name, args, distinct }: Call): Printed | undefined {
    const [first, ...more] = args;
    if (!first) return undefined;
    if (name === 'distinct' && more.length === 0)
      return phrase(`distinct ${this.at(first, LEVEL.atom)}`);
    if (!isKeyOf(AGGREGATES, name)) return undefined;
    if (more.length === 0) return this.over(first, name, distinct);
    // SUM(a, b) adds up both of them.
    if (!['sum', 'total'].includes(name) || args.some(isCondition)) return undefined;
    return phrase(`the sum of (${args.map((arg) => this.at(arg, LEVEL.atom)).join(' plus ')})`);
  }

  /** An aggregate over all rows, or over those that its argument names; of a condition, a count. */
  private over(argument: Formula, name: keyof typeof AGGREGATES, distinct: boolean): Printed {
    const { value, limits } = limited(argument);
    const isLimit = isCondition(value) || beginsWithCondition(value);
    const conditions = isLimit ? [value, ...limits] : limits;
    const text = isLimit ? this.ofCondition(value, name) : this.ofValue(value, name, distinct);
    if (conditions.length === 0) return phrase(text);
    const least = conditions.length > 1 ? LEVEL.and : LEVEL.or;
    const all = conditions.map((one) => this.at(one, least));
    return { text: `${text} where ${all.join(' and ')}`, level: LEVEL.where };
  }

  /** What is taken of the documents for which a condition is true. */
  private ofCondition(value: Formula, name: keyof typeof AGGREGATES): string {
    const words = AGGREGATES[name];
    if (words === AGGREGATES.avg) return 'the average number of documents';
    if (words !== AGGREGATES.max && words !== AGGREGATES.min) return 'the number of documents';
    // MAX(a < 5): the largest of those below.
    const columns = new Map([...columnsIn(value)].map((one) => [one.column.toLowerCase(), one]));
    const [only] = columns.values();
    return only && columns.size === 1
      ? this.aggregated(only, name, false)
      : `${words} number of documents`;
  }

  private ofValue(value: Formula, name: keyof typeof AGGREGATES, distinct: boolean): string {
    return isStar(value) || isOne(value)
      ? 'the number of documents'
      : this.aggregated(value, name, distinct);
  }

  /** An aggregate of an aggregate reads as one phrase; what is calculated stands by itself. */
  private aggregated(value: Formula, name: keyof typeof AGGREGATES, distinct: boolean): string {
    const own = value.kind === 'column' ? { ...value, within: name } : value;
    const { text, level } = this.printing.print(own);
    const what = level === LEVEL.phrase ? text : this.at(own, LEVEL.atom);
    // Names cannot be added up: what is meant is how many there are.
    const isCount =
      AGGREGATES[name] === AGGREGATES.sum &&
      own.kind === 'column' &&
      this.printing.column(own).isName === true;
    const words = AGGREGATES[isCount ? 'count' : name];
    if (words === AGGREGATES.max || words === AGGREGATES.min)
      return `${words} ${what.replace(/^the /, '')}`;
    return `${words} ${distinct ? 'distinct ' : ''}${what}`;
  }

  scalar(call: Call): Printed | undefined {
    const { name, args } = call;
    if (isClock(call)) return phrase('the current date');
    const dated = datePartOf(call);
    if (dated)
      return phrase(
        isClock(dated.date)
          ? `the current ${dated.part}`
          : `the ${dated.part} of ${this.at(dated.date, LEVEL.atom)}`,
      );
    const [first, second] = args;
    if (!first) return undefined;
    if (isWholeDate(call)) return this.printing.print(first);
    const of = (): string => this.at(first, LEVEL.atom);
    switch (name) {
      case 'cast':
        return this.cast(first);
      case 'julianday':
        return phrase(isClock(first) ? 'the current Julian day' : `the Julian day of ${of()}`);
      case 'length':
        return phrase(`the length of ${of()}`);
      case 'abs':
        return phrase(`the absolute value of ${of()}`);
      case 'round':
        return phrase(
          second ? `${of()} rounded to ${this.at(second, LEVEL.atom)} decimals` : `${of()} rounded`,
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
    return this.printing.print(value);
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
  unknown({ source, args, distinct }: Call): Printed {
    const inner = args.map((arg) => this.printing.print(arg).text).join(', ');
    return atom(`${source}(${distinct ? 'DISTINCT ' : ''}${inner})`);
  }
}

/** `type = 'gold' and issued date < 1998`: words that begin with a condition. */
const beginsWithCondition = (formula: Formula): boolean => {
  const [first] = formula.kind === 'prose' ? formula.parts : [];
  return first !== undefined && typeof first !== 'string' && isCondition(first);
};

const isStar = (formula: Formula): boolean => formula.kind === 'bare' && formula.source === '*';
const isOne = (formula: Formula): boolean => formula.kind === 'number' && formula.source === '1';
const isZero = (formula: Formula | undefined): boolean =>
  formula === undefined ||
  (formula.kind === 'number' && Number(formula.source) === 0) ||
  (formula.kind === 'bare' && /^null$/i.test(formula.source)) ||
  (formula.kind === 'prose' && /^null$/i.test(formula.parts.map(String).join('')));

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
