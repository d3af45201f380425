import { handler } from '@/lib/auth/handler';
import { artefactQuery } from '@/lib/review/api-types';
import { currentArtefact } from '@/lib/review/artefacts';

export const GET = handler(
  { access: ['admin', 'lead', 'reviewer'], scope: 'read', query: artefactQuery },
  ({ db, blobs, query }) => currentArtefact(db, blobs, query),
);
