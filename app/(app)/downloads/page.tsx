import type { Metadata } from 'next';
import { Suspense } from 'react';
import { DownloadsPage } from '../../../components/downloads/downloads-page';
import { requireUser } from '../../require-user';

export const metadata: Metadata = { title: 'Downloads' };

export default async function Downloads() {
  await requireUser();
  return (
    <Suspense>
      <DownloadsPage />
    </Suspense>
  );
}
