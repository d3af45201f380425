import path from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from './config';

test('an empty environment is enough', () => {
  expect(readConfig({})).toMatchObject({
    databaseUrl: undefined,
    mongodbUri: undefined,
    dataDir: path.resolve('.data'),
    port: 3000,
    publicUrl: undefined,
  });
  expect(readConfig({ DATABASE_URL: '', MONGODB_URI: '', PORT: '' })).toEqual(readConfig({}));
});

test('mistakes are named by their variable', () => {
  expect(() => readConfig({ PORT: 'http' })).toThrow(
    new ConfigError('the environment variable PORT must be a port number'),
  );
  expect(() => readConfig({ DATABASE_URL: 'mysql://x' })).toThrow(
    /DATABASE_URL must start with postgresql:\/\//,
  );
  expect(() => readConfig({ APTMQL_ADMIN_PASSWORD: 'short', MONGODB_URI: 'localhost' })).toThrow(
    /MONGODB_URI.*; .*APTMQL_ADMIN_PASSWORD/,
  );
});

test('a public address loses its trailing slash', () => {
  expect(readConfig({ APTMQL_URL: 'https://studio.example.org/' }).publicUrl).toBe(
    'https://studio.example.org',
  );
});
