import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken, createUser, principalOfSession, signIn } from '@/lib/auth/accounts';
import type { RouteHandler } from '@/lib/http/handler';
import type { Database } from '@/lib/db/database';
import { closeProcessStores } from '@/lib/db/process-database';
import { createTestDatabase } from '@/lib/db/test/test-database';
import { roles, type Role } from '@/lib/auth/account-api';
import type { ApiError } from '@/lib/http/api-error';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof methods)[number];

const all = 'admin lead reviewer consumer';
const people = 'admin lead reviewer';
const leads = 'admin lead';
/** Who may call what. A route that is not here fails the test. */
const access: Record<string, string> = {
  'GET health': 'public',
  'GET session': all,
  'POST session': 'public',
  'DELETE session': all,
  'POST session/password': all,
  'GET users': leads,
  'POST users': 'admin',
  'PATCH users/[id]': 'admin',
  'GET tokens': all,
  'POST tokens': all,
  'DELETE tokens/[id]': all,
  'GET benchmarks': all,
  'POST benchmarks/upload': leads,
  'POST benchmarks/import': 'admin',
  'GET benchmarks/[id]': all,
  'PATCH benchmarks/[id]': leads,
  'DELETE benchmarks/[id]': 'admin',
  'POST benchmarks/[id]/run': leads,
  'GET benchmarks/[id]/overview': leads,
  'GET benchmarks/[id]/audit': leads,
  'GET benchmarks/[id]/audit/verify': leads,
  'GET benchmarks/[id]/effort.csv': leads,
  'GET benchmarks/[id]/decisions.csv': leads,
  'GET imports': leads,
  'GET imports/[id]': leads,
  'GET databases/[id]': all,
  'POST databases/[id]/run': leads,
  'POST databases/[id]/retry': leads,
  'POST databases/[id]/cancel': leads,
  'GET databases/[id]/items': all,
  'GET databases/[id]/design-figures': people,
  'GET databases/[id]/documents': people,
  'POST databases/[id]/what-if': people,
  'GET databases/[id]/finalise': people,
  'POST databases/[id]/finalise': leads,
  'GET events': all,
  'GET queue': people,
  'POST queue/claim': people,
  'POST tasks/assign': leads,
  'GET tasks/[id]': people,
  'POST tasks/[id]/lease': people,
  'DELETE tasks/[id]/lease': people,
  'POST tasks/[id]/lease/release': people,
  'POST tasks/[id]/decisions': people,
  'POST tasks/[id]/check': people,
  'POST tasks/[id]/seen': people,
  'PUT tasks/[id]/draft': people,
  'POST tasks/[id]/comments': people,
  'GET tasks/[id]/logical.csv': people,
  'GET tasks/[id]/mapping-rows': people,
  'PATCH comments/[id]': people,
  'POST decisions/[id]/undo': people,
  'POST effort': people,
  'GET artefacts': people,
  'GET artefacts/[id]': people,
  'GET artefacts/[id]/versions/[seq]': people,
  'GET artefacts/[id]/diff': people,
  'GET runs': leads,
  'GET runs/[id]': leads,
  'GET bundles': all,
  'POST bundles': 'admin lead consumer',
  'GET bundles/[id]': all,
  'GET bundles/[id]/download': all,
};
/** What a token may call at all. */
const tokenScopes: Record<string, 'read' | 'bundles'> = Object.fromEntries([
  ...[
    'session',
    'benchmarks',
    'benchmarks/[id]',
    'benchmarks/[id]/overview',
    'benchmarks/[id]/effort.csv',
    'benchmarks/[id]/decisions.csv',
    'databases/[id]',
    'databases/[id]/items',
    'databases/[id]/design-figures',
    'databases/[id]/documents',
    'databases/[id]/finalise',
    'queue',
    'tasks/[id]',
    'tasks/[id]/logical.csv',
    'tasks/[id]/mapping-rows',
    'artefacts',
    'artefacts/[id]',
    'artefacts/[id]/versions/[seq]',
    'artefacts/[id]/diff',
    'runs',
    'runs/[id]',
  ].map((route) => [`GET ${route}`, 'read'] as const),
  ...['bundles', 'bundles/[id]', 'bundles/[id]/download'].map(
    (route) => [`GET ${route}`, 'bundles'] as const,
  ),
]);

interface Route {
  readonly name: string;
  readonly method: Method;
  readonly route: string;
  readonly handler: RouteHandler;
}

const here = import.meta.dirname;
const host = 'studio.example.org';
const password = 'a long enough password';
const cookies = {} as Record<Role, string>;
const tokens = {} as Record<Role, Record<'read' | 'bundles', string>>;
let routes: Route[];
let db: Database;
let folder: string;

beforeAll(async () => {
  db = await createTestDatabase();
  folder = await mkdtemp(path.join(os.tmpdir(), 'aptmql-routes-'));
  process.env.DATABASE_URL = db.url;
  process.env.APTMQL_DATA = folder;
  process.env.MONGODB_URI = 'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=200';
  for (const role of roles) {
    await createUser(db, 'test', { email: `${role}@example.org`, name: role, role, password });
    const { token } = await signIn(db, { email: `${role}@example.org`, password, client: 'test' });
    cookies[role] = `aptmql_session=${token}`;
    const principal = (await principalOfSession(db, token))!;
    const make = async (scope: 'read' | 'bundles') =>
      (await createToken(db, principal, { name: scope, scopes: [scope], days: 1 })).secret;
    tokens[role] = { read: await make('read'), bundles: await make('bundles') };
  }
  routes = [];
  for (const file of (await readdir(here, { recursive: true }))
    .filter((name) => name.endsWith('route.ts'))
    .sort()) {
    const module = (await import(path.join(here, file))) as Partial<Record<Method, RouteHandler>>;
    const route = path.dirname(file);
    for (const method of methods) {
      const handler = module[method];
      if (handler) routes.push({ name: `${method} ${route}`, method, route, handler });
    }
  }
});
afterAll(async () => {
  await closeProcessStores();
  await db.close();
  await rm(folder, { recursive: true, force: true });
});

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly search?: string;
  readonly params?: Record<string, string>;
}
function call(
  { method, route, handler }: Route,
  { headers = {}, body, search = '', params = { id: randomUUID(), seq: '1' } }: Sent,
): Promise<Response> {
  const needed = Object.fromEntries(
    Object.entries(params).filter(([name]) => route.includes(`[${name}]`)),
  );
  const address = `http://${host}/api/${route.replaceAll(/\[(\w+)\]/g, (_, name: string) => params[name] ?? '')}${search}`;
  const abort = new AbortController();
  const request = new Request(address, {
    method,
    headers: { host, ...headers },
    signal: abort.signal,
    ...(body === undefined || method === 'GET' ? {} : { body }),
  });
  return handler(request, { params: Promise.resolve(needed) }).then(async (response) => {
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) abort.abort();
    return response;
  });
}
const own = { origin: `http://${host}`, 'content-type': 'application/json' };
const codeOf = async (response: Response): Promise<string> =>
  ((await response.json()) as ApiError).error.code;

test('every route is in the table, with the access that the table says', () => {
  expect(routes.map(({ name }) => name).sort()).toEqual(Object.keys(access).sort());
  for (const { name, handler } of routes)
    expect(
      typeof handler.access === 'string' ? handler.access : [...handler.access].sort().join(' '),
      name,
    ).toBe(access[name] === 'public' ? 'public' : access[name]!.split(' ').sort().join(' '));
});

test('anonymous callers get nothing, whatever they pretend', async () => {
  for (const route of routes.filter(({ name }) => access[name] !== 'public')) {
    for (const headers of [
      {},
      { 'x-middleware-subrequest': 'proxy:proxy:proxy:proxy:proxy' },
      { rsc: '1' },
      { cookie: 'aptmql_session=guess' },
      { authorization: 'Bearer aptmql_guess' },
      { cookie: '__Host-aptmql_session=x' },
    ]) {
      for (const search of ['', '?_rsc=1']) {
        const response = await call(route, { headers: { ...own, ...headers }, body: '{}', search });
        expect(response.status, `${route.name} ${JSON.stringify(headers)}`).toBe(401);
      }
    }
  }
});

describe('role × endpoint', () => {
  test.each([...roles])('%s', async (role) => {
    for (const route of routes.filter(
      ({ name }) => access[name] !== 'public' && name !== 'DELETE session',
    )) {
      const response = await call(route, { headers: { ...own, cookie: cookies[role] }, body: '{' });
      const allowed = access[route.name]!.split(' ').includes(role);
      if (allowed) expect([401, 403], `${role} ${route.name}`).not.toContain(response.status);
      else expect(response.status, `${role} ${route.name}`).toBe(403);
      expect(response.status, `${role} ${route.name}`).not.toBe(500);
    }
  });
});

test('state changes need our own Origin', async () => {
  for (const route of routes.filter(({ method }) => method !== 'GET')) {
    for (const origin of [
      undefined,
      'https://evil.example',
      'null',
      `http://${host}.evil.example`,
      `http://${host}:8080`,
    ]) {
      const response = await call(route, {
        headers: {
          'content-type': 'application/json',
          cookie: cookies.admin,
          ...(origin ? { origin } : {}),
        },
        body: '{}',
      });
      expect(response.status, `${route.name} from ${origin}`).toBe(403);
      expect(await codeOf(response)).toBe('foreign_origin');
    }
  }
});

test('tokens do what their scope says and change nothing', async () => {
  for (const route of routes.filter(({ name }) => access[name] !== 'public')) {
    for (const scope of ['read', 'bundles'] as const) {
      const response = await call(route, {
        headers: {
          authorization: `Bearer ${tokens.admin[scope]}`,
          'content-type': 'application/json',
        },
        body: '{}',
      });
      if (tokenScopes[route.name] === scope)
        expect([401, 403], `${scope} ${route.name}`).not.toContain(response.status);
      else expect(response.status, `${scope} ${route.name}`).toBe(403);
    }
  }
});

test('input is parsed strictly', async () => {
  const post = (name: string, body: string, headers: Record<string, string> = {}) =>
    call(
      routes.find((route) => route.name === name)!,
      { headers: { ...own, cookie: cookies.admin, ...headers }, body },
    );
  const refused = async (response: Promise<Response>, status = 400) =>
    expect((await response).status).toBe(status);
  await refused(
    post('POST session', JSON.stringify({ email: { not: '' }, password: { not: '' } })),
  );
  await refused(
    post('POST session', JSON.stringify({ email: 'a@b.c', password: 'x', role: 'admin' })),
  );
  await refused(
    post(
      'POST users',
      '{"email":"a@b.org","name":"x","role":"reviewer","__proto__":{"role":"admin"}}',
    ),
  );
  await refused(
    post('POST users', JSON.stringify({ email: 'a@b.org', name: 'x', role: 'constructor' })),
  );
  await refused(post('POST queue/claim', JSON.stringify({ databaseId: { not: null } })));
  await refused(post('POST queue/claim', '[]'));
  await refused(post('POST queue/claim', '{}', { 'content-type': 'text/plain' }));
  await refused(post('POST tasks/[id]/decisions', JSON.stringify({ verdict: 'constructor' })));
  await refused(
    call(
      routes.find(({ name }) => name === 'GET queue')!,
      { headers: { cookie: cookies.admin }, search: '?pageSize=100000' },
    ),
  );
  await refused(
    call(
      routes.find(({ name }) => name === 'GET queue')!,
      { headers: { cookie: cookies.admin }, search: '?gate=__proto__' },
    ),
  );
  await refused(
    call(
      routes.find(({ name }) => name === 'GET tasks/[id]')!,
      { headers: { cookie: cookies.admin }, params: { id: `' OR 1=1 --` } },
    ),
  );
  await refused(post('POST effort', 'x'.repeat(25 * 1024 * 1024)), 413);
  expect(await db.prisma.user.count({ where: { email: 'a@b.org' } })).toBe(0);
});

test('a session ends with signing out, and nothing signs in with it again', async () => {
  const find = (name: string) => routes.find((route) => route.name === name)!;
  const signedIn = await call(find('POST session'), {
    headers: own,
    body: JSON.stringify({ email: 'Consumer@Example.org', password }),
  });
  expect(signedIn.status).toBe(200);
  const cookie = signedIn.headers.get('set-cookie')!;
  expect(cookie).toMatch(/; HttpOnly; SameSite=Lax;/);
  const session = { cookie: cookie.split(';')[0]! };
  expect((await call(find('GET session'), { headers: session })).status).toBe(200);
  expect((await call(find('DELETE session'), { headers: { ...own, ...session } })).status).toBe(
    204,
  );
  expect((await call(find('GET session'), { headers: session })).status).toBe(401);
  const stored = await db.prisma.session.findMany();
  expect(JSON.stringify(stored)).not.toContain(session.cookie.split('=')[1]);
});

test('guessing passwords is slowed down, also in parallel', async () => {
  const signInRoute = routes.find((route) => route.name === 'POST session')!;
  const guess = () =>
    call(signInRoute, {
      headers: own,
      body: JSON.stringify({ email: 'reviewer@example.org', password: 'wrong' }),
    });
  const statuses = [];
  for (let round = 0; round < 12; round++) statuses.push((await guess()).status);
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
  expect(statuses.slice(10)).toEqual([429, 429]);
  const right = await call(signInRoute, {
    headers: own,
    body: JSON.stringify({ email: 'reviewer@example.org', password }),
  });
  expect(right.status).toBe(429);
});

test('events: a stream that says hello and is not cached', async () => {
  const route = routes.find(({ name }) => name === 'GET events')!;
  const abort = new AbortController();
  const response = await route.handler(
    new Request(`http://${host}/api/events`, {
      headers: { cookie: cookies.lead },
      signal: abort.signal,
    }),
    { params: Promise.resolve({}) },
  );
  expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
  const reader = response.body!.getReader();
  const text =
    new TextDecoder().decode((await reader.read()).value) +
    new TextDecoder().decode((await reader.read()).value);
  expect(text).toContain('data: {"type":"hello"}');
  abort.abort();
});
