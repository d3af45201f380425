import type { Metadata } from 'next';
import { Suspense } from 'react';
import { RunsPage } from '../../../components/leads/runs-page';
import { requireUser } from '../../require-user';

export const metadata: Metadata = { title: 'Agent runs' };

export default async function Runs() {
  await requireUser(['admin', 'lead']);
  return (
    <Suspense>
      <RunsPage />
    </Suspense>
  );
}
