import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { profiledSource } from '../test/design-fixture';
import type { Directive } from '../model/directive';
import { deriveDesign } from './logical';
import { checkDesign } from '../limits/loss-check';
import { proposeDesign } from '../propose/propose';
import { typeOf, type TypeSettings } from './retype';
import { toBson } from '../model/transform';
import { type Transform } from '../model/transform-kind';
import { describe as nameOf } from '../model/transform-kind';

const limits = { maxArrayP99: 100, maxArray: 1000 };

const proven: TypeSettings = { retype: 'proven', identifiers: 'stored' };

describe('a column is retyped only where every value comes back', () => {
  test.each([
    ['dates', ["'2024-02-29'", "'1999-12-31'", 'NULL'], 'date(YYYY-MM-DD)'],
    [
      'times of dates',
      ["'2024-02-29 23:59:59'", "'1999-12-31 00:00:00'"],
      'date(YYYY-MM-DD HH:MM:SS)',
    ],
    ['true and false', ["'TRUE'", "'FALSE'", "'TRUE'"], 'bool("TRUE", "FALSE")'],
    ['F and T', ["'F'", "'T'", "'F'"], 'bool("T", "F")'],
    ['a day that is none', ["'2024-02-30'", "'1999-12-31'"], 'identity'],
    ['a time that is none', ["'2024-02-29 24:00:00'"], 'identity'],
    ['a fraction of a second', ["'2024-02-29 23:59:59'", "'2024-02-29 23:59:59.5'"], 'identity'],
    ['the letter T between', ["'2024-02-29T23:59:59'"], 'identity'],
    ['a year that JavaScript moves', ["'0099-01-01'"], 'identity'],
    ['one date that is empty', ["'2024-02-29'", "''"], 'identity'],
    ['a blank at the end', ["'2024-02-29 '"], 'identity'],
    ['a number among dates', ["'2024-02-29'", '20240229'], 'identity'],
    ['two spellings of true', ["'TRUE'", "'true'", "'FALSE'"], 'identity'],
    ['words that are no pair', ["'T'", "'no'"], 'identity'],
    ['one word alone', ["'T'", "'T'"], 'identity'],
    ['digits', ["'0'", "'1'"], 'identity'],
    ['dates that do not sort as text', ["'1/22/2014'", "'12/1/2013'"], 'identity'],
    ['nothing', ['NULL'], 'identity'],
  ])('%s', (_, values, expected) => {
    const { catalog, profile } = profiledSource(
      `CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); ${values.map((value, index) => `INSERT INTO t VALUES (${index}, ${value});`).join('')}`.replace(
        'v TEXT',
        'v',
      ),
    );
    expect(nameOf(typeOf(profile, 't', 'v', proven))).toBe(expected);
    expect(nameOf(typeOf(profile, 't', 'v', { ...proven, retype: 'never' }))).toBe('identity');
    const workload = { database: 'db', patterns: [], unread: [] };
    const { design: conceptual } = proposeDesign({
      catalog,
      profile,
      workload,
      strategy: 'access-pattern',
      limits,
      directives: [],
    });
    const design = deriveDesign({ conceptual, catalog, profile, directives: [], types: proven });
    expect(checkDesign(design, catalog, profile, limits)).toEqual([]);
  });

  test('the loss check refuses what the profile does not prove, whoever designed it', () => {
    const { catalog, profile } = profiledSource(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, '2024-02-30'), (2, " +
        "'TRUE'), (3, '2024-01-01');",
    );
    const workload = { database: 'db', patterns: [], unread: [] };
    const { design: conceptual } = proposeDesign({
      catalog,
      profile,
      workload,
      strategy: 'access-pattern',
      limits,
      directives: [],
    });
    const design = deriveDesign({ conceptual, catalog, profile, directives: [] });
    const as = (transform: Transform) => ({
      ...design,
      logical: design.logical.map((logical) => ({
        ...logical,
        fields: logical.fields.map((field) =>
          field.kind === 'column' ? { ...field, transform } : field,
        ),
      })),
    });
    expect(
      checkDesign(as({ kind: 'date', format: 'YYYY-MM-DD' }), catalog, profile, limits)[0]!.detail,
    ).toMatch(/cannot carry the column: 2 values are not written as YYYY-MM-DD/);
    expect(
      checkDesign(as({ kind: 'bool', true: 'TRUE', false: 'FALSE' }), catalog, profile, limits)[0]!
        .detail,
    ).toMatch(/3 distinct values/);
    const two = profiledSource(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'TRUE'), (2, 'maybe');",
    );
    expect(
      checkDesign(
        as({ kind: 'bool', true: 'TRUE', false: 'FALSE' }),
        two.catalog,
        two.profile,
        limits,
      )[0]!.detail,
    ).toMatch(/there is the value "maybe"/);
    expect(checkDesign(as({ kind: 'string' }), catalog, profile, limits)[0]!.detail).toMatch(
      /3 values are no integers/,
    );
  });
});

test('reading dates digit by digit takes exactly the texts that the calendar writes', () => {
  const day = fc.oneof(
    fc
      .date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 19).replace('T', ' ')),
    fc
      .tuple(
        fc.integer({ min: 0, max: 9999 }),
        fc.integer({ min: 0, max: 13 }),
        fc.integer({ min: 0, max: 32 }),
        fc.integer({ min: 0, max: 25 }),
        fc.integer({ min: 0, max: 61 }),
      )
      .map(
        ([y, mo, d, h, mi]) =>
          `${String(y).padStart(4, '0')}-${String(mo).padStart(2, '0')}-${String(d).padStart(2, '0')} ${String(h).padStart(2, '0')}:${String(mi).padStart(2, '0')}:00`,
      ),
    fc.string({ minLength: 19, maxLength: 19 }),
  );
  fc.assert(
    fc.property(day, (text) => {
      const moment = new Date(`${text.replace(' ', 'T')}Z`);
      const written = Number.isNaN(moment.getTime())
        ? ''
        : moment.toISOString().slice(0, 19).replace('T', ' ');
      const carried = (format: 'YYYY-MM-DD' | 'YYYY-MM-DD HH:MM:SS', value: string): unknown => {
        try {
          return toBson({ kind: 'date', format }, value);
        } catch {
          return undefined;
        }
      };
      const exact = written === text && text >= '0100' && /^\d{4}-/.test(text);
      expect(carried('YYYY-MM-DD HH:MM:SS', text)).toEqual(exact ? moment : undefined);
      if (exact)
        expect(carried('YYYY-MM-DD', text.slice(0, 10))).toEqual(
          new Date(`${text.slice(0, 10)}T00:00:00Z`),
        );
    }),
    { numRuns: 3000 },
  );
});

describe('keys', () => {
  const ddl = (
    child: string,
  ) => `CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (id INTEGER PRIMARY KEY, p_id REFERENCES p(id), day TEXT);
    INSERT INTO p VALUES (1, 'a'), (2, 'b'); INSERT INTO c VALUES (10, ${child}, '2024-01-01'), (11, 2, '2024-01-02');`;
  const types: TypeSettings = { retype: 'proven', identifiers: 'string' };

  test('keep their type by default', () => {
    const { profile } = profiledSource(ddl('1'));
    expect(typeOf(profile, 'c', 'p_id', proven)).toEqual({ kind: 'identity' });
    expect(typeOf(profile, 'p', 'id', proven)).toEqual({ kind: 'identity' });
  });

  test('become text on both sides where the benchmark says so, or on neither', () => {
    const { profile } = profiledSource(ddl('1'));
    expect([typeOf(profile, 'p', 'id', types), typeOf(profile, 'c', 'p_id', types)]).toEqual([
      { kind: 'string' },
      { kind: 'string' },
    ]);
    const mixed = profiledSource(ddl("'1'")).profile;
    expect([typeOf(mixed, 'p', 'id', types), typeOf(mixed, 'c', 'p_id', types)]).toEqual([
      { kind: 'identity' },
      { kind: 'identity' },
    ]);
  });

  test('a reviewer keeps a type', () => {
    const { catalog, profile } = profiledSource(ddl('1'));
    const directives: Directive[] = [{ kind: 'keep_type', table: 'c', column: 'day' }];
    const workload = { database: 'db', patterns: [], unread: [] };
    const { design: conceptual } = proposeDesign({
      catalog,
      profile,
      workload,
      strategy: 'access-pattern',
      limits,
      directives: [],
    });
    const typesOfDay = (given: readonly Directive[]) =>
      JSON.stringify(
        deriveDesign({ conceptual, catalog, profile, directives: given, types: proven }),
      ).includes('"kind":"date"');
    expect([typesOfDay([]), typesOfDay(directives)]).toEqual([true, false]);
  });
});
