import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { verifyAudit } from '@/lib/db/audit';
import { idSchema } from '@/lib/api-fields';
import type { AuditVerdict } from '@/lib/benchmarks/overview-api';

export const GET = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }) },
  ({ db, params }): Promise<AuditVerdict> => verifyAudit(db, params.id),
);
