import type { StoredTypes } from '../model/bson-types';
import { describe, expect, test } from 'vitest';
import type { Field, LogicalDesign } from '../model/document-design';
import {
  placedRows,
  LogicalCsvError,
  logicalCsv,
  parseLogicalCsv,
  readLogicalCsv,
} from './logical-csv';
import { identity } from '../model/transform';

const column = (name: string, of = name): Field & { kind: 'column' } => ({
  kind: 'column',
  name,
  column: of,
  transform: identity,
});

/**
 * One field of each kind, over a parent `hero` and its children; `name` goes through every name of
 * the source.
 */
function designOf(name: (plain: string) => string): LogicalDesign {
  const join = [{ parent: name('id'), child: name('hero_id') }];
  const child = (table: string) => ({
    table: name(table),
    relationship: name(`${table}->hero`),
    join,
  });
  return {
    collection: 'heroes',
    rootTable: name('hero'),
    id: { kind: 'column', column: name('id'), transform: { kind: 'string' } },
    fields: [
      column('name', name('name')),
      {
        kind: 'column',
        name: 'active',
        column: name('active'),
        transform: { kind: 'bool', true: 'a", "b', false: '\\' },
      },
      {
        kind: 'extendedReference',
        name: 'eye',
        ...child('colour'),
        join: [
          { parent: name('id'), child: name('eye_id') },
          { parent: name('and'), child: name('own') },
        ],
        fields: [column('colour', name('colour'))],
      },
      { kind: 'computed', name: 'count', ...child('power'), aggregate: 'count' },
      {
        kind: 'computed',
        name: 'best',
        ...child('power'),
        aggregate: 'max',
        column: name('stars'),
      },
      {
        kind: 'subset',
        name: 'top',
        ...child('power'),
        limit: 3,
        orderBy: [
          { column: name('stars'), direction: 'desc' },
          { column: name('asc'), direction: 'asc' },
        ],
        fields: [column('stars', name('stars'))],
      },
      {
        kind: 'embedMany',
        name: 'powers',
        ...child('power'),
        orderBy: [],
        fields: [
          column('stars', name('stars')),
          {
            kind: 'embedOne',
            name: 'source',
            ...child('source'),
            orderBy: [],
            fields: [column('word', name('where'))],
          },
        ],
      },
    ],
  };
}

const heroes = designOf((plain) => plain);
const lines = logicalCsv(heroes).trimEnd().split('\r\n');
/** The CSV with a change in the line of one target; that line's number. */
function changed(target: string, change: (row: string) => string): { csv: string; line: number } {
  const at = lines.findIndex((row) => row.includes(`"heroes.${target}"`));
  expect(change(lines[at]!)).not.toBe(lines[at]);
  return {
    csv: lines.map((row, index) => (index === at ? change(row) : row)).join('\r\n'),
    line: at + 1,
  };
}

test.each<[string, (plain: string) => string]>([
  ['plain names', (plain) => plain],
  [
    'names with words of a note in them',
    (plain) => `${plain} where a = parent b and c = own d; order: e desc, f asc; relationship "0"`,
  ],
  ['names with quotes, backslashes and line ends', (plain) => `"${plain}\\"\n \u2028"1"`],
  [
    'names of such words alone',
    (plain) => ({ hero: 'where', power: 'order', id: 'parent', stars: 'desc' })[plain] ?? plain,
  ],
])('reading back gives the same design: %s', (_, name) => {
  const design = designOf(name);
  expect(parseLogicalCsv(logicalCsv(design))).toEqual(design);
  const ordinal: LogicalDesign = { ...design, id: { kind: 'ordinal' } };
  expect(parseLogicalCsv(logicalCsv(ordinal))).toEqual(ordinal);
});

test('blanks and quotes that change no name are no difference', () => {
  const { csv } = changed('top', (row) =>
    row
      .replace('rows of power where', ' rows  of ""pow\\u0065r"" where ')
      .replace('; order:', ' ; order:')
      .replace(' ; order', '; order'),
  );
  expect(parseLogicalCsv(csv)).toEqual(heroes);
});

const ASKED = 'rows of power where hero_id = parent id; order: ';

describe('a mistake is told with its line', () => {
  test.each<[string, string, (row: string) => string, string | RegExp]>([
    [
      'a condition behind a join',
      'powers',
      (row) => row.replace('parent id;', 'parent id and power_id > 3;'),
      `what the note says besides or otherwise would be ignored; understood was: ${ASKED}source ` +
        'order; relationship "power->hero"',
    ],
    [
      'a condition behind a copy’s join',
      'eye',
      (row) => row.replace('own own;', 'own own and id > 3;'),
      /would be ignored/,
    ],
    [
      'a condition behind a computed field’s join',
      'count',
      (row) => row.replace('parent id;', 'parent id and stars > 3;'),
      /would be ignored/,
    ],
    [
      'a join column of another table',
      'powers',
      (row) => row.replace('hero_id =', 'other.hero_id ='),
      /would be ignored/,
    ],
    [
      'an order of which half is none',
      'top',
      (row) => row.replace('asc asc', 'foo bar'),
      `understood was: first 3 ${ASKED}stars desc; relationship`,
    ],
    [
      'an order in another word',
      'top',
      (row) => row.replace('stars desc, asc asc', 'stars downwards'),
      `understood was: first 3 ${ASKED}source order;`,
    ],
    [
      'an order in a longer word',
      'top',
      (row) => row.replace('stars desc', 'stars descending'),
      /would be ignored/,
    ],
    [
      'another table in the note',
      'powers',
      (row) => row.replace('rows of power', 'rows of talent'),
      `understood was: ${ASKED}source order`,
    ],
    [
      'another table in a computed field’s note',
      'best',
      (row) => row.replace('rows of power', 'rows of talent'),
      /understood was: max over the rows of power /,
    ],
    [
      'a remark on an ordinal',
      '_id',
      () => '"hero","heroes._id","Int","ordinal: by name"',
      /understood was: ordinal: position of the row/,
    ],
    [
      'an ordinal of another type',
      '_id',
      () => '"hero","heroes._id","String","ordinal: position of the row in the source, from 1"',
      /"String" does not follow from an ordinal, which gives "Int"/,
    ],
    [
      'an ordinal of a column',
      '_id',
      () => '"hero.id","heroes._id","Int","ordinal: position of the row in the source, from 1"',
      /the source "hero.id" is no table/,
    ],
    [
      'a column as the source of an array',
      'powers',
      (row) => row.replace('"power"', '"power.stars"'),
      /the source "power.stars" is no table/,
    ],
    [
      'a fifth cell',
      'name',
      (row) => `${row},"only the long ones"`,
      /a row has 4 cells; what stands behind them would be ignored: only the long ones/,
    ],
    ['a fifth cell in the row of _id', '_id', (row) => `${row},,x`, /a row has 4 cells/],
    [
      'no row in a subset',
      'top',
      (row) => row.replace('first 3', 'first 0'),
      '"heroes.top": limit: a subset holds one row at least',
    ],
    [
      'a subset without an order',
      'top',
      (row) => row.replace('stars desc, asc asc', 'source order'),
      /"heroes.top": orderBy: /,
    ],
    [
      'an empty field name',
      'powers.stars',
      (row) => row.replace('powers.stars', 'powers.'),
      '"heroes.powers.": name: a field needs a name',
    ],
    [
      'a $ in a name',
      'powers.source.word',
      (row) => row.replace('.word', '.$word'),
      /"heroes.powers.source.\$word": name: a field name may hold no dot, no \$/,
    ],
    [
      'an array inside a copy',
      'powers',
      (row) => row.replace('heroes.powers', 'heroes.eye.powers'),
      /"heroes.eye.powers" lies in a copy, and copies hold columns only/,
    ],
    [
      'too few cells',
      'name',
      (row) => row.replace(',"identity"', ''),
      /^the row has 3 cells of 4, which are Source \(SQLite\), Target \(MongoDB\), Type, Transformation; is one missing/,
    ],
    [
      'an empty source',
      'name',
      (row) => row.replace('"hero.name"', '""'),
      /^the cell Source \(SQLite\) is empty; there belongs the source column, as table\.column/,
    ],
    [
      'an empty target',
      'name',
      () => '"hero.name","","as stored","identity"',
      /^the cell Target \(MongoDB\) is empty; there belongs the field, as collection\.field/,
    ],
    [
      'an empty transformation',
      'name',
      (row) => row.replace('"identity"', '" "'),
      /^the cell Transformation is empty; there belongs how the values become those of the field: identity where/,
    ],
    [
      'an empty transformation in the row of _id',
      '_id',
      (row) => row.replace('integer→string', ''),
      /^no transformation is given; there belongs how/,
    ],
    [
      'an empty cell of an array',
      'powers',
      (row) => row.replace(/,"[^,]*$/, ',""'),
      /^the cell Transformation is empty/,
    ],
    [
      'an array without a type',
      'powers',
      (row) => row.replace('"Array"', '""'),
      /^the source is a table, and the type is empty: of a table it is one of Document, Array, Copy, Subset, Outlier, Computed, Attribute/,
    ],
    [
      'an array with a type of none',
      'powers',
      (row) => row.replace('"Array"', '"List"'),
      /^the source is a table, and the type "List" is that of a column/,
    ],
    [
      'a quote that is not closed',
      'name',
      (row) => row.slice(0, -1),
      /^the quote that opens cell 4, "identity, is not closed on its line$/,
    ],
    [
      'a target of another collection',
      'name',
      (row) => row.replace('heroes.', 'villains.'),
      /"villains.name" lies in no document or array above it: the collection is heroes$/,
    ],
    [
      'a target without a collection',
      'name',
      (row) => row.replace('heroes.', ''),
      /^the target "name" names no field: it is written heroes\.field$/,
    ],
    [
      'a bad escape in a source',
      'name',
      (row) => row.replace('hero.name', 'hero.""na\\qme""'),
      /"na\\qme" is no quoted name/,
    ],
    [
      'a bad escape in a note',
      'top',
      (row) => row.replace('power->hero', 'power\\q'),
      /"power\\q" is no quoted name/,
    ],
    [
      'a bad escape in a transformation',
      'active',
      (row) => row.replace('bool(""', 'bool(""\\q'),
      /holds a text that is not quoted as in JSON/,
    ],
    [
      'a bad escape in the row of _id',
      '_id',
      (row) => row.replace('hero.id', '""he\\qro"".id'),
      /is no quoted name/,
    ],
  ])('%s', (_, target, change, message) => {
    const { csv, line } = changed(target, change);
    let error: unknown;
    try {
      parseLogicalCsv(csv);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(LogicalCsvError);
    expect(error).toMatchObject({ line });
    expect((error as LogicalCsvError).detail).toMatch(message);
  });

  test('a field’s line is the one in the file, whatever stands above it', () => {
    const { csv, line } = changed('top', (row) => row.replace('first 3', 'first 0'));
    expect(() => parseLogicalCsv(csv.replace('\r\n', '\r\n\r\n\r\n'))).toThrow(
      `line ${line + 2}: "heroes.top"`,
    );
  });

  test('the row above that is missing is named', () => {
    const without = lines.filter((row) => !row.includes('"heroes.powers"'));
    expect(() => parseLogicalCsv(without.join('\r\n'))).toThrow(
      `line ${without.findIndex((row) => row.includes('heroes.powers.')) + 1}: the target ` +
        '"heroes.powers.stars" lies in no document or array above it: the row of "heroes.powers" ' +
        'is missing, or stands below',
    );
  });

  test('cells that a spreadsheet separated otherwise', () => {
    expect(() =>
      parseLogicalCsv(
        'Source (SQLite);Target (MongoDB);Type;Transformation\nhero.id;heroes._id;;identity',
      ),
    ).toThrow(
      /^line 1: the header must be Source .*; cells are separated by commas, not by semicolons$/,
    );
    expect(() => parseLogicalCsv('')).toThrow(
      /^line 1: the header must be Source \(SQLite\), Target \(MongoDB\), Type, Transformation$/,
    );
  });

  test('what lies in no field is told with the line of _id', () => {
    expect(() => parseLogicalCsv(lines.join('\r\n').replaceAll('heroes', 'a$b'))).toThrow(
      /^line 2: "a\$b._id": collection: a collection name may hold no dot, no \$/,
    );
    expect(() =>
      parseLogicalCsv(lines.filter((row) => !row.includes('eye.')).join('\r\n')),
    ).toThrow(/^line 5: "heroes.eye": fields: /);
  });
});

test('the line of each target, and the row of each column that has its place here', () => {
  const read = readLogicalCsv(`\r\n${logicalCsv(heroes)}`);
  expect(read.design).toEqual(heroes);
  expect(read.lines.get('heroes._id')).toBe(3);
  for (const [target, line] of read.lines) expect(lines[line - 2]).toContain(`"${target}"`);
  expect(read.lines.size).toBe(lines.length - 1);
  const rows = placedRows(heroes);
  expect([...rows.keys()]).toEqual([
    'hero',
    'hero.id',
    'hero.name',
    'hero.active',
    'power',
    'power.stars',
    'source',
    'source.where',
  ]);
  for (const { target, row } of rows.values())
    (expect(lines).toContain(row), expect(row).toContain(`"${target}"`));
  expect(rows.get('power.stars')!.target).toBe('heroes.powers.stars');
});

test('buckets and outliers: mistakes in their words are told with their lines', () => {
  const column = (name: string): Field & { kind: 'column' } => ({
    kind: 'column',
    name,
    column: name,
    transform: identity,
  });
  const buckets: LogicalDesign = {
    collection: 'readings',
    rootTable: 'reading',
    id: { kind: 'bucket', columns: ['station'], size: 100 },
    fields: [
      column('station'),
      {
        kind: 'embedMany',
        name: 'rows',
        table: 'reading',
        relationship: 'bucket',
        join: [{ parent: 'station', child: 'station' }],
        orderBy: [],
        fields: [column('value')],
      },
    ],
  };
  const few: LogicalDesign = {
    collection: 'stations',
    rootTable: 'station',
    id: { kind: 'ordinal' },
    fields: [
      {
        kind: 'outlier',
        name: 'few',
        flag: 'few_elsewhere',
        table: 'reading',
        relationship: 'r',
        join: [{ parent: 'code', child: 'station' }],
        limit: 5,
        fields: [column('value')],
      },
    ],
  };
  for (const design of [buckets, few]) expect(parseLogicalCsv(logicalCsv(design))).toEqual(design);
  expect([...placedRows(buckets)].map(([name, { target }]) => `${name} ${target}`)).toEqual([
    'reading readings.rows',
    'reading.station readings.station',
    'reading.value readings.rows.value',
  ]);
  const wrong =
    (design: LogicalDesign, from: string, to: string): (() => unknown) =>
    () =>
      parseLogicalCsv(logicalCsv(design).replace(from, to));
  expect(wrong(buckets, 'bucket: position', 'bucket; position')).toThrow(
    /^line 2: what the note says besides or otherwise would be ignored; understood was: bucket: position/,
  );
  expect(wrong(buckets, 'up to 100 rows', 'up to 0 rows')).toThrow(
    'line 2: "readings._id": id: size: a bucket holds one row at least',
  );
  expect(wrong(buckets, 'up to 100 rows with', 'of 100 rows with')).toThrow(
    /^line 2: buckets are written as "bucket: position, from 1/,
  );
  expect(wrong(few, 'if 5 at most', 'if few')).toThrow(
    /^line 3: a copy for all but outliers is written as "all rows of t/,
  );
  expect(wrong(few, 'if 5 at most', 'if 0 at most')).toThrow(
    'line 3: "stations.few": limit: an array holds one row at least',
  );
  expect(wrong(few, '""few_elsewhere""', '""few.elsewhere""')).toThrow(
    /^line 3: "stations\.few": flag: a field name may hold no dot/,
  );
});

test.each([
  ['quotes that are never closed', `rows of ${'\\"'.repeat(100_000)}`],
  [
    'a long word',
    `rows of power where ${'a'.repeat(200_000)}; order: source order; relationship "x"`,
  ],
  ['words of a note', `rows of ${'x where a; order: b; '.repeat(10_000)}`],
  ['spaces', `rows of power${' '.repeat(200_000)}where`],
  ['a list', `up to 5 rows with the same ${'a, '.repeat(66_000)}`],
])('a note of 200 kB is refused at once: %s', (_, note) => {
  const quoted = `"${`"${note}`.replaceAll('"', '""')}"`;
  const started = performance.now();
  const { csv } = changed('powers', (row) => [...row.split(',').slice(0, 3), quoted].join(','));
  expect(() => parseLogicalCsv(csv)).toThrow(LogicalCsvError);
  expect(performance.now() - started).toBeLessThan(2_000);
});

describe('the type column, where the profile is known', () => {
  const types: StoredTypes = ({ kind }) =>
    ({ bool: 'bool', string: 'string' })[kind as string] ?? 'int or null';
  const csv = logicalCsv(heroes, types);

  test('says what is stored, and reads back', () => {
    expect(csv.split('\r\n')[1]).toMatch(/^"hero\.id","heroes\._id","string",/);
    expect(csv).toContain('"hero.name","heroes.name","int or null","identity"');
    expect(parseLogicalCsv(csv, types)).toEqual(heroes);
    // Without the profile any type that could be is let through, as is the general word.
    expect(parseLogicalCsv(csv)).toEqual(heroes);
    expect(parseLogicalCsv(logicalCsv(heroes), types)).toEqual(heroes);
  });

  test('refuses a type that nothing stores, and says how it is had', () => {
    const wish = (type: string): string =>
      csv.replace('"heroes.name","int or null"', `"heroes.name","${type}"`);
    expect(() => parseLogicalCsv(wish('string'), types)).toThrow(
      'line 3: the type "string" does not follow from the transformation "identity", which gives ' +
        '"int or null"; write the transformation integer→string',
    );
    expect(() => parseLogicalCsv(wish('date'))).toThrow('line 3');
  });
});
