import { columnProfile, type Profile } from '../../sqlite/profile/profile';
import { numberFormat } from '../../sqlite/profile/number-format';
import type { Transform } from './transform-kind';

/**
 * The BSON types that a field of a source column can have: its transform's, or those of the storage
 * classes that occur.
 */
export function bsonTypes(
  transform: Transform,
  table: string,
  column: string,
  profile: Profile,
): string[] {
  const stored = columnProfile(profile, table, column)?.stored;
  const retyped = {
    bool: ['bool'],
    date: ['date'],
    number: transform.kind === 'number' ? typesOfNumbers(transform.format) : undefined,
    string: ['string'],
    bytes: ['binData'],
    identity: undefined,
  }[transform.kind];
  const types = retyped
    ? retyped
    : [
        ...(stored?.integer ? ['int', 'long'] : []),
        ...(stored?.real ? ['double'] : []),
        ...(stored?.text ? ['string'] : []),
        ...(stored?.blob ? ['binData'] : []),
      ];
  return stored?.null || transform.kind === 'bytes' || types.length === 0
    ? [...types, 'null']
    : types;
}

function typesOfNumbers(pattern: string): string[] {
  const scale = numberFormat(pattern)?.scale;
  if (scale === 0) return ['int', 'long'];
  return scale === 'shortest' ? ['int', 'long', 'double'] : ['double'];
}

/** The BSON types of a field, in words: `int or null`. */
export type StoredTypes = (transform: Transform, table: string, column: string) => string;

/** As the profile has the column: `long` only where a value needs it. */
export const storedTypes =
  (profile: Profile): StoredTypes =>
  (transform, table, column) => {
    const measured = columnProfile(profile, table, column);
    const integersOnly =
      measured !== undefined &&
      measured.stored.real + measured.stored.text + measured.stored.blob === 0;
    const bounds = measured?.numbers ?? measured;
    const isSmall = isInt(bounds?.min) && isInt(bounds?.max);
    const noLong = isSmall && (integersOnly || transform.kind === 'number');
    return bsonTypes(transform, table, column, profile)
      .filter((type) => type !== 'long' || !noLong)
      .join(' or ');
  };

/** Over HTTP, integers that a double cannot hold are no numbers. */
const isInt = (value: unknown): boolean =>
  (typeof value === 'number' || typeof value === 'bigint') &&
  value >= -(2 ** 31) &&
  value < 2 ** 31;
