import type { BoundQuery } from '../../sqlite/select/bound';
import type { EmittedQuery, SelectOptions } from './emitted-query';
import type { OuterScope } from './outer-scope';
import type { RowEnvironment } from './row-environment';
import type { Draft, TranslationState } from './translation-state';

/** What the parts of the query compiler ask of the whole: subqueries, and rows to compile over. */
export interface Compiler {
  readonly translation: TranslationState;
  query(query: BoundQuery, scope: OuterScope | undefined, options: SelectOptions): EmittedQuery;
  environment(draft: Draft, scope: OuterScope | undefined): RowEnvironment;
}
