import fs from 'node:fs';
import { defineConfig } from '@playwright/test';
import { url } from './e2e/start-product';

// Playwright's own browser where it is installed, else the system's: an installation must not
// depend on a download.
const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (file) => fs.existsSync(file),
);

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results/browser',
  timeout: 5 * 60_000,
  expect: { timeout: 20_000 },
  workers: 1,
  fullyParallel: false,
  reporter: [['list'], ['json', { outputFile: 'test-results/e2e.json' }]],
  globalSetup: './e2e/start-product.ts',
  use: {
    baseURL: url,
    viewport: { width: 1280, height: 800 },
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(system ? { executablePath: system } : {}),
      args: [
        '--no-sandbox',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
        '--disable-gpu',
        '--disable-quic',
      ],
    },
  },
});
