import { Doc } from '../bson/doc';
import { failedToParse, ServerError, typeMismatch } from '../errors';
import { addNumbers, subtractNumbers } from '../values/arithmetic';
import { compareValues } from '../values/compare';
import { addUnits, parseUnit, utc, type Unit } from '../values/dates';
import { splitPath } from '../values/path';
import { ValueMap } from '../values/value-map';
import {
  isIntegral,
  DateTime,
  isNullish,
  isNumeric,
  toDouble,
  typeName,
  type Numeric,
  type Value,
} from '../bson/value';
import { basicStages, nested, setPath } from './basic';
import {
  blocking,
  drain,
  fromArray,
  type Stage,
  type StageBuilder,
  type StageContext,
} from './stage';
import { windowStages } from './window';

/** The value a step after another, or before it. */
type Step = (from: Value, sign: 1 | -1) => Value;

function stepOf(step: Numeric, unit: Unit | undefined): Step {
  return (from, sign) => {
    if (from instanceof DateTime) {
      if (!unit)
        throw new ServerError(
          5733201,
          'Step must be numeric with a date unit when the field is a date',
        );
      return new DateTime(addUnits(from.ms, unit, toDouble(step) * sign, utc));
    }
    if (unit)
      throw new ServerError(
        6053600,
        'Encountered non-date value in collection when step has a date unit.',
      );
    return sign > 0 ? addNumbers(from as Numeric, step) : subtractNumbers(from as Numeric, step);
  };
}

const MAX_GENERATED = 500_000;

/**
 * Checks a stage's fields as the server's declared ones: none unknown, none missing, each of its
 * type.
 */
function checkFields(
  spec: Doc,
  name: string,
  types: Readonly<Record<string, readonly [fits: (v: Value) => boolean, expected: string]>>,
  required: readonly string[],
): void {
  for (const key of spec.keys)
    if (!Object.hasOwn(types, key))
      throw new ServerError(40415, `BSON field '${name}.${key}' is an unknown field.`);
  for (const key of required)
    if (!spec.has(key))
      throw new ServerError(40414, `BSON field '${name}.${key}' is missing but a required field`);
  for (const [key, [fits, expected]] of Object.entries(types)) {
    if (spec.has(key) && !fits(spec.get(key)))
      throw typeMismatch(
        `BSON field '${name}.${key}' is the wrong type '${typeName(spec.get(key))}', expected ` +
          `type '${expected}'`,
      );
  }
}
const isText = (v: Value): v is string => typeof v === 'string';
const anything = (): boolean => true;

function checkPathName(path: string): string[] {
  if (path.split('.').some((part) => part.startsWith('$')))
    throw new ServerError(
      16410,
      `FieldPath field names may not start with '$'. Consider using $getField or $setField.`,
    );
  return splitPath(path);
}

type Bounds = 'full' | 'partition' | readonly [Value, Value];
function parseBounds(v: Value, unit: Unit | undefined, step: Numeric): Bounds {
  if (v === 'full' || v === 'partition') return v;
  if (!Array.isArray(v))
    throw new ServerError(
      5946802,
      "the bounds in a range statement must be the string 'full', 'partition', or an array of " +
        'two numbers or two dates',
    );
  if (v.length !== 2)
    throw new ServerError(
      5733403,
      'a bounding array in a range statement must have exactly two elements',
    );
  const [low, high] = v as [Value, Value];
  if (low instanceof DateTime) {
    if (!(high instanceof DateTime) || low.ms > high.ms)
      throw new ServerError(
        5733402,
        'a bounding array must be an ascending array of either two dates or two numbers',
      );
    if (!unit) throw new ServerError(5733405, 'a bounding array of dates needs a unit');
    if (!isIntegral(step))
      throw new ServerError(
        6586400,
        'The step parameter in a range statement must be a whole number when densifying a ' +
          'date range',
      );
  } else if (isNumeric(low)) {
    if (!isNumeric(high))
      throw new ServerError(
        5733406,
        'a bounding array must contain either both dates or both numeric types',
      );
    if (compareValues(low, high) > 0)
      throw new ServerError(
        5733402,
        'a bounding array must be an ascending array of either two dates or two numbers',
      );
    if (unit) throw new ServerError(5733409, 'numeric bounds may not have unit parameter');
  } else
    throw new ServerError(
      5733402,
      'a bounding array must be an ascending array of either two dates or two numbers',
    );
  return [low, high];
}

interface Densify {
  readonly field: string;
  readonly path: readonly string[];
  readonly partitionPaths: readonly (readonly string[])[];
  readonly advance: Step;
  readonly bounds: ReturnType<typeof parseBounds>;
}

function parseDensify(operand: Value, name: string): Densify {
  if (!(operand instanceof Doc))
    throw new ServerError(
      5733400,
      `The ${name} stage specification must be an object, found ${typeName(operand)}`,
    );
  checkFields(
    operand,
    name,
    {
      field: [isText, 'string'],
      partitionByFields: [Array.isArray, 'array'],
      range: [(v) => v instanceof Doc, 'object'],
    },
    ['field', 'range'],
  );
  const range = operand.get('range') as Doc;
  checkFields(
    range,
    `${name}.range`,
    {
      step: [isNumeric, '[int, decimal, double, long]'],
      bounds: [anything, 'array'],
      unit: [isText, 'string'],
    },
    ['bounds', 'step'],
  );
  const field = operand.get('field') as string;
  const path = checkPathName(field);
  const by = (operand.get('partitionByFields') ?? []) as Value[];
  if (!by.every(isText))
    throw typeMismatch(`BSON field '${name}.partitionByFields' must be an array of strings`);
  const partitionPaths = by.map(checkPathName);
  if (by.some((other) => other === field || other.startsWith(`${field}.`)))
    throw new ServerError(
      8993000,
      `BSON field '${name}.partitionByFields' contains the field that is being densified`,
    );
  if (by.some((other) => field.startsWith(`${other}.`)))
    throw new ServerError(
      9554500,
      `The field that is being densified contains the BSON field '${name}.partitionByFields'`,
    );
  const step = range.get('step') as Numeric;
  if (!(toDouble(step) > 0))
    throw new ServerError(
      5733401,
      'the step parameter in a range statement must be a strictly positive numeric value',
    );
  const unit = range.has('unit') ? parseUnit(range.get('unit') as string, name) : undefined;
  if (unit && !isIntegral(step))
    throw new ServerError(
      6586400,
      'The step parameter in a range statement must be a whole number when densifying a date range',
    );
  const bounds = parseBounds(range.get('bounds'), unit, step);
  if (bounds === 'partition' && by.length === 0) {
    throw new ServerError(
      5733408,
      "one may not specify the bounds as 'partition' without specifying a non-empty array of " +
        "partitionByFields. You may have meant to specify 'full' bounds.",
    );
  }
  return { field, path, partitionPaths, advance: stepOf(step, unit), bounds };
}

const densify: StageBuilder = (operand, context, name) => {
  const parsed = parseDensify(operand, name);
  const { checkpoint } = context.scope.environment;
  return blocking(name, (input) =>
    fromArray(fillGaps(drain(input, checkpoint), parsed, checkpoint)),
  );
};

function fillGaps(docs: readonly Doc[], parsed: Densify, checkpoint: () => void): Doc[] {
  const { field, path, partitionPaths, advance, bounds } = parsed;
  const explicit = typeof bounds === 'string' ? null : bounds;
  const valueOf = (doc: Doc): Value => checkValue(nested(doc, path), field);
  const all = docs
    .map(valueOf)
    .filter((v) => !isNullish(v))
    .sort((a, b) => compareValues(a, b));
  const isWhole = partitionPaths.length === 0;
  let range: Range = {};
  if (explicit) range = { low: explicit[0], high: explicit[1], closed: false, fromStart: isWhole };
  else if (bounds === 'full')
    range = { low: all[0], high: all[all.length - 1], closed: true, fromStart: false };
  const out: Doc[] = [];
  for (const { key, docs: members } of partitionsOf(docs, parsed)) {
    const sorted = members
      .map((doc) => ({ doc, value: valueOf(doc) }))
      .sort((a, b) => compareValues(a.value ?? null, b.value ?? null));
    const base = partitionPaths.reduce(
      (doc, p, i) => (key[i] === null ? doc : setPath(doc, p, key[i])),
      Doc.empty(),
    );
    const emit = (value: Value): void => {
      out.push(setPath(base, path, value));
      if (out.length > MAX_GENERATED + docs.length)
        throw new ServerError(
          5897900,
          `Generated ${MAX_GENERATED} documents in $densify, which is over the limit`,
        );
      if ((out.length & 1023) === 0) checkpoint();
    };
    const steps = new Steps(advance, range, explicit !== null, emit);
    for (const { doc, value } of sorted) {
      if (!isNullish(value)) steps.before(value);
      out.push(doc);
    }
    steps.finish();
  }
  return out;
}

/** The documents by the values of the partition fields, in the order of those. */
function partitionsOf(
  docs: readonly Doc[],
  { partitionPaths, bounds }: Densify,
): { key: Value[]; docs: Doc[] }[] {
  const partitions = new ValueMap<Doc[]>();
  for (const doc of docs)
    partitions
      .upsert(
        partitionPaths.map((p) => nested(doc, p) ?? null),
        () => [],
      )
      .push(doc);
  if (docs.length === 0 && typeof bounds !== 'string' && partitionPaths.length === 0)
    partitions.upsert([], () => []);
  return partitions.keys
    .map((key, i) => ({ key: key as Value[], docs: partitions.items[i] as Doc[] }))
    .sort((a, b) => compareValues(a.key, b.key));
}

/** The range to fill; without limits, only gaps between documents. */
interface Range {
  readonly low?: Value;
  readonly high?: Value;
  /** Whether the end itself is to be there. */
  readonly closed?: boolean;
  /** Whether it is filled even if there are no documents. */
  readonly fromStart?: boolean;
}

/**
 * Walks one partition. As on the server each value is a step from the one before it, whether that
 * was made or found: what sums of doubles lose adds up, and a month's end that was cut short stays
 * short.
 */
class Steps {
  /** The last value on a step. */
  private last: Value;
  constructor(
    private readonly advance: Step,
    private readonly range: Range,
    private readonly explicit: boolean,
    private readonly emit: (value: Value) => void,
  ) {
    if (range.fromStart) this.last = advance(range.low, -1);
  }
  /** Fills up to a document's value. */
  before(value: Value): void {
    const { low, high } = this.range;
    if (this.last === undefined) return this.first(value);
    if (!this.explicit) return this.fill(this.last, value, undefined);
    if (compareValues(this.last, high) >= 0) return;
    const from = compareValues(low, this.last) > 0 ? this.advance(low, -1) : this.last;
    if (compareValues(from, value) <= 0) this.fill(from, value, high);
  }
  private first(value: Value): void {
    const { low, high } = this.range;
    if (low === undefined || compareValues(value, low) <= 0) this.last = value;
    else if (this.explicit) {
      this.last = low;
      this.fill(this.advance(low, -1), value, high);
    } else if (compareValues(value, this.advance(low, 1)) > 0)
      this.fill(this.advance(low, -1), value, undefined);
    else this.last = this.advance(low, -1);
  }
  private fill(from: Value, value: Value, end: Value): void {
    let next = this.advance(from, 1);
    if (compareValues(value, next) > 0 && (end === undefined || compareValues(next, end) < 0)) {
      const limit = end !== undefined && compareValues(end, value) <= 0 ? end : value;
      for (; compareValues(next, limit) < 0; next = this.advance(next, 1)) {
        this.emit(next);
        this.last = next;
      }
    }
    if (compareValues(value, next) === 0) this.last = value;
  }
  finish(): void {
    const { low, high, closed } = this.range;
    if (low === undefined || this.last === undefined) return;
    let next = compareValues(low, this.last) > 0 ? low : this.advance(this.last, 1);
    for (; compareValues(next, high) < (closed ? 1 : 0); next = this.advance(next, 1))
      this.emit(next);
  }
}

function checkValue(v: Value, field: string): Value {
  if (isNullish(v) || isNumeric(v) || v instanceof DateTime) return v;
  throw new ServerError(
    5733201,
    `Densify field type must be numeric or a date, but '${field}' is ${typeName(v)}`,
  );
}

/** `$fill` is `$setWindowFields` and `$addFields` under another name. */
const fill: StageBuilder = (operand, context, name) => {
  if (!(operand instanceof Doc))
    throw failedToParse(
      `The ${name} stage specification must be an object, found ${typeName(operand)}`,
    );
  const isDoc = (v: Value): boolean => v instanceof Doc;
  checkFields(
    operand,
    name,
    {
      output: [isDoc, 'object'],
      partitionBy: [(v) => isDoc(v) || isText(v), '[string, object]'],
      partitionByFields: [Array.isArray, 'array'],
      sortBy: [isDoc, 'object'],
    },
    ['output'],
  );
  const args = new Map(operand.keys.map((key, i) => [key, operand.values[i]]));
  const output = args.get('output') as Doc;
  if (output.size === 0)
    throw new ServerError(6050203, "the 'output' field of $fill must be a non-empty object");
  if (args.has('partitionBy') && args.has('partitionByFields'))
    throw new ServerError(
      6050204,
      'Maximum one of partitionBy and partitionByFields can be specified in $fill',
    );
  const windows: [string, Value][] = [];
  const values: [string, Value][] = [];
  output.keys.forEach((field, i) => {
    const spec = output.values[i];
    if (!(spec instanceof Doc))
      throw new ServerError(6050200, `Each element of $fill output must be an object: ${field}`);
    for (const key of spec.keys)
      if (key !== 'value' && key !== 'method')
        throw new ServerError(40415, `BSON field '$fill.output.${key}' is an unknown field.`);
    if (spec.size !== 1)
      throw new ServerError(
        6050202,
        `Each fill output needs exactly one of 'value' and 'method': ${field}`,
      );
    if (spec.has('value'))
      values.push([field, Doc.of({ $ifNull: [`$${field}`, spec.get('value')] })]);
    else if (spec.get('method') === 'locf') windows.push([field, Doc.of({ $locf: `$${field}` })]);
    else if (spec.get('method') === 'linear')
      windows.push([field, Doc.of({ $linearFill: `$${field}` })]);
    else throw new ServerError(6050202, 'Method must be either locf or linear');
  });
  const stages: Stage[] = [];
  if (windows.length > 0) stages.push(...windowStage(windows, args, context));
  if (values.length > 0)
    stages.push(
      ...([] as Stage[]).concat(
        (basicStages.$addFields as StageBuilder)(
          new Doc(
            values.map((v) => v[0]),
            values.map((v) => v[1]),
          ),
          context,
          '$addFields',
        ),
      ),
    );
  return stages;
};

function windowStage(
  windows: readonly [string, Value][],
  args: ReadonlyMap<string, Value>,
  context: StageContext,
): Stage[] {
  const spec: Record<string, Value> = {};
  const fields = args.get('partitionByFields');
  if (args.has('partitionBy')) spec.partitionBy = args.get('partitionBy');
  else if (Array.isArray(fields) && fields.length > 0)
    spec.partitionBy = Doc.of(
      Object.fromEntries(fields.map((f) => [String(f).replaceAll('.', '_'), `$${String(f)}`])),
    );
  if (args.has('sortBy')) spec.sortBy = args.get('sortBy');
  spec.output = new Doc(
    windows.map((w) => w[0]),
    windows.map((w) => w[1]),
  );
  return ([] as Stage[]).concat(
    (windowStages.$setWindowFields as StageBuilder)(Doc.of(spec), context, '$setWindowFields'),
  );
}

export const gapStages: Record<string, StageBuilder> = { $densify: densify, $fill: fill };
