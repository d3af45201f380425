import { createRequire } from 'node:module';

/** The version of this product, from its package.json. */
export const toolVersion = (): string =>
  (createRequire(import.meta.url)('../package.json') as { version: string }).version;
