import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { verifyAudit } from '@/lib/db/audit';
import { idSchema, type AuditVerdict } from '@/lib/review/api-types';

export const GET = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }) },
  ({ db, params }): Promise<AuditVerdict> => verifyAudit(db, params.id),
);
