import { expect, test } from 'vitest';
import type { Choice, ConceptualDesign } from '../../../lib/design/model/document-design';
import type { Profile } from '../../../lib/sqlite/profile/profile';
import { layoutGraph } from './graph-layout';

/** Relationships as `child.column>parent choice`. */
function graphOf(tables: readonly string[], relationships: readonly string[]) {
  const parsed = relationships.map(
    (text) =>
      /^(?<child>\w+)\.(?<column>\w+)>(?<parent>\w+) (?<choice>\w+)$/.exec(text)!.groups as Record<
        'child' | 'column' | 'parent' | 'choice',
        string
      >,
  );
  const id = ({ child, column, parent }: (typeof parsed)[number]): string =>
    `${child}(${column})->${parent}(id)`;
  const embedded = new Set(
    parsed.filter(({ choice }) => choice === 'embed').map(({ child }) => child),
  );
  const design = {
    collections: tables
      .filter((table) => !embedded.has(table))
      .map((name) => ({ name, rootTable: name })),
    relationships: parsed.map((one) => ({
      relationship: id(one),
      choice: one.choice as Choice,
      reason: '',
      field: one.choice === 'copy' ? one.parent : one.child,
      ...(one.choice === 'copy' ? { columns: ['name'] } : { cardinality: 'many' }),
    })),
  } as unknown as ConceptualDesign;
  const profile = {
    relationships: parsed.map((one) => ({
      id: id(one),
      childTable: one.child,
      parentTable: one.parent,
      childColumns: [one.column],
      parentColumns: ['id'],
    })),
  } as unknown as Profile;
  return layoutGraph(design, profile, { width: 900, height: 560 });
}

const star = graphOf(
  ['hero', 'power', 'colour', 'race', 'publisher', 'gender', 'alignment'],
  [
    'power.hero>hero embed',
    'hero.eye_colour_id>colour copy',
    'hero.hair_colour_id>colour copy',
    'hero.skin_colour_id>colour copy',
    'hero.race_id>race copy',
    'hero.publisher_id>publisher reference',
    'hero.gender_id>gender copy',
    'hero.alignment_id>alignment copy',
    'hero.sidekick_id>hero reference',
  ],
);
const chain = graphOf(
  ['a', 'b', 'c', 'd', 'e'],
  [
    'a.b_id>b reference',
    'b.c_id>c reference',
    'a.c_id>c reference',
    'c.d_id>d copy',
    'a.d_id>d reference',
    'e.d_id>d reference',
    'd.a_id>a reference',
  ],
);

test.each([
  ['a star with parallel references and one to itself', star],
  ['a chain with short cuts and a circle', chain],
])('labels lie on nothing: %s', (_, { boxes, links, width, height }) => {
  const labels = links.map(({ labelAt: { x, y }, labelSize }) => ({
    x: x - labelSize.width / 2,
    y: y - labelSize.height / 2,
    ...labelSize,
  }));
  const all = [...labels, ...boxes];
  for (const [i, one] of all.entries()) {
    expect(
      one.x >= 0 && one.y >= 0 && one.x + one.width <= width && one.y + one.height <= height,
    ).toBe(true);
    for (const other of all.slice(i + 1)) {
      const apart =
        one.x + one.width <= other.x ||
        other.x + other.width <= one.x ||
        one.y + one.height <= other.y ||
        other.y + other.height <= one.y;
      expect(apart, `${JSON.stringify(one)} and ${JSON.stringify(other)}`).toBe(true);
    }
  }
});

test('what is embedded lies in its parent’s box; a copy says what it repeats', () => {
  const hero = star.boxes.find(({ name }) => name === 'hero')!;
  expect(hero.lines.map(({ text }) => text)).toEqual([
    '↳ power[ ]',
    '+ colour: name',
    '+ colour: name',
    '+ colour: name',
    '+ race: name',
    '+ gender: name',
    '+ alignment: name',
  ]);
  expect(star.boxes.map(({ name }) => name)).not.toContain('power');
  expect(star.links.map(({ label, dashed }) => [label, dashed])).toContainEqual(['race_id', true]);
  expect(star.links).toHaveLength(8);
});
