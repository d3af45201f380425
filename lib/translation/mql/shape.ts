import { namesOf } from '../../design/model/field-paths';
import {
  isNested,
  logicalDesignOf,
  type DocumentDesign,
  type Field,
} from '../../design/model/document-design';
import { isDocument, type Mql, type MqlDocument } from './mql';
import { isOneOf, type Pipeline, type Stage } from './stage';

/** What is known of the fields that documents have; `any` where it cannot be known. */
export type Shape = 'any' | ReadonlyMap<string, Shape>;

/** Of a collection's documents; undefined where the design has no such collection. */
export function shapeOf(collection: string, design: DocumentDesign): Shape | undefined {
  const logical = logicalDesignOf(design, collection);
  return logical && new Map<string, Shape>([['_id', 'any'], ...fieldShapes(logical.fields)]);
}

const fieldShapes = (fields: readonly Field[]): [string, Shape][] =>
  fields.flatMap((field) =>
    namesOf(field).map((name): [string, Shape] => [
      name,
      name === field.name ? fieldShape(field) : 'any',
    ]),
  );

function fieldShape(field: Field): Shape {
  if (isNested(field)) return new Map(fieldShapes(field.fields));
  if (field.kind !== 'attribute') return 'any';
  return new Map<string, Shape>([
    ['k', 'any'],
    ['v', 'any'],
  ]);
}

export function hasPath(shape: Shape, path: string): boolean {
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

function shapeAt(shape: Shape, path: string): Shape {
  let here = shape;
  for (const part of path.split('.')) here = here === 'any' ? 'any' : (here.get(part) ?? 'any');
  return here;
}

function withField(shape: Shape, path: string, value: Shape): Shape {
  if (shape === 'any') return 'any';
  const [first = '', ...rest] = path.split('.');
  const inner = shape.get(first) ?? new Map<string, Shape>();
  return new Map([
    ...shape,
    [first, rest.length === 0 ? value : withField(inner, rest.join('.'), value)],
  ]);
}

/** Of the documents that come out of a pipeline. */
export const shapeAfterAll = (stages: Pipeline, shape: Shape, design: DocumentDesign): Shape =>
  stages.reduce((current, stage) => shapeAfter(stage, current, design), shape);

/** Of the documents that come out of a stage. */
export function shapeAfter(stage: Stage, shape: Shape, design: DocumentDesign): Shape {
  if (isOneOf(stage, ['$match', '$sort', '$limit', '$skip', '$unionWith', '$sample'])) return shape;
  if ('$unwind' in stage) {
    const { $unwind } = stage;
    const index = typeof $unwind === 'string' ? undefined : $unwind.includeArrayIndex;
    return index === undefined ? shape : withField(shape, index, 'any');
  }
  if ('$lookup' in stage) {
    const { as, from, pipeline } = stage.$lookup;
    const partners = shapeOf(from, design) ?? 'any';
    return withField(shape, as, shapeAfterAll(pipeline ?? [], partners, design));
  }
  if ('$set' in stage) return withValues(shape, stage.$set);
  if ('$addFields' in stage) return withValues(shape, stage.$addFields);
  if ('$setWindowFields' in stage)
    return Object.keys(stage.$setWindowFields.output).reduce(
      (sum, path) => withField(sum, path, 'any'),
      shape,
    );
  if ('$group' in stage)
    return new Map(
      Object.entries(stage.$group).map(([name, value]): [string, Shape] => [
        name,
        name === '_id' ? valueShape(value, shape) : accumulatedShape(value, shape),
      ]),
    );
  if ('$project' in stage) return projectedShape(stage.$project, shape);
  if ('$count' in stage) return new Map([[stage.$count, 'any']]);
  if ('$replaceRoot' in stage) return valueShape(stage.$replaceRoot.newRoot, shape);
  if ('$replaceWith' in stage) return valueShape(stage.$replaceWith, shape);
  if ('$facet' in stage)
    return new Map(
      Object.entries(stage.$facet).map(([name, inner]): [string, Shape] => [
        name,
        shapeAfterAll(inner, shape, design),
      ]),
    );
  return 'any';
}

const withValues = (shape: Shape, fields: MqlDocument): Shape =>
  Object.entries(fields).reduce(
    (sum, [path, value]) => withField(sum, path, valueShape(value, shape)),
    shape,
  );

/** Of what an expression gives, over documents of a shape. */
function valueShape(value: Mql, shape: Shape): Shape {
  if (typeof value === 'string')
    return /^\$[^$]/.test(value) ? shapeAt(shape, value.slice(1)) : 'any';
  return isDocument(value) && !Object.keys(value).some((key) => key.startsWith('$'))
    ? new Map(
        Object.entries(value).map(([key, inner]): [string, Shape] => [
          key,
          valueShape(inner, shape),
        ]),
      )
    : 'any';
}

/** `$first: '$x'` has the shape of x, `$push` an array of it. */
function accumulatedShape(value: Mql, shape: Shape): Shape {
  const [name = '', inner = null] = isDocument(value) ? (Object.entries(value)[0] ?? []) : [];
  return ['$first', '$last', '$push', '$addToSet', '$min', '$max'].includes(name)
    ? valueShape(inner, shape)
    : 'any';
}

function projectedShape(project: MqlDocument, shape: Shape): Shape {
  const entries = Object.entries(project);
  const isExcluded = (value: Mql): boolean => value === 0 || value === false;
  const excluded = entries.filter(([, value]) => isExcluded(value)).map(([name]) => name);
  const kept = entries.filter(([, value]) => !isExcluded(value));
  if (kept.length === 0)
    return shape === 'any'
      ? 'any'
      : new Map([...shape].filter(([name]) => !excluded.includes(name)));
  const start: Shape = new Map<string, Shape>(
    excluded.includes('_id') ? [] : [['_id', shapeAt(shape, '_id')]],
  );
  return kept.reduce<Shape>(
    (sum, [path, value]) =>
      withField(
        sum,
        path,
        value === 1 || value === true ? shapeAt(shape, path) : valueShape(value, shape),
      ),
    start,
  );
}
