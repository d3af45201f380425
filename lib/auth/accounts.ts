import { createHash, randomBytes } from 'node:crypto';
import { audited, installationChain, type AuditEntry } from '../db/audit';
import { isUniqueViolation, type Database } from '../db/database';
import { Prisma } from '../db/generated/client';
import {
  roles,
  scopes,
  type Role,
  type Scope,
  type SessionUser,
  type TokenRow,
  type UserRow,
} from './account-api';
import { AppError, notFound } from '../app-error';
import { generatePassword, hashPassword, verifyPassword } from './password';

/** Who acts: a person by session cookie, or a program by API token in a person's name. */
export interface Principal extends SessionUser {
  readonly via: 'session' | 'token';
  /** What a token may do; a session may do all that its role may. */
  readonly scopes: readonly Scope[];
  readonly tokenHash: string;
}

const day = 86_400_000;
const sessionLifetime = 14 * day;
const sessionIdle = 3 * day;
/** Failed sign-ins within the window, for one e-mail address and for one client. */
const limits = { window: 15 * 60_000, email: 10, client: 60 };

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
const newToken = (prefix: string): string => prefix + randomBytes(32).toString('base64url');
const isRole = (role: string): role is Role => (roles as readonly string[]).includes(role);
const entry = (
  actor: string,
  action: string,
  subject: string,
  detail: Record<string, unknown> = {},
): AuditEntry => ({
  chain: installationChain,
  actor,
  action,
  subject,
  detail,
});

// ── Sessions ─────────────────────────────────────────────────────────────────────────────────────

/** @throws {AppError} wrong_credentials, rate_limited */
export async function signIn(
  db: Database,
  given: { email: string; password: string; client: string },
): Promise<{ user: SessionUser; token: string; expiresAt: Date }> {
  const email = given.email.trim().toLowerCase();
  const keys = [
    { key: hashToken(`email:${email}`), limit: limits.email },
    { key: hashToken(`client:${given.client}`), limit: limits.client },
  ];
  const since = new Date(Date.now() - limits.window);
  // Counted as failed until the password is known to be right: parallel guesses cannot slip under
  // the limit.
  await db.prisma.failedSignIn.createMany({ data: keys.map(({ key }) => ({ key })) });
  for (const { key, limit } of keys) {
    const failures = await db.prisma.failedSignIn.count({ where: { key, at: { gt: since } } });
    if (failures > limit) {
      throw new AppError(
        'rate_limited',
        'Too many failed sign-ins',
        'Wait 15 minutes, or ask an admin to reset the password.',
      );
    }
  }
  const user = await db.prisma.user.findUnique({ where: { email } });
  const right = await verifyPassword(given.password, user?.passwordHash ?? null);
  if (!right || !user || user.disabledAt || !isRole(user.role)) {
    throw new AppError(
      'wrong_credentials',
      'E-mail address and password do not match',
      'Check both, or ask an admin to reset the password.',
    );
  }
  await db.prisma.failedSignIn.deleteMany({
    where: { OR: [{ key: keys[0]!.key }, { at: { lt: since } }] },
  });
  await db.prisma.$executeRaw`DELETE FROM failed_sign_in
      WHERE id = (SELECT max(id) FROM failed_sign_in WHERE key = ${keys[1]!.key})`;
  const token = newToken('s_');
  const expiresAt = new Date(Date.now() + sessionLifetime);
  await audited(db, async (tx) => {
    await tx.session.create({ data: { tokenHash: hashToken(token), userId: user.id, expiresAt } });
    return { result: undefined, audit: [entry(user.id, 'sign_in', `user:${user.id}`)] };
  });
  return {
    user: { id: user.id, email: user.email, name: user.name, role: user.role },
    token,
    expiresAt,
  };
}

/**
 * The person behind a session cookie, or undefined: unknown, expired, idle, revoked or disabled.
 */
export async function principalOfSession(
  db: Database,
  token: string,
): Promise<Principal | undefined> {
  const tokenHash = hashToken(token);
  // Each request asks this: one statement, and a write only where the last one is a minute old.
  const [session] = await db.query<{
    id: string;
    email: string;
    name: string;
    role: string;
    outdated: boolean;
  }>(Prisma.sql`
    SELECT app_user.id, app_user.email, app_user.name, app_user.role::text,
      session.last_seen_at < now() - interval '1 minute' AS outdated
    FROM session JOIN app_user ON app_user.id = session.user_id
    WHERE session.token_hash = ${tokenHash} AND session.revoked_at IS NULL
      AND session.expires_at > now()
      AND session.last_seen_at > now() - make_interval(secs => ${sessionIdle / 1000})
      AND app_user.disabled_at IS NULL`);
  if (!session || !isRole(session.role)) return undefined;
  const { id, email, name, role, outdated } = session;
  if (outdated)
    await db.prisma.session.updateMany({ where: { tokenHash }, data: { lastSeenAt: new Date() } });
  return { id, email, name, role, via: 'session', scopes, tokenHash };
}

export async function signOut(db: Database, principal: Principal): Promise<void> {
  await db.prisma.session.updateMany({
    where: { tokenHash: principal.tokenHash },
    data: { revokedAt: new Date() },
  });
}

export async function changePassword(
  db: Database,
  principal: Principal,
  current: string,
  next: string,
): Promise<void> {
  const user = await db.prisma.user.findUniqueOrThrow({ where: { id: principal.id } });
  if (!(await verifyPassword(current, user.passwordHash))) {
    throw new AppError(
      'wrong_credentials',
      'The current password is another one',
      'Type it again.',
    );
  }
  const passwordHash = await hashPassword(next);
  await audited(db, async (tx) => {
    await tx.user.update({ where: { id: principal.id }, data: { passwordHash } });
    await tx.session.updateMany({
      where: { userId: principal.id, NOT: { tokenHash: principal.tokenHash } },
      data: { revokedAt: new Date() },
    });
    return {
      result: undefined,
      audit: [entry(principal.id, 'change_password', `user:${principal.id}`)],
    };
  });
}

// ── API tokens ───────────────────────────────────────────────────────────────────────────────────

export async function principalOfToken(
  db: Database,
  token: string,
): Promise<Principal | undefined> {
  const tokenHash = hashToken(token);
  const found = await db.prisma.apiToken.findUnique({
    where: { tokenHash },
    include: { user: true },
  });
  if (!found || found.revokedAt || found.expiresAt.getTime() <= Date.now()) return undefined;
  const { user } = found;
  if (user.disabledAt || !isRole(user.role)) return undefined;
  await db.prisma.apiToken.update({ where: { id: found.id }, data: { lastUsedAt: new Date() } });
  const granted = scopes.filter((scope) => found.scopes.includes(scope));
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    role: user.role,
    via: 'token',
    scopes: granted,
    tokenHash,
  };
}

export async function createToken(
  db: Database,
  principal: Principal,
  wanted: { name: string; scopes: readonly Scope[]; days: number },
): Promise<{ token: TokenRow; secret: string }> {
  const secret = newToken('aptmql_');
  const token = await audited(db, async (tx) => {
    const created = await tx.apiToken.create({
      data: {
        userId: principal.id,
        name: wanted.name,
        scopes: [...wanted.scopes],
        tokenHash: hashToken(secret),
        expiresAt: new Date(Date.now() + wanted.days * day),
      },
    });
    return {
      result: created,
      audit: [
        entry(principal.id, 'create_token', `token:${created.id}`, { scopes: created.scopes }),
      ],
    };
  });
  return { token: tokenRow(token), secret };
}

export async function listTokens(db: Database, principal: Principal): Promise<TokenRow[]> {
  const tokens = await db.prisma.apiToken.findMany({
    where: { userId: principal.id, revokedAt: null },
    orderBy: { createdAt: 'desc' },
  });
  return tokens.map(tokenRow);
}

export async function revokeToken(db: Database, principal: Principal, id: string): Promise<void> {
  await audited(db, async (tx) => {
    const { count } = await tx.apiToken.updateMany({
      where: { id, userId: principal.id, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    if (count === 0) throw notFound('This token');
    return { result: undefined, audit: [entry(principal.id, 'revoke_token', `token:${id}`)] };
  });
}

const tokenRow = (token: {
  id: string;
  name: string;
  scopes: string[];
  createdAt: Date;
  expiresAt: Date;
  lastUsedAt: Date | null;
}): TokenRow => ({
  id: token.id,
  name: token.name,
  scopes: scopes.filter((scope) => token.scopes.includes(scope)),
  createdAt: token.createdAt.toISOString(),
  expiresAt: token.expiresAt.toISOString(),
  lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
});

// ── Users ────────────────────────────────────────────────────────────────────────────────────────

export async function listUsers(db: Database): Promise<UserRow[]> {
  const users = await db.prisma.user.findMany({
    where: { role: { not: 'agent' } },
    orderBy: { name: 'asc' },
    include: { sessions: { orderBy: { lastSeenAt: 'desc' }, take: 1 } },
  });
  return users.flatMap((user) =>
    isRole(user.role)
      ? [
          {
            id: user.id,
            email: user.email,
            name: user.name,
            role: user.role,
            createdAt: user.createdAt.toISOString(),
            disabled: user.disabledAt !== null,
            lastSeenAt: user.sessions[0]?.lastSeenAt.toISOString() ?? null,
          },
        ]
      : [],
  );
}

/** @param actor a user's id, or the name of the program that acts. */
export async function createUser(
  db: Database,
  actor: string,
  wanted: { email: string; name: string; role: Role; password?: string | undefined },
): Promise<{ id: string; password: string | undefined }> {
  const generated = wanted.password === undefined ? generatePassword() : undefined;
  const passwordHash = await hashPassword(wanted.password ?? generated!);
  try {
    const user = await audited(db, async (tx) => {
      const created = await tx.user.create({
        data: {
          email: wanted.email.trim().toLowerCase(),
          name: wanted.name,
          role: wanted.role,
          passwordHash,
        },
      });
      return {
        result: created,
        audit: [entry(actor, 'create_user', `user:${created.id}`, { role: wanted.role })],
      };
    });
    return { id: user.id, password: generated };
  } catch (error) {
    if (isUniqueViolation(error))
      throw new AppError(
        'conflict',
        `A user with the address ${wanted.email} exists already`,
        'Choose another address, or change that user.',
      );
    throw error;
  }
}

export async function updateUser(
  db: Database,
  actor: string,
  id: string,
  change: {
    name?: string | undefined;
    role?: Role | undefined;
    disabled?: boolean | undefined;
    resetPassword?: true | undefined;
  },
): Promise<{ password: string | undefined }> {
  const password = change.resetPassword ? generatePassword() : undefined;
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  await audited(db, async (tx) => {
    // One lock for all changes of users: two admins cannot remove one another at the same moment.
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('users', 0))`;
    const user = await tx.user.findUnique({ where: { id } });
    if (!user || user.role === 'agent') throw notFound('This user');
    const losesAdmin =
      user.role === 'admin' &&
      !user.disabledAt &&
      (change.disabled === true || (change.role !== undefined && change.role !== 'admin'));
    if (losesAdmin && (await tx.user.count({ where: { role: 'admin', disabledAt: null } })) === 1) {
      throw new AppError(
        'conflict',
        `${user.name} is the only admin`,
        'Make somebody else admin first.',
      );
    }
    await tx.user.update({
      where: { id },
      data: {
        ...(change.name === undefined ? {} : { name: change.name }),
        ...(change.role === undefined ? {} : { role: change.role }),
        ...(change.disabled === undefined
          ? {}
          : { disabledAt: change.disabled ? new Date() : null }),
        ...(passwordHash === undefined ? {} : { passwordHash }),
      },
    });
    if (change.disabled || passwordHash !== undefined) {
      await tx.session.updateMany({
        where: { userId: id, revokedAt: null },
        data: { revokedAt: new Date() },
      });
    }
    if (change.disabled) await tx.lease.deleteMany({ where: { userId: id } });
    const { resetPassword, ...rest } = change;
    return {
      result: undefined,
      audit: [
        entry(actor, 'update_user', `user:${id}`, {
          ...rest,
          passwordReset: resetPassword === true,
        }),
      ],
    };
  });
  return { password };
}
