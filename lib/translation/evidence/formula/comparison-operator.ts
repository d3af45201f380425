import type { Comparison } from './formula';
import type { Token } from './tokens';

/** The comparison that a token stands for; `==` and `<>` are those of SQL. */
export function comparisonOf(token: Token): Comparison['operator'] | undefined {
  if (token.kind !== 'operator') return undefined;
  switch (token.value) {
    case '=':
    case '==':
      return '=';
    case '!=':
    case '<>':
      return '!=';
    case '<':
    case '<=':
    case '>':
    case '>=':
      return token.value;
    default:
      return undefined;
  }
}
