import { signIn, signOut } from '@/lib/auth/accounts';
import { clearedSessionCookie, sessionCookie } from '@/lib/http/session-cookie';
import { handler } from '@/lib/http/handler';
import { roles, signInBody, type SessionResponse } from '@/lib/auth/account-api';

export const GET = handler(
  { access: roles, scope: 'read' },
  async ({ user: { id, email, name, role } }): Promise<SessionResponse> => ({
    user: { id, email, name, role },
  }),
);

export const POST = handler(
  { access: 'public', body: signInBody },
  async ({ db, body, request }) => {
    // The address of the client as the nearest proxy (Next itself, when there is none) saw it.
    const client = request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() ?? 'unknown';
    const { user, token, expiresAt } = await signIn(db, { ...body, client });
    return Response.json({ user } satisfies SessionResponse, {
      headers: { 'set-cookie': sessionCookie(token, expiresAt), 'cache-control': 'no-store' },
    });
  },
);

export const DELETE = handler({ access: roles }, async ({ db, user }) => {
  await signOut(db, user);
  return new Response(null, { status: 204, headers: { 'set-cookie': clearedSessionCookie() } });
});
