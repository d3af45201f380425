import type { BoundColumn, BoundExpression, BoundRowid } from '../../sqlite/select/bound';
import { describeExpression, FieldNames, variableName } from '../lower/field-names';
import type { Environment, Lowered } from '../lower/environment';
import { fingerprint, type Mql } from '../mql/mql';

/**
 * What a subquery sees of the rows around it: every value that it uses becomes a variable of its
 * `$lookup`.
 */
export class OuterScope {
  private readonly known = new Map<string, { readonly name: string; readonly mql: Mql }>();
  private readonly names = new FieldNames();

  constructor(readonly env: Environment) {}

  column(column: BoundColumn | BoundRowid): Lowered {
    return this.variable(
      this.env.column(column),
      column.kind === 'column' ? describeExpression(column) : 'rowid',
    );
  }

  computed(expression: BoundExpression): Lowered | undefined {
    const known = this.env.computed(expression);
    return known && this.variable(known, describeExpression(expression));
  }

  /** Those that the subquery has asked for so far, by their names. */
  get variables(): Record<string, Mql> {
    return Object.fromEntries([...this.known.values()].map(({ name, mql }) => [name, mql]));
  }

  private variable(lowered: Lowered, wanted: string): Lowered {
    if (lowered.constant) return lowered;
    const key = fingerprint(lowered.mql);
    let variable = this.known.get(key);
    if (!variable) {
      variable = { name: this.names.take(variableName(wanted)), mql: lowered.mql };
      this.known.set(key, variable);
    }
    return { mql: `$$${variable.name}`, type: lowered.type, transform: lowered.transform };
  }
}
