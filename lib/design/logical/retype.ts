import { columnProfile, type ColumnProfile, type Profile } from '../../sqlite/profile/profile';
import type { ColumnTextUses } from '../model/workload';
import { chooseNumber, type NumberChoice } from './number-text';
import type { ValueFormat } from '../../sqlite/profile/value-formats';
import { identity } from '../model/transform';
import { type DateFormat, type Transform } from '../model/transform-kind';

/** Settings of a benchmark that decide about types. */
export interface TypeSettings {
  /**
   * `proven`: text becomes a date or a boolean where every value of the column allows it; `never`:
   * types stay as stored.
   */
  readonly retype: 'proven' | 'never';
  /**
   * `stored`: keys keep their type; `string`: integer keys, and what refers to them, become text,
   * as in the paper.
   */
  readonly identifiers: 'stored' | 'string';
  /**
   * What the workload asks of the texts of numbers: without it they stay text, since a query could
   * need them.
   */
  readonly textUses?: readonly ColumnTextUses[];
}

/** The text format that each date format reads and writes without change. */
const EXACT: Readonly<Partial<Record<DateFormat, ValueFormat>>> = {
  'YYYY-MM-DD': 'iso-date',
  'YYYY-MM-DD HH:MM:SS': 'iso-seconds',
};

/** Words for true and false that come in pairs. */
const BOOLEANS: readonly (readonly [string, string])[] = [
  'true false',
  'TRUE FALSE',
  'True False',
  'T F',
  't f',
  'yes no',
  'YES NO',
  'Yes No',
  'Y N',
  'y n',
].map((pair) => pair.split(' ') as [string, string]);

/**
 * The type that a column's field gets (guidebook, section 7). Only formats that sort as their text
 * sorts are retyped, so that a comparison stays one; keys and what refers to them keep their type,
 * or all become text.
 */
export function typeOf(
  profile: Profile,
  table: string,
  column: string,
  settings: TypeSettings,
): Transform {
  const found = columnProfile(profile, table, column);
  if (!found) return identity;
  const key = isKey(profile, table, column);
  if (key)
    return settings.identifiers === 'string' && keyIsInteger(profile, table, column)
      ? { kind: 'string' }
      : identity;
  return settings.retype === 'proven'
    ? provenType(profile, table, found, settings.textUses)
    : identity;
}

function provenType(
  profile: Profile,
  table: string,
  column: ColumnProfile,
  textUses: TypeSettings['textUses'],
): Transform {
  const { stored } = column;
  if (stored.text === 0 || stored.integer + stored.real + stored.blob > 0) return identity;
  for (const [format, exact] of Object.entries(EXACT) as [DateFormat, ValueFormat][]) {
    if (column.formats.includes(exact) && isFourDigitYear(column)) return { kind: 'date', format };
  }
  const pair =
    column.distinct === 2
      ? BOOLEANS.find((words) => words.every((word) => word === column.min || word === column.max))
      : undefined;
  if (pair) return { kind: 'bool', true: pair[0], false: pair[1] };
  const choice = numberChoice(profile, table, column, textUses);
  return choice?.stored === 'number' ? { kind: 'number', format: choice.format } : identity;
}

/**
 * What becomes of numbers written as text; undefined for a column that holds anything else, and for
 * keys.
 */
export function numberChoice(
  profile: Profile,
  table: string,
  column: ColumnProfile,
  textUses: TypeSettings['textUses'],
): NumberChoice | undefined {
  if (!column.numbers || !textUses || isKey(profile, table, column.column)) return undefined;
  const uses = textUses.find((one) => one.table === table && one.column === column.column);
  return chooseNumber(column.column, column.numbers, uses);
}

/** JavaScript reads the years 0 to 99 as 1900 to 1999. */
const isFourDigitYear = ({ min }: ColumnProfile): boolean =>
  typeof min === 'string' && min >= '0100';

/**
 * Why a column cannot have a transform: a value that would not come back as it was. Undefined: the
 * profile proves it.
 */
export function typeObstacle(column: ColumnProfile, transform: Transform): string | undefined {
  const { integer, real, text, blob } = column.stored;
  switch (transform.kind) {
    case 'identity':
    case 'bytes':
      return undefined;
    case 'string':
      return real + text + blob > 0 ? `${real + text + blob} values are no integers` : undefined;
    case 'bool': {
      if (integer + real + blob > 0) return `${integer + real + blob} values are no text`;
      if (column.distinct > 2)
        return `${column.distinct} distinct values do not fit into a boolean`;
      // Of two values at most, the least and the greatest are all there are.
      const other = [column.min, column.max].find(
        (value) => value !== null && value !== transform.true && value !== transform.false,
      );
      return other === undefined
        ? undefined
        : `there is the value ${JSON.stringify(String(other))}`;
    }
    case 'number': {
      if (integer + real + blob > 0) return `${integer + real + blob} values are no text`;
      if (text === 0 || column.numbers?.format === transform.format) return undefined;
      return column.numbers
        ? `the texts are written as ${column.numbers.format}`
        : 'the texts are not all numbers in one format';
    }
    case 'date': {
      if (integer + real + blob > 0) return `${integer + real + blob} values are no text`;
      const exact = EXACT[transform.format];
      // The other formats are proven value by value as the rows are read.
      if (!exact || text === 0) return undefined;
      return column.formats.includes(exact) && isFourDigitYear(column)
        ? undefined
        : `${text - (column.formatCounts[exact] ?? 0)} values are not written as ` +
            `${transform.format}`;
    }
  }
}

const isKey = (profile: Profile, table: string, column: string): boolean =>
  profile.relationships.some(
    ({ childTable, childColumns, parentTable, parentColumns }) =>
      (childTable === table && childColumns.includes(column)) ||
      (parentTable === table && parentColumns.includes(column)),
  );

/**
 * Both sides of every relationship that the column is part of are integers, and so on along them:
 * else a join would break.
 */
function keyIsInteger(profile: Profile, table: string, column: string): boolean {
  const seen = new Set<string>();
  const visit = (at: { table: string; column: string }): boolean => {
    const name = JSON.stringify(at);
    if (seen.has(name)) return true;
    seen.add(name);
    const stored = columnProfile(profile, at.table, at.column)?.stored;
    if (!stored || stored.real + stored.text + stored.blob > 0) return false;
    return profile.relationships.every((relationship) =>
      relationship.childColumns.every((child, i) => {
        const parent = relationship.parentColumns[i]!;
        if (relationship.childTable === at.table && child === at.column)
          return visit({ table: relationship.parentTable, column: parent });
        if (relationship.parentTable === at.table && parent === at.column)
          return visit({ table: relationship.childTable, column: child });
        return true;
      }),
    );
  };
  return visit({ table, column });
}
