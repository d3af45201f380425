import type { Mql, MqlDocument } from '../mql/mql';
import type { Pipeline, Stage } from '../mql/stage';
import type { Join, OneRow, PlanNode, PlanNodes, SetOperation } from './plan';

/** The stages that do what the nodes say. */
export const writePlan = (nodes: PlanNodes): Pipeline => nodes.flatMap(stagesOf);

function stagesOf(node: PlanNode): Pipeline {
  switch (node.kind) {
    case 'filter':
      return [{ $match: node.where }];
    case 'compute':
      return [{ $set: node.fields }];
    case 'discard':
      return [{ $unset: node.fields }];
    case 'unwind':
      return [unwindStage(node.path, node.keepsEmpty)];
    case 'join':
      return joinStages(node);
    case 'aggregate':
      return [{ $group: { _id: node.key, ...node.accumulators } }];
    case 'window': {
      const { kind: _, ...window } = node;
      return [{ $setWindowFields: window }];
    }
    case 'sort':
      return [{ $sort: node.keys }];
    case 'skip':
      return [{ $skip: node.rows }];
    case 'limit':
      // $limit must be positive.
      return [node.rows === 0 ? { $match: { $expr: false } } : { $limit: node.rows }];
    case 'set':
      return setStages(node);
    case 'oneRow':
      return oneRowStages(node);
    case 'project':
      return [{ $project: node.fields }];
    case 'replace':
      return [{ $replaceRoot: { newRoot: node.document } }];
    case 'written':
      return [node.stage];
  }
}

const unwindStage = (path: string, keepsEmpty: boolean): Stage => ({
  $unwind: keepsEmpty ? { path: `$${path}`, preserveNullAndEmptyArrays: true } : `$${path}`,
});

function joinStages({ join, scan, key, variables, nodes, as, kept }: Join): Pipeline {
  const pipeline = writePlan(nodes);
  const lookup: Stage = {
    $lookup: {
      from: scan,
      ...key,
      ...(Object.keys(variables).length > 0 && { let: variables }),
      ...((pipeline.length > 0 || !key) && { pipeline }),
      as,
    },
  };
  // One of both is empty: there is nothing twice.
  const together: Pipeline =
    kept === undefined ? [] : [{ $set: { [as]: { $concatArrays: [`$${kept}`, `$${as}`] } } }];
  const partners = [lookup, ...together];
  switch (join) {
    case 'array':
      return partners;
    case 'semi':
      return [...partners, { $match: { [as]: { $ne: [] } } }];
    case 'inner':
      return [...partners, unwindStage(as, false)];
    case 'left':
      return [...partners, unwindStage(as, true)];
  }
}

function setStages({ operator, right, fields, side }: SetOperation): Pipeline {
  const union: Stage = { $unionWith: { coll: right.scan, pipeline: writePlan(right.nodes) } };
  const [only] = fields;
  const isSingle = fields.length === 1 && only !== undefined;
  const key: Mql = isSingle
    ? `$${only}`
    : Object.fromEntries(fields.map((field) => [field, `$${field}`]));
  const restore: Stage = isSingle
    ? { $project: { _id: 0, [only]: '$_id' } }
    : { $replaceRoot: { newRoot: '$_id' } };
  switch (operator) {
    case 'UNION ALL':
      return [union];
    case 'UNION':
      return [union, { $group: { _id: key } }, restore];
    case 'INTERSECT':
      return [
        union,
        { $group: { _id: key, sides: { $addToSet: `$${side}` } } },
        { $match: { sides: { $size: 2 } } },
        restore,
      ];
    case 'EXCEPT':
      return [
        union,
        { $group: { _id: key, [side]: { $max: `$${side}` } } },
        { $match: { [side]: 1 } },
        restore,
      ];
  }
}

/** `$facet` returns a document even for no input. */
function oneRowStages({ nodes, defaults }: OneRow): Pipeline {
  const facet: Stage = { $facet: { rows: writePlan(nodes) } };
  if (defaults.of === 'row')
    return [facet, { $replaceWith: { $mergeObjects: [defaults.fields, { $first: '$rows' }] } }];
  const { field, from, value } = defaults;
  const project: MqlDocument = { [field]: { $ifNull: [{ $first: `$rows.${from}` }, value] } };
  return [facet, { $project: project }];
}
