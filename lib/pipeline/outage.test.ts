import fs from 'node:fs';
import Sqlite from 'better-sqlite3';
import { MongoNetworkError } from 'mongodb';
import { expect, test } from 'vitest';
import { Prisma } from '../db/generated/client';
import { Unavailable } from '../results/unavailable';
import { isAway } from './outage';

const prisma = (originalCode: string): Error =>
  new Prisma.PrismaClientKnownRequestError('Raw query failed', {
    code: 'P2010',
    clientVersion: '7',
    meta: { driverAdapterError: { cause: { originalCode } } },
  });
const system = (code: string): Error => Object.assign(new Error(code), { code });

test.each<[string, unknown, boolean]>([
  ['MongoDB is gone', new MongoNetworkError('gone'), true],
  ['SQLite has no disk', new Unavailable('disk', 'full'), true],
  ['PostgreSQL is gone', system('ECONNREFUSED'), true],
  ['PostgreSQL has no disk', prisma('53100'), true],
  ['this machine has no disk', system('ENOSPC'), true],
  ['the quota is used up', system('EDQUOT'), true],
  ['SQLite cannot write', new Sqlite.SqliteError('full', 'SQLITE_FULL'), true],
  ['a query takes too long', new Unavailable('time', 'slow'), false],
  ['a query needs too much memory', new Unavailable('memory', 'large'), false],
  ['PostgreSQL refuses a value', prisma('22021'), false],
  ['a file is missing', system('ENOENT'), false],
])('%s', (_, error, away) => {
  expect(isAway(error)).toBe(away);
});

const full = '/dev/full';
test.skipIf(!fs.existsSync(full))('a write that finds the disk full', () => {
  let failure: unknown;
  try {
    fs.writeFileSync(full, 'x');
  } catch (error) {
    failure = error;
  }
  expect(isAway(failure)).toBe(true);
});
