import type { z } from 'zod';
import { readConfig } from '../config';
import { processStores, type ProcessStores } from '../db/process-database';
import type { Role, Scope } from '../auth/account-api';
import { principalOfSession, principalOfToken, type Principal } from '../auth/accounts';
import { failure } from './failure';
import { noStore } from './json';
import { sessionToken } from './session-cookie';
import { AppError, type Problem } from '../app-error';

/** Who may call a handler. There is no default: every route says it. */
export type Access = 'public' | readonly Role[];

interface Definition<Params, Query, Body> {
  readonly access: Access;
  /** What an API token needs to call it; absent: sessions only. */
  readonly scope?: Scope;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** The body is read by the handler itself, as a stream. */
  readonly streams?: boolean;
  /** `sendBeacon` cannot say that its body is JSON. */
  readonly beacon?: boolean;
}

interface Call<Params, Query, Body> extends ProcessStores {
  readonly user: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: Request;
}

/** Exported by a route file as GET, POST, … . */
export interface RouteHandler {
  (
    request: Request,
    context: { readonly params: Promise<Record<string, string | string[] | undefined>> },
  ): Promise<Response>;
  readonly access: Access;
}

/** Uploads are streamed and have limits of their own; the design of 100 tables is below 1 MB. */
const bodyLimit = 8 * 1024 * 1024;
const safeMethods = new Set(['GET', 'HEAD']);

/**
 * A route handler that authorises itself, parses its input strictly and answers failures in one
 * form. What it returns is sent as JSON; a `Response` is sent as it is; undefined is 204.
 */
export function handler<Params = undefined, Query = undefined, Body = undefined>(
  definition: Definition<Params, Query, Body>,
  work: (call: Call<Params, Query, Body>) => Promise<unknown>,
): RouteHandler {
  const handle = async (
    request: Request,
    context: { readonly params: Promise<Record<string, string | string[] | undefined>> },
  ): Promise<Response> => {
    try {
      const stores = processStores();
      const user = await authorise(request, definition, stores);
      const params = parse(definition.params, await context.params, 'address');
      const query = parse(definition.query, queryOf(request), 'query');
      const body = parse(
        definition.body,
        definition.body ? await readJson(request, definition.beacon === true) : undefined,
        'body',
      );
      const answer = await work({ ...stores, user, params, query, body, request });
      if (answer instanceof Response) return answer;
      if (answer === undefined) return new Response(null, { status: 204, headers: noStore });
      return Response.json(answer, { headers: noStore });
    } catch (error) {
      return failure(error);
    }
  };
  return Object.assign(handle, { access: definition.access });
}

// ── Who ──────────────────────────────────────────────────────────────────────────────────────────

async function authorise(
  request: Request,
  definition: { access: Access; scope?: Scope },
  { db }: ProcessStores,
): Promise<Principal> {
  const bearer = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
  // A browser adds cookies to a foreign page's request by itself, but never an Authorization
  // header.
  if (bearer === undefined && !safeMethods.has(request.method)) requireOwnOrigin(request);
  if (definition.access === 'public') return nobody;
  const session = bearer === undefined ? sessionToken(request) : undefined;
  const principal =
    bearer !== undefined
      ? await principalOfToken(db, bearer)
      : session && (await principalOfSession(db, session));
  if (!principal)
    throw new AppError(
      'not_signed_in',
      'You are not signed in, or your session has ended',
      'Sign in.',
    );
  if (!definition.access.includes(principal.role)) {
    throw new AppError(
      'forbidden',
      `This is not for the role ${principal.role}`,
      'Ask an admin if you need it.',
    );
  }
  if (
    principal.via === 'token' &&
    (!definition.scope || !principal.scopes.includes(definition.scope))
  ) {
    throw new AppError(
      'forbidden',
      definition.scope
        ? `The token lacks the scope ${definition.scope}`
        : 'This cannot be done by a token',
      'Use another token, or sign in.',
    );
  }
  return principal;
}

/** What a public handler gets as its user: nobody, with no right to anything. */
const nobody: Principal = {
  id: '',
  email: '',
  name: '',
  role: 'consumer',
  via: 'token',
  scopes: [],
  tokenHash: '',
};

function requireOwnOrigin(request: Request): void {
  const origin = request.headers.get('origin');
  const { publicUrl } = readConfig();
  const own = publicUrl ? new URL(publicUrl).host : request.headers.get('host');
  let host: string | undefined;
  try {
    host = origin === null ? undefined : new URL(origin).host;
  } catch {
    host = undefined; // "null" and other things that are no address
  }
  if (!host || host !== own) {
    throw new AppError(
      'foreign_origin',
      'The request does not come from this application',
      'Open the application at its own address; behind a proxy set APTMQL_URL to it.',
    );
  }
}

// ── What ─────────────────────────────────────────────────────────────────────────────────────────

function queryOf(request: Request): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of new URL(request.url).searchParams) {
    // Next adds these to requests for page data; they are not ours.
    if (name === '_rsc' || name.startsWith('nxt')) continue;
    if (Object.hasOwn(query, name))
      throw new AppError('malformed', `The parameter ${name} is given twice`, 'Give it once.');
    query[name] = value;
  }
  return { ...query };
}

function parse<T>(
  schema: z.ZodType<T> | undefined,
  value: unknown,
  where: 'address' | 'query' | 'body',
): T {
  if (!schema) return undefined as T;
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  if (where === 'address')
    throw new AppError(
      'malformed',
      'There is nothing at this address',
      'Look whether it was copied whole, or start from the queue or the list of benchmarks.',
    );
  const problems: Problem[] = read.error.issues.map((issue) => ({
    path: issue.path.join('.'),
    message: issue.message,
  }));
  const first = problems[0];
  throw new AppError(
    'malformed',
    `${where === 'query' ? 'A part of the address' : 'Something in what was sent'} cannot be ` +
      `used: ${first?.path ? `${first.path}: ` : ''}${first?.message ?? ''}`,
    'Correct what is named and try again.',
    problems,
  );
}

async function readJson(request: Request, beacon: boolean): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!beacon && !type.startsWith('application/json'))
    throw new AppError(
      'malformed',
      'The body is not JSON',
      'Send it with content-type application/json.',
    );
  const parts: Uint8Array[] = [];
  let bytes = 0;
  if (request.body) {
    for await (const part of request.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += part.length;
      if (bytes > bodyLimit)
        throw new AppError(
          'too_large',
          `The body is larger than ${bodyLimit / 1024 / 1024} MB`,
          'Send less at once.',
        );
      parts.push(part);
    }
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8') || '{}');
  } catch {
    throw new AppError('malformed', 'The body is not valid JSON', 'Mend it and send it again.');
  }
}
