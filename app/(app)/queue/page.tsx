import type { Metadata } from 'next';
import { Suspense } from 'react';
import { QueuePage } from '../../../components/queue/queue-page';
import { requireUser } from '../../require-user';

export const metadata: Metadata = { title: 'Queue' };

export default async function Queue() {
  await requireUser(['admin', 'lead', 'reviewer']);
  return (
    <Suspense>
      <QueuePage />
    </Suspense>
  );
}
