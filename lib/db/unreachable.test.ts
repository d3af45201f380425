import { expect, test } from 'vitest';
import { isUnreachable } from './database';
import { Prisma } from './generated/client';

const prisma = (code: string, message: string, cause?: object): Error =>
  new Prisma.PrismaClientKnownRequestError(message, {
    code,
    clientVersion: '7',
    ...(cause && { meta: { driverAdapterError: { cause } } }),
  });
const plain = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code && { code });

test.each<[string, unknown, boolean]>([
  ['nobody listens', plain('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'), true],
  ['a connection that was cut', plain('Connection terminated unexpectedly'), true],
  [
    'a connection that was cut earlier in the transaction',
    plain('Client has encountered a connection error and is not queryable'),
    true,
  ],
  ['a connection that was closed', plain('Client was closed and is not queryable'), true],
  ['no connection in time', plain('timeout exceeded when trying to connect'), true],
  [
    'a transaction that does not start, as while PostgreSQL stands still',
    prisma('P2028', 'Transaction API error: Unable to start a transaction in the given time.'),
    true,
  ],
  ['an orderly shutdown', prisma('P2010', 'Raw query failed', { originalCode: '57P01' }), true],
  ['a server that is starting', plain('the database system is starting up', '57P03'), true],
  ['a server without a free connection', plain('sorry, too many clients already', '53300'), true],
  [
    'a transaction that took too long',
    prisma('P2028', 'Transaction API error: Transaction already closed'),
    false,
  ],
  [
    'a value that is there twice',
    prisma('P2002', 'Unique constraint failed', { originalCode: '23505' }),
    false,
  ],
  ['another error', plain('out of cheese'), false],
])('%s', (_, error, unreachable) => {
  expect(isUnreachable(error)).toBe(unreachable);
});
