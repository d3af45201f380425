import type { BoundExpression, BoundOrder, BoundSelect } from '../../sqlite/select/bound';
import { windowsIn } from '../../sqlite/select/bound-references';
import { orderKeys } from '../../sqlite/select/bound-walk';
import { collationOfExpression } from '../../sqlite/select/expression-type';
import { decode, literal } from '../lower/conversion';
import { valueOverNoRows, type KnownValue } from '../lower/empty-value';
import type { Lowered } from '../lower/environment';
import { Lowering } from '../lower/expression';
import { foldCollation } from '../lower/comparison';
import { describeExpression, FieldNames } from '../lower/field-names';
import { toMatch } from '../lower/predicate';
import { Untranslatable } from '../lower/untranslated';
import { INTEGER, REAL, TEXT, typeOf, unionType, type ValueType } from '../lower/value-type';
import { constant, type Mql, type Scalar } from '../mql/mql';
import type { OneRow, PlanNode } from '../plan/plan';
import type { Compiler } from './compiler';
import type { EmittedQuery, Ordering, SelectOptions } from './emitted-query';
import { compileFrom } from './from-clause';
import { compileGroup, inScanOrder } from './group-stage';
import type { OutputField } from './location';
import { pushLimit, sortSpec, type QueryEnds, type SortKey } from './order-and-limit';
import type { OuterScope } from './outer-scope';
import { keyOf, type RowEnvironment } from './row-environment';
import { ONE_ROW } from './subquery-join';
import { Draft } from './translation-state';
import { compileWindows } from './window-stage';

interface Item {
  readonly name: string;
  readonly field: string;
  readonly expression: BoundExpression;
}

/** One SELECT without set operations. */
export class SelectCompiler {
  private readonly draft = new Draft();
  private readonly rows: RowEnvironment;
  private readonly items: readonly Item[];
  /** Aggregates over everything: one row, even over no rows. */
  private readonly isGlobal: boolean;
  /** The limit of one row is applied behind what makes that row. */
  private readonly ends: QueryEnds;

  constructor(
    private readonly body: BoundSelect,
    private readonly bounds: QueryEnds,
    private readonly scope: OuterScope | undefined,
    private readonly options: SelectOptions,
    private readonly compiler: Compiler,
  ) {
    this.rows = compiler.environment(this.draft, scope);
    this.isGlobal = body.aggregated && body.groupBy.length === 0;
    const { orderBy, columns } = bounds;
    this.ends = this.isGlobal ? { orderBy, columns } : bounds;
    const names = new FieldNames(options.side ? [options.side.field] : []);
    this.items = body.items.map(({ name, expression }, index) => {
      const wanted = options.fieldNames?.[index];
      return {
        name,
        expression,
        field:
          wanted ??
          names.take(isDescribed(name, expression) ? describeExpression(expression) : name),
      };
    });
  }

  compile(): EmittedQuery {
    const { body, options, draft } = this;
    const from = compileFrom(body, this.ends.orderBy, draft, this.rows, options, this.compiler);
    const base = {
      plan: { scan: from.collection, nodes: draft.nodes },
      ...(from.key && { key: from.key }),
    };
    if (options.purpose === 'exists' && !body.aggregated && !this.ends.offset) {
      pushLimit(this.ends, draft);
      draft.push(ONE_ROW);
      return {
        ...base,
        fields: this.columnTypes(),
        atMostOne: true,
        nonEmpty: from.nonEmpty,
        ordering: null,
      };
    }
    if (this.isGlobal) return this.limited(this.global(base, from.nonEmpty));
    const env = body.aggregated ? this.group({}) : this.rows;
    const finished = this.finish(env);
    if (options.purpose === 'exists') draft.push(ONE_ROW);
    return {
      ...base,
      ...finished,
      nonEmpty: from.nonEmpty && !body.having && !this.ends.limit,
    };
  }

  // ---- aggregates over everything
  // ---------------------------------------------------------------------------

  private global(base: Pick<EmittedQuery, 'plan' | 'key'>, nonEmpty: boolean): EmittedQuery {
    const { body, draft, options } = this;
    const values = body.items.map(({ expression }) => valueOverNoRows(expression));
    const known = values.every((value): value is KnownValue => value !== undefined);
    const having = body.having && valueOverNoRows(body.having);
    if (body.having && !having && !nonEmpty)
      throw new Untranslatable('aggregate', 'HAVING over what may be no rows');
    const staysEmpty =
      having !== undefined && (having.value === null || Number(having.value) === 0);
    const needsRow = !nonEmpty && !staysEmpty;

    if (!needsRow || (options.purpose === 'scalar' && known)) {
      const finished = this.finish(this.group({ wholeTable: nonEmpty }));
      const [first] = values;
      return {
        ...base,
        ...finished,
        atMostOne: true,
        nonEmpty: nonEmpty && !body.having,
        ...(needsRow && first && { whenEmpty: first.value }),
      };
    }
    const before = draft.nodes.length;
    if (known) {
      const finished = this.finish(this.group({}));
      this.orDefault(before, finished.fields, values);
      const fields = finished.fields.map((output, index) => ({
        ...output,
        type: withDefault(output.type, values[index]?.value ?? null),
      }));
      return {
        ...base,
        ...finished,
        fields,
        atMostOne: true,
        nonEmpty: true,
      };
    }
    // The result depends on more than the aggregates: give it the group that no row has.
    const grouped = this.group({ oneRowFrom: before });
    const finished = this.finish(grouped);
    return { ...base, ...finished, atMostOne: true, nonEmpty: true };
  }

  /** A LIMIT of at least one keeps the one row; LIMIT 0 and any OFFSET leave none. */
  private limited(one: EmittedQuery): EmittedQuery {
    const bounds = new Draft();
    pushLimit(this.bounds, bounds);
    const isKept = bounds.nodes.every((node) => node.kind === 'limit' && node.rows > 0);
    if (isKept) return one;
    this.draft.push(...bounds.nodes);
    const { whenEmpty: _, ...none } = one;
    return { ...none, nonEmpty: false };
  }

  /** Everything from `start` on makes one row, or else the defaults do. */
  private oneRow(start: number, defaults: OneRow['defaults']): void {
    const nodes = this.draft.nodes.splice(start);
    this.draft.push({ kind: 'oneRow', nodes, defaults });
  }

  private orDefault(
    start: number,
    fields: readonly OutputField[],
    values: readonly KnownValue[],
  ): void {
    const [only] = fields;
    const last = this.draft.nodes.at(-1);
    // The last projection only hides `_id`, and so will the one of the defaults.
    if (fields.length === 1 && only && last?.kind === 'project' && last.fields[only.field] === 1)
      this.draft.nodes.pop();
    if (fields.length === 1 && only && !this.options.side) {
      const { field } = only;
      const value = constant(values[0]?.value ?? null);
      this.oneRow(start, { of: 'field', field, from: field, value });
      return;
    }
    const defaults: Record<string, Mql> = Object.fromEntries(
      fields.map(({ field }, index) => [field, constant(values[index]?.value ?? null)]),
    );
    if (this.options.side) defaults[this.options.side.field] = this.options.side.value;
    this.oneRow(start, { of: 'row', fields: defaults });
  }

  private group({
    oneRowFrom,
    wholeTable = false,
  }: {
    readonly oneRowFrom?: number;
    readonly wholeTable?: boolean;
  }): RowEnvironment {
    const { body, draft, rows, compiler } = this;
    const mayBeEmpty = oneRowFrom !== undefined;
    const grouped = compiler.environment(draft, this.scope);
    const whenEmpty = compileGroup(
      { body, orderBy: this.ends.orderBy, mayBeEmpty, wholeTable, aliases: this.aliases() },
      rows,
      grouped,
    );
    if (oneRowFrom !== undefined) {
      this.oneRow(oneRowFrom, { of: 'row', fields: whenEmpty });
    }
    if (body.having) draft.filter(toMatch([body.having], new Lowering(grouped)));
    return grouped;
  }

  private aliases(): Map<string, string> {
    return new Map(this.items.map(({ expression, field }) => [keyOf(expression), field]));
  }

  private columnTypes(): OutputField[] {
    return this.items.map(({ name, field, expression }) => {
      if (expression.kind !== 'column')
        return {
          name,
          field,
          type: typeOf(INTEGER | REAL | TEXT, true),
          transform: { kind: 'identity' },
        };
      const { type, transform } = this.rows.column(expression);
      return { name, field, type, transform };
    });
  }

  // ---- windows, DISTINCT, ORDER BY, LIMIT, result columns
  // ---------------------------------------------------

  private finish(
    env: RowEnvironment,
  ): Pick<EmittedQuery, 'fields' | 'ordering' | 'atMostOne' | 'limit'> {
    const { body, ends } = this;
    const outputs = [...body.items.map(({ expression }) => expression), ...orderKeys(ends.orderBy)];
    if (outputs.some((expression) => !windowsIn(expression).next().done))
      compileWindows(outputs, this.aliases(), env);
    const lowering = new Lowering(env);
    const values = this.items.map((item) => {
      const stored = lowering.stored(item.expression);
      return { item, value: this.options.decode ? decode(stored) : stored };
    });
    const fields = values.map(({ item, value }): OutputField => ({
      name: item.name,
      field: item.field,
      type: { ...value.type, missing: false },
      transform: value.transform,
    }));
    const keys = ends.orderBy.map((term) => {
      const expression = term.key.kind === 'expression' ? term.key.expression : undefined;
      if (!expression) throw new Error('ORDER BY of a simple SELECT is an expression');
      const at = this.items.findIndex((item) => keyOf(item.expression) === keyOf(expression));
      return { term, expression, output: this.items[at]?.field, at };
    });
    const ordering: readonly Ordering[] | null =
      keys.length === 0
        ? null
        : keys.map(({ term, output }) => ({
            path: output ?? null,
            direction: term.direction === 'ASC' ? 'asc' : 'desc',
          }));
    const limit = body.distinct
      ? this.distinctRows(values, keys, lowering)
      : this.plainRows(values, keys, lowering);
    if (
      limit !== undefined &&
      keys.length === 0 &&
      limit > 0 &&
      !(body.aggregated && body.groupBy.length === 0)
    )
      this.compiler.translation.caveats.add('unordered_limit');
    return { fields, ordering, atMostOne: limit === 1, ...(limit !== undefined && { limit }) };
  }

  private plainRows(
    values: readonly { item: Item; value: Lowered }[],
    keys: readonly { term: BoundOrder; expression: BoundExpression; output: string | undefined }[],
    lowering: Lowering,
  ): number | undefined {
    const { draft, ends } = this;
    const breakers = this.tieBreakers(lowering);
    const sorts = [
      ...keys.map(({ term, expression }) => ({ term, value: lowering.stored(expression) })),
      ...breakers,
    ];
    const byOutput =
      breakers.length === 0 &&
      keys.length > 0 &&
      keys.every(({ output }) => output !== undefined) &&
      sorts.some(({ value }) => value.path === undefined && !value.constant);
    if (byOutput) {
      draft.push(this.project(values));
      const names = new FieldNames(values.map(({ item }) => item.field));
      const outputs = keys.map(({ term, output }) => {
        const found = values.find(({ item }) => item.field === output);
        return {
          term,
          value: {
            mql: `$${output ?? ''}`,
            path: output ?? '',
            type: found?.value.type ?? typeOf(0),
            transform: found?.value.transform ?? { kind: 'identity' },
          } satisfies Lowered,
        };
      });
      const { spec, prepared } = sortSpec(outputs, names);
      if (Object.keys(prepared).length === 0) {
        draft.sort(spec);
        return pushLimit(ends, draft);
      }
      draft.nodes.pop();
    }
    if (sorts.length > 0) {
      const { spec, prepared } = sortSpec(sorts, draft.names);
      draft.compute(prepared);
      draft.sort(spec);
    }
    const limit = pushLimit(ends, draft);
    draft.push(this.project(values));
    return limit;
  }

  /**
   * Groups that tie at a limit inside another query: SQLite takes them in the order of their keys,
   * which it sorts in the directions of ORDER BY when there are as many terms.
   */
  private tieBreakers(lowering: Lowering): SortKey[] {
    const { body, ends } = this;
    if (!this.options.nested || !ends.limit || ends.orderBy.length === 0) return [];
    return body.groupBy.map((expression, index) => {
      const direction =
        ends.orderBy.length === body.groupBy.length
          ? (ends.orderBy[index]?.direction ?? 'ASC')
          : 'ASC';
      const term: BoundOrder = {
        key: { kind: 'expression', expression },
        direction,
        nulls: direction === 'ASC' ? 'FIRST' : 'LAST',
        collation: collationOfExpression(expression),
      };
      return { term, value: lowering.stored(expression) };
    });
  }

  private distinctRows(
    values: readonly { item: Item; value: Lowered }[],
    keys: readonly {
      term: BoundOrder;
      expression: BoundExpression;
      output: string | undefined;
      at: number;
    }[],
    lowering: Lowering,
  ): number | undefined {
    const { draft, ends } = this;
    const single = values.length === 1;
    const folded = values.map(({ item, value }) => ({
      item,
      value,
      key:
        value.transform.kind === 'identity'
          ? foldCollation(value, collationOfExpression(item.expression))
          : value,
    }));
    const isFolded = ({ value, key }: { value: Lowered; key: Lowered }): boolean => value !== key;
    const hidden = keys.filter(({ output }) => output === undefined);
    const accumulators: Record<string, Mql> = {};
    const names = new FieldNames(['_id']);
    const sortPaths = new Map<BoundOrder, Lowered>();
    for (const { term, expression } of hidden) {
      const value = lowering.stored(expression);
      const name = names.take(describeExpression(expression));
      accumulators[name] = { [this.hiddenKey(term)]: value.mql };
      sortPaths.set(term, { ...value, mql: `$${name}`, path: name });
    }
    if (hidden.length > 0) inScanOrder(this.body, this.rows);
    // Values that a collation takes for equal are one row, which shows the first of them.
    const firsts = new Map(
      folded
        .filter(isFolded)
        .map(({ item, value }) => [item, { field: names.take(item.field), value }]),
    );
    const { translation } = this.compiler;
    for (const { field, value } of firsts.values())
      accumulators[field] = { [translation.choice === 'last' ? '$last' : '$first']: value.mql };
    if (firsts.size > 0) translation.choseRow = true;
    if (firsts.size > 0 && hidden.length === 0) inScanOrder(this.body, this.rows);
    const path = (item: Item): string =>
      firsts.get(item)?.field ?? (single ? '_id' : `_id.${item.field}`);
    const key: Mql = single
      ? (folded[0]?.key.mql ?? null)
      : Object.fromEntries(
          folded.map(({ item, key: part }) => [
            item.field,
            part.type.missing ? { $ifNull: [part.mql, null] } : part.mql,
          ]),
        );
    draft.push({ kind: 'aggregate', key, accumulators });
    const after = values.map(({ item, value }) => ({
      item,
      value: {
        mql: `$${path(item)}`,
        path: path(item),
        type: { ...value.type, missing: false },
        transform: value.transform,
      } satisfies Lowered,
    }));
    if (keys.length > 0) {
      const sorts = keys.map(({ term, at }) => ({
        term,
        value: sortPaths.get(term) ?? after[at]?.value ?? literal(null),
      }));
      const { spec, prepared } = sortSpec(sorts, names);
      draft.compute(prepared);
      draft.sort(spec);
    }
    const limit = pushLimit(ends, draft);
    if (single || this.options.side || Object.keys(accumulators).length > 0)
      draft.push(this.project(after));
    else draft.push({ kind: 'replace', document: '$_id' });
    return limit;
  }

  /** Rows that DISTINCT makes one may sort differently: SQLite sorts by the first that it meets. */
  private hiddenKey({ direction }: BoundOrder): string {
    const { translation } = this.compiler;
    translation.choseRow = true;
    if (translation.choice === 'first') return '$first';
    return direction === 'ASC' ? '$min' : '$max';
  }

  private project(values: readonly { item: Item; value: Lowered }[]): PlanNode {
    const fields: Record<string, Mql> = { _id: 0 };
    const included = this.isInclusion(values);
    for (const { item, value } of values) fields[item.field] = included ? 1 : projected(value);
    if (this.options.side) fields[this.options.side.field] = { $literal: this.options.side.value };
    return { kind: 'project', fields };
  }

  /**
   * `{name: 1}` will do: fields keep their names, none can be missing, and the documents have them
   * in this order.
   */
  private isInclusion(values: readonly { item: Item; value: Lowered }[]): boolean {
    if (values.some(({ item, value }) => value.path !== item.field || value.type.missing))
      return false;
    if (values.length === 1) return true;
    const root = [...this.rows.locations.values()].find(
      (location) => location.kind === 'table' && location.base === '',
    );
    if (this.body.aggregated || this.body.distinct || this.options.side || root?.kind !== 'table')
      return false;
    const order = root.placement.logical.fields.map(({ name }) => name);
    const positions = values.map(({ item }) => order.indexOf(item.field));
    return positions.every(
      (position, index) => position >= 0 && (index === 0 || position > (positions[index - 1] ?? 0)),
    );
  }
}

/** A constant in `$project` would be read as a flag: it has to be quoted. */
function projected({ mql, type }: Lowered): Mql {
  if (type.missing) return { $ifNull: [mql, null] };
  return typeof mql === 'string' ||
    (typeof mql === 'object' && mql !== null && !('_bsontype' in mql))
    ? mql
    : { $literal: mql };
}

/** A column without alias whose SQL text would make a poor field name. */
const isDescribed = (name: string, expression: BoundExpression): boolean =>
  expression.kind !== 'column' && !/^[A-Za-z_][\w ]*$/.test(name);

const withDefault = (type: ValueType, value: Scalar): ValueType =>
  value === null
    ? { ...type, nullable: true, missing: false }
    : { ...unionType(type, literal(value).type), nullable: type.nullable, missing: false };
