import { spawn } from 'node:child_process';
import { ConfigError, readConfig } from '../lib/config';
import { webArguments } from './web-build';

/**
 * The web application alone, by its environment: for deployments where databases and workers run
 * elsewhere.
 */
function main(): void {
  const config = readConfig();
  if (!config.databaseUrl || !config.mongodbUri)
    throw new ConfigError(
      'DATABASE_URL and MONGODB_URI have to be set; `npm start` brings its own databases',
    );
  const web = spawn(process.execPath, webArguments(config.port, '0.0.0.0'), {
    stdio: 'inherit',
    env: process.env,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => web.kill(signal));
  web.once('exit', (status) => process.exit(status ?? 1));
}

try {
  main();
} catch (error) {
  console.error(`web: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
