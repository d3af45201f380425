import { Doc } from '../bson/doc';
import { failedToParse, ServerError } from '../errors';
import { isIntegral } from '../expressions/array';
import { namedArguments } from '../expressions/expression';
import { addNumbers, multiplyNumbers } from '../values/arithmetic';
import { compareValues } from '../values/compare';
import { addUnits, parseUnit, utc, type Unit } from '../values/dates';
import { splitPath } from '../values/path';
import { ValueMap } from '../values/value-map';
import { DateTime, isNullish, isNumeric, toDouble, typeName, type Numeric, type Value } from '../values/value';
import { basicStages, nested, setPath } from './basic';
import { blocking, drain, fromArray, type Stage, type StageBuilder, type StageContext } from './stage';
import { windowStages } from './window';

/** Distance between two generated values, from a base. */
type Step = (base: Value, n: number) => Value;

function stepOf(step: Numeric, unit: Unit | undefined): Step {
  return (base, n) => {
    if (base instanceof DateTime) {
      if (!unit) throw new ServerError(5733201, 'Step must be numeric with a date unit when the field is a date');
      return new DateTime(addUnits(base.ms, unit, toDouble(step) * n, utc));
    }
    if (unit) throw new ServerError(6053600, 'Encountered non-date value in collection when step has a date unit.');
    return addNumbers(base as Numeric, multiplyNumbers(step, n));
  };
}

const MAX_GENERATED = 500_000;

const densify: StageBuilder = (operand, context, name) => {
  const args = namedArguments(operand, name, ['field', 'range'], ['partitionByFields']);
  const field = args.get('field');
  if (typeof field !== 'string' || field === '') throw failedToParse("'field' must be a non-empty string");
  const path = splitPath(field);
  const by = args.get('partitionByFields') ?? [];
  if (!Array.isArray(by) || !by.every((b) => typeof b === 'string')) throw failedToParse("'partitionByFields' must be an array of strings");
  const partitionPaths = (by as string[]).map((p) => splitPath(p));
  const range = namedArguments(args.get('range'), "$densify's range", ['step', 'bounds'], ['unit']);
  const step = range.get('step');
  if (!isNumeric(step) || !(toDouble(step) > 0)) throw new ServerError(5733401, 'the step parameter in a range statement must be a strictly positive numeric value');
  const unitText = range.get('unit');
  const unit = typeof unitText === 'string' ? parseUnit(unitText, name) : undefined;
  if (unit && !isIntegral(step)) throw new ServerError(6586400, 'The step parameter in a range statement must be a whole number when densifying a date range');
  const bounds = range.get('bounds');
  const explicit = Array.isArray(bounds) ? bounds : null;
  if (!explicit && bounds !== 'full' && bounds !== 'partition') throw new ServerError(5946802, "Bounds must be an array of two values, 'full' or 'partition'");
  if (explicit && (explicit.length !== 2 || compareValues(explicit[0], explicit[1]) > 0)) throw new ServerError(5733402, 'a bounding array must contain exactly two elements in ascending order');
  if (bounds === 'partition' && by.length === 0) throw failedToParse("one may not specify the bounds as 'partition' without specifying a non-empty array of partitionByFields");
  const advance = stepOf(step, unit);
  const { checkpoint } = context.scope.environment;
  return blocking(name, (input) => {
    const docs = drain(input, checkpoint);
    const valueOf = (doc: Doc): Value => checkValue(nested(doc, path), field);
    const partitions = new ValueMap<Doc[]>();
    for (const doc of docs) partitions.upsert(partitionPaths.map((p) => nested(doc, p) ?? null), () => []).push(doc);
    if (docs.length === 0 && explicit && by.length === 0) partitions.upsert([], () => []);
    const all = docs.map(valueOf).filter((v) => !isNullish(v)).sort((a, b) => compareValues(a, b));
    const order = partitions.keys.map((key, i) => ({ key: key as Value[], docs: partitions.items[i] as Doc[] }));
    order.sort((a, b) => compareValues(a.key, b.key));
    const out: Doc[] = [];
    for (const { key, docs: members } of order) {
      const sorted = members.map((doc) => ({ doc, value: valueOf(doc) })).sort((a, b) => compareValues(a.value ?? null, b.value ?? null));
      const own = sorted.filter((s) => !isNullish(s.value));
      const [low, high] = explicit ?? (bounds === 'full' ? [all[0], all[all.length - 1]] : [own[0]?.value, own[own.length - 1]?.value]);
      const make = (value: Value): Doc => setPath(partitionPaths.reduce((d, p, i) => (key[i] === null ? d : setPath(d, p, key[i])), Doc.empty()), path, value);
      let n = 0;
      // An explicit range leaves out its end; the others end where the data ends.
      const within = (v: Value): boolean => (explicit ? compareValues(v, high) < 0 : compareValues(v, high) <= 0);
      const generateBefore = (limit: Value | undefined): void => {
        if (low === undefined) return;
        for (let v = advance(low, n); within(v) && (limit === undefined || compareValues(v, limit) < 0); v = advance(low, ++n)) {
          out.push(make(v));
          if (out.length > MAX_GENERATED + docs.length) throw new ServerError(5897900, `Generated ${MAX_GENERATED} documents in $densify, which is over the limit`);
          if ((out.length & 1023) === 0) checkpoint();
        }
        if (limit !== undefined && within(advance(low, n)) && compareValues(advance(low, n), limit) === 0) n++;
      };
      for (const { doc, value } of sorted) {
        if (!isNullish(value)) generateBefore(value);
        out.push(doc);
      }
      generateBefore(undefined);
    }
    return fromArray(out);
  });
};

function checkValue(v: Value, field: string): Value {
  if (isNullish(v) || isNumeric(v) || v instanceof DateTime) return v;
  throw new ServerError(5733201, `Densify field type must be numeric or a date, but '${field}' is ${typeName(v)}`);
}

/** `$fill` is `$setWindowFields` and `$addFields` under another name. */
const fill: StageBuilder = (operand, context, name) => {
  const args = namedArguments(operand, name, ['output'], ['partitionBy', 'partitionByFields', 'sortBy']);
  const output = args.get('output');
  if (!(output instanceof Doc) || output.size === 0) throw failedToParse("the 'output' field of $fill must be a non-empty object");
  if (args.has('partitionBy') && args.has('partitionByFields')) throw new ServerError(6050204, 'Maximum one of partitionBy and partitionByFields can be specified in $fill');
  const windows: [string, Value][] = [];
  const values: [string, Value][] = [];
  output.keys.forEach((field, i) => {
    const spec = output.values[i];
    if (!(spec instanceof Doc) || spec.size !== 1) throw new ServerError(6050202, `Each fill output needs exactly one of 'value' and 'method': ${field}`);
    if (spec.has('value')) values.push([field, Doc.of({ $ifNull: [`$${field}`, spec.get('value')] })]);
    else if (spec.get('method') === 'locf') windows.push([field, Doc.of({ $locf: `$${field}` })]);
    else if (spec.get('method') === 'linear') windows.push([field, Doc.of({ $linearFill: `$${field}` })]);
    else throw new ServerError(6050202, 'Method must be either locf or linear');
  });
  if (windows.length > 0 && !args.has('sortBy')) throw new ServerError(9, "$fill with a 'method' requires a sortBy");
  const stages: Stage[] = [];
  if (windows.length > 0) stages.push(...windowStage(windows, args, context));
  if (values.length > 0) stages.push(...([] as Stage[]).concat((basicStages.$addFields as StageBuilder)(new Doc(values.map((v) => v[0]), values.map((v) => v[1])), context, '$addFields')));
  return stages;
};

function windowStage(windows: readonly [string, Value][], args: ReadonlyMap<string, Value>, context: StageContext): Stage[] {
  const spec: Record<string, Value> = {};
  const fields = args.get('partitionByFields');
  if (args.has('partitionBy')) spec.partitionBy = args.get('partitionBy');
  else if (Array.isArray(fields) && fields.length > 0) spec.partitionBy = Doc.of(Object.fromEntries(fields.map((f) => [String(f).replaceAll('.', '_'), `$${String(f)}`])));
  spec.sortBy = args.get('sortBy');
  spec.output = new Doc(windows.map((w) => w[0]), windows.map((w) => w[1]));
  return ([] as Stage[]).concat((windowStages.$setWindowFields as StageBuilder)(Doc.of(spec), context, '$setWindowFields'));
}

export const gapStages: Record<string, StageBuilder> = { $densify: densify, $fill: fill };
