import type { Metadata } from 'next';
import { DatabasePage } from '../../../../components/database/database-page';
import { requireUser } from '../../../require-user';

export const metadata: Metadata = { title: 'Database' };

export default async function Database({
  params,
}: {
  readonly params: Promise<{ readonly id: string }>;
}) {
  await requireUser();
  return <DatabasePage id={(await params).id} />;
}
