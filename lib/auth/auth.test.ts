import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { verifyAudit } from '../db/audit';
import type { Database } from '../db/database';
import { closeProcessStores } from '../db/process-database';
import { createTestDatabase } from '../db/test/test-database';
import {
  changePassword,
  createToken,
  createUser,
  principalOfSession,
  principalOfToken,
  revokeToken,
  signIn,
  updateUser,
} from './accounts';
import { handler } from '../http/handler';
import { sessionCookie, sessionCookieName } from '../http/session-cookie';
import { generatePassword, hashPassword, verifyPassword } from './password';

let db: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  process.env.DATABASE_URL = db.url;
});
afterEach(() => {
  delete process.env.APTMQL_URL;
});
afterAll(async () => {
  await closeProcessStores();
  await db.close();
});

const password = 'correct horse battery';
async function someone(role: 'admin' | 'reviewer') {
  const email = `${randomUUID()}@example.org`;
  const { id } = await createUser(db, 'test', { email, name: role, role, password });
  const enter = () => signIn(db, { email: email.toUpperCase(), password, client: 'c' });
  return { id, email, enter };
}

test('passwords are salted, and generated ones are long and readable', async () => {
  const [one, two] = await Promise.all([hashPassword('x'), hashPassword('x')]);
  expect(one).not.toBe(two);
  expect(await verifyPassword('x', one)).toBe(true);
  expect(await verifyPassword('y', one)).toBe(false);
  expect(await verifyPassword('x', null)).toBe(false);
  expect(generatePassword()).toMatch(/^[a-hjkmnp-z2-9]{5}(-[a-hjkmnp-z2-9]{5}){3}$/);
});

test('a session ends by time, by idleness, by a changed password and with its user', async () => {
  const admin = await someone('admin');
  const user = await someone('reviewer');
  const [first, second] = [await user.enter(), await user.enter()];
  const alive = async (token: string) => (await principalOfSession(db, token)) !== undefined;
  expect(await alive(first.token)).toBe(true);
  const principal = (await principalOfSession(db, first.token))!;
  await changePassword(db, principal, password, password);
  expect([await alive(first.token), await alive(second.token)]).toEqual([true, false]);
  await db.prisma.session.updateMany({
    where: { userId: user.id, revokedAt: null },
    data: { lastSeenAt: new Date(Date.now() - 4 * 86_400_000) },
  });
  expect(await alive(first.token)).toBe(false);
  const third = await user.enter();
  await db.prisma.session.updateMany({
    where: { userId: user.id },
    data: { expiresAt: new Date(Date.now() - 1) },
  });
  expect(await alive(third.token)).toBe(false);
  const fourth = await user.enter();
  const { secret, token } = await createToken(db, (await principalOfSession(db, fourth.token))!, {
    name: 't',
    scopes: ['read'],
    days: 1,
  });
  expect(await principalOfToken(db, secret)).toMatchObject({ via: 'token', scopes: ['read'] });
  await revokeToken(db, principal, token.id);
  expect(await principalOfToken(db, secret)).toBeUndefined();
  await updateUser(db, admin.id, user.id, { disabled: true });
  expect(await alive(fourth.token)).toBe(false);
  await expect(user.enter()).rejects.toMatchObject({ code: 'wrong_credentials' });
  expect(JSON.stringify(await db.prisma.apiToken.findMany())).not.toContain(secret);
});

test('there is always an admin, even when two are removed at once', async () => {
  await db.prisma.user.updateMany({ where: { role: 'admin' }, data: { disabledAt: new Date() } });
  const [one, two] = [await someone('admin'), await someone('admin')];
  const outcomes = await Promise.allSettled([
    updateUser(db, 'test', one.id, { role: 'reviewer' }),
    updateUser(db, 'test', two.id, { disabled: true }),
  ]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await verifyAudit(db, 'installation')).toMatchObject({ ok: true });
});

test('behind https the cookie is secure and bound to the host, and only the public origin counts', async () => {
  expect(sessionCookie('t', new Date(0))).not.toContain('Secure');
  process.env.APTMQL_URL = 'https://studio.example.org';
  expect(sessionCookieName()).toBe('__Host-aptmql_session');
  expect(sessionCookie('t', new Date(0))).toMatch(
    /^__Host-aptmql_session=t; Path=\/; HttpOnly; SameSite=Lax; .*; Secure$/,
  );
  const route = handler({ access: 'public' }, () => Promise.resolve({ ok: true }));
  const post = async (origin: string) =>
    (
      await route(
        new Request('http://10.0.0.1:3000/', {
          method: 'POST',
          headers: { origin, host: '10.0.0.1:3000' },
        }),
        { params: Promise.resolve({}) },
      )
    ).status;
  expect(await post('https://studio.example.org')).toBe(200);
  expect(await post('http://10.0.0.1:3000')).toBe(403);
});

test('a fault of ours tells people nothing of the inside', async () => {
  const route = handler({ access: 'public' }, () => Promise.reject(new Error('secret detail')));
  const response = await route(new Request('http://x/'), { params: Promise.resolve({}) });
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('secret detail');
});
