import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { Prisma, PrismaClient } from './generated/client';
import { statementNames, type StatementNames } from './statement-names';

export type Tx = Prisma.TransactionClient;

/**
 * Where statements run: each by itself, or all in one transaction. Each has a name where it is
 * asked often. An `int8` is a string and `bytea` a Buffer, but in a transaction of Prisma's a
 * bigint and a Uint8Array.
 */
export interface Queries {
  query<Row>(statement: Prisma.Sql): Promise<Row[]>;
}

/**
 * One process's access to Postgres: Prisma for the tables, the pool for what Prisma cannot do
 * (LISTEN, locks).
 */
export interface Database extends Queries {
  readonly url: string;
  readonly prisma: PrismaClient;
  readonly pool: pg.Pool;
  /** All or nothing. Serialises nothing by itself: lock the rows that a decision rests on. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * The same without Prisma's machinery, which takes longer than short statements do: for what is
   * done all the time.
   */
  shortTransaction<T>(work: (on: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function openDatabase(
  url: string,
  options: { readonly connections?: number } = {},
): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections ?? 10,
    connectionTimeoutMillis: 10_000,
  });
  // An idle connection that breaks (Postgres restarts) is replaced at the next use; without a
  // listener it ends the process.
  pool.on('error', (error) => console.warn(`a connection to Postgres was lost: ${error.message}`));
  const nameOf = statementNames();
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return {
    url,
    prisma,
    pool,
    query: queriesOf(pool, nameOf).query,
    transaction: (work) => prisma.$transaction(work, { maxWait: 15_000, timeout: 120_000 }),
    shortTransaction: (work) => shortTransaction(pool, (client) => work(queriesOf(client, nameOf))),
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

function queriesOf(on: pg.Pool | pg.PoolClient, nameOf: StatementNames): Queries {
  return {
    query: async <Row>({ text, values }: Prisma.Sql): Promise<Row[]> => {
      const { rows } = await on.query({ name: nameOf({ sql: text }), text, values });
      return rows as Row[];
    },
  };
}

/** A transaction of Prisma's, for what also runs without. */
export const queriesIn = (tx: Tx): Queries => ({ query: (statement) => tx.$queryRaw(statement) });

async function shortTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let lost: Error | undefined;
  // The statement that waits fails, too; without a listener a lost connection ends the process.
  const onLost = (error: Error): void => void (lost = error);
  client.on('error', onLost);
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // Where even this fails the connection is lost, and with it the transaction.
    await client.query('ROLLBACK').catch(onLost);
    throw error;
  } finally {
    client.off('error', onLost);
    client.release(lost);
  }
}

/** Text for a Postgres text column, which refuses NUL: replaced by its visible symbol. */
export const pgText = (text: string): string => text.replaceAll('\0', '␀');

/** `23505` is what a statement written in SQL gets. */
export const isUniqueViolation = (error: unknown): boolean =>
  postgresCode(error) === '23505' ||
  (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002');

/** The code that Postgres gave to a failure, from under Prisma's wrapping, e.g. `40001`. */
export function postgresCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, meta, cause } = error as {
    code?: unknown;
    meta?: { driverAdapterError?: unknown };
    cause?: { originalCode?: unknown };
  };
  if (typeof cause?.originalCode === 'string') return cause.originalCode;
  if (meta?.driverAdapterError) return postgresCode(meta.driverAdapterError);
  return typeof code === 'string' ? code : undefined;
}

/**
 * No answer from Postgres: nobody listens, it starts or ends, has no connection left, or stands
 * still.
 */
const UNREACHABLE_CODE =
  /^(ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|57P0[1-3]|53300|08|P1001|P1002|P1008|P1017|P2024)/;
/** The same where the error has no code, as those of `pg` itself have none. */
const UNREACHABLE_MESSAGE = new RegExp(
  [
    'ECONNREFUSED',
    'Connection terminated',
    'is not queryable',
    'timeout exceeded when trying to connect',
    'Unable to start a transaction in the given time',
    "Can't reach database",
  ].join('|'),
);

export const isUnreachable = (error: unknown): boolean =>
  UNREACHABLE_CODE.test(postgresCode(error) ?? '') ||
  (error instanceof Error && UNREACHABLE_MESSAGE.test(error.message));
