import type { ReactNode } from 'react';
import { AppShell } from '../../components/shell/app-shell';
import { requireUser } from '../require-user';

export default async function SignedInLayout({ children }: { readonly children: ReactNode }) {
  await requireUser();
  return <AppShell>{children}</AppShell>;
}
