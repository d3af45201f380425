import { ConfigError, readConfig } from '../lib/config';
import { ensureGeneratedClient, migrate } from '../lib/db/migrate';

/**
 * Prepares a deployment's database once, before web and workers start: newest schema, and the admin
 * named by APTMQL_ADMIN_EMAIL and APTMQL_ADMIN_PASSWORD.
 */
async function main(): Promise<void> {
  const config = readConfig();
  if (!config.databaseUrl) throw new ConfigError('DATABASE_URL has to be set');
  if (!config.adminPassword) throw new ConfigError('APTMQL_ADMIN_PASSWORD has to be set');
  await ensureGeneratedClient();
  await migrate(config.databaseUrl);
  const { openStores } = await import('./services');
  const { ensureAdmin } = await import('./first-start');
  const stores = await openStores();
  try {
    const { email } = await ensureAdmin(stores, false);
    console.log(`ready; sign in as ${email}`);
  } finally {
    await stores.close();
  }
}

main().catch((error: unknown) => {
  console.error(`setup: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
