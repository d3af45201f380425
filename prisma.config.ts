import { accessSync, chmodSync, constants } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'prisma/config';

// See the file itself for why. On Windows a script cannot stand in for a program: there Prisma
// downloads its own.
if (process.platform !== 'win32') process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= schemaEngine();

function schemaEngine(): string {
  const file = path.resolve(import.meta.dirname, 'prisma/schema-engine.mjs');
  try {
    accessSync(file, constants.X_OK);
  } catch {
    chmodSync(file, 0o755); // an unpacked archive may have lost the bit
  }
  return file;
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://localhost:5432/aptmql' },
});
