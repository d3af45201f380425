import type { Metadata } from 'next';
import { Suspense } from 'react';
import { OverviewPage } from '../../../components/leads/overview-page';
import { requireUser } from '../../require-user';

export const metadata: Metadata = { title: 'Overview' };

export default async function Overview() {
  await requireUser(['admin', 'lead']);
  return (
    <Suspense>
      <OverviewPage />
    </Suspense>
  );
}
