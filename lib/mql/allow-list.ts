/**
 * What an untrusted pipeline may consist of. Everything that is not listed is refused, at any
 * depth: a new operator of a server is not allowed before somebody thought about it.
 */

export const allowedStages: ReadonlySet<string> = new Set([
  '$addFields',
  '$bucket',
  '$bucketAuto',
  '$count',
  '$densify',
  '$documents',
  '$facet',
  '$fill',
  '$graphLookup',
  '$group',
  '$limit',
  '$lookup',
  '$match',
  '$project',
  '$redact',
  '$replaceRoot',
  '$replaceWith',
  '$sample',
  '$set',
  '$setWindowFields',
  '$skip',
  '$sort',
  '$sortByCount',
  '$unionWith',
  '$unset',
  '$unwind',
]);

/** Operators of expressions, accumulators, windows and filters. */
export const allowedOperators: ReadonlySet<string> = new Set([
  // arithmetic and trigonometry
  '$abs',
  '$add',
  '$ceil',
  '$divide',
  '$exp',
  '$floor',
  '$ln',
  '$log',
  '$log10',
  '$mod',
  '$multiply',
  '$pow',
  '$round',
  '$sqrt',
  '$subtract',
  '$trunc',
  '$bitAnd',
  '$bitNot',
  '$bitOr',
  '$bitXor',
  '$sin',
  '$cos',
  '$tan',
  '$asin',
  '$acos',
  '$atan',
  '$atan2',
  '$sinh',
  '$cosh',
  '$tanh',
  '$asinh',
  '$acosh',
  '$atanh',
  '$degreesToRadians',
  '$radiansToDegrees',
  // arrays, objects, sets
  '$arrayElemAt',
  '$arrayToObject',
  '$concatArrays',
  '$filter',
  '$first',
  '$firstN',
  '$in',
  '$indexOfArray',
  '$isArray',
  '$last',
  '$lastN',
  '$map',
  '$maxN',
  '$minN',
  '$objectToArray',
  '$range',
  '$reduce',
  '$reverseArray',
  '$size',
  '$slice',
  '$sortArray',
  '$zip',
  '$mergeObjects',
  '$getField',
  '$setField',
  '$unsetField',
  '$allElementsTrue',
  '$anyElementTrue',
  '$setDifference',
  '$setEquals',
  '$setIntersection',
  '$setIsSubset',
  '$setUnion',
  // logic
  '$and',
  '$or',
  '$not',
  '$nor',
  '$cmp',
  '$eq',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$ne',
  '$nin',
  '$cond',
  '$ifNull',
  '$switch',
  '$let',
  '$literal',
  '$expr',
  // dates
  '$dateAdd',
  '$dateDiff',
  '$dateFromParts',
  '$dateFromString',
  '$dateSubtract',
  '$dateToParts',
  '$dateToString',
  '$dateTrunc',
  '$dayOfMonth',
  '$dayOfWeek',
  '$dayOfYear',
  '$hour',
  '$isoDayOfWeek',
  '$isoWeek',
  '$isoWeekYear',
  '$millisecond',
  '$minute',
  '$month',
  '$second',
  '$week',
  '$year',
  '$tsSecond',
  '$tsIncrement',
  // strings and types
  '$concat',
  '$indexOfBytes',
  '$indexOfCP',
  '$ltrim',
  '$regexFind',
  '$regexFindAll',
  '$regexMatch',
  '$replaceAll',
  '$replaceOne',
  '$rtrim',
  '$split',
  '$strLenBytes',
  '$strLenCP',
  '$strcasecmp',
  '$substr',
  '$substrBytes',
  '$substrCP',
  '$toLower',
  '$toUpper',
  '$trim',
  '$convert',
  '$isNumber',
  '$toBool',
  '$toDate',
  '$toDecimal',
  '$toDouble',
  '$toInt',
  '$toLong',
  '$toObjectId',
  '$toString',
  '$type',
  '$binarySize',
  '$bsonSize',
  '$rand',
  // accumulators and window functions
  '$sum',
  '$avg',
  '$min',
  '$max',
  '$push',
  '$addToSet',
  '$count',
  '$stdDevPop',
  '$stdDevSamp',
  '$top',
  '$topN',
  '$bottom',
  '$bottomN',
  '$median',
  '$percentile',
  '$covariancePop',
  '$covarianceSamp',
  '$denseRank',
  '$derivative',
  '$documentNumber',
  '$expMovingAvg',
  '$integral',
  '$linearFill',
  '$locf',
  '$rank',
  '$shift',
  // filters
  '$all',
  '$elemMatch',
  '$exists',
  '$regex',
  '$options',
  '$jsonSchema',
  '$comment',
  '$sampleRate',
  '$bitsAllClear',
  '$bitsAllSet',
  '$bitsAnyClear',
  '$bitsAnySet',
  // the parts of a reference, which are data
  '$ref',
  '$id',
  '$db',
]);

/** What was refused, and where. */
export interface Refusal {
  readonly name: string;
  /** Such as `0.$lookup.pipeline.1`. */
  readonly at: string;
  readonly message: string;
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !('_bsontype' in value) &&
  (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null);

/** The first thing in a pipeline that an untrusted author may not use, or null. */
export function findForbidden(pipeline: unknown): Refusal | null {
  return checkPipeline(pipeline, '');
}

const join = (at: string, part: string | number): string =>
  at === '' ? String(part) : `${at}.${part}`;
const refuse = (name: string, at: string, message: string): Refusal => ({ name, at, message });

function checkPipeline(pipeline: unknown, at: string): Refusal | null {
  if (!Array.isArray(pipeline))
    return refuse('pipeline', at, 'a pipeline must be an array of stages');
  for (const [i, stage] of pipeline.entries()) {
    const place = join(at, i);
    if (!isPlainObject(stage)) return refuse('stage', place, 'a stage must be an object');
    const names = Object.keys(stage);
    const name = names[0];
    if (names.length !== 1 || name === undefined)
      return refuse('stage', place, 'a stage must have exactly one name');
    if (!allowedStages.has(name)) return refuse(name, place, `the stage ${name} is not allowed`);
    const found = checkStage(name, stage[name], join(place, name));
    if (found) return found;
  }
  return null;
}

function checkStage(name: string, spec: unknown, at: string): Refusal | null {
  if (name === '$facet' && isPlainObject(spec)) {
    for (const [key, inner] of Object.entries(spec)) {
      const found = checkPipeline(inner, join(at, key));
      if (found) return found;
    }
    return null;
  }
  if (name === '$unionWith' && typeof spec === 'string') return checkCollection(name, spec, at);
  if (
    (name === '$lookup' || name === '$unionWith' || name === '$graphLookup') &&
    isPlainObject(spec)
  ) {
    for (const key of ['from', 'coll']) {
      const found = Object.hasOwn(spec, key)
        ? checkCollection(name, spec[key], join(at, key))
        : null;
      if (found) return found;
    }
    if (Object.hasOwn(spec, 'db'))
      return refuse(
        name,
        join(at, 'db'),
        `${name} may only name a collection of the same database`,
      );
    for (const [key, inner] of Object.entries(spec)) {
      const found =
        key === 'pipeline' ? checkPipeline(inner, join(at, key)) : checkValue(inner, join(at, key));
      if (found) return found;
    }
    return null;
  }
  return checkValue(spec, at);
}

/** Whether a collection is one of the server's own. */
export const isSystemCollection = (name: string): boolean =>
  name.startsWith('system.') || name.includes('$');

function checkCollection(stage: string, collection: unknown, at: string): Refusal | null {
  // `from: {db, coll}` names another database.
  if (typeof collection !== 'string')
    return refuse(stage, at, `${stage} may only name a collection of the same database`);
  return isSystemCollection(collection)
    ? refuse(stage, at, `the collection ${collection} may not be read`)
    : null;
}

/** Any key that starts with `$` is an operator, except inside `$literal`, where all is data. */
function checkValue(value: unknown, at: string): Refusal | null {
  if (typeof value === 'string') return checkText(value, at);
  if (typeof value === 'function')
    return refuse('function', at, 'a pipeline may not contain functions');
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const found = checkValue(item, join(at, i));
      if (found) return found;
    }
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  // A driver's value has `_bsontype` from its class; as a field of its own it is an attempt to pass
  // for one.
  if (Object.hasOwn(value, '_bsontype'))
    return refuse('_bsontype', at, 'a pipeline may not contain a field named _bsontype');
  if ('_bsontype' in value)
    return (value as { _bsontype: unknown })._bsontype === 'Code'
      ? refuse('Code', at, 'a pipeline may not contain code')
      : null;
  if (value instanceof Date && Number.isNaN(value.getTime()))
    return refuse('date', at, 'a date of the pipeline is no date');
  if (value instanceof Date || value instanceof RegExp || value instanceof Uint8Array) return null;
  // Maps and objects with a class of their own would be sent as documents without having been
  // looked at.
  if (!isPlainObject(value))
    return refuse('object', at, 'a pipeline may only contain plain values');
  for (const [key, inner] of Object.entries(value)) {
    if (key.startsWith('$')) {
      if (!allowedOperators.has(key))
        return refuse(key, join(at, key), `the operator ${key} is not allowed`);
      if (key === '$literal') continue;
    }
    const found = checkValue(inner, join(at, key));
    if (found) return found;
  }
  return null;
}

const forbiddenVariables = /^\$\$(?:USER_ROLES|CLUSTER_TIME|JS_SCOPE|IS_MR|SEARCH_META)(?:\.|$)/;
function checkText(text: string, at: string): Refusal | null {
  return forbiddenVariables.test(text)
    ? refuse(text, at, `the variable ${text} is not allowed`)
    : null;
}
