import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const admin = { email: 'admin@example.org', password: 'a-password-for-tests-only' };
/** APTMQL_E2E_URL: a product that runs already; APTMQL_E2E_PORT: where to start one. */
const port = process.env.APTMQL_E2E_PORT ?? '3987';
export const url = process.env.APTMQL_E2E_URL ?? `http://127.0.0.1:${port}`;
const STARTS_WITHIN_MS = 8 * 60_000;

/**
 * Starts the whole product the way `npm start` does, on a data folder of its own; the returned
 * function stops it.
 */
export default async function startProduct(): Promise<() => Promise<void>> {
  if (process.env.APTMQL_E2E_URL) return async () => undefined;
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-e2e-'));
  // Postgres, when this runs as root, is an unprivileged user that must be able to enter.
  fs.chmodSync(data, 0o755);
  fs.mkdirSync('test-results', { recursive: true });
  const log = fs.createWriteStream(path.resolve('test-results/product.log'));
  const product = spawn(process.execPath, ['--import', 'tsx', 'cli/start.ts'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      APTMQL_DATA: data,
      PORT: new URL(url).port,
      APTMQL_ADMIN_EMAIL: admin.email,
      APTMQL_ADMIN_PASSWORD: admin.password,
      DATABASE_URL: '',
      MONGODB_URI: '',
    },
  });
  let output = '';
  for (const stream of [product.stdout, product.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000);
      log.write(chunk);
    });
  }
  const ended = new Promise<void>((resolve) => product.once('exit', () => resolve()));
  const started = Date.now();
  for (;;) {
    const healthy = await fetch(`${url}/api/health`).then(
      (response) => response.ok,
      () => false,
    );
    // First, because another product may answer at this address.
    if (product.exitCode !== null) throw new Error(`the product did not start:\n${output}`);
    if (healthy && output.includes('is ready')) break;
    if (Date.now() - started > STARTS_WITHIN_MS)
      throw new Error(`the product did not start in time:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return async () => {
    product.kill('SIGTERM');
    await ended;
    log.end();
    fs.rmSync(data, { recursive: true, force: true });
  };
}
