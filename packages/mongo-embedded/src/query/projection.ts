import { Doc, type FieldName } from '../bson/doc';
import { afterRemoval, checkReturned, storedPast, type Past } from '../bson/past';
import { ServerError, unsupported } from '../errors';
import { parseExpression, type Evaluate, type Scope } from '../expressions/expression';
import { fieldName, splitPath } from '../values/path';
import { isNumeric, isTruthy, toDouble, type Value } from '../bson/value';
import { parseFilter, type Filter } from './match';
import { decidingElement } from './position';

/** What a projection does with the fields that it does not name. */
type Policy = 'include' | 'exclude' | 'add';

/** A tree of the paths that a projection names. */
class Node {
  readonly named = new Set<string>();
  readonly children = new Map<string, Node>();
  readonly computed = new Map<string, Evaluate>();
  private readonly computations: Evaluate[] = [];
  /** Computed fields and the children that contain some, in the order in which they are applied. */
  readonly order: string[] = [];
  constructor(readonly policy: Policy) {}

  child(name: string): Node {
    let node = this.children.get(name);
    if (!node) {
      node = new Node(this.policy);
      this.children.set(name, node);
    }
    return node;
  }
  private taken(name: string): boolean {
    return this.named.has(name) || this.computed.has(name) || this.children.has(name);
  }
  /** Puts a leaf at a path; a path that is a prefix of another is a collision. */
  put(path: readonly string[], leaf: Evaluate | null): void {
    const [name, ...rest] = path as [string, ...string[]];
    if (rest.length === 0) {
      if (this.taken(name)) throw new ServerError(31250, `Path collision at ${name}`);
      if (leaf) {
        this.computed.set(name, leaf);
        this.computations.push(leaf);
        this.order.push(name);
      } else this.named.add(name);
      return;
    }
    if (this.named.has(name) || this.computed.has(name))
      throw new ServerError(
        31249,
        `Path collision at ${path.join('.')} remaining portion ${rest.join('.')}`,
      );
    const child = this.child(name);
    if (leaf && !this.order.includes(name)) this.order.push(name);
    child.put(rest, leaf);
  }

  apply(input: Doc): Doc {
    if (this.policy === 'include' && this.children.size === 0) return this.build(input);
    const shaped = this.shape(input, input.past?.bson ?? 'no');
    return this.order.length === 0 ? shaped : this.compute(input, shaped);
  }

  /** The plain case of an inclusion: some fields as they are, then some computed ones. */
  private build(input: Doc): Doc {
    const { shape, picked, wanted, blank } = this.last;
    const like = blank.slice();
    if (shape.length > 0 && input.pickAs(wanted, picked, like)) {
      const { computations } = this;
      let i = picked;
      for (let j = 0; j < computations.length; j++) {
        const value = (computations[j] as Evaluate)(input);
        if (value === undefined) break;
        like[i++] = value;
      }
      if (i === shape.length && i === picked + computations.length)
        return new Doc(shape, like).from(computations.length === 0 ? storedPast : undefined);
    }
    const { keys, values } = input.pick(this.named);
    const { past } = input;
    checkReturned(past, this.named);
    const count = keys.length;
    for (const [name, evaluate] of this.computed) {
      const value = evaluate(input);
      if (value === undefined) continue;
      keys.push(name);
      values.push(value);
    }
    const inOrder = [...new Set([...keys.slice(0, count), ...this.named])].map(fieldName);
    this.last = { shape: keys, picked: count, wanted: inOrder, blank: keys.map(() => undefined) };
    return new Doc(keys, values).from(
      past?.bson === 'yes' && this.computed.size === 0 ? storedPast : undefined,
    );
  }
  // What the last document came out as: the next one is tried for the same shape first. Its values
  // start as a copy of `blank`: an array that starts empty is copied by the JavaScript engine when
  // its first double comes after an integer.
  private last: {
    readonly shape: string[];
    readonly picked: number;
    readonly wanted: readonly FieldName[];
    readonly blank: readonly Value[];
  } = {
    shape: [],
    picked: 0,
    wanted: [],
    blank: [],
  };

  /** Keeps and drops fields. */
  private shape(input: Doc, bson: Past['bson']): Doc {
    if (this.policy === 'add') return input;
    const { keys, values, past } = input;
    const include = this.policy === 'include';
    if (include)
      checkReturned(past, { has: (name) => this.named.has(name) || this.children.has(name) });
    const outKeys: string[] = [];
    const outValues: Value[] = [];
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      let value = values[i];
      if (this.named.has(key)) {
        if (!include) continue;
      } else {
        const child = this.children.get(key);
        if (child) value = child.shapeValue(value, bson);
        else if (include) continue;
        // What is to become a document of computed fields keeps its place.
        if (value === undefined && !(child && child.order.length > 0)) continue;
      }
      outKeys.push(key);
      outValues.push(value);
    }
    const out = new Doc(outKeys, outValues);
    if (bson === 'yes') return out.from(storedPast);
    if (include) return out;
    const removed = keys.filter((key) => this.named.has(key));
    return out.from(
      removed.length > 0 ? afterRemoval(past, keys, removed, bson) : past && { ...past, bson },
    );
  }
  private shapeValue(value: Value, bson: Past['bson']): Value {
    if (value instanceof Doc) return this.shape(value, bson);
    if (Array.isArray(value)) {
      const out: Value[] = [];
      for (const item of value) {
        const shaped = this.shapeValue(item, bson);
        // What an inclusion drops leaves its place to a computed field.
        if (shaped !== undefined || this.order.length > 0) out.push(shaped);
      }
      return out;
    }
    return this.policy === 'include' ? undefined : value;
  }

  /** Adds computed fields; they are all computed from the document as it came in. */
  private compute(root: Doc, onto: Doc): Doc {
    const { order } = this;
    const values = new Array<Value>(order.length);
    for (let i = 0; i < order.length; i++) {
      const name = order[i] as string;
      const evaluate = this.computed.get(name);
      values[i] = evaluate ? evaluate(root) : this.child(name).computeValue(root, onto.get(name));
    }
    return Doc.over(onto, order, values);
  }
  private computeValue(root: Doc, value: Value): Value {
    if (value instanceof Doc) return this.compute(root, value);
    if (Array.isArray(value)) return value.map((item) => this.computeValue(root, item));
    return this.compute(root, Doc.empty());
  }
}

export type Projection = (doc: Doc) => Doc;

/** `$addFields`/`$set`. */
export function parseAddFields(spec: Value, scope: Scope, stage: string): Projection {
  if (!(spec instanceof Doc))
    throw new ServerError(
      40272,
      `${stage} specification stage must be an object, got ${typeof spec}`,
    );
  if (spec.size === 0)
    throw new ServerError(
      40177,
      `Invalid ${stage} :: caused by :: specification must have at least one field`,
    );
  const root = new Node('add');
  const walk = (doc: Doc, prefix: readonly string[]): void => {
    doc.keys.forEach((key, i) => {
      const value = doc.values[i];
      const path = [...prefix, ...splitPath(key)];
      if (value instanceof Doc && value.size > 0 && !(value.keys[0] as string).startsWith('$'))
        walk(value, path);
      else root.put(path, parseExpression(value, scope).evaluate);
    });
  };
  walk(spec, []);
  return (doc) => root.apply(doc);
}

/** `$unset`. */
export function parseUnset(paths: readonly string[]): Projection {
  const root = new Node('exclude');
  for (const path of paths) root.put(splitPath(path), null);
  return (doc) => root.apply(doc);
}

const isFlag = (v: Value): boolean => typeof v === 'boolean' || isNumeric(v);

interface Leaves {
  flags: { path: string[]; keep: boolean }[];
  computed: { path: string[]; value: Value }[];
  order: { path: string[]; value: Value }[];
}

function collect(doc: Doc, prefix: readonly string[], into: Leaves, positionals: boolean): void {
  doc.keys.forEach((key, i) => {
    const value = doc.values[i];
    // A last `$` is a find's; elsewhere it is no name.
    const bare = positionals && key.endsWith('.$') ? key.slice(0, -2) : key;
    const path = [...prefix, ...splitPath(bare), ...(bare === key ? [] : ['$'])];
    if (value instanceof Doc && !value.keys[0]?.startsWith('$')) {
      if (value.size === 0)
        throw new ServerError(
          51270,
          'An empty sub-projection is not a valid value. Found empty object at path ' +
            `${path.join('.')}`,
        );
      collect(value, path, into, positionals);
      return;
    }
    into.order.push({ path, value });
    if (isFlag(value)) into.flags.push({ path, keep: isTruthy(value) });
    else into.computed.push({ path, value });
  });
}

/**
 * `$project`; with `find`, the projection of a find, whose `$` means the element by which its
 * filter matched.
 */
export function parseProjection(
  spec: Value,
  scope: Scope,
  find?: { readonly filter: Filter | null },
): Projection {
  if (!(spec instanceof Doc))
    throw new ServerError(15969, '$project specification must be an object');
  if (spec.size === 0) {
    if (find) return (doc) => doc;
    throw new ServerError(
      51272,
      'Invalid $project :: caused by :: projection specification must have at least one field',
    );
  }
  const leaves: Leaves = { flags: [], computed: [], order: [] };
  collect(spec, [], leaves, find !== undefined);
  const special = find ? takeSpecial(leaves, scope, find.filter) : [];
  const isId = (path: readonly string[]): boolean => path.length === 1 && path[0] === '_id';
  const others = leaves.flags.filter((f) => !isId(f.path));
  const id = leaves.flags.find((f) => isId(f.path));
  const includes =
    others.some((f) => f.keep) ||
    leaves.computed.length > 0 ||
    (others.length === 0 && id?.keep === true) ||
    special.some((s) => s.includes && others.length === 0);
  const excludes = others.some((f) => !f.keep);
  if (includes && excludes)
    throw mixedProjection(leaves.order.filter((l) => !isId(l.path) || !isFlag(l.value)));
  const include = includes;
  const root = new Node(include ? 'include' : 'exclude');
  for (const { path, value } of leaves.order) {
    if (isFlag(value)) {
      if (isId(path) && isTruthy(value) !== include) continue;
      root.put(path, null);
    } else root.put(path, parseExpression(value, scope).evaluate);
  }
  if (include) for (const { needs } of special) if (needs) root.put(needs, null);
  if (
    include &&
    id?.keep !== false &&
    !root.named.has('_id') &&
    !root.computed.has('_id') &&
    !root.children.has('_id')
  )
    root.named.add('_id');
  if (!include && id && !id.keep) root.named.add('_id');
  return special.length === 0
    ? (doc) => root.apply(doc)
    : (doc) => special.reduce((out, s) => s.apply(doc, out), root.apply(doc));
}

/** The first field decides what a projection is; the first that disagrees is the mistake. */
function mixedProjection(order: Leaves['order']): ServerError {
  const keeps = (value: Value): boolean => !isFlag(value) || isTruthy(value);
  const including = keeps(order[0]?.value);
  const wrong = order.find((l) => keeps(l.value) !== including);
  const field = wrong?.path.join('.') ?? '';
  if (including)
    return new ServerError(
      31254,
      `Invalid $project :: caused by :: Cannot do exclusion on field ${field} in inclusion ` +
        'projection',
    );
  if (isFlag(wrong?.value))
    return new ServerError(
      31253,
      `Invalid $project :: caused by :: Cannot do inclusion on field ${field} in exclusion ` +
        'projection',
    );
  if (wrong?.value instanceof Doc)
    return new ServerError(
      31252,
      `Invalid $project :: caused by :: Cannot use an expression ${field} in an exclusion ` +
        'projection',
    );
  return new ServerError(
    31310,
    `Invalid $project :: caused by :: Cannot use an expression ${field} in an exclusion projection`,
  );
}

interface Special {
  includes: boolean;
  /** What it must find in the output, where other fields are chosen one by one. */
  needs?: readonly string[];
  apply(input: Doc, output: Doc): Doc;
}

/** `$slice` and `$elemMatch` of a find projection; what else find has of its own is refused. */
function takeSpecial(leaves: Leaves, scope: Scope, filter: Filter | null): Special[] {
  const special: Special[] = [];
  for (const leaf of [...leaves.order, ...leaves.flags]) {
    if (leaf.path[leaf.path.length - 1] !== '$') continue;
    leaf.path.pop();
    if (!('value' in leaf)) continue;
    if (!isTruthy(leaf.value))
      throw new ServerError(31395, 'positional projection cannot be used with exclusion');
    special.push(positional([...leaf.path], filter));
  }
  if (special.length > 1)
    throw new ServerError(31276, 'Cannot specify more than one positional projection per query.');
  leaves.order = leaves.order.filter(({ path, value }) => {
    const found = value instanceof Doc ? specialOf(path, value, scope) : null;
    if (found) special.push(found);
    return !found;
  });
  leaves.computed = leaves.computed.filter((c) => leaves.order.some((o) => o.path === c.path));
  return special;
}

/** Keeps, of the first array on the path, the element by which the document matched. */
function positional(path: readonly string[], filter: Filter | null): Special {
  return {
    includes: true,
    apply: (input, output) => {
      const at = firstArray(output, path);
      const items = at && valueIn(input, at);
      if (!at || !Array.isArray(items)) return output;
      const hit =
        filter && decidingElement(items, (only) => filter.test(slicePath(input, at, () => only)));
      if (hit === null)
        throw new ServerError(
          51246,
          "Executor error during find command :: caused by :: positional operator '.$' couldn't " +
            'find a matching element in the array',
        );
      return slicePath(output, at, (shown) => {
        if (hit >= shown.length)
          throw new ServerError(
            51247,
            "Executor error during find command :: caused by :: positional operator '.$' element " +
              'mismatch',
          );
        return [shown[hit]];
      });
    },
  };
}
function firstArray(doc: Doc, path: readonly string[]): readonly string[] | null {
  for (let i = 1; i <= path.length; i++)
    if (Array.isArray(valueIn(doc, path.slice(0, i)))) return path.slice(0, i);
  return null;
}
const valueIn = (doc: Doc, path: readonly string[]): Value =>
  path.reduce<Value>((v, name) => (v instanceof Doc ? v.get(name) : undefined), doc);

function specialOf(path: readonly string[], spec: Doc, scope: Scope): Special | null {
  const operand = spec.values[0];
  switch (spec.keys[0]) {
    case '$meta':
      throw unsupported('$meta in a projection');
    case '$elemMatch': {
      if (path.length > 1)
        throw new ServerError(31275, 'Cannot use $elemMatch projection on a nested field');
      const name = path[0] as string;
      const { test } = parseFilter(Doc.of({ [name]: spec }), scope);
      return {
        includes: true,
        // The first element that matches, in an array of its own; the field goes when there is
        // none.
        apply: (input, output) => {
          const items = input.get(name);
          const hit = Array.isArray(items)
            ? items.find((item) => test(Doc.of({ [name]: [item] })))
            : undefined;
          return output.copy().set(name, hit === undefined ? undefined : [hit]);
        },
      };
    }
    case '$slice': {
      // Inside an aggregation expression `$slice` has an array as its first operand.
      const numbers = Array.isArray(operand) ? operand : [operand];
      if (numbers.length > 2 || !numbers.every(isNumeric)) return null;
      const [first, second] = numbers.map((n) => Math.trunc(toDouble(n)));
      const cut = (items: Value[]): Value[] => {
        if (second === undefined)
          return (first as number) < 0 ? items.slice(first) : items.slice(0, first);
        const start =
          (first as number) < 0 ? Math.max(0, items.length + (first as number)) : (first as number);
        return items.slice(start, start + second);
      };
      return {
        includes: false,
        needs: path,
        apply: (_input, output) => slicePath(output, path, cut),
      };
    }
    default:
      return null;
  }
}

function slicePath(
  doc: Doc,
  [name, ...rest]: readonly string[],
  slice: (items: Value[]) => Value[],
): Doc {
  const value = doc.get(name as string);
  if (rest.length > 0) {
    if (value instanceof Doc) return doc.copy().set(name as string, slicePath(value, rest, slice));
    if (Array.isArray(value))
      return doc.copy().set(
        name as string,
        value.map((v) => (v instanceof Doc ? slicePath(v, rest, slice) : v)),
      );
    return doc;
  }
  return Array.isArray(value) ? doc.copy().set(name as string, slice(value)) : doc;
}
