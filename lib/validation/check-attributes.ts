import type { Db, Document } from 'mongodb';
import type { AttributeField } from '../design/model/document-design';
import type { Placement } from '../design/model/placement';
import { fromBson, type Value } from '../results/value';
import { claim, placeName, type ReferenceCheck } from './reference-check';

/**
 * Both directions between an array of names and values and the fields that it repeats, within each
 * document.
 */
export async function checkAttributes(
  path: string,
  field: AttributeField,
  holder: Placement,
  db: Db,
): Promise<ReferenceCheck[]> {
  const own = field.fields.map(({ name }) => ({ k: { $literal: name }, v: `$${name}` }));
  // A field that is missing sorts before null, so that neither counts as filled.
  const filled = { $filter: { input: own, cond: { $gt: ['$$this.v', null] } } };
  const entries = { $cond: [{ $isArray: `$${path}` }, `$${path}`, []] };
  const repeated = await documentsWith({ $setDifference: [entries, filled] });
  const complete = await documentsWith({
    $concatArrays: [
      { $setDifference: [filled, entries] },
      {
        $cond: [
          { $gt: [{ $size: entries }, { $size: filled }] },
          [{ tooMany: { $size: entries } }],
          [],
        ],
      },
    ],
  });
  return [
    repeated(`every entry of ${path} is a field’s name and value`),
    complete(`every value of ${field.fields.length} fields has its one entry in ${path}`),
  ];

  async function documentsWith(wrong: Document): Promise<(what: string) => ReferenceCheck> {
    const fromPipeline = [{ $project: { wrong } }, { $match: { wrong: { $ne: [] } } }];
    const violating: Value[][] = [];
    for await (const document of db
      .collection(holder.collection)
      .aggregate(fromPipeline, { promoteValues: false, promoteLongs: false }))
      violating.push([fromBson(document._id), fromBson(document.wrong)]);
    const distinctValues = await db.collection(holder.collection).countDocuments();
    return (what) =>
      claim(
        {
          relationship: `${holder.table}: ${what}`,
          from: `${holder.collection}.${path}`,
          to: placeName(holder),
          fromPipeline,
          toPipeline: [{ $project: { own: filled } }],
          distinctValues,
        },
        violating,
      );
  }
}
