import type { Document } from 'mongodb';
import type { DocumentDesign } from '../design/model/document-design';
import type { Transform } from '../design/model/transform-kind';
import type { Catalog } from '../sqlite/catalog';
import type { Profile } from '../sqlite/profile/profile';
import { SqlBindError } from '../sqlite/select/bind-error';
import { readSql } from '../sqlite/select/read-sql';
import { SqlSyntaxError } from '../sqlite/select/syntax-error';
import { assertBudget } from './emit/budget';
import { TranslationState } from './emit/translation-state';
import { useComputedFields } from './rewrite/computed-fields';
import { QueryCompiler } from './emit/query-compiler';
import type { EmittedQuery, Ordering } from './emit/emitted-query';
import type { BoundQuery } from '../sqlite/select/bound';
import { withConstantCalls } from './rewrite/constant-calls';
import { plainFinalProjection } from './mql/final-projection';
import { sameMql } from './mql/same-mql';
import type { Stage } from './mql/stage';
import { writePlan } from './plan/write-plan';
import { sourceDefects, type SourceDefect } from './check/source-defects';
import { designWithSubset } from './rewrite/subset-source';
import { UNTRANSLATED, Untranslatable, type UntranslatedCode } from './lower/untranslated';

export interface TranslationContext {
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly design: DocumentDesign;
}

export type Translation = Translated | Untranslated;

export interface Translated {
  readonly status: 'translated';
  readonly collection: string;
  readonly pipeline: Document[];
  /** Where SQL leaves open which row counts: the pipeline that takes the other one. */
  readonly alternative?: Document[];
  /** One entry for each result column of the SQL, in its order; `path` is the output field. */
  readonly columns: readonly {
    readonly name: string;
    readonly path: string;
    readonly transform: Transform;
  }[];
  /**
   * What ORDER BY sorts by; `path` is null for a key that is no result column. Null without ORDER
   * BY.
   */
  readonly ordering: readonly Ordering[] | null;
  readonly limit?: number;
  /**
   * `time_dependent`, `source_defect`, and where the translation had to choose among rows that SQL
   * leaves open: `unordered_limit`, `arbitrary_row`, `tie`. Whether this data leaves them open,
   * only a check of the results tells.
   */
  readonly caveats: readonly string[];
  /** What is behind `source_defect`. */
  readonly defects: readonly SourceDefect[];
  /** Collections and field paths that the pipeline reads. */
  readonly touches: readonly { readonly collection: string; readonly fields: readonly string[] }[];
}

export interface Untranslated {
  readonly status: 'untranslated';
  readonly code: UntranslatedCode;
  readonly reason: string;
}

/**
 * Translates one SELECT to an aggregation pipeline over a document design. The rows are meant to be
 * equal, but only a run can show it: whoever calls this compares both sides before calling the item
 * translated.
 */
export function translate(
  sql: string,
  { catalog, profile, design: whole }: TranslationContext,
): Translation {
  try {
    const bound = readSql(sql, catalog).binding.query;
    const folded = withConstantCalls(bound);
    const design = designWithSubset(folded, { design: whole, profile }) ?? whole;
    const query = useComputedFields(folded, { catalog, design, profile });
    const translation = new TranslationState(catalog, profile, design);
    const compiled = compile(query, translation);
    const other = translation.choseRow
      ? pipelineOf(compile(query, new TranslationState(catalog, profile, design, 'last')))
      : undefined;
    const pipeline = pipelineOf(compiled);
    assertBudget(pipeline);
    const defects = sourceDefects(bound, profile);
    if (defects.length > 0) translation.caveats.add('source_defect');
    return {
      status: 'translated',
      collection: compiled.plan.scan,
      pipeline,
      ...(other && !sameMql(other, pipeline) && { alternative: other }),
      columns: bound.columns.map(({ name }, index) => ({
        name,
        path: compiled.fields[index]?.field ?? '',
        transform: compiled.fields[index]?.transform ?? { kind: 'identity' },
      })),
      ordering: compiled.ordering,
      ...(compiled.limit !== undefined && { limit: compiled.limit }),
      caveats: [...translation.caveats].sort(),
      defects,
      touches: translation.touches(),
    };
  } catch (error) {
    if (error instanceof Untranslatable) return untranslated(error.code, error.message);
    if (error instanceof SqlSyntaxError) return untranslated(10, error.message);
    if (error instanceof SqlBindError)
      return error.problem === 'unsupported'
        ? untranslated(30, error.message)
        : untranslated(11, error.message);
    throw error;
  }
}

const compile = (query: BoundQuery, state: TranslationState): EmittedQuery =>
  new QueryCompiler(state).query(query, undefined, { purpose: 'rows' });

const pipelineOf = ({ plan }: EmittedQuery): Stage[] => [
  ...plainFinalProjection(writePlan(plan.nodes)),
];

const untranslated = (code: UntranslatedCode, detail: string): Untranslated => ({
  status: 'untranslated',
  code,
  reason: `${UNTRANSLATED[code].cause} ${detail}`,
});
