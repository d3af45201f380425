import { isNested, type DocumentDesign, type Field } from '../../design/document-design';
import { isDocument, type MqlDocument } from '../mql/mql';
import { pathsReadBy, stageName, unwindPath } from '../mql/pipeline-paths';

export interface MqlProblem {
  /** Position of the stage, such as `2` or `1.$lookup.0`. */
  readonly at: string;
  /** The collection or path that does not exist. */
  readonly path: string;
  readonly message: string;
}

/** What is known of a document's fields; `any` where it cannot be known. */
type Shape = 'any' | ReadonlyMap<string, Shape>;

/**
 * Every collection and path that a pipeline uses and that, by the design and the stages before,
 * does not exist.
 */
export function lintMql(
  collection: string,
  pipeline: readonly MqlDocument[],
  design: DocumentDesign,
): MqlProblem[] {
  const shape = shapeOf(collection, design);
  if (!shape)
    return [{ at: '0', path: collection, message: `the design has no collection ${collection}` }];
  return lintStages(pipeline, shape, design, '').problems;
}

function shapeOf(collection: string, design: DocumentDesign): Shape | undefined {
  const logical = design.logical.find((entry) => entry.collection === collection);
  return logical && new Map<string, Shape>([['_id', 'any'], ...fieldShapes(logical.fields)]);
}

const fieldShapes = (fields: readonly Field[]): [string, Shape][] =>
  fields.flatMap((field): [string, Shape][] => [
    [field.name, fieldShape(field)],
    ...(field.kind === 'outlier' ? [[field.flag, 'any'] as [string, Shape]] : []),
  ]);

function lintStages(
  stages: readonly MqlDocument[],
  start: Shape,
  design: DocumentDesign,
  prefix: string,
): { problems: MqlProblem[]; shape: Shape } {
  const problems: MqlProblem[] = [];
  let shape = start;
  stages.forEach((stage, index) => {
    const at = `${prefix}${String(index)}`;
    if (stageName(stage) !== '$facet') {
      for (const path of pathsReadBy(stage)) {
        if (path !== '*' && !exists(shape, path))
          problems.push({ at, path, message: `there is no field ${path} at this point` });
      }
    }
    problems.push(...lintInside(stage, shape, design, at));
    shape = after(stage, shape, design);
  });
  return { problems, shape };
}

function lintInside(
  stage: MqlDocument,
  shape: Shape,
  design: DocumentDesign,
  at: string,
): MqlProblem[] {
  const lookup = stage['$lookup'];
  const union = stage['$unionWith'];
  const facet = stage['$facet'];
  if (isDocument(facet))
    return Object.entries(facet).flatMap(
      ([name, inner]) =>
        lintStages(inner as MqlDocument[], shape, design, `${at}.${name}.`).problems,
    );
  const united = isDocument(union)
    ? { from: union['coll'], stages: union['pipeline'], key: undefined }
    : undefined;
  const inner = isDocument(lookup)
    ? { from: lookup['from'], stages: lookup['pipeline'], key: lookup['foreignField'] }
    : united;
  if (!inner) return [];
  const from = String(inner.from);
  const other = shapeOf(from, design);
  if (!other) return [{ at, path: from, message: `the design has no collection ${from}` }];
  const missing =
    typeof inner.key === 'string' && !exists(other, inner.key)
      ? [{ at, path: `${from}.${inner.key}`, message: `${from} has no field ${inner.key}` }]
      : [];
  return [
    ...missing,
    ...lintStages(
      (inner.stages ?? []) as MqlDocument[],
      other,
      design,
      `${at}.${stageName(stage)}.`,
    ).problems,
  ];
}

function exists(shape: Shape, path: string): boolean {
  let here = shape;
  for (const part of path.split('.')) {
    if (here === 'any') return true;
    // Positions in arrays are no names.
    if (/^\d+$/.test(part)) continue;
    const next = here.get(part);
    if (next === undefined) return false;
    here = next;
  }
  return true;
}

function at(shape: Shape, path: string): Shape {
  let here = shape;
  for (const part of path.split('.')) here = here === 'any' ? 'any' : (here.get(part) ?? 'any');
  return here;
}

const withField = (shape: Shape, path: string, value: Shape): Shape => {
  if (shape === 'any') return 'any';
  const [first = '', ...rest] = path.split('.');
  const inner = shape.get(first);
  return new Map([
    ...shape,
    [
      first,
      rest.length === 0
        ? value
        : withField(inner ?? new Map<string, Shape>(), rest.join('.'), value),
    ],
  ]);
};

function after(stage: MqlDocument, shape: Shape, design: DocumentDesign): Shape {
  const operand = Object.values(stage)[0] ?? null;
  const valueShape = (value: unknown): Shape =>
    typeof value === 'string' && /^\$[^$]/.test(value)
      ? at(shape, value.slice(1))
      : literalShape(value);
  const literalShape = (value: unknown): Shape =>
    isDocument(value) && !Object.keys(value).some((key) => key.startsWith('$'))
      ? new Map(
          Object.entries(value).map(([key, inner]): [string, Shape] => [key, valueShape(inner)]),
        )
      : 'any';
  switch (stageName(stage)) {
    case '$match':
    case '$sort':
    case '$limit':
    case '$skip':
    case '$unwind':
    case '$unionWith':
    case '$sample': {
      const index = isDocument(operand) ? operand['includeArrayIndex'] : undefined;
      return typeof index === 'string' && unwindPath(stage) !== undefined
        ? withField(shape, index, 'any')
        : shape;
    }
    case '$lookup': {
      const { as, from, pipeline } = operand as {
        as: string;
        from: string;
        pipeline?: MqlDocument[];
      };
      const other = shapeOf(from, design) ?? 'any';
      return withField(shape, as, pipeline ? lintStages(pipeline, other, design, '').shape : other);
    }
    case '$set':
    case '$addFields':
      return Object.entries(operand as object).reduce(
        (sum, [path, value]) => withField(sum, path, valueShape(value)),
        shape,
      );
    case '$setWindowFields':
      return Object.keys((operand as { output: object }).output).reduce(
        (sum, path) => withField(sum, path, 'any'),
        shape,
      );
    case '$group':
      return new Map(
        Object.entries(operand as object).map(([name, value]): [string, Shape] => [
          name,
          name === '_id' ? valueShape(value) : accumulated(value, valueShape),
        ]),
      );
    case '$project':
      return projectedShape(operand as MqlDocument, shape, valueShape);
    case '$count':
      return new Map([[String(operand), 'any']]);
    case '$replaceRoot':
      return valueShape((operand as { newRoot: unknown }).newRoot);
    case '$replaceWith':
      return valueShape(operand);
    case '$facet':
      return new Map(
        Object.entries(operand as object).map(([name, inner]): [string, Shape] => [
          name,
          lintStages(inner as MqlDocument[], shape, design, '').shape,
        ]),
      );
    default:
      return 'any';
  }
}

// `$first: '$x'` has the shape of x, `$push` an array of it.
const accumulated = (value: unknown, valueShape: (value: unknown) => Shape): Shape => {
  const [name = '', inner] = isDocument(value) ? (Object.entries(value)[0] ?? []) : [];
  return ['$first', '$last', '$push', '$addToSet', '$min', '$max'].includes(name)
    ? valueShape(inner)
    : 'any';
};

function projectedShape(
  project: MqlDocument,
  shape: Shape,
  valueShape: (value: unknown) => Shape,
): Shape {
  const entries: [string, unknown][] = Object.entries(project);
  const excluded = entries
    .filter(([, value]) => value === 0 || value === false)
    .map(([name]) => name);
  const kept = entries.filter(([, value]) => !(value === 0 || value === false));
  if (kept.length === 0)
    return shape === 'any'
      ? 'any'
      : new Map([...shape].filter(([name]) => !excluded.includes(name)));
  const start: Shape = new Map<string, Shape>(
    excluded.includes('_id') ? [] : [['_id', at(shape, '_id')]],
  );
  return kept.reduce<Shape>(
    (sum, [path, value]) =>
      withField(sum, path, value === 1 || value === true ? at(shape, path) : valueShape(value)),
    start,
  );
}

function fieldShape(field: Field): Shape {
  if (isNested(field)) return new Map(fieldShapes(field.fields));
  if (field.kind !== 'attribute') return 'any';
  return new Map<string, Shape>([
    ['k', 'any'],
    ['v', 'any'],
  ]);
}
