import { z } from 'zod';
import { notFound } from '@/lib/app-error';
import { handler } from '@/lib/http/handler';
import type { LogicalDesign } from '@/lib/design/model/document-design';
import { logicalCsv } from '@/lib/design/logical/logical-csv';
import { readCurrent } from '@/lib/pipeline/artefact-store';
import { idSchema } from '@/lib/api-fields';
import { csvResponse } from '@/lib/http/csv';

/** The logical design behind a collection's validation task, as the CSV that is edited. */
export const GET = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    scope: 'read',
    params: z.strictObject({ id: idSchema }),
  },
  async ({ db, blobs, params }) => {
    const task = await db.prisma.task.findUnique({
      where: { id: params.id },
      include: { artefact: true },
    });
    const found =
      task?.artefact.kind === 'collection_validation'
        ? await readCurrent<LogicalDesign>(db, blobs, task.databaseId, {
            kind: 'logical_design',
            key: task.artefact.key,
          })
        : undefined;
    if (!found) throw notFound('The logical design');
    return csvResponse(
      `${task!.artefact.key.replace('/', '-')}-logical-design.csv`,
      logicalCsv(found.content),
    );
  },
);
