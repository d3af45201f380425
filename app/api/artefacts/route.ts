import { handler } from '@/lib/http/handler';
import { artefactQuery } from '@/lib/artefacts/artefact-api';
import { currentArtefact } from '@/lib/artefacts/artefacts';

export const GET = handler(
  { access: ['admin', 'lead', 'reviewer'], scope: 'read', query: artefactQuery },
  ({ db, blobs, query }) => currentArtefact(db, blobs, query),
);
