import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { ColumnField } from '../../design/model/document-design';
import { deriveDesign } from '../../design/logical/logical';
import { proposeDesign } from '../../design/propose/propose';
import { catalogOf } from '../../sqlite/schema/introspect';
import { profileDatabase } from '../../sqlite/profile/profile-database';
import type { MqlDocument } from '../mql/mql';
import { optimise, RULES } from './optimise';

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
/** Players whose documents repeat the name of their team, which each of them has, or not all. */
const copied = (optional: boolean) => ({
  ...design,
  logical: design.logical.map((logical) =>
    logical.collection === 'player'
      ? {
          ...logical,
          fields: [
            ...logical.fields,
            {
              kind: 'extendedReference' as const,
              name: 'of',
              table: 'team',
              relationship: `player(${optional ? 'mentor' : 'team_id'})->team(id)`,
              join: [{ parent: 'id', child: optional ? 'mentor' : 'team_id' }],
              fields: [
                {
                  kind: 'column' as const,
                  name: 'name',
                  column: 'name',
                  transform: { kind: 'identity' as const },
                },
              ],
            },
          ],
        }
      : logical,
  ),
});
const REPEATED = {
  'team names': { design: copied(false), indexes: {} },
  'names of the mentor’s team': { design: copied(true), indexes: {} },
  'names, values and mentor': {
    design: repeated,
    indexes: {
      player: [
        { key: { 'attributes.k': 1 as const, 'attributes.v': 1 as const }, reason: '' },
        { key: { mentor: 1 as const }, reason: '' },
      ],
    },
  },
  names: {
    design: repeated,
    indexes: { player: [{ key: { 'attributes.k': 1 as const }, reason: '' }] },
  },
};
/** Some rules pay on large collections only. */
const LARGE = new Set(['match-before-unwind']);
const large = {
  ...profile,
  tables: profile.tables.map((table) => ({ ...table, rowCount: table.rowCount * 1000 })),
};

/** A line of `cases/<rule>.jsonl`, each file the cases of one rule. */
interface Case {
  readonly title: string;
  /** The collection that the pipeline starts from. */
  readonly collection: string;
  readonly in: readonly MqlDocument[];
  /** Absent where the rule must not apply. */
  readonly out?: readonly MqlDocument[];
  /** The collection that the rewritten pipeline starts from, where it is another one. */
  readonly outCollection?: string;
  readonly reasons?: readonly string[];
  /** What the design repeats as names and values, and which indexes it has. */
  readonly indexes?: keyof typeof REPEATED;
}
/** Dates are in the files as Extended JSON has them. */
const revive = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && '$date' in value
    ? new Date(String(value.$date))
    : value;
const CASES = path.join(import.meta.dirname, 'cases');
const cases = readdirSync(CASES)
  .sort()
  .flatMap((file) =>
    readFileSync(path.join(CASES, file), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => ({
        rule: path.basename(file, '.jsonl'),
        ...(JSON.parse(line, revive) as Case),
      })),
  );

describe('rules', () => {
  it.each(cases)('$rule: $title', (one) => {
    const { rule, collection: start, in: pipeline, out, outCollection, indexes } = one;
    const without = RULES.map(({ name }) => name).filter((name) => name !== rule);
    const done = optimise({
      ...context,
      ...(indexes ? REPEATED[indexes] : {}),
      profile: LARGE.has(rule) ? large : profile,
      collection: start,
      pipeline,
      without,
    });
    expect({ collection: done.collection, pipeline: done.pipeline }).toEqual({
      collection: outCollection ?? start,
      pipeline: out ?? pipeline,
    });
    expect(done.applied.map(({ reason }) => reason)).toEqual(one.reasons ?? []);
    for (const step of done.applied) expect(step.rule).toBe(rule);
  });

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
    const applying = new Set(cases.filter(({ out }) => out !== undefined).map(({ rule }) => rule));
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
