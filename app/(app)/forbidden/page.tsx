import type { Metadata } from 'next';
import Link from 'next/link';
import { Page } from '../../../components/shell/page';
import { Card } from '../../../components/ui/card';
import { roles } from '../../../lib/auth/account-api';
import { requireUser } from '../../require-user';

export const metadata: Metadata = { title: 'Not for your role' };

/** Where a page sends those whose role it is not for. */
export default async function Forbidden({
  searchParams,
}: {
  readonly searchParams: Promise<{ readonly for?: string | string[] }>;
}) {
  const user = await requireUser();
  const asked = [(await searchParams).for ?? []].flat().flatMap((text) => text.split(','));
  const allowed = roles.filter((role) => asked.includes(role));
  return (
    <Page title="This page is not for your role">
      <Card>
        <p>
          You are signed in as {user.name}, {user.role}.{' '}
          {allowed.length > 0
            ? `The page you asked for is for ${nouns(allowed)} only.`
            : 'The page you asked for is not for this role.'}{' '}
          Ask an admin if you should see it.
        </p>
        <p className="mt-2">
          <Link className="text-accent underline" href="/">
            To the benchmarks
          </Link>
        </p>
      </Card>
    </Page>
  );
}

const nouns = (names: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(names.map((name) => `${name}s`));
