import type { Removal } from '../profile/number-removal';
import type { BoundCall, BoundExpression } from './bound';

/** What a call takes away from its first argument; undefined for a call that does anything else. */
export function removalOf({ name, args }: BoundCall): Removal | undefined {
  const [, second, third] = args.map(constantOf);
  switch (name) {
    case 'replace':
      return args.length === 3 && typeof second === 'string' && third === ''
        ? { kind: 'all', text: second }
        : undefined;
    case 'substr':
    case 'substring':
      return args.length === 2 && typeof second === 'bigint' && second > 0n && second < 10n
        ? { kind: 'before', position: Number(second) }
        : undefined;
    case 'trim':
    case 'ltrim':
    case 'rtrim': {
      const of = args.length === 1 ? ' ' : second;
      return typeof of === 'string'
        ? { kind: 'ends', left: name !== 'rtrim', right: name !== 'ltrim', of }
        : undefined;
    }
    default:
      return undefined;
  }
}

const constantOf = (expression: BoundExpression): unknown =>
  expression.kind === 'literal' ? expression.value : undefined;
