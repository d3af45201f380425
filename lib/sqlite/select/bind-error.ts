import type { Span } from './ast';

export type BindProblem =
  'unknown_table' | 'unknown_column' | 'ambiguous_column' | 'misplaced' | 'unsupported';

/** A statement that parses but does not fit the schema. */
export class SqlBindError extends Error {
  constructor(
    readonly problem: BindProblem,
    message: string,
    readonly span?: Span,
  ) {
    super(message);
    this.name = 'SqlBindError';
  }
}
