import type { Metadata } from 'next';
import { Suspense } from 'react';
import { ReviewPage } from '../../../../components/review/review-page';
import { requireUser } from '../../../require-user';

export const metadata: Metadata = { title: 'Review' };

export default async function Task({
  params,
}: {
  readonly params: Promise<{ readonly id: string }>;
}) {
  await requireUser(['admin', 'lead', 'reviewer']);
  return (
    <Suspense>
      <ReviewPage id={(await params).id} />
    </Suspense>
  );
}
