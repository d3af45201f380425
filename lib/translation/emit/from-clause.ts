import { sameTransform } from '../../design/model/transform';
import type { DocumentDesign, LogicalDesign } from '../../design/model/document-design';
import type { PlacementStep } from '../../design/model/placement';
import { columnPath, placementOf } from '../../design/model/placement';
import {
  columnOf,
  type BoundComparison,
  type BoundExpression,
  type BoundOrder,
  type BoundSelect,
  type BoundSource,
} from '../../sqlite/select/bound';
import { conjuncts, hasSubquery, sourcesRead } from '../../sqlite/select/bound-references';
import { walkBound } from '../../sqlite/select/bound-walk';
import { columnsByExpression } from '../plan/columns-read';
import { Draft } from './translation-state';
import type { EmittedQuery, SelectOptions } from './emitted-query';
import type { Lowered } from '../lower/environment';
import { columnsRequired, flattenFrom, type FlatSource } from '../plan/flatten-from';
import { copiedPath, type ServingCopy } from '../plan/copied-source';
import {
  lookupBase,
  planJoins,
  type Attachment,
  type JoinContext,
  type KeptBy,
} from '../plan/join-plan';
import { under } from '../mql/pipeline-paths';
import type { CopyLocation, Location, TableLocation } from './location';
import { decode } from '../lower/conversion';
import { Lowering } from '../lower/expression';
import { holdsNoNumericText, withAffinity } from '../lower/comparison';
import { toMatch } from '../lower/predicate';
import { OuterScope } from './outer-scope';
import type { Compiler } from './compiler';
import type { RowEnvironment } from './row-environment';
import { Untranslatable } from '../lower/untranslated';
import { mayBe, TEXT } from '../lower/value-type';

export interface CompiledFrom {
  readonly collection: string;
  readonly key?: EmittedQuery['key'];
  /** The rows cannot be empty: a whole table that has rows. */
  readonly nonEmpty: boolean;
}

/** FROM and WHERE: fills the draft and the environment's locations. */
export function compileFrom(
  body: BoundSelect,
  orderBy: readonly BoundOrder[],
  draft: Draft,
  env: RowEnvironment,
  options: SelectOptions,
  context: Compiler,
): CompiledFrom {
  const where = conjuncts(body.where);
  if (!body.from) return withoutFrom(body, where, draft, env, context);
  const { sources, conditions } = flattenFrom(body.from, where);
  return new FromCompiler(
    sources,
    [...conditions, ...where],
    [body, orderBy],
    draft,
    env,
    options,
    context,
  ).compile();
}

// A SELECT without FROM has one row; a document of any collection can stand for it. One that its
// subqueries read is no stranger to the reader.
function withoutFrom(
  body: BoundSelect,
  where: readonly BoundExpression[],
  draft: Draft,
  env: RowEnvironment,
  { translation }: Compiler,
): CompiledFrom {
  const hasDocuments = ({ rootTable }: LogicalDesign): boolean =>
    translation.rowCount(rootTable) > 0;
  const anchor =
    collectionsRead(body, translation.design).find(hasDocuments) ??
    translation.design.logical.find(hasDocuments);
  if (!anchor) throw new Untranslatable('values', 'a SELECT without FROM over an empty database');
  translation.touch(anchor.collection);
  draft.names.reserve(anchor.fields.map(({ name }) => name));
  draft.push({ kind: 'limit', rows: 1 });
  if (where.length > 0) draft.filter(toMatch(where, new Lowering(env)));
  return { collection: anchor.collection, nonEmpty: where.length === 0 };
}

/** The collections of the tables that a SELECT reads, those of its subqueries included. */
function collectionsRead(body: BoundSelect, design: DocumentDesign): LogicalDesign[] {
  const tables: string[] = [];
  walkBound(body, (node) => {
    if (!isTableSource(node)) return true;
    tables.push(node.content.table.name);
    return false;
  });
  return tables.flatMap((table) => placementOf(design, table)?.logical ?? []);
}

const isTableSource = (
  node: object,
): node is BoundSource & { readonly content: { readonly kind: 'table' } } =>
  'content' in node && (node as BoundSource).content.kind === 'table';

class FromCompiler {
  private readonly pending: BoundExpression[];
  private readonly lowering: Lowering;
  private readonly fields = new Map<number, string>();
  private readonly placed = new Set<number>();
  private readonly derivedQueries = new Map<number, EmittedQuery>();
  private key: EmittedQuery['key'];
  private filtered = false;

  constructor(
    private readonly sources: readonly FlatSource[],
    conditions: readonly BoundExpression[],
    private readonly select: readonly [BoundSelect, readonly BoundOrder[]],
    private readonly draft: Draft,
    private readonly env: RowEnvironment,
    private readonly options: SelectOptions,
    private readonly context: Compiler,
  ) {
    this.pending = [...conditions];
    this.lowering = new Lowering(env);
  }

  compile(): CompiledFrom {
    const { translation } = this.context;
    const plan = planJoins(this.sources, this.pending, {
      ...translation.forPlan,
      readsOnly: this.readsOnly(),
    });
    const [root, ...rest] = plan;
    if (!root) throw new Error('a join plan begins with a root');
    const collection = this.root(root.entry);
    this.placed.add(root.entry.source.id);
    this.takeKey(root.entry.source);
    this.filter();
    for (const attachment of rest) {
      this.attach(attachment);
      this.placed.add(attachment.entry.source.id);
      this.filter();
      this.assurePresent(attachment);
    }
    if (this.pending.length > 0) {
      this.filtered = true;
      this.draft.filter(toMatch(this.pending, this.lowering));
    }
    const content = root.entry.source.content;
    const whole =
      content.kind === 'table' &&
      !this.filtered &&
      !this.key &&
      rest.every(
        ({ entry, kind }) => entry.on !== undefined || kind === 'ancestor' || kind === 'copied',
      );
    return {
      collection,
      ...(this.key && { key: this.key }),
      nonEmpty: whole && content.kind === 'table' && translation.rowCount(content.table.name) > 0,
    };
  }

  private base(planned: string): string {
    const source = this.sources.find((entry) => lookupBase(entry.source) === planned)?.source;
    return source ? this.lookupField(source) : planned;
  }

  private lookupField(source: BoundSource): string {
    const known = this.fields.get(source.id);
    if (known !== undefined) return known;
    const { content } = source;
    const name = this.draft.names.take(
      content.kind === 'table' ? content.table.name : source.name || 'rows',
    );
    this.fields.set(source.id, name);
    return name;
  }

  private root({ source }: FlatSource): string {
    const { translation } = this.context;
    if (source.content.kind !== 'table') {
      const compiled = this.derived(source, this.env.scope);
      this.draft.push(...compiled.plan.nodes);
      this.draft.names.reserve(compiled.fields.map(({ field }) => field));
      this.env.locations.set(source.id, {
        kind: 'fields',
        base: '',
        fields: compiled.fields,
        optional: false,
      });
      this.filtered = true;
      return compiled.plan.scan;
    }
    const placement = this.placement(source);
    this.draft.names.reserve(placement.logical.fields.map(({ name }) => name));
    translation.touch(placement.collection);
    this.env.locations.set(source.id, { kind: 'table', placement, base: '', optional: false });
    for (const step of placement.steps) this.unwind(step, '', false);
    return placement.collection;
  }

  private placement(source: BoundSource): TableLocation['placement'] {
    const name = source.content.kind === 'table' ? source.content.table.name : source.name;
    const placement = placementOf(this.context.translation.design, name);
    if (!placement) throw new Untranslatable('not_placed', `the design has no place for ${name}`);
    return placement;
  }

  private derived(source: BoundSource, scope: OuterScope | undefined): EmittedQuery {
    const known = this.derivedQueries.get(source.id);
    if (known) return known;
    if (source.content.kind !== 'query') throw new Untranslatable('recursive', source.name);
    const options = { purpose: 'rows', nested: true } as const;
    const compiled = this.context.query(source.content.query, scope, options);
    this.derivedQueries.set(source.id, compiled);
    return compiled;
  }

  private unwind(step: PlacementStep, base: string, keepEmpty: boolean): void {
    const path = under(base, step.path);
    if (this.env.unwound.has(path)) return;
    if (step.kind === 'embedMany') {
      this.env.unwound.add(path);
      this.draft.push({ kind: 'unwind', path, keepsEmpty: keepEmpty });
    } else if (!keepEmpty) this.draft.filter({ [path]: { $ne: null } });
  }

  // An equality with a row outside can be left to the $lookup that runs this pipeline.
  private takeKey(source: BoundSource): void {
    const { scope } = this.env;
    if (!this.options.keyable || !scope) return;
    const location = this.env.locations.get(source.id);
    if (location?.kind !== 'table' || this.draft.nodes.length > 0) return;
    for (const condition of this.pending) {
      if (
        condition.kind !== 'compare' ||
        condition.operator !== '=' ||
        condition.nullSafe ||
        condition.collation !== 'BINARY'
      )
        continue;
      for (const [inner, outer] of [
        [condition.left, condition.right],
        [condition.right, condition.left],
      ] as const) {
        if (
          inner.kind !== 'column' ||
          inner.source !== source ||
          outer.kind !== 'column' ||
          this.isOwn(outer.source)
        )
          continue;
        const foreign = this.env.column(inner);
        const local = scope.env.column(outer);
        if (
          foreign.path === undefined ||
          local.path === undefined ||
          !comparesAsStored(foreign, local, condition) ||
          (foreign.type.nullable && local.type.nullable)
        )
          continue;
        this.key = { localField: local.path, foreignField: foreign.path };
        this.pending.splice(this.pending.indexOf(condition), 1);
        return;
      }
    }
  }

  /**
   * Pushes every condition whose sources are there; those with subqueries wait for all rows to be
   * joined.
   */
  private filter(): void {
    const complete = this.placed.size === this.sources.length;
    const ready = this.pending.filter((condition) => {
      if (hasSubquery(condition) && !complete) return false;
      return [...sourcesRead(condition)].every(
        (id) => this.placed.has(id) || !this.sources.some(({ source }) => source.id === id),
      );
    });
    if (ready.length === 0) return;
    const cheap = ready.filter((condition) => !hasSubquery(condition));
    const chosen = cheap.length > 0 ? cheap : ready;
    this.filtered = true;
    this.draft.filter(toMatch(chosen, this.lowering));
    this.settle(chosen);
    if (chosen.length < ready.length) this.filter();
  }

  private isOwn(source: BoundSource): boolean {
    return this.sources.some((entry) => entry.source === source);
  }

  /** Conditions that hold in every row from here on. */
  private settle(conditions: readonly BoundExpression[]): void {
    this.remove(conditions);
    for (const column of conditions.flatMap(columnsRequired)) this.env.requirePresent(column);
  }

  private remove(conditions: readonly BoundExpression[]): void {
    for (const condition of conditions) {
      const at = this.pending.indexOf(condition);
      if (at >= 0) this.pending.splice(at, 1);
    }
  }

  private attach(attachment: Attachment): void {
    const { entry } = attachment;
    switch (attachment.kind) {
      case 'ancestor':
        this.env.locations.set(entry.source.id, {
          kind: 'table',
          placement: this.placement(entry.source),
          base: this.base(attachment.base),
          optional: entry.on !== undefined,
        });
        this.settleJoin(entry, attachment.used);
        return;
      case 'embedded':
        this.embedded(entry, this.base(attachment.base), attachment.used);
        return;
      case 'copied':
        this.copied(attachment);
        return;
      default:
        this.lookup(entry, attachment.kind === 'lookup' ? attachment.kept : undefined);
    }
  }

  private readsOnly(): JoinContext['readsOnly'] {
    const read = columnsByExpression(...this.select);
    return (source, join, has) =>
      [...read].every(
        ([expression, columns]) =>
          join.includes(expression) ||
          columns.every(
            (column) =>
              column.source !== source || (column.kind === 'column' && has(columnOf(column).name)),
          ),
      );
  }

  private copied({ entry, copy, of, used }: Extract<Attachment, { kind: 'copied' }>): void {
    const child = this.env.locations.get(of);
    const childSource = this.sources.find(({ source }) => source.id === of)?.source;
    if (child?.kind !== 'table' || !childSource || entry.source.content.kind !== 'table')
      throw new Error('a copy lies in a row that is there');
    const optional = copy.presence !== undefined;
    this.env.locations.set(entry.source.id, {
      kind: 'copy',
      table: entry.source.content.table.name,
      copy,
      child,
      childSource,
      optional,
    });
    if (optional) this.context.translation.touch(child.placement.collection, copy.presence);
    this.remove(used);
    if (!entry.on && optional && !this.filtersMissing(entry.source, copy)) {
      this.filtered = true;
      this.draft.filter({ [under(child.base, copy.presence)]: { $ne: null } });
      // From here on no row is without it.
      this.env.locations.set(entry.source.id, {
        kind: 'copy',
        table: entry.source.content.table.name,
        copy,
        child,
        childSource,
        optional: false,
      });
    }
  }

  /** A condition that the next filter tests is true only where the copied fields are there. */
  private filtersMissing(source: BoundSource, copy: ServingCopy): boolean {
    return this.pending.some((condition) => {
      const ready =
        !hasSubquery(condition) &&
        [...sourcesRead(condition)].every(
          (id) =>
            id === source.id ||
            this.placed.has(id) ||
            !this.sources.some((other) => other.source.id === id),
        );
      return (
        ready &&
        columnsRequired(condition).some(
          (column) =>
            column.source === source && copiedPath(copy, columnOf(column).name) !== undefined,
        )
      );
    });
  }

  /** An inner join has left out the rows whose reference leads nowhere. */
  private assurePresent(attachment: Attachment): void {
    const { source, on } = attachment.entry;
    const location = this.env.locations.get(source.id);
    if (attachment.kind !== 'copied' || on || location?.kind !== 'copy') return;
    this.env.locations.set(source.id, { ...location, optional: false });
    this.settle(attachment.used);
  }

  // The condition of a left join does not filter.
  private settleJoin(entry: FlatSource, used: readonly BoundExpression[]): void {
    if (entry.on) this.remove(used);
    else this.settle(used);
  }

  private embedded(entry: FlatSource, base: string, used: readonly BoundExpression[]): void {
    const placement = this.placement(entry.source);
    const step = placement.steps.at(-1);
    if (!step) throw new Error('an embedded placement has a step');
    const location: TableLocation = {
      kind: 'table',
      placement,
      base,
      optional: entry.on !== undefined,
    };
    const others = (entry.on ?? []).filter((condition) => !used.includes(condition));
    if (others.length > 0) this.filterEntries(entry.source, location, step, others);
    this.env.locations.set(entry.source.id, location);
    this.settleJoin(entry, used);
    this.unwind(step, base, entry.on !== undefined);
  }

  // ON conditions of a left join decide which entries count as partners, before the rows without
  // any are kept.
  private filterEntries(
    source: BoundSource,
    location: TableLocation,
    step: PlacementStep,
    conditions: readonly BoundExpression[],
  ): void {
    const path = under(location.base, step.path);
    if (step.kind === 'embedOne' || location.base !== '')
      throw new Untranslatable(
        'full_join',
        'a left join with a further condition on an embedded document',
      );
    this.env.locations.set(source.id, {
      ...location,
      optional: false,
      entry: { path: step.path, variable: '$$this.' },
    });
    const truths = conditions.map((condition) => this.lowering.truth(condition));
    this.draft.compute({
      [path]: {
        $filter: {
          input: `$${path}`,
          cond: truths.length === 1 ? (truths[0] ?? true) : { $and: truths },
        },
      },
    });
  }

  private lookup(entry: FlatSource, keptBy?: KeptBy): void {
    const { source, on } = entry;
    const as = this.lookupField(source);
    const isOptional = on !== undefined;
    const scope = new OuterScope(this.env);
    const inner = new Draft();
    const innerEnv = this.context.environment(inner, scope);
    const innerLowering = new Lowering(innerEnv);
    const { collection, location } = this.lookupRows(source, inner, innerEnv, scope);
    // A derived table of one row is found once for all rows, as long as nothing in it asks for
    // theirs.
    const compareAfter = !isOptional && this.derivedQueries.get(source.id)?.atMostOne === true;

    const linked = compareAfter
      ? []
      : (on ??
        this.pending.filter((condition) => {
          const read = sourcesRead(condition);
          return (
            read.has(source.id) &&
            [...read].every(
              (id) =>
                id === source.id ||
                this.placed.has(id) ||
                !this.sources.some((other) => other.source.id === id),
            )
          );
        }));
    const kept =
      keptBy && this.keptIn(keptBy, this.lookupKey([keptBy.used], source, innerEnv, location));
    const key = kept?.key ?? this.lookupKey(linked, source, innerEnv, location);
    const inside = linked
      .filter((condition) => condition !== key?.condition || key.recheck)
      .filter(
        (condition) =>
          isOptional ||
          condition === key?.condition ||
          (!key && !hasSubquery(condition) && sourcesRead(condition).size > 1),
      );
    if (inside.length > 0) inner.filter(toMatch(inside, innerLowering));
    const localField = kept?.flag ?? (key && this.localField(key.local));
    if (key?.guard && localField !== undefined) this.draft.filter({ [localField]: { $ne: null } });
    this.draft.push({
      kind: 'join',
      join: isOptional ? 'left' : 'inner',
      scan: collection,
      ...(key &&
        localField !== undefined && { key: { localField, foreignField: key.foreignField } }),
      variables: scope.variables,
      nodes: inner.nodes,
      as,
      ...(kept && { kept: kept.array }),
    });
    for (const path of innerEnv.unwound) this.env.unwound.add(under(as, path));
    this.env.locations.set(source.id, { ...location, base: as, optional: isOptional });
    if (!isOptional) this.settle([...inside, ...(key ? [key.condition] : [])]);
    this.filtered = true;
  }

  /**
   * Where the parents' row has the array and the flag; undefined where the flag would not be found
   * as their key is.
   */
  private keptIn(
    { children, of }: KeptBy,
    key: LookupKey | undefined,
  ): { readonly key: LookupKey; readonly array: string; readonly flag: string } | undefined {
    const parent = this.env.locations.get(of);
    if (
      !key ||
      key.recheck ||
      key.guard ||
      parent?.kind !== 'table' ||
      parent.entry ||
      parent.optional
    )
      return undefined;
    const stored = columnPath(parent.placement, children.parentColumn);
    if (!stored || stored.inherited || key.local.path !== under(parent.base, stored.path))
      return undefined;
    for (const path of [
      children.flag,
      ...children.field.fields.map(({ name }) => `${children.array}.${name}`),
    ])
      this.context.translation.touch(parent.placement.collection, path);
    return {
      key,
      array: under(parent.base, children.array),
      flag: under(parent.base, children.flag),
    };
  }

  private localField({ path, mql }: Lowered): string {
    if (path !== undefined) return path;
    const name = this.draft.names.take('key');
    this.draft.compute({ [name]: mql });
    return name;
  }

  private lookupRows(
    source: BoundSource,
    inner: Draft,
    innerEnv: RowEnvironment,
    scope: OuterScope,
  ): { collection: string; location: Exclude<Location, CopyLocation> } {
    if (source.content.kind !== 'table') {
      // The derived table sees what this SELECT sees outside, by the same variables.
      const compiled = this.derived(source, scope);
      inner.push(...compiled.plan.nodes);
      const location = {
        kind: 'fields',
        base: '',
        fields: compiled.fields,
        optional: false,
      } as const;
      innerEnv.locations.set(source.id, location);
      return { collection: compiled.plan.scan, location };
    }
    const placement = this.placement(source);
    this.context.translation.touch(placement.collection);
    const location = { kind: 'table', placement, base: '', optional: false } as const;
    innerEnv.locations.set(source.id, location);
    for (const step of placement.steps) {
      const path = step.path;
      if (step.kind === 'embedMany') {
        innerEnv.unwound.add(path);
        inner.push({ kind: 'unwind', path, keepsEmpty: false });
      } else inner.filter({ [path]: { $ne: null } });
    }
    return { collection: placement.collection, location };
  }

  /**
   * The equality that the $lookup itself can test. An array's entries have to be tested again once
   * unwound; a local value that SQL would convert first is converted into a field of its own.
   */
  private lookupKey(
    linked: readonly BoundExpression[],
    source: BoundSource,
    innerEnv: RowEnvironment,
    location: Location,
  ): LookupKey | undefined {
    if (location.kind !== 'table') return undefined;
    const arrays = location.placement.steps
      .filter(({ kind }) => kind === 'embedMany')
      .map(({ path }) => path);
    const isOptional = this.sources.some((entry) => entry.source === source && entry.on);
    const found = linked.flatMap((condition) => {
      if (
        condition.kind !== 'compare' ||
        condition.operator !== '=' ||
        condition.nullSafe ||
        condition.collation !== 'BINARY'
      )
        return [];
      return (
        [
          [condition.left, condition.right],
          [condition.right, condition.left],
        ] as const
      ).flatMap(([inner, outer]): (LookupKey & { readonly rank: number })[] => {
        if (
          inner.kind !== 'column' ||
          inner.source !== source ||
          sourcesRead(outer).has(source.id) ||
          hasSubquery(outer)
        )
          return [];
        const foreign = innerEnv.column(inner);
        if (foreign.path === undefined) return [];
        const stored = this.lowering.stored(outer);
        const plain = comparesAsStored(foreign, stored, condition);
        const local = plain ? stored : withAffinity(decode(stored), condition.affinity);
        if (
          !plain &&
          (foreign.transform.kind !== 'identity' ||
            withAffinity(foreign, condition.affinity) !== foreign)
        )
          return [];
        const guard = foreign.type.nullable && local.type.nullable;
        if (guard && isOptional) return [];
        const recheck = arrays.some((array) => foreign.path?.startsWith(`${array}.`));
        const isFirst = inner.index === 0;
        return [
          {
            condition,
            local,
            foreignField: foreign.path,
            recheck,
            guard,
            rank: (recheck ? 4 : 0) + (local.path === undefined ? 2 : 0) + (isFirst ? 0 : 1),
          },
        ];
      });
    });
    return found.sort((a, b) => a.rank - b.rank)[0];
  }
}

interface LookupKey {
  readonly condition: BoundExpression;
  readonly local: Lowered;
  readonly foreignField: string;
  readonly recheck: boolean;
  readonly guard: boolean;
}

/** MongoDB's equality of the stored values is SQL's equality of the source values. */
export function comparesAsStored(
  a: Lowered,
  b: Lowered,
  { affinity, left, right }: Pick<BoundComparison, 'affinity' | 'left' | 'right'>,
): boolean {
  if (!sameTransform(a.transform, b.transform)) return false;
  const converts =
    affinity === 'NUMERIC' &&
    (mayBe(a.type, TEXT) || mayBe(b.type, TEXT)) &&
    !(holdsNoNumericText(left) && holdsNoNumericText(right));
  return !converts && !(affinity === 'TEXT' && (a.type.kinds | b.type.kinds) !== TEXT);
}
