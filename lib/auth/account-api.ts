import { z } from 'zod';
import { text } from '../api-fields';

export const roles = ['admin', 'lead', 'reviewer', 'consumer'] as const;

export type Role = (typeof roles)[number];

/** A token reads, or fetches bundles; reviewing is for people, by session only. */
export const scopes = ['read', 'bundles'] as const;

export type Scope = (typeof scopes)[number];

export interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
}

/** GET /api/session → `{ user }`; 401 when nobody is signed in. */
export interface SessionResponse {
  readonly user: SessionUser;
}

/** POST /api/session signs in and sets the cookie; DELETE /api/session signs out. */
export const signInBody = z.strictObject({
  email: text(320),
  password: z.string().min(1).max(1024),
});

/** POST /api/session/password: changes one's own password and ends all other sessions. */
export const changePasswordBody = z.strictObject({
  current: z.string().min(1).max(1024),
  next: z.string().min(12).max(1024),
});

/** GET /api/users (admin) → `{ users }`; leads get them too, to assign work. */
export interface UserRow extends SessionUser {
  readonly createdAt: string;
  readonly disabled: boolean;
  readonly lastSeenAt: string | null;
}

/**
 * POST /api/users (admin) → `{ user, password }`: the password is generated when none is sent, and
 * shown once.
 */
export const createUserBody = z.strictObject({
  email: z.email().max(320),
  name: text(200).min(1),
  role: z.enum(roles),
  password: z.string().min(12).max(1024).optional(),
});

/**
 * PATCH /api/users/:id (admin) → `{ user, password? }`. Disabling or resetting ends the user's
 * sessions.
 */
export const updateUserBody = z.strictObject({
  name: text(200).min(1).optional(),
  role: z.enum(roles).optional(),
  disabled: z.boolean().optional(),
  resetPassword: z.literal(true).optional(),
});

/** GET /api/tokens (own) → `{ tokens }`; DELETE /api/tokens/:id revokes. */
export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
}

/** POST /api/tokens → `{ token: TokenRow, secret }`: the secret is shown this once. */
export const createTokenBody = z.strictObject({
  name: text(200).min(1),
  scopes: z.array(z.enum(scopes)).min(1),
  days: z.number().int().min(1).max(366).default(90),
});
