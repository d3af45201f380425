import { ensureEmbeddedPostgres } from './embedded-postgres';

/** For a test: a process that owns a PostgreSQL until it is killed. */
const server = await ensureEmbeddedPostgres({ dataDir: process.argv[2] ?? '', durable: false });
process.send?.(server.url);
setInterval(() => {}, 60_000);
