import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { ColumnField } from '../../design/document-design';
import { deriveDesign } from '../../design/logical';
import { proposeDesign } from '../../design/propose';
import { catalogOf } from '../../sqlite/schema/introspect';
import { profileDatabase } from '../../sqlite/profile/profile-database';
import type { MqlDocument } from '../mql/mql';
import { optimise, RULES } from './optimise';
import type { RuleContext } from './rule';

const sqlite = new Database(':memory:');
sqlite.defaultSafeIntegers(true);
sqlite.exec(`CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team_id INTEGER REFERENCES team(id), mentor INTEGER REFERENCES team(id), age INTEGER);
  CREATE TABLE goal (player_id INTEGER REFERENCES player(id), minute INTEGER, kind TEXT);
  INSERT INTO team VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'); INSERT INTO player VALUES (1, 'x', 1, NULL, 20), (2, 'y', 2, 1, 30), (3, 'z', 1, 2, 40), (4, 'w', 3, 1, 50), (5, 'v', 4, NULL, 60), (6, 'u', 2, NULL, 70);
  INSERT INTO goal VALUES (1, 5, 'head'), (1, 7, 'foot'), (2, 9, 'foot');`);
const catalog = catalogOf(sqlite, { name: 'memory', sha256: '', descriptions: {} });
const profile = profileDatabase(sqlite, catalog);
const conceptual = proposeDesign({
  catalog,
  profile,
  workload: { database: 'memory', patterns: [], unread: [] },
  strategy: 'access-pattern',
  limits: { maxArrayP99: 100, maxArray: 1000 },
  directives: ['player(team_id)->team(id)', 'player(mentor)->team(id)'].map((relationship) => ({
    kind: 'relationship',
    relationship,
    choice: 'reference',
  })),
}).design;
const design = deriveDesign({ conceptual, catalog, profile, directives: [] });
const context = { collection: 'player', catalog, profile, design };
/** Players whose documents repeat ages and names as an array, with its index and one by mentor. */
const repeated = {
  ...design,
  logical: design.logical.map((logical) =>
    logical.collection === 'player'
      ? {
          ...logical,
          fields: [
            ...logical.fields,
            {
              kind: 'attribute' as const,
              name: 'attributes',
              fields: logical.fields.filter(
                (field): field is ColumnField =>
                  field.kind === 'column' && ['name', 'age', 'mentor'].includes(field.name),
              ),
            },
          ],
        }
      : logical,
  ),
};
const indexed = {
  design: repeated,
  indexes: {
    player: [
      { key: { 'attributes.k': 1 as const, 'attributes.v': 1 as const }, reason: '' },
      { key: { mentor: 1 as const }, reason: '' },
    ],
  },
};
/** Some rules pay on large collections only. */
const LARGE = new Set(['match-before-unwind']);
const large = {
  ...profile,
  tables: profile.tables.map((table) => ({ ...table, rowCount: table.rowCount * 1000 })),
};

const team: readonly MqlDocument[] = [
  { $lookup: { from: 'team', localField: 'team_id', foreignField: '_id', as: 'team' } },
  { $unwind: '$team' },
];
const mentor: readonly MqlDocument[] = [
  { $lookup: { from: 'team', localField: 'mentor', foreignField: '_id', as: 'team' } },
  { $unwind: '$team' },
];

interface Fixture {
  readonly rule: string;
  readonly title: string;
  readonly before: readonly MqlDocument[];
  /** The same as `before` where the rule must not apply. */
  readonly after: readonly MqlDocument[];
  /** The collections before and after, where they are not `player`. */
  readonly collections?: readonly [string, string];
  readonly more?: Partial<RuleContext>;
}
const unchanged = (rule: string, title: string, pipeline: readonly MqlDocument[]): Fixture => ({
  rule,
  title,
  before: pipeline,
  after: pipeline,
});

const FIXTURES: readonly Fixture[] = [
  {
    rule: 'merge-matches',
    title: 'joins filters',
    before: [{ $match: { age: { $gt: 1 } } }, { $match: { name: 'x', age: { $lt: 9 } } }],
    after: [{ $match: { age: { $gt: 1, $lt: 9 }, name: 'x' } }],
  },
  {
    rule: 'merge-matches',
    title: 'keeps the narrower bound',
    before: [{ $match: { age: { $gt: 0 }, name: 'x' } }, { $match: { age: { $gt: 9 } } }],
    after: [{ $match: { name: 'x', age: { $gt: 9 } } }],
  },
  {
    rule: 'merge-matches',
    title: 'keeps a bound that the other lets through',
    before: [{ $match: { age: { $gt: 9 } } }, { $match: { age: { $gte: 9 } } }],
    after: [{ $match: { age: { $gt: 9, $gte: 9 } } }],
  },
  {
    rule: 'merge-matches',
    title: 'keeps two conditions on one operator apart',
    before: [{ $match: { age: { $ne: 1 } } }, { $match: { age: { $ne: 2 } } }],
    after: [{ $match: { age: { $ne: 1 }, $and: [{ age: { $ne: 2 } }] } }],
  },
  {
    rule: 'match-early',
    title: 'moves the part that does not read the array',
    before: [{ $unwind: '$goal' }, { $match: { name: 'x', 'goal.kind': 'head' } }],
    after: [{ $match: { name: 'x' } }, { $unwind: '$goal' }, { $match: { 'goal.kind': 'head' } }],
  },
  unchanged('match-early', 'leaves a filter on what the stage adds', [
    { $set: { late: { $gt: ['$age', 3] } } },
    { $match: { late: true } },
  ]),
  unchanged('match-early', 'does not pass $limit', [{ $limit: 2 }, { $match: { name: 'x' } }]),
  {
    rule: 'count-stage',
    title: 'counts',
    before: [{ $group: { _id: null, n: { $sum: 1 } } }, { $project: { _id: 0, goals: '$n' } }],
    after: [{ $count: 'goals' }],
  },
  unchanged('count-stage', 'leaves groups', [
    { $group: { _id: '$age', n: { $sum: 1 } } },
    { $project: { _id: 0, n: 1 } },
  ]),
  {
    rule: 'facet-count',
    title: 'counts inside a guard',
    before: [
      { $facet: { rows: [{ $group: { _id: null, n: { $sum: 1 } } }] } },
      { $project: { n: { $ifNull: [{ $first: '$rows.n' }, 0] } } },
    ],
    after: [
      { $facet: { rows: [{ $count: 'n' }] } },
      { $project: { n: { $ifNull: [{ $first: '$rows.n' }, 0] } } },
    ],
  },
  {
    rule: 'implied-presence',
    title: 'asks for what is inside alone',
    before: [
      { $match: { team: { $ne: null }, 'team.name': { $in: ['a', 'b'] } } },
      { $count: 'n' },
    ],
    after: [{ $match: { 'team.name': { $in: ['a', 'b'] } } }, { $count: 'n' }],
  },
  unchanged('implied-presence', 'not where an absent value passes', [
    { $match: { team: { $ne: null }, 'team.name': { $ne: 'a' } } },
    { $count: 'n' },
  ]),
  {
    rule: 'plain-aggregate',
    title: 'counts without a default',
    before: [
      { $match: { age: 3 } },
      { $facet: { rows: [{ $count: 'n' }] } },
      { $project: { n: { $ifNull: [{ $first: '$rows.n' }, 0] } } },
    ],
    after: [{ $match: { age: 3 } }, { $count: 'n' }],
  },
  {
    rule: 'plain-aggregate',
    title: 'hides the _id of a group',
    before: [
      { $facet: { rows: [{ $group: { _id: null, m: { $max: '$age' } } }] } },
      { $project: { oldest: { $ifNull: [{ $first: '$rows.m' }, null] } } },
    ],
    after: [{ $group: { _id: null, m: { $max: '$age' } } }, { $project: { _id: 0, oldest: '$m' } }],
  },
  {
    rule: 'plain-aggregate',
    title: 'needs no defaults of several fields',
    before: [
      {
        $facet: {
          rows: [
            { $group: { _id: null, n: { $sum: 1 }, m: { $max: '$age' } } },
            { $project: { _id: 0, n: 1, m: 1 } },
          ],
        },
      },
      { $replaceWith: { $mergeObjects: [{ n: 0, m: null }, { $first: '$rows' }] } },
    ],
    after: [
      { $group: { _id: null, n: { $sum: 1 }, m: { $max: '$age' } } },
      { $project: { _id: 0, n: 1, m: 1 } },
    ],
  },
  unchanged('plain-aggregate', 'leaves facets of another kind', [
    { $facet: { rows: [{ $count: 'n' }], all: [{ $limit: 3 }] } },
    { $project: { n: { $ifNull: [{ $first: '$rows.n' }, 0] } } },
  ]),
  {
    rule: 'lookup-by-fields',
    title: 'finds partners by a field',
    before: [
      {
        $lookup: {
          from: 'player',
          let: { id: '$_id' },
          pipeline: [
            { $match: { age: { $gt: 3 }, $expr: { $eq: ['$team_id', '$$id'] } } },
            { $limit: 1 },
          ],
          as: 'player',
        },
      },
      { $match: { player: [] } },
    ],
    after: [
      {
        $lookup: {
          from: 'player',
          localField: '_id',
          foreignField: 'team_id',
          pipeline: [{ $match: { age: { $gt: 3 } } }, { $limit: 1 }],
          as: 'player',
        },
      },
      { $match: { player: [] } },
    ],
    collections: ['team', 'team'],
  },
  {
    rule: 'lookup-by-fields',
    title: 'asks whether there is an entry without unwinding',
    before: [
      {
        $lookup: {
          from: 'player',
          let: { id: '$_id' },
          pipeline: [
            { $match: { age: 3 } },
            { $unwind: '$goal' },
            { $match: { $expr: { $eq: ['$$id', '$goal.minute'] } } },
            { $limit: 1 },
          ],
          as: 'player',
        },
      },
      { $match: { player: { $ne: [] } } },
    ],
    after: [
      {
        $lookup: {
          from: 'player',
          localField: '_id',
          foreignField: 'goal.minute',
          pipeline: [{ $match: { age: 3 } }, { $limit: 1 }],
          as: 'player',
        },
      },
      { $match: { player: { $ne: [] } } },
    ],
    collections: ['team', 'team'],
  },
  {
    ...unchanged('lookup-by-fields', 'not where the entries come out', [
      {
        $lookup: {
          from: 'player',
          let: { id: '$_id' },
          pipeline: [
            { $unwind: '$goal' },
            { $match: { $expr: { $eq: ['$$id', '$goal.minute'] } } },
          ],
          as: 'player',
        },
      },
    ]),
    collections: ['team', 'team'],
  },
  {
    ...unchanged('lookup-by-fields', 'not where the entry is filtered as well', [
      {
        $lookup: {
          from: 'player',
          let: { id: '$_id' },
          pipeline: [
            { $unwind: '$goal' },
            { $match: { 'goal.kind': 'head', $expr: { $eq: ['$$id', '$goal.minute'] } } },
            { $limit: 1 },
          ],
          as: 'player',
        },
      },
    ]),
    collections: ['team', 'team'],
  },
  {
    ...unchanged('lookup-by-fields', 'not by a field that may be null', [
      {
        $lookup: {
          from: 'player',
          let: { id: '$_id' },
          pipeline: [{ $match: { $expr: { $eq: ['$mentor', '$$id'] } } }],
          as: 'player',
        },
      },
    ]),
    collections: ['team', 'team'],
  },
  {
    rule: 'lookup-direction',
    title: 'starts from the side that is filtered',
    before: [
      ...team,
      { $match: { 'team.name': 'a' } },
      { $sort: { age: 1 } },
      { $project: { _id: 0, name: 1, t: '$team.name' } },
    ],
    after: [
      { $match: { name: 'a' } },
      { $lookup: { from: 'player', localField: '_id', foreignField: 'team_id', as: 'player' } },
      { $unwind: '$player' },
      { $sort: { 'player.age': 1 } },
      { $project: { _id: 0, name: '$player.name', t: '$name' } },
    ],
    collections: ['player', 'team'],
  },
  {
    rule: 'lookup-direction',
    title: 'turns a test for a partner round',
    before: [
      {
        $lookup: {
          from: 'team',
          localField: 'team_id',
          foreignField: '_id',
          pipeline: [{ $match: { name: 'a' } }, { $limit: 1 }],
          as: 'team',
        },
      },
      { $match: { team: { $ne: [] } } },
      { $group: { _id: '$age', n: { $sum: 1 } } },
    ],
    after: [
      { $match: { name: 'a' } },
      { $group: { _id: '$_id' } },
      { $lookup: { from: 'player', localField: '_id', foreignField: 'team_id', as: 'player' } },
      { $unwind: '$player' },
      { $group: { _id: '$player.age', n: { $sum: 1 } } },
    ],
    collections: ['player', 'team'],
  },
  {
    rule: 'lookup-direction',
    title: 'looks into facets that only count',
    before: [
      ...team,
      { $match: { 'team.name': 'a' } },
      { $facet: { rows: [{ $group: { _id: '$age', n: { $sum: 1 } } }] } },
    ],
    after: [
      { $match: { name: 'a' } },
      { $lookup: { from: 'player', localField: '_id', foreignField: 'team_id', as: 'player' } },
      { $unwind: '$player' },
      { $facet: { rows: [{ $group: { _id: '$player.age', n: { $sum: 1 } } }] } },
    ],
    collections: ['player', 'team'],
  },
  unchanged('lookup-direction', 'not where a facet cuts rows off', [
    ...team,
    { $match: { 'team.name': 'a' } },
    { $facet: { rows: [{ $limit: 3 }, { $count: 'n' }] } },
  ]),
  unchanged('lookup-direction', 'not where the order of the rows decides', [
    ...team,
    { $match: { 'team.name': 'a' } },
    { $limit: 1 },
    { $project: { name: 1 } },
  ]),
  unchanged('lookup-direction', 'not where both sides are filtered', [
    ...team,
    { $match: { 'team.name': 'a', age: { $gt: 3 } } },
    { $project: { name: 1 } },
  ]),
  unchanged('lookup-direction', 'not where the whole row comes out', [
    ...team,
    { $match: { 'team.name': 'a' } },
  ]),
  {
    ...unchanged('lookup-direction', 'not towards the larger side', [
      { $lookup: { from: 'player', localField: '_id', foreignField: 'team_id', as: 'player' } },
      { $unwind: '$player' },
      { $match: { 'player.age': { $gt: 3 } } },
      { $project: { name: 1 } },
    ]),
    collections: ['team', 'team'],
  },
  {
    rule: 'lookup-key',
    title: 'reads the local key',
    before: [
      ...team,
      { $match: { 'team._id': 1, 'team.name': 'a' } },
      { $project: { id: '$team._id' } },
    ],
    after: [
      ...team,
      { $match: { team_id: 1, 'team.name': 'a' } },
      { $project: { id: '$team_id' } },
    ],
  },
  unchanged('lookup-key', 'not behind an outer join', [
    { $lookup: { from: 'team', localField: 'team_id', foreignField: '_id', as: 'team' } },
    { $unwind: { path: '$team', preserveNullAndEmptyArrays: true } },
    { $match: { 'team._id': 1 } },
  ]),
  {
    rule: 'drop-lookup',
    title: 'drops a join that nobody reads',
    before: [...team, { $project: { _id: 0, name: 1 } }],
    after: [{ $project: { _id: 0, name: 1 } }],
  },
  {
    rule: 'drop-lookup',
    title: 'keeps out rows without a key',
    before: [...mentor, { $count: 'n' }],
    after: [{ $match: { mentor: { $ne: null } } }, { $count: 'n' }],
  },
  unchanged('drop-lookup', 'keeps a join whose fields come out', [...team]),
  {
    rule: 'drop-lookup',
    title: 'drops a set that nobody reads',
    before: [{ $lookup: { from: 'team', pipeline: [], as: 'all' } }, { $count: 'n' }],
    after: [{ $count: 'n' }],
  },
  {
    rule: 'expr-to-predicate',
    title: 'makes equality a predicate',
    before: [
      { $match: { $expr: { $and: [{ $eq: ['$name', 'x'] }, { $gt: ['$age', '$team_id'] }] } } },
    ],
    after: [{ $match: { name: 'x', $expr: { $gt: ['$age', '$team_id'] } } }],
  },
  {
    rule: 'expr-to-predicate',
    title: 'makes alternatives predicates',
    before: [
      { $match: { $expr: { $or: [{ $eq: [3, '$age'] }, { $in: ['$name', ['x', 'y']] }] } } },
    ],
    after: [{ $match: { $or: [{ age: 3 }, { name: { $in: ['x', 'y'] } }] } }],
  },
  unchanged('expr-to-predicate', 'leaves alternatives of which one is none', [
    { $match: { $expr: { $or: [{ $eq: [3, '$age'] }, { $gt: ['$age', '$team_id'] }] } } },
  ]),
  unchanged('expr-to-predicate', 'leaves comparisons with null and across types', [
    { $match: { $expr: { $and: [{ $eq: ['$name', null] }, { $lt: ['$age', 3] }] } } },
  ]),
  {
    rule: 'unwind-count',
    title: 'takes the size',
    before: [
      { $unwind: '$goal' },
      { $group: { _id: '$name', n: { $sum: 1 }, age: { $first: '$age' } } },
    ],
    after: [
      { $match: { goal: { $ne: [] } } },
      { $group: { _id: '$name', n: { $sum: { $size: '$goal' } }, age: { $first: '$age' } } },
    ],
  },
  unchanged('unwind-count', 'leaves what reads the entries', [
    { $unwind: '$goal' },
    { $group: { _id: '$goal.kind', n: { $sum: 1 } } },
  ]),
  {
    rule: 'unwind-fold',
    title: 'adds up each array',
    before: [
      { $unwind: '$goal' },
      {
        $group: {
          _id: '$name',
          sum: { $sum: '$goal.minute' },
          last: { $max: '$goal.minute' },
          n: { $sum: 1 },
        },
      },
    ],
    after: [
      { $match: { goal: { $ne: [] } } },
      {
        $group: {
          _id: '$name',
          sum: { $sum: { $sum: '$goal.minute' } },
          last: { $max: { $max: '$goal.minute' } },
          n: { $sum: { $size: '$goal' } },
        },
      },
    ],
  },
  {
    rule: 'unwind-fold',
    title: 'averages the array of the one document',
    before: [{ $unwind: '$goal' }, { $group: { _id: '$_id', mean: { $avg: '$goal.minute' } } }],
    after: [
      { $match: { goal: { $ne: [] } } },
      { $group: { _id: '$_id', mean: { $avg: { $avg: '$goal.minute' } } } },
    ],
  },
  {
    rule: 'match-before-unwind',
    title: 'leaves out what no entry can pass',
    before: [
      { $unwind: '$goal' },
      { $match: { 'goal.kind': 'foot', 'goal.minute': { $gt: 3 } } },
      { $count: 'n' },
    ],
    after: [
      { $match: { goal: { $elemMatch: { kind: 'foot', minute: { $gt: 3 } } } } },
      { $unwind: '$goal' },
      { $match: { 'goal.kind': 'foot', 'goal.minute': { $gt: 3 } } },
      { $count: 'n' },
    ],
  },
  {
    rule: 'match-before-unwind',
    title: 'asks for one field by its path',
    before: [
      { $match: { age: 3 } },
      { $unwind: '$goal' },
      { $match: { 'goal.kind': 'foot' } },
      { $count: 'n' },
    ],
    after: [
      { $match: { age: 3 } },
      { $match: { 'goal.kind': 'foot' } },
      { $unwind: '$goal' },
      { $match: { 'goal.kind': 'foot' } },
      { $count: 'n' },
    ],
  },
  unchanged('match-before-unwind', 'not where an absent value passes', [
    { $unwind: '$goal' },
    { $match: { 'goal.kind': { $ne: 'foot' } } },
    { $count: 'n' },
  ]),
  unchanged('match-before-unwind', 'not twice', [
    { $match: { 'goal.kind': 'foot' } },
    { $unwind: '$goal' },
    { $match: { 'goal.kind': 'foot' } },
    { $count: 'n' },
  ]),
  unchanged('unwind-fold', 'leaves averages and expressions', [
    { $unwind: '$goal' },
    { $group: { _id: '$name', mean: { $avg: '$goal.minute' }, sum: { $sum: '$goal.minute' } } },
  ]),
  {
    rule: 'top-of-group',
    title: 'takes the row of the extreme',
    before: [
      { $sort: { age: -1 } },
      { $group: { _id: '$team_id', name: { $first: '$name' }, oldest: { $max: '$age' } } },
    ],
    after: [
      {
        $group: {
          _id: '$team_id',
          name: { $top: { sortBy: { age: -1 }, output: '$name' } },
          oldest: { $max: '$age' },
        },
      },
    ],
  },
  unchanged('top-of-group', 'leaves lists, whose order counts', [
    { $sort: { age: -1 } },
    { $group: { _id: '$team_id', name: { $first: '$name' }, all: { $push: '$name' } } },
  ]),
  {
    rule: 'elem-match',
    title: 'asks for one entry',
    before: [
      { $unwind: '$goal' },
      { $match: { 'goal.kind': 'foot', 'goal.minute': { $gt: 3 } } },
      { $group: { _id: '$name' } },
    ],
    after: [
      { $match: { goal: { $elemMatch: { kind: 'foot', minute: { $gt: 3 } } } } },
      { $group: { _id: '$name' } },
    ],
  },
  unchanged('elem-match', 'counts every entry', [
    { $unwind: '$goal' },
    { $match: { 'goal.kind': 'foot' } },
    { $group: { _id: '$name', n: { $sum: 1 } } },
  ]),
  {
    rule: 'group-by-id',
    title: 'needs no group',
    before: [
      { $match: { age: 3 } },
      { $group: { _id: '$_id' } },
      { $project: { _id: 0, id: '$_id' } },
    ],
    after: [{ $match: { age: 3 } }, { $project: { _id: 0, id: '$_id' } }],
  },
  unchanged('group-by-id', 'needs one behind an array', [
    { $unwind: '$goal' },
    { $group: { _id: '$_id' } },
  ]),
  {
    rule: 'group-by-key',
    title: 'reads the one document',
    before: [
      { $match: { age: 3 } },
      {
        $group: {
          _id: '$_id',
          name: { $first: '$name' },
          n: { $sum: { $size: '$goal' } },
          age: { $sum: '$age' },
        },
      },
      { $sort: { age: -1 } },
      { $limit: 1 },
      { $project: { _id: 0, name: '$name', n: '$n' } },
    ],
    after: [
      { $match: { age: 3 } },
      { $sort: { age: -1 } },
      { $limit: 1 },
      { $project: { _id: 0, name: 1, n: { $size: '$goal' } } },
    ],
  },
  {
    rule: 'group-by-key',
    title: 'leaves a $project where a later stage reads a computed value',
    before: [
      { $group: { _id: '$name', n: { $sum: { $size: '$goal' } } } },
      { $match: { n: { $gt: 1 } } },
      { $project: { _id: 0, name: '$_id' } },
    ],
    after: [
      { $project: { _id: '$name', n: { $size: '$goal' } } },
      { $match: { n: { $gt: 1 } } },
      { $project: { _id: 0, name: '$_id' } },
    ],
  },
  unchanged('group-by-key', 'not where rows share the key', [
    { $group: { _id: '$age', n: { $sum: 1 }, team: { $addToSet: '$team_id' } } },
  ]),
  unchanged('group-by-key', 'not behind an array', [
    { $unwind: '$goal' },
    { $group: { _id: '$_id', n: { $sum: '$goal.minute' } } },
  ]),
  unchanged('group-by-key', 'not a list', [{ $group: { _id: '$_id', all: { $push: '$name' } } }]),
  {
    rule: 'sort-limit-early',
    title: 'joins only what stays',
    before: [...team, { $sort: { age: -1 } }, { $limit: 1 }, { $project: { t: '$team.name' } }],
    after: [{ $sort: { age: -1 } }, { $limit: 1 }, ...team, { $project: { t: '$team.name' } }],
  },
  unchanged('sort-limit-early', 'not where the join drops rows', [
    ...mentor,
    { $sort: { age: -1 } },
    { $limit: 1 },
    { $project: { t: '$team.name' } },
  ]),
  ...[
    {
      title: 'asks for a name and its value',
      before: { name: 'x' },
      after: { attributes: { $elemMatch: { k: 'name', v: 'x' } } },
    },
    {
      title: 'keeps what else is asked',
      before: { age: { $gt: 5 }, name: { $in: ['x', 'y'] }, _id: { $ne: 3 } },
      after: {
        age: { $gt: 5 },
        attributes: { $elemMatch: { k: 'name', v: { $in: ['x', 'y'] } } },
        _id: { $ne: 3 },
      },
    },
    {
      title: 'asks for one of several names',
      before: { $or: [{ name: 3 }, { age: 3 }] },
      after: { attributes: { $elemMatch: { k: { $in: ['name', 'age'] }, v: 3 } } },
    },
    {
      title: 'takes the narrowest of several',
      before: { age: 20, name: { $in: ['x', 'y', 'z'] } },
      after: { attributes: { $elemMatch: { k: 'age', v: 20 } }, name: { $in: ['x', 'y', 'z'] } },
    },
    {
      title: 'asks for a date',
      before: { name: new Date(5) },
      after: { attributes: { $elemMatch: { k: 'name', v: new Date(5) } } },
    },
  ].map(({ title, before, after }): Fixture => ({
    rule: 'attribute-match',
    title,
    before: [{ $match: before }, { $count: 'n' }],
    after: [{ $match: after }, { $count: 'n' }],
    more: indexed,
  })),
  ...[
    ['null is not in it', { name: null }],
    ['nor is what is in a list with null', { name: { $in: ['x', null] } }],
    ['a pattern', { name: /^x/ }],
    ['an array', { name: ['x'] }],
    ['a negation', { name: { $ne: 'x' } }],
    ['a range', { age: { $gt: 3 } }],
    ['another field', { team_id: 1 }],
    ['different values', { $or: [{ name: 3 }, { age: 4 }] }],
    ['an alternative that is not repeated', { $or: [{ name: 3 }, { team_id: 3 }] }],
    ['an alternative of two conditions', { $or: [{ name: 3 }, { age: 3, team_id: 1 }] }],
    ['what the key finds', { _id: 1, name: 'x' }],
    ['what an index of its own finds', { mentor: 1 }],
    [
      'what is asked of the array already',
      { name: 'x', attributes: { $elemMatch: { k: 'age', v: 3 } } },
    ],
  ].map(([title, match]): Fixture => ({
    ...unchanged('attribute-match', `not: ${title as string}`, [
      { $match: match as MqlDocument },
      { $count: 'n' },
    ]),
    more: indexed,
  })),
  {
    ...unchanged('attribute-match', 'not without its index', [
      { $match: { name: 'x' } },
      { $count: 'n' },
    ]),
    more: { design: repeated, indexes: { player: [{ key: { 'attributes.k': 1 }, reason: '' }] } },
  },
  {
    ...unchanged('attribute-match', 'not behind another stage', [
      { $limit: 3 },
      { $match: { name: 'x' } },
      { $count: 'n' },
    ]),
    more: indexed,
  },
  {
    rule: 'attribute-match',
    title: 'in the pipeline of a lookup',
    before: [
      {
        $lookup: {
          from: 'player',
          pipeline: [{ $match: { name: 'x' } }, { $limit: 1 }],
          as: 'player',
        },
      },
      { $match: { player: [] } },
    ],
    after: [
      {
        $lookup: {
          from: 'player',
          pipeline: [
            { $match: { attributes: { $elemMatch: { k: 'name', v: 'x' } } } },
            { $limit: 1 },
          ],
          as: 'player',
        },
      },
      { $match: { player: [] } },
    ],
    collections: ['team', 'team'],
    more: indexed,
  },
  {
    ...unchanged('attribute-match', 'not where a lookup finds its partners by a key', [
      {
        $lookup: {
          from: 'player',
          localField: 'x',
          foreignField: '_id',
          pipeline: [{ $match: { name: 'x' } }, { $limit: 1 }],
          as: 'player',
        },
      },
      { $match: { player: [] } },
    ]),
    collections: ['team', 'team'],
    more: indexed,
  },
  {
    rule: 'merge-projects',
    title: 'reads through',
    before: [{ $project: { _id: 0, n: '$name', t: '$team.name' } }, { $group: { _id: '$n' } }],
    after: [{ $group: { _id: '$name' } }],
  },
  {
    rule: 'merge-projects',
    title: 'keeps the last names',
    before: [
      { $project: { _id: 0, a: '$x.y', b: 1 } },
      { $project: { _id: 0, c: { $add: ['$a', 1] }, b: 1 } },
    ],
    after: [{ $project: { _id: 0, c: { $add: ['$x.y', 1] }, b: 1 } }],
  },
  unchanged('merge-projects', 'leaves computed fields', [
    { $project: { _id: 0, n: { $add: ['$age', 1] } } },
    { $group: { _id: '$n' } },
  ]),
];

describe('rules', () => {
  it.each(FIXTURES)(
    '$rule: $title',
    ({ rule, before, after, collections: [start, end] = ['player', 'player'], more }) => {
      const without = RULES.map(({ name }) => name).filter((name) => name !== rule);
      const { pipeline, applied, collection } = optimise({
        ...context,
        ...more,
        profile: LARGE.has(rule) ? large : profile,
        collection: start,
        pipeline: before,
        without,
      });
      expect({ collection, pipeline }).toEqual({ collection: end, pipeline: after });
      expect(applied.length > 0).toBe(before !== after);
      for (const step of applied)
        expect(step).toMatchObject({ rule, reason: expect.stringMatching(/\.$/) as string });
    },
  );

  it('lookup-direction: counts on an index that the design has, and on no other', () => {
    const pipeline = [
      { $lookup: { from: 'team', localField: 'name', foreignField: 'name', as: 'team' } },
      { $unwind: '$team' },
      { $match: { 'team._id': 1 } },
      { $count: 'n' },
    ];
    const turned = [
      { $match: { _id: 1 } },
      { $lookup: { from: 'player', localField: 'name', foreignField: 'name', as: 'player' } },
      { $unwind: '$player' },
      { $count: 'n' },
    ];
    expect(optimise({ ...context, pipeline }).pipeline).toEqual(pipeline);
    expect(
      optimise({
        ...context,
        pipeline,
        indexes: { player: [{ key: { age: 1, name: 1 }, reason: '' }] },
      }).pipeline,
    ).toEqual(pipeline);
    expect(
      optimise({ ...context, pipeline, indexes: { player: [{ key: { name: 1 }, reason: '' }] } }),
    ).toMatchObject({ pipeline: turned, collection: 'team' });
  });

  it('lookup-direction: towards the larger side only where thousands of lookups are saved', () => {
    const pipeline = [
      { $lookup: { from: 'player', localField: '_id', foreignField: 'team_id', as: 'player' } },
      { $unwind: '$player' },
      { $match: { 'player.age': 3 } },
      { $project: { _id: 0, name: 1 } },
    ];
    const turned = [
      { $match: { age: 3 } },
      { $lookup: { from: 'team', localField: 'team_id', foreignField: '_id', as: 'team' } },
      { $unwind: '$team' },
      { $project: { _id: 0, name: '$team.name' } },
    ];
    const start = { ...context, collection: 'team', pipeline };
    expect(optimise(start)).toMatchObject({ pipeline, collection: 'team' });
    expect(optimise({ ...start, profile: large })).toMatchObject({
      pipeline: turned,
      collection: 'player',
    });
  });

  it('leave small collections as they are', () => {
    const pipeline = [{ $unwind: '$goal' }, { $match: { 'goal.kind': 'foot' } }, { $count: 'n' }];
    expect(optimise({ ...context, pipeline }).pipeline).toEqual(pipeline);
  });

  it('each have a case in which they apply and most one in which they must not', () => {
    const applying = new Set(
      FIXTURES.filter(({ before, after }) => before !== after).map(({ rule }) => rule),
    );
    expect(
      [...new Set(RULES.map(({ name }) => name))].filter((name) => !applying.has(name)),
    ).toEqual([]);
  });

  it('run inside sub-pipelines with their own collection', () => {
    const inner = [{ $unwind: '$goal' }, { $match: { name: 'x' } }];
    const { pipeline } = optimise({
      ...context,
      collection: 'team',
      pipeline: [{ $unionWith: { coll: 'player', pipeline: inner } }],
    });
    expect(pipeline).toEqual([
      {
        $unionWith: { coll: 'player', pipeline: [{ $match: { name: 'x' } }, { $unwind: '$goal' }] },
      },
    ]);
  });

  it('leave out what a reviewer dropped', () => {
    const pipeline = [{ $unwind: '$goal' }, { $match: { name: 'x' } }];
    expect(optimise({ ...context, pipeline, without: ['match-early'] })).toEqual({
      pipeline,
      collection: 'player',
      applied: [],
    });
  });
});
