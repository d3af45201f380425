import { encode } from '../../lower/comparison';
import { likeRegex } from '../../lower/like-pattern';
import { periodOf } from '../../lower/period-predicate';
import type { ColumnName, Comparison, Formula, Pattern, Prose } from '../formula/formula';
import { printCall } from './print-call';
import { dateArgument, datePartOf, printConstant, rangeOf } from './print-date';
import {
  atom,
  condition,
  LEVEL,
  type FormulaPrinting,
  type Printed,
  type PrintedColumn,
} from './printed';

/**
 * A formula in the words of a pipeline: it matches, groups, counts and divides; it has no functions
 * of SQL. Operators and literals stay as they were, and so does the grouping.
 */
export const printFormula = (
  formula: Formula,
  column: (name: ColumnName) => PrintedColumn,
): string => new FormulaPrinter(column).print(formula).text;

class FormulaPrinter implements FormulaPrinting {
  constructor(readonly column: (name: ColumnName) => PrintedColumn) {}

  print(formula: Formula): Printed {
    switch (formula.kind) {
      case 'literal':
        return atom(closed(formula.source));
      case 'number':
      case 'bare':
        return atom(formula.source);
      case 'column':
        return atom(this.column(formula).text);
      case 'prose':
        return this.prose(formula);
      case 'group':
        return atom(`(${this.print(formula.operand).text})`);
      case 'negate':
        return atom(`-${this.at(formula.operand, LEVEL.atom)}`);
      case 'compare':
        return this.comparison(formula);
      case 'logic':
        return this.logic(formula.operator, formula.operands);
      case 'null':
        return condition(`${this.at(formula.operand, LEVEL.phrase)} ${formula.source}`);
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
        return printCall(formula, this);
    }
  }

  at(formula: Formula, least: number): string {
    const { text, level } = this.print(formula);
    return level < least ? `(${text})` : text;
  }

  private where(value: Formula, limit: Formula): Printed {
    return {
      text: `${this.at(value, LEVEL.or)} where ${this.at(limit, LEVEL.or)}`,
      level: LEVEL.where,
    };
  }

  private prose({ parts }: Prose): Printed {
    const text = parts.map((part) => (typeof part === 'string' ? part : this.at(part, LEVEL.and)));
    const hasFormula = parts.some((part) => typeof part !== 'string');
    return { text: text.join(''), level: hasFormula ? LEVEL.phrase : LEVEL.atom };
  }

  /** Alternatives within alternatives need no parentheses of their own. */
  private logic(operator: 'and' | 'or', operands: readonly Formula[]): Printed {
    const parts = operands.map((operand) => this.at(operand, LEVEL[operator]));
    return { text: parts.join(` ${operator} `), level: LEVEL[operator] };
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
      return this.print({
        kind: 'null',
        operand: left,
        source: operator === '=' ? 'is null' : 'is not null',
      });
    const dated = this.datePeriod(left, operator, right);
    if (dated !== undefined) return dated;
    const value = this.value(left, right);
    return condition(`${this.at(compared(left, right), LEVEL.phrase)} ${operator} ${value}`);
  }

  /** What a formula is compared with, as its field stores it. */
  private value(left: Formula, right: Formula): string {
    const constant = constantOf(right);
    if (left.kind !== 'column' || constant === undefined) return this.at(right, LEVEL.phrase);
    const { transform } = this.column({ ...left, constant });
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
    const column =
      operand.kind === 'column' ? this.column({ ...operand, constant: pattern.value }) : undefined;
    const prefix = /^(.*?)-?%$/.exec(pattern.value)?.[1];
    const period =
      column?.transform.kind === 'date' && prefix !== undefined && !negated
        ? periodOf(prefix)
        : undefined;
    if (column && period) return conditionOrBoth(rangeOf(column.text, '=', period) ?? '');
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
  ): Printed | undefined {
    const constant = constantOf(right);
    const subject = left.kind === 'call' ? dateArgument(left) : left;
    if (constant === undefined || subject?.kind !== 'column') return undefined;
    const { text, transform } = this.column({ ...subject, constant });
    const period = transform.kind === 'date' ? periodOf(constant) : undefined;
    if (!period || (left.kind === 'column' && encode(transform, constant) !== undefined))
      return undefined;
    const range = rangeOf(text, operator, period);
    return range === undefined ? undefined : conditionOrBoth(range);
  }
}

/** A range has two sides: next to `or` it stands by itself. */
const conditionOrBoth = (text: string): Printed =>
  / and /.test(text) ? { text, level: LEVEL.and } : condition(text);

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

/** The left side of a comparison; a column, or the date of a part, knows what it is compared with. */
const compared = (left: Formula, right: Formula): Formula => {
  const constant = constantOf(right);
  if (constant === undefined) return left;
  if (left.kind === 'column') return { ...left, constant };
  const date = left.kind === 'call' ? datePartOf(left)?.date : undefined;
  return left.kind === 'call' && date?.kind === 'column'
    ? { ...left, args: left.args.map((arg) => (arg === date ? { ...date, constant } : arg)) }
    : left;
};
