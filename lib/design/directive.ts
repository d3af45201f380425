import { z } from 'zod';

const note = z.string().max(4000).optional();

/** A structured instruction of a reviewer to an agent. `note` is for people and language models. */
export const directiveSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('relationship'), relationship: z.string(), choice: z.enum(['embed', 'reference', 'copy']), note }),
  z.strictObject({ kind: z.literal('rename_collection'), table: z.string(), name: z.string(), note }),
  z.strictObject({ kind: z.literal('rename_field'), table: z.string(), column: z.string(), name: z.string(), note }),
  z.strictObject({ kind: z.literal('keep_unoptimised'), questionId: z.string(), note }),
  z.strictObject({ kind: z.literal('drop_rule'), questionId: z.string(), rule: z.string(), note }),
  z.strictObject({ kind: z.literal('free_text'), note: z.string().min(1).max(4000) }),
]);
export type Directive = z.infer<typeof directiveSchema>;

/** What an agent answers when a directive is beyond it: shown to the reviewer at once. */
export interface CannotAct {
  readonly directive: Directive;
  readonly reason: string;
}
