import { entryPaths, type AttributeField } from '../../design/model/document-design';
import { columnProfile } from '../../sqlite/profile/profile';
import { attributesOf, columnFields } from '../../design/model/column-fields';
import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { sameMql } from '../mql/same-mql';
import { documentsOf, replaceStages, type Rule, type RuleContext } from './rule';
import { REASONS } from './reasons';

/**
 * `{home_player_1: 5}` → `{attributes: {$elemMatch: {k: 'home_player_1', v: 5}}}`, and the same for
 * several fields of which one is to have a value, where the documents repeat names and values and
 * one index serves them all.
 */
export const attributeMatch: Rule = {
  name: 'attribute-match',
  apply(pipeline, context) {
    const [first] = pipeline;
    if (!first || !('$match' in first)) return undefined;
    const match = first.$match;
    const best = attributesOf(context.design, context.collection)
      .filter((field) => isIndexed(field, context) && !Object.hasOwn(match, field.name))
      .flatMap((field) =>
        Object.entries(match).flatMap(([key, value]) =>
          asked(key, value, field).map((found) => ({
            field,
            key,
            ...found,
            documents: foundBy(found.names, found.values, context),
          })),
        ),
      )
      .sort((a, b) => a.documents - b.documents)[0];
    if (!best || best.documents >= otherwise(match, context)) return undefined;
    const { field, key, names, test } = best;
    const element: MqlDocument = { k: names.length === 1 ? names[0]! : { $in: names }, v: test };
    const rest = Object.entries(match).map(([other, value]): [string, Mql] =>
      other === key ? [field.name, { $elemMatch: element }] : [other, value],
    );
    return {
      pipeline: replaceStages(pipeline, 0, 1, { $match: Object.fromEntries(rest) }),
      reason: REASONS.attributeMatch(field.name, names),
    };
  },
};

interface Asked {
  readonly names: readonly string[];
  /** What the value of one of them is to be, as a predicate; how many values that is. */
  readonly test: Mql;
  readonly values: number;
}

/**
 * What a clause asks of fields that are repeated: of one a value, or of one of several the same.
 */
function asked(key: string, value: Mql, field: AttributeField): Asked[] {
  if (key !== '$or') {
    const test = isRepeated(key, field) ? constants(value) : undefined;
    return test ? [{ names: [key], ...test }] : [];
  }
  const parts = (Array.isArray(value) ? (value as readonly Mql[]) : []).map((part) =>
    isDocument(part) ? Object.entries(part) : [],
  );
  const [first] = parts;
  const test = first?.[0] && constants(first[0][1]);
  const same = (entries: readonly (readonly [string, Mql])[]): boolean =>
    entries.length === 1 &&
    isRepeated(entries[0]![0], field) &&
    sameMql(entries[0]![1], first![0]![1]);
  return test && parts.every(same)
    ? [{ names: [...new Set(parts.map(([entry]) => entry![0]))], ...test }]
    : [];
}

const isRepeated = (path: string, { fields }: AttributeField): boolean =>
  fields.some(({ name }) => name === path);

/**
 * An equality with what is no null, no pattern and no array: those mean something else of an entry,
 * or are not in it.
 */
function constants(value: Mql): Pick<Asked, 'test' | 'values'> | undefined {
  const isConstant = (one: Mql | undefined): boolean =>
    one !== undefined &&
    one !== null &&
    !Array.isArray(one) &&
    !(one instanceof RegExp) &&
    !isDocument(one);
  if (!isDocument(value)) return isConstant(value) ? { test: value, values: 1 } : undefined;
  const [[operator, operand] = [], ...more] = Object.entries(value);
  if (more.length > 0) return undefined;
  if (operator === '$eq' && isConstant(operand)) return { test: operand!, values: 1 };
  return operator === '$in' &&
    Array.isArray(operand) &&
    operand.length > 0 &&
    (operand as readonly Mql[]).every(isConstant)
    ? { test: value, values: operand.length }
    : undefined;
}

function isIndexed({ name }: AttributeField, { collection, indexes }: RuleContext): boolean {
  const [k, v] = entryPaths(name);
  return (indexes?.[collection] ?? []).some(
    ({ key }) => Object.keys(key)[0] === k && Object.keys(key)[1] === v,
  );
}

/** Documents that the best of the other indexes leaves to read; all where none serves. */
function otherwise(match: MqlDocument, context: RuleContext): number {
  const { collection, indexes, joinedBy } = context;
  const leads = new Set([
    '_id',
    ...(indexes?.[collection] ?? []).map(({ key }) => Object.keys(key)[0]!),
  ]);
  // A join by fields finds its partners by their key, and reads no others.
  const keys = Object.entries(match).concat(joinedBy === undefined ? [] : [[joinedBy, 1]]);
  const rows = documentsOf(context.collection, context);
  return keys
    .filter(([path]) => leads.has(path))
    .reduce(
      (fewest, [path, value]) => Math.min(fewest, documentsWith(path, value, rows, context)),
      rows,
    );
}

/** Documents that a condition on a field leaves, about; all of them where it says little. */
function documentsWith(path: string, value: Mql, rows: number, context: RuleContext): number {
  const equal = constants(value);
  if (equal) return foundBy([path], equal.values, context);
  const isRange = isDocument(value) && !('$ne' in value || '$not' in value || '$nin' in value);
  return isRange ? rows / 3 : rows;
}

/** Documents in which one of these fields has one of so many values. */
function foundBy(paths: readonly string[], values: number, context: RuleContext): number {
  const columns = columnFields(context.design).filter(
    ({ collection }) => collection === context.collection,
  );
  return paths.reduce((sum, path) => {
    const found = columns.find((field) => field.path === path);
    const profile = found && columnProfile(context.profile, found.table, found.column);
    const filled = profile
      ? documentsOf(context.collection, context) - profile.stored.null
      : documentsOf(context.collection, context);
    return sum + (filled * values) / Math.max(1, profile?.distinct ?? 1);
  }, 0);
}
