import type { Metadata } from 'next';
import { Suspense } from 'react';
import { UsersPage } from '../../../components/users/users-page';
import { requireUser } from '../../require-user';

export const metadata: Metadata = { title: 'Users' };

export default async function Users() {
  await requireUser(['admin']);
  return (
    <Suspense>
      <UsersPage />
    </Suspense>
  );
}
