import type { NextConfig } from 'next';

const securityHeaders = [
  { key: 'x-content-type-options', value: 'nosniff' },
  { key: 'x-frame-options', value: 'DENY' },
  { key: 'referrer-policy', value: 'same-origin' },
  { key: 'permissions-policy', value: 'camera=(), microphone=(), geolocation=()' },
  { key: 'cross-origin-opener-policy', value: 'same-origin' },
];

const config: NextConfig = {
  // Native modules, or such as find their own files by their path.
  serverExternalPackages: [
    'better-sqlite3',
    'mongodb',
    'bson',
    'pg',
    '@prisma/client',
    '@prisma/adapter-pg',
    'pg-boss',
    'tsx',
    'yauzl',
    'yazl',
  ],
  // Written in TypeScript.
  transpilePackages: ['mongo-embedded'],
  // `npm test` checks types; a start should neither wait for that again nor need development
  // dependencies for it.
  typescript: { ignoreBuildErrors: true },
  poweredByHeader: false,
  reactStrictMode: true,
  headers: async () => [{ source: '/:path*', headers: securityHeaders }],
};

export default config;
