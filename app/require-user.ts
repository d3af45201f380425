import { cookies, headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { sessionCookieName } from '../lib/http/session-cookie';
import { signedInUser } from '../lib/http/signed-in-user';
import type { Principal } from '../lib/auth/accounts';
import type { Role } from '../lib/auth/account-api';

/**
 * The signed-in user of a page. Every page asks for itself; without the right role it shows nothing
 * but that.
 */
export async function requireUser(roles?: readonly Role[]): Promise<Principal> {
  await headers();
  const user = await signedInUser((await cookies()).get(sessionCookieName())?.value);
  if (!user) redirect('/login');
  if (roles && !roles.includes(user.role)) redirect(`/forbidden?for=${roles.join()}`);
  return user;
}
