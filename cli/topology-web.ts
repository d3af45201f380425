import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { pipeline } from 'node:stream/promises';
import type { RouteHandler } from '../lib/http/handler';

/**
 * For the topology test: the route handlers of the web application as a process of their own,
 * without the minute that building the pages takes. Configured by its environment only.
 */
const api = path.resolve(import.meta.dirname, '../app/api');
const routes = readdirSync(api, { recursive: true })
  .map(String)
  .filter((file) => path.basename(file) === 'route.ts')
  .map((file) => ({ file, parts: path.dirname(file).split(path.sep) }))
  // A name before a parameter, as Next has it.
  .sort((a, b) => (a.file.replaceAll('[', '~') < b.file.replaceAll('[', '~') ? -1 : 1));

function match(pathname: string): { file: string; params: Record<string, string> } | undefined {
  const parts = pathname.split('/').slice(2).map(decodeURIComponent);
  for (const route of routes) {
    if (route.parts.length !== parts.length) continue;
    const params: Record<string, string> = {};
    const fits = route.parts.every((part, index) => {
      const name = /^\[(\w+)\]$/.exec(part)?.[1];
      if (name) params[name] = parts[index]!;
      return name !== undefined || part === parts[index];
    });
    if (fits) return { file: route.file, params };
  }
  return undefined;
}

const server = createServer((incoming, outgoing) => {
  void (async () => {
    const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host}`);
    const found = match(url.pathname);
    const method = incoming.method ?? 'GET';
    const handler =
      found &&
      ((await import(path.join(api, found.file))) as Record<string, RouteHandler | undefined>)[
        method
      ];
    if (!found || !handler) return outgoing.writeHead(404).end();
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const request = new Request(url, {
      method,
      headers: incoming.headers as Record<string, string>,
      ...(hasBody ? { body: Readable.toWeb(incoming) as unknown as BodyInit, duplex: 'half' } : {}),
    });
    const response = await handler(request, { params: Promise.resolve(found.params) });
    outgoing.writeHead(response.status, [...response.headers]);
    if (response.body) await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing);
    else outgoing.end();
  })().catch((error: unknown) => {
    console.error(error);
    outgoing.destroy();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
process.on('disconnect', () => process.exit(0));
