import { isDocument, type Mql, type MqlDocument } from './mql';

/** Stages in the order in which documents pass through them. */
export type Pipeline = readonly Stage[];

/** A stage as MongoDB takes it; which one it is, its one key says. */
export type Stage =
  | { readonly $match: MqlDocument }
  | { readonly $sort: MqlDocument }
  | { readonly $limit: Mql }
  | { readonly $skip: Mql }
  | { readonly $unwind: string | Unwind }
  | { readonly $lookup: Lookup }
  | { readonly $unionWith: Union }
  | { readonly $group: Group }
  | { readonly $project: MqlDocument }
  | { readonly $set: MqlDocument }
  | { readonly $addFields: MqlDocument }
  | { readonly $unset: string | readonly string[] }
  | { readonly $setWindowFields: WindowFields }
  | { readonly $facet: Readonly<Record<string, Pipeline>> }
  | { readonly $count: string }
  | { readonly $replaceRoot: { readonly newRoot: Mql } }
  | { readonly $replaceWith: Mql }
  | OtherStage;

export type Unwind = {
  readonly path: string;
  readonly preserveNullAndEmptyArrays?: boolean;
  readonly includeArrayIndex?: string;
};

export type Lookup = {
  readonly from: string;
  readonly localField?: string;
  readonly foreignField?: string;
  readonly let?: MqlDocument;
  readonly pipeline?: Pipeline;
  readonly as: string;
};

export type Union = { readonly coll: string; readonly pipeline?: Pipeline };

export type Group = { readonly _id: Mql } & MqlDocument;

export type WindowFields = {
  readonly partitionBy?: Mql;
  readonly sortBy?: MqlDocument;
  readonly output: MqlDocument;
};

/** Stages that only people write: no rule looks into them. */
const OTHERS = [
  '$bucket',
  '$bucketAuto',
  '$densify',
  '$documents',
  '$fill',
  '$geoNear',
  '$graphLookup',
  '$redact',
  '$sample',
  '$sortByCount',
] as const;
type OtherName = (typeof OTHERS)[number];
type OtherStage = { [Name in OtherName]: { readonly [Key in Name]: Mql } }[OtherName];

type NameOf<S> = S extends S ? keyof S : never;
export type StageName = NameOf<Stage>;

export const stageName = (stage: Stage): StageName => Object.keys(stage)[0] as StageName;

/** The stage is one of these. */
export const isOneOf = (stage: Stage, names: readonly StageName[]): boolean =>
  names.includes(stageName(stage));

/** The pipelines that a stage runs: of another collection, or side by side on its input. */
export function pipelinesIn(stage: Stage): readonly Pipeline[] {
  if ('$facet' in stage) return Object.values(stage.$facet);
  if ('$lookup' in stage) return stage.$lookup.pipeline ? [stage.$lookup.pipeline] : [];
  const union = '$unionWith' in stage ? stage.$unionWith.pipeline : undefined;
  return union ? [union] : [];
}

/**
 * The pipeline as typed stages; undefined where one of them has a form that MongoDB refuses or that
 * nothing here knows, so that whoever reads pipelines of people can leave it as it is.
 */
export const readPipeline = (documents: unknown): Pipeline | undefined =>
  isPipeline(documents) ? documents : undefined;

function isPipeline(value: unknown): value is Pipeline {
  return Array.isArray(value) && value.every(isStage);
}

function isStage(value: unknown): value is Stage {
  if (!isDocument(value)) return false;
  const [[name, operand] = ['', null], ...more] = Object.entries(value);
  if (more.length > 0) return false;
  const test = FORMS[name];
  return test ? test(operand) : (OTHERS as readonly string[]).includes(name);
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isPath = (value: unknown): boolean => isString(value) && value.startsWith('$');
const isOptional = (value: unknown, test: (value: unknown) => boolean): boolean =>
  value === undefined || test(value);

/** What the operand of each stage must look like for its type to be true. */
const FORMS: Readonly<Record<string, (operand: Mql) => boolean>> = {
  $match: isDocument,
  $sort: isDocument,
  $limit: () => true,
  $skip: () => true,
  $unwind: (operand) =>
    isDocument(operand)
      ? isPath(operand['path']) && isOptional(operand['includeArrayIndex'], isString)
      : isPath(operand),
  $lookup: (operand) =>
    isDocument(operand) &&
    isString(operand['from']) &&
    isString(operand['as']) &&
    isOptional(operand['localField'], isString) &&
    isOptional(operand['foreignField'], isString) &&
    isOptional(operand['let'], isDocument) &&
    isOptional(operand['pipeline'], isPipeline),
  $unionWith: (operand) =>
    isDocument(operand) && isString(operand['coll']) && isOptional(operand['pipeline'], isPipeline),
  $group: (operand) => isDocument(operand) && operand['_id'] !== undefined,
  $project: isDocument,
  $set: isDocument,
  $addFields: isDocument,
  $unset: (operand) => isString(operand) || (Array.isArray(operand) && operand.every(isString)),
  $setWindowFields: (operand) =>
    isDocument(operand) &&
    isDocument(operand['output']) &&
    isOptional(operand['sortBy'], isDocument),
  $facet: (operand) => isDocument(operand) && Object.values(operand).every(isPipeline),
  $count: isString,
  $replaceRoot: (operand) => isDocument(operand) && operand['newRoot'] !== undefined,
  $replaceWith: () => true,
};
