import { plainColumnName } from './computed-column';
import { columnOf, type BoundExpression } from '../../sqlite/select/bound';

/** Names of fields and variables that are legal in MongoDB and not yet taken. */
export class FieldNames {
  private readonly taken: Set<string>;

  constructor(taken: Iterable<string> = []) {
    this.taken = new Set(taken);
  }

  reserve(names: Iterable<string>): void {
    for (const name of names) this.taken.add(name);
  }

  take(wanted: string): string {
    const base = legalName(wanted);
    let name = base;
    for (let count = 2; this.taken.has(name); count++) name = `${base}_${String(count)}`;
    this.taken.add(name);
    return name;
  }
}

/** No dots, no leading `$`, not `_id` (which every stage treats in its own way), not empty. */
function legalName(wanted: string): string {
  const plain = wanted.replaceAll('\0', '').replaceAll('.', '_').replace(/^\$+/, '').trim();
  if (plain === '_id') return 'id';
  if (plain === '__proto__') return 'proto';
  return plain === '' ? 'value' : plain;
}

/** A field name that says what the expression is, for a column without alias. */
export function describeExpression(expression: BoundExpression): string {
  switch (expression.kind) {
    case 'column':
      return plainColumnName(columnOf(expression).name);
    case 'cast':
    case 'collate':
      return describeExpression(expression.operand);
    case 'aggregate': {
      const [argument] = expression.args;
      if (expression.name === 'count' && !expression.distinct) return 'count';
      const inner = argument ? describeExpression(argument) : '';
      const prefix = expression.name === 'count' ? 'distinct' : expression.name;
      return inner === '' || inner === 'value' ? prefix : `${prefix}_${inner}`;
    }
    case 'window':
      return expression.name;
    case 'call':
      if ((expression.name === 'coalesce' || expression.name === 'ifnull') && expression.args[0])
        return describeExpression(expression.args[0]);
      return expression.name.replace(/\W/g, '') || 'value';
    case 'subquery':
      return expression.query.columns.length === 1 &&
        expression.query.body.kind === 'select' &&
        expression.query.body.items[0]
        ? describeExpression(expression.query.body.items[0].expression)
        : 'value';
    default:
      return 'value';
  }
}

/** A variable of `let`: it must begin with a lower-case letter. */
export const variableName = (wanted: string): string => {
  const plain = wanted.replace(/[^A-Za-z0-9_]/g, '_');
  if (/^[a-z]/.test(plain)) return plain;
  return /^[A-Z]/.test(plain) ? plain[0]!.toLowerCase() + plain.slice(1) : `v${plain}`;
};
