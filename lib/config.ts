import path from 'node:path';
import { z } from 'zod';

const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
const address = (...schemes: string[]) =>
  z
    .string()
    .refine(
      (value) => schemes.some((scheme) => value.startsWith(`${scheme}://`)),
      `must start with ${schemes.map((s) => `${s}://`).join(' or ')}`,
    );

const environment = z.object({
  DATABASE_URL: optional(address('postgresql', 'postgres')),
  MONGODB_URI: optional(address('mongodb', 'mongodb+srv')),
  APTMQL_DATA: optional(z.string()),
  PORT: optional(z.coerce.number('must be a port number').int().min(1).max(65535)),
  APTMQL_URL: optional(address('http', 'https')),
  APTMQL_ADMIN_EMAIL: optional(z.email('must be an e-mail address')),
  APTMQL_ADMIN_PASSWORD: optional(z.string().min(12, 'must have at least 12 characters')),
  ANTHROPIC_API_KEY: optional(z.string()),
  ANTHROPIC_BASE_URL: optional(address('http', 'https')),
  APTMQL_MODEL: optional(z.string()),
});

/** Everything that the environment decides (DESIGN §6). */
export interface Config {
  /** Absent: an embedded PostgreSQL is started. */
  readonly databaseUrl: string | undefined;
  /** Absent: the embedded MongoDB-compatible server is started. */
  readonly mongodbUri: string | undefined;
  /** Embedded data and caches; absolute. */
  readonly dataDir: string;
  readonly port: number;
  /**
   * Where people reach the application; decides the cookie's name and the accepted Origin when set.
   */
  readonly publicUrl: string | undefined;
  readonly adminEmail: string;
  /** Absent: generated at the first start. */
  readonly adminPassword: string | undefined;
  readonly anthropicApiKey: string | undefined;
  readonly anthropicBaseUrl: string | undefined;
  readonly model: string | undefined;
}

export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

const variables = Object.keys(environment.shape);
/** What was read last: each request asks, and the environment hardly ever changes. */
let latest:
  { readonly given: readonly (string | undefined)[]; readonly config: Config } | undefined;

/** @throws {ConfigError} naming each variable that makes no sense. */
export function readConfig(env: Environment = process.env): Config {
  const given = variables.map((name) => env[name]);
  if (!latest || given.some((value, index) => value !== latest!.given[index]))
    latest = { given, config: parseConfig(env) };
  return latest.config;
}

function parseConfig(env: Environment): Config {
  const read = environment.safeParse(env);
  if (!read.success) {
    throw new ConfigError(
      read.error.issues
        .map((issue) => `the environment variable ${issue.path.join('.')} ${issue.message}`)
        .join('; '),
    );
  }
  const given = read.data;
  return {
    databaseUrl: given.DATABASE_URL,
    mongodbUri: given.MONGODB_URI,
    dataDir: path.resolve(/* turbopackIgnore: true */ given.APTMQL_DATA ?? '.data'),
    port: given.PORT ?? 3000,
    publicUrl: given.APTMQL_URL?.replace(/\/+$/, ''),
    adminEmail: (given.APTMQL_ADMIN_EMAIL ?? 'admin@aptmql.local').toLowerCase(),
    adminPassword: given.APTMQL_ADMIN_PASSWORD,
    anthropicApiKey: given.ANTHROPIC_API_KEY,
    anthropicBaseUrl: given.ANTHROPIC_BASE_URL,
    model: given.APTMQL_MODEL,
  };
}
