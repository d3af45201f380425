/**
 * Fields that several requests of the HTTP interface share. The interface of each room is in its
 * `*-api` files, which routes and browser import: zod schemas of what is sent, types of what comes
 * back, nothing of the server. Conventions: `lib/http/api-error`.
 */
import { z } from 'zod';

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly page: number;
  readonly pageSize: number;
}

export const idSchema = z.uuid();

export const pageFields = {
  page: z.coerce.number().int().min(1).default(1),
  pageSize: z.coerce.number().int().min(1).max(200).default(50),
};

/** Text that PostgreSQL can store: it takes no NUL. */
export const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not contain NUL');

/** Of deletions: the benchmark's name, typed again. */
export const confirmBody = z.strictObject({ name: text(200) });

/** Of requests that say all in their address. */
export const emptyBody = z.strictObject({});

/** A reviewer's note. */
export const note = text(20_000);

/** Of lists without further filters. */
export const pageQuery = z.strictObject(pageFields);
