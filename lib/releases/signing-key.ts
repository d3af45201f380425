import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { installationKey, signingKey, type SigningKey } from '../bundle/signature';
import type { Database } from '../db/database';

/**
 * The key that signs an installation's bundles: one for all workers, so it lies in Postgres. The
 * first that needs it puts in the key of its data folder.
 */
export async function sharedSigningKey(db: Database, dataDir: string): Promise<SigningKey> {
  const name = 'signing_key';
  const stored = await db.prisma.setting.findUnique({ where: { name } });
  if (stored) return signingKey(stored.value);
  installationKey(dataDir); // makes the file where there is none
  const pem = await readFile(path.join(dataDir, 'signing-key.pem'), 'utf8');
  await db.prisma.setting.createMany({ data: [{ name, value: pem }], skipDuplicates: true });
  return signingKey((await db.prisma.setting.findUniqueOrThrow({ where: { name } })).value);
}
