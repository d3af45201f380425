import { z } from 'zod';
import { numberFormat } from '../../sqlite/profile/number-format';
import { TEXT_ENCODINGS } from '../../sqlite/profile/text-encoding';

/**
 * A named, invertible change of type between a source column and its field. `identity` keeps the
 * storage class: INTEGER → int (long where it does not fit), REAL → double, TEXT → string, BLOB →
 * binary, NULL → null. NULL stays null under every transform. `bytes` is no type of its own but
 * stands beside `identity`: the bytes of those texts that are not valid in the source's encoding,
 * which a string shows with U+FFFD in their place; null for all others.
 */
export const transformSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('identity') }),
  z.strictObject({ kind: z.literal('bool'), true: z.string(), false: z.string() }),
  z.strictObject({
    kind: z.literal('date'),
    format: z.enum(['YYYY-MM-DD', 'YYYY-MM-DD HH:MM:SS', 'M/D/YYYY', 'MM/DD/YYYY']),
  }),
  z.strictObject({
    kind: z.literal('number'),
    /** As the texts are written: a pattern of `sqlite/profile/number-format`. */
    format: z
      .string()
      .refine((format) => numberFormat(format) !== undefined, 'is no pattern of a number'),
  }),
  z.strictObject({ kind: z.literal('string') }),
  z.strictObject({ kind: z.literal('bytes'), encoding: z.enum(TEXT_ENCODINGS) }),
]);

export type Transform = z.infer<typeof transformSchema>;

export type DateFormat = Extract<Transform, { kind: 'date' }>['format'];

/** As the logical design's CSV and the screens call it. */
export function describe(transform: Transform): string {
  switch (transform.kind) {
    case 'identity':
      return 'identity';
    case 'bool':
      return `bool(${JSON.stringify(transform.true)}, ${JSON.stringify(transform.false)})`;
    case 'date':
      return `date(${transform.format})`;
    case 'number':
      return `number(${transform.format})`;
    case 'string':
      return 'integer→string';
    case 'bytes':
      return `bytes of what is no valid ${transform.encoding}`;
  }
}
