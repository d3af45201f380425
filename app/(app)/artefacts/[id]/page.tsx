import type { Metadata } from 'next';
import { Suspense } from 'react';
import { ArtefactPage } from '../../../../components/review/artefact-page';
import { requireUser } from '../../../require-user';

export const metadata: Metadata = { title: 'Artefact' };

export default async function Artefact({
  params,
}: {
  readonly params: Promise<{ readonly id: string }>;
}) {
  await requireUser(['admin', 'lead', 'reviewer']);
  return (
    <Suspense>
      <ArtefactPage id={(await params).id} />
    </Suspense>
  );
}
