import { z } from 'zod';
import { CHOICES } from './document-design';

/** Text that the database can store: without NUL. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not contain NUL');
const name = text(1000).min(1);
const note = text(20_000).optional();

/** A structured instruction of a reviewer to an agent. `note` is for people and language models. */
export const directiveSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('relationship'),
    relationship: name,
    choice: z.enum(CHOICES),
    note,
  }),
  z.strictObject({ kind: z.literal('without_field'), relationship: name, field: name, note }),
  z.strictObject({ kind: z.literal('without_attributes'), table: name, note }),
  z.strictObject({ kind: z.literal('rename_collection'), table: name, name, note }),
  z.strictObject({ kind: z.literal('rename_field'), table: name, column: name, name, note }),
  z.strictObject({ kind: z.literal('keep_type'), table: name, column: name, note }),
  z.strictObject({ kind: z.literal('keep_unoptimised'), questionId: name, note }),
  z.strictObject({ kind: z.literal('drop_rule'), questionId: name, rule: name, note }),
  z.strictObject({ kind: z.literal('free_text'), note: text(20_000).min(1) }),
]);
export type Directive = z.infer<typeof directiveSchema>;

/** What an agent answers when a directive is beyond it: shown to the reviewer at once. */
export interface CannotAct {
  readonly directive: Directive;
  readonly reason: string;
}
