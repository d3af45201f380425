import type { Transform } from './transform';

/** As the logical design's CSV and the screens call it. */
export function describe(transform: Transform): string {
  switch (transform.kind) {
    case 'identity':
      return 'identity';
    case 'bool':
      return `bool(${JSON.stringify(transform.true)}, ${JSON.stringify(transform.false)})`;
    case 'date':
      return `date(${transform.format})`;
    case 'string':
      return 'integer→string';
    case 'bytes':
      return `bytes of what is no valid ${transform.encoding}`;
  }
}
