import { sameTransform } from '../../design/model/transform';
import type {
  BoundBody,
  BoundExists,
  BoundInQuery,
  BoundOrder,
  BoundQuery,
  BoundSubquery,
} from '../../sqlite/select/bound';
import { Draft, type TranslationState } from './translation-state';
import { compileCondition } from './subquery-condition';
import type { Compiler } from './compiler';
import { firstRow, ONE_ROW, subqueryJoin } from './subquery-join';
import { pushLimit, sortSpec, type QueryEnds } from './order-and-limit';
import { SelectCompiler } from './select-compiler';
import type { EmittedQuery, Ordering, SelectOptions } from './emitted-query';
import type { Lowered, SubqueryCondition } from '../lower/environment';
import type { OutputField } from './location';
import { literal } from '../lower/conversion';
import { constant, type Mql } from '../mql/mql';
import type { SetOperation } from '../plan/plan';
import { OuterScope } from './outer-scope';
import { RowEnvironment, type SubqueryCompiler } from './row-environment';
import { Untranslatable } from '../lower/untranslated';
import { unionType } from '../lower/value-type';

/** Compiles bound queries to pipelines over a document design. */
export class QueryCompiler implements SubqueryCompiler, Compiler {
  constructor(readonly translation: TranslationState) {}

  query(query: BoundQuery, scope: OuterScope | undefined, options: SelectOptions): EmittedQuery {
    return this.body(query.body, query, scope, options);
  }

  environment(draft: Draft, scope: OuterScope | undefined): RowEnvironment {
    return new RowEnvironment(this.translation, draft, scope, this);
  }

  scalar({ query }: BoundSubquery, env: RowEnvironment): Lowered {
    const scope = new OuterScope(env);
    const compiled = this.query(query, scope, { purpose: 'scalar', keyable: true, nested: true });
    const [output] = compiled.fields;
    if (!output) throw new Error('a scalar subquery has one column');
    const as = env.draft.names.take(output.field);
    env.draft.push(subqueryJoin(compiled.atMostOne ? compiled : firstRow(compiled), scope, as));
    const value: Mql = { $first: `$${as}.${output.field}` };
    if (compiled.nonEmpty) return { mql: value, type: output.type, transform: output.transform };
    const { whenEmpty } = compiled;
    if (whenEmpty !== undefined && whenEmpty !== null) {
      return {
        mql: { $ifNull: [value, constant(whenEmpty)] },
        type: {
          ...unionType(output.type, literal(whenEmpty).type),
          nullable: false,
          missing: false,
        },
        transform: output.transform,
      };
    }
    return {
      mql: value,
      type: { ...output.type, nullable: true, missing: true },
      transform: output.transform,
    };
  }

  condition(subquery: BoundExists | BoundInQuery, env: RowEnvironment): SubqueryCondition {
    return compileCondition(subquery, env, this);
  }

  private body(
    body: BoundBody,
    ends: QueryEnds,
    scope: OuterScope | undefined,
    options: SelectOptions,
  ): EmittedQuery {
    switch (body.kind) {
      case 'select':
        return new SelectCompiler(body, ends, scope, options, this).compile();
      case 'compound':
        return this.compound(body, ends, scope, options);
      case 'values':
        throw new Untranslatable('values', 'VALUES');
    }
  }

  // ---- set operations
  // ---------------------------------------------------------------------------------------

  private compound(
    body: Extract<BoundBody, { kind: 'compound' }>,
    ends: QueryEnds,
    scope: OuterScope | undefined,
    options: SelectOptions,
  ): EmittedQuery {
    const attempt = (decoded: boolean): EmittedQuery | undefined => {
      const { left, right } = this.sides(body, scope, options, decoded);
      const alike = left.fields.every((output, index) =>
        sameTransform(output.transform, right.fields[index]!.transform),
      );
      return alike ? this.combine(body.operator, left, right) : undefined;
    };
    const combined = attempt(options.decode === true) ?? attempt(true);
    if (!combined) throw new Error('decoded columns are all identity');
    const draft = new Draft();
    draft.push(...combined.plan.nodes);
    const ordering = this.compoundOrder(ends.orderBy, combined.fields, draft);
    const limit = pushLimit(ends, draft);
    if (limit !== undefined && ends.orderBy.length === 0)
      this.translation.caveats.add('unordered_limit');
    if (options.purpose === 'exists') draft.push(ONE_ROW);
    if (options.side) draft.compute({ [options.side.field]: constant(BigInt(options.side.value)) });
    return {
      ...combined,
      plan: { scan: combined.plan.scan, nodes: draft.nodes },
      atMostOne: limit === 1,
      ordering,
      ...(limit !== undefined && { limit }),
    };
  }

  private sides(
    body: Extract<BoundBody, { kind: 'compound' }>,
    scope: OuterScope | undefined,
    options: SelectOptions,
    decoded: boolean,
  ): { left: EmittedQuery; right: EmittedQuery } {
    const noEnds = { orderBy: [], columns: [] };
    const marked = body.operator === 'INTERSECT' || body.operator === 'EXCEPT';
    const common = { purpose: 'rows', decode: decoded, nested: true } as const;
    const left = this.body(body.left, noEnds, scope, {
      ...common,
      ...(options.fieldNames && { fieldNames: options.fieldNames }),
      ...(marked && { side: { field: SIDE, value: 1 } }),
    });
    const right = this.body(body.right, noEnds, scope, {
      ...common,
      fieldNames: left.fields.map(({ field }) => field),
      ...(marked && { side: { field: SIDE, value: 2 } }),
    });
    return { left, right };
  }

  private combine(
    operator: SetOperation['operator'],
    left: EmittedQuery,
    right: EmittedQuery,
  ): EmittedQuery {
    const fields = left.fields.map((output, index): OutputField => {
      const other = right.fields[index]?.type ?? output.type;
      return {
        ...output,
        type: {
          kinds: output.type.kinds | other.kinds,
          nullable: output.type.nullable || other.nullable,
          missing: false,
        },
      };
    });
    return {
      plan: {
        scan: left.plan.scan,
        nodes: [
          ...left.plan.nodes,
          {
            kind: 'set',
            operator,
            right: right.plan,
            fields: left.fields.map(({ field }) => field),
            side: SIDE,
          },
        ],
      },
      fields,
      atMostOne: false,
      nonEmpty: false,
      ordering: null,
    };
  }

  private compoundOrder(
    terms: readonly BoundOrder[],
    fields: readonly OutputField[],
    draft: Draft,
  ): readonly Ordering[] | null {
    if (terms.length === 0) return null;
    draft.names.reserve(fields.map(({ field }) => field));
    const keys = terms.map((term) => {
      const output = term.key.kind === 'column' ? fields[term.key.index] : undefined;
      if (!output) throw new Untranslatable('order', 'ORDER BY a term that is no result column');
      const value: Lowered = {
        mql: `$${output.field}`,
        path: output.field,
        type: output.type,
        transform: output.transform,
      };
      return { term, value, output: output.field };
    });
    const { spec, prepared } = sortSpec(keys, draft.names);
    const added = Object.keys(prepared);
    draft.compute(prepared);
    draft.sort(spec);
    if (added.length > 0) draft.push({ kind: 'discard', fields: added });
    return keys.map(({ term, output }) => ({
      path: output,
      direction: term.direction === 'ASC' ? 'asc' : 'desc',
    }));
  }
}

/** In rows of INTERSECT and EXCEPT: which side a row comes from. */
const SIDE = 'side';
