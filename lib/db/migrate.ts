import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const projectFolder = path.resolve(import.meta.dirname, '../..');

/**
 * Generates the Prisma client where it is missing: `npm ci --ignore-scripts`, or a checkout that
 * was cleaned.
 */
export async function ensureGeneratedClient(): Promise<void> {
  const client = path.join(projectFolder, 'lib/db/generated/client.ts');
  await access(client).catch(() => prisma(['generate'], {}));
}

/** Brings a database to the newest schema. To be run from one process at a time. */
export async function migrate(databaseUrl: string): Promise<void> {
  await prisma(['migrate', 'deploy'], { DATABASE_URL: databaseUrl });
}

async function prisma(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const program = path.join(projectFolder, 'node_modules/prisma/build/index.js');
  try {
    await exec(process.execPath, [program, ...args], {
      cwd: projectFolder,
      env: { ...process.env, ...env, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' },
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(
      `prisma ${args.join(' ')} failed:\n${withoutPassword(`${stdout}${stderr}`).trim()}`,
    );
  }
}

const withoutPassword = (text: string): string =>
  text.replaceAll(/(\w+:\/\/[^:@/\s]+):[^@/\s]+@/g, '$1:…@');
