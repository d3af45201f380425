import type { DocumentDesign } from '../../../design/model/document-design';
import { isDocument, type Mql, type MqlDocument } from '../../mql/mql';
import { unwindPath } from '../../mql/pipeline-paths';
import { readPipeline, type Lookup, type Pipeline, type Stage } from '../../mql/stage';
import { designPaths } from './design-paths';

/** What a gold pipeline does with a field of the design. */
export interface FieldUse {
  /** Constants that it is compared with. */
  readonly constants: readonly Mql[];
}

/** Every field of the design that a pipeline reads, as `collection.field`, through joins as well. */
export function goldUses(
  collection: string,
  pipeline: readonly unknown[],
  design: DocumentDesign,
): ReadonlyMap<string, FieldUse> {
  const collector = new UseCollector(designPaths(design));
  collector.pipeline(collection, readPipeline(pipeline) ?? [], new Map());
  return collector.uses;
}

/** Variables, without their `$$`, and the fields of the design that they stand for. */
type Variables = ReadonlyMap<string, string>;

class UseCollector {
  readonly uses = new Map<string, { constants: Mql[] }>();

  constructor(private readonly known: ReadonlySet<string>) {}

  pipeline(collection: string, pipeline: Pipeline, variables: Variables): void {
    new PipelineWalk(this, collection, variables).walk(pipeline);
  }

  note(full: string, constants: readonly Mql[] = []): void {
    if (!this.known.has(full)) return;
    const use = this.uses.get(full) ?? { constants: [] };
    use.constants.push(...constants);
    this.uses.set(full, use);
  }
}

class PipelineWalk {
  /** Fields that a join added, and the collections that their documents are of. */
  private readonly joined = new Map<string, string>();
  /** Fields that a `$set` computed: what is compared with them is compared with what they read. */
  private readonly computed = new Map<string, Mql>();
  /** What stands beside the expression that is looked at, or beside what it is part of. */
  private constants: readonly Mql[] = [];

  constructor(
    private readonly collector: UseCollector,
    private readonly collection: string,
    private variables: Variables,
  ) {}

  walk(pipeline: Pipeline): void {
    for (const stage of pipeline) this.stage(stage);
  }

  private stage(stage: Stage): void {
    if ('$match' in stage) this.match(stage.$match, '');
    else if ('$lookup' in stage) this.lookup(stage.$lookup);
    else if ('$unionWith' in stage) {
      const { coll, pipeline = [] } = stage.$unionWith;
      this.collector.pipeline(coll, pipeline, new Map());
    } else if ('$facet' in stage) for (const inner of Object.values(stage.$facet)) this.walk(inner);
    else if ('$unwind' in stage) this.read(unwindPath(stage));
    else if ('$sort' in stage) for (const path of Object.keys(stage.$sort)) this.read(path);
    else if ('$project' in stage)
      for (const [name, value] of Object.entries(stage.$project)) {
        if (value === 1 || value === true) this.read(name);
        else this.expression(value);
      }
    else {
      for (const operand of Object.values(stage)) this.expression(operand as Mql);
      if ('$set' in stage)
        for (const [name, value] of Object.entries(stage.$set)) this.computed.set(name, value);
    }
  }

  private lookup({ from, as, localField, foreignField, let: variables, pipeline }: Lookup): void {
    if (localField !== undefined) this.read(localField);
    if (foreignField !== undefined) this.collector.note(`${from}.${foreignField}`);
    const outer = new Map(this.variables);
    for (const [name, value] of Object.entries(variables ?? {})) {
      this.expression(value);
      const path = this.fullPath(value);
      if (path !== undefined) outer.set(name, path);
    }
    this.collector.pipeline(from, pipeline ?? [], outer);
    this.joined.set(as, from);
  }

  /** A query document over what lies at a path. */
  private match(filter: MqlDocument, prefix: string): void {
    for (const [key, value] of Object.entries(filter)) {
      if (key === '$expr') this.expression(value);
      else if (key.startsWith('$')) {
        for (const part of Array.isArray(value) ? (value as readonly Mql[]) : [value])
          if (isDocument(part)) this.match(part, prefix);
      } else this.predicate(prefix + key, value);
    }
  }

  private predicate(path: string, value: Mql): void {
    if (!isDocument(value)) return this.read(path, [value]);
    const operators = Object.entries(value);
    for (const [operator, operand] of operators) {
      if (operator === '$elemMatch' && isDocument(operand)) this.match(operand, `${path}.`);
      else if (operator === '$not') this.predicate(path, operand);
      else this.read(path, Array.isArray(operand) ? (operand as Mql[]) : [operand]);
    }
    if (operators.length === 0) this.read(path);
  }

  private expression(value: Mql): void {
    if (typeof value === 'string') {
      const path = this.fullPath(value);
      if (path !== undefined) this.collector.note(path, this.constants);
      if (path !== undefined && !value.startsWith('$$')) this.within(value.slice(1));
      return;
    }
    if (Array.isArray(value)) {
      const items = value as readonly Mql[];
      const before = this.constants;
      // What surrounds a part of a date is its year: the constants of both sides count.
      this.constants = [...before, ...items.flatMap((item) => constantsOf(item))];
      for (const item of items) this.expression(item);
      this.constants = before;
      return;
    }
    if (isDocument(value)) this.operators(value);
  }

  private operators(document: MqlDocument): void {
    const before = this.variables;
    const constantsBefore = this.constants;
    const { input, as, vars, regex } = firstOperand(document);
    if (regex !== undefined) this.constants = [...constantsBefore, regex];
    const element = input === undefined ? undefined : this.fullPath(input);
    if (element !== undefined)
      this.variables = new Map([
        ...before,
        [typeof as === 'string' ? as : 'this', element] as const,
      ]);
    if (isDocument(vars))
      for (const [name, value] of Object.entries(vars)) {
        const path = this.fullPath(value);
        if (path !== undefined) this.variables = new Map([...this.variables, [name, path]]);
      }
    for (const [key, inner] of Object.entries(document))
      if (key !== '$literal') this.expression(inner);
    this.variables = before;
    this.constants = constantsBefore;
  }

  private read(path: string, constants: readonly Mql[] = []): void {
    this.collector.note(this.inDesign(path), constants);
    const before = this.constants;
    this.constants = constants;
    this.within(path);
    this.constants = before;
  }

  /** What a computed field was computed from. */
  private within(name: string): void {
    const value = this.computed.get(name);
    if (value === undefined) return;
    // A field may be computed from what had its name before.
    this.computed.delete(name);
    this.expression(value);
    this.computed.set(name, value);
  }

  /** `collection.field` of a path of the current documents. */
  private inDesign(path: string): string {
    const [first = '', ...rest] = path.split('.');
    const from = this.joined.get(first);
    return from === undefined ? `${this.collection}.${path}` : [from, ...rest].join('.');
  }

  private fullPath(value: Mql): string | undefined {
    if (typeof value !== 'string' || !value.startsWith('$')) return undefined;
    if (!value.startsWith('$$')) return this.inDesign(value.slice(1));
    const [name = '', ...rest] = value.slice(2).split('.');
    const variable = this.variables.get(name);
    return variable === undefined ? undefined : [variable, ...rest].join('.');
  }
}

/** Of the operators that bind variables: `$map`, `$filter`, `$reduce`, `$let`, and of `$regexMatch`. */
function firstOperand(document: MqlDocument): {
  readonly regex?: Mql;
  readonly input?: Mql;
  readonly as?: Mql;
  readonly vars?: Mql;
} {
  const [operand] = Object.values(document);
  return isDocument(operand) ? operand : {};
}

function constantsOf(value: Mql): readonly Mql[] {
  if (Array.isArray(value)) return (value as readonly Mql[]).flatMap(constantsOf);
  if (typeof value === 'string') return value.startsWith('$') ? [] : [value];
  if (!isDocument(value)) return [value];
  return '$literal' in value ? [value['$literal'] ?? null] : [];
}
