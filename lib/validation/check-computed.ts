import type { Db } from 'mongodb';
import type { ComputedField } from '../design/model/document-design';
import type { Placement } from '../design/model/placement';
import { identity, invertTransform } from '../design/model/transform';
import { equalWithin } from '../results/equality';
import { fromBson, type Value } from '../results/value';
import type { Relationship } from '../sqlite/profile/profile';
import {
  claim,
  filled,
  keyOf,
  placeName,
  required,
  rowsOf,
  type ReferenceCheck,
} from './reference-check';
import { SqlAggregate } from './sql-aggregate';

const READ = {
  promoteValues: false,
  promoteLongs: false,
  allowDiskUse: true,
  batchSize: 2000,
} as const;

/** Every computed value equals the aggregate over the child documents as they are. */
export async function checkComputed(
  relationship: Relationship,
  path: string,
  field: ComputedField,
  holder: Placement,
  children: Placement,
  db: Db,
): Promise<ReferenceCheck> {
  const own = field.join.map((pair) => required(holder, pair.parent).path);
  const theirs = field.join.map((pair) => required(children, pair.child).path);
  const value = field.column === undefined ? undefined : required(children, field.column);
  const keys = (paths: readonly string[]): Record<string, string> =>
    Object.fromEntries(paths.map((at, n) => [`k${n}`, `$${at}`]));
  const fromPipeline = [...rowsOf(holder), { $project: { _id: 0, ...keys(own), v: `$${path}` } }];
  const toPipeline = [
    ...rowsOf(children),
    filled(theirs),
    { $project: { _id: 0, ...keys(theirs), ...(value ? { v: `$${value.path}` } : {}) } },
  ];
  const by = keyOf(relationship.sameStorage);
  const keyIn = (document: Record<string, unknown>): Value[] =>
    own.map((_, n) => fromBson(document[`k${n}`]));

  const aggregates = new Map<string, SqlAggregate>();
  for await (const document of db.collection(children.collection).aggregate(toPipeline, READ)) {
    const key = by(keyIn(document));
    let aggregate = aggregates.get(key);
    if (!aggregate) aggregates.set(key, (aggregate = new SqlAggregate(field.aggregate)));
    aggregate.add(value ? invertTransform(value.transform, fromBson(document.v)) : 1n);
  }
  let distinctValues = 0;
  const violating: Value[][] = [];
  const none = new SqlAggregate(field.aggregate);
  for await (const document of db.collection(holder.collection).aggregate(fromPipeline, READ)) {
    distinctValues++;
    const stored = invertTransform(identity, fromBson(document.v));
    const expected = (aggregates.get(by(keyIn(document))) ?? none).results();
    if (!expected.some((result) => equalWithin(result, stored)))
      violating.push([...keyIn(document), stored, expected[0]!]);
  }
  const what = `${field.aggregate} of ${field.column ?? 'rows'}`;
  return claim(
    {
      relationship: `${relationship.id}, ${what} in ${field.name}`,
      from: `${holder.collection}.${path}`,
      to: placeName(children),
      fromPipeline,
      toPipeline,
      distinctValues,
    },
    violating,
  );
}
