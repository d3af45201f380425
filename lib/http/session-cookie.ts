import { readConfig } from '../config';

const isSecure = (): boolean => readConfig().publicUrl?.startsWith('https:') ?? false;
// The __Host- prefix makes browsers insist on Secure, no Domain and Path=/.
export const sessionCookieName = (): string =>
  isSecure() ? '__Host-aptmql_session' : 'aptmql_session';

/**
 * Lax, not Strict: links into the application from mails and chats have to arrive signed in;
 * `requireOwnOrigin` guards.
 */
export function sessionCookie(token: string, expiresAt: Date): string {
  return (
    `${sessionCookieName()}=${token}; Path=/; HttpOnly; SameSite=Lax; ` +
    `Expires=${expiresAt.toUTCString()}${isSecure() ? '; Secure' : ''}`
  );
}
export const clearedSessionCookie = (): string => sessionCookie('', new Date(0));

/** The session token of a request, from its cookies. */
export function sessionToken(request: Request): string | undefined {
  for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === sessionCookieName() && value) return value;
  }
  return undefined;
}
