/**
 * Outages under `aptmql convert --uri`: the server is killed and started again, or stopped for a
 * while, at moments spread over the whole conversion. Every file of the bundle must be the same as
 * undisturbed, apart from the times in report.json. Linux only.
 *
 *   npx tsx bench/outages-convert.ts <BIRD folder> [--database superhero] [--seconds 40]
 *     [--moments 6]
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sha256 } from '../lib/results/hash';
import { processTree, signalAll } from './process-tree';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'superhero' },
    moments: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '40' },
    port: { type: 'string', default: '27987' },
  },
});
/** How long a killed server stays away. */
const AWAY_MS = 5000;
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-outages-convert-'));

interface Server {
  readonly child: ChildProcess;
  readonly uri: string;
}

const aptmql = (...args: readonly string[]): ChildProcess =>
  spawn(process.execPath, ['--import', 'tsx', 'cli/aptmql.ts', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });

async function startServer(): Promise<Server> {
  const child = aptmql('mongo', '--port', values.port, '--data', path.join(home, 'mongo'));
  let said = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
  for (;;) {
    const uri = /mongodb:\/\/\S+/.exec(said)?.[0];
    if (uri) return { child, uri };
    if (child.exitCode !== null) throw new Error(`the server does not start: ${said}`);
    await sleep(100);
  }
}

async function convert(folder: string, uri: string, out: string, during?: () => Promise<void>) {
  const started = Date.now();
  const { database } = values;
  const child = aptmql('convert', folder, '--databases', database, '--uri', uri, '--out', out);
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdout!.resume();
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await during?.();
  const status = await ended;
  return { status, said, milliseconds: Date.now() - started };
}

function digests(out: string): Map<string, string> {
  if (!fs.existsSync(out)) return new Map();
  const files = fs.readdirSync(out, { recursive: true, withFileTypes: true });
  const names = files
    .filter((entry) => entry.isFile() && entry.name !== 'report.json')
    .map((entry) => path.relative(out, path.join(entry.parentPath, entry.name)));
  return new Map(names.map((name) => [name, sha256(fs.readFileSync(path.join(out, name)))]));
}

async function main(folder: string): Promise<void> {
  let server = await startServer();
  const kill = async (): Promise<void> => {
    signalAll(
      processTree(server.child.pid!).map(({ pid }) => pid),
      'SIGKILL',
    );
    await sleep(AWAY_MS);
    server = await startServer();
  };
  const stop = async (): Promise<void> => {
    const pids = processTree(server.child.pid!).map(({ pid }) => pid);
    signalAll(pids, 'SIGSTOP');
    await sleep(Number(values.seconds) * 1000);
    signalAll(pids, 'SIGCONT');
  };
  try {
    const reference = path.join(home, 'undisturbed');
    const whole = await convert(folder, server.uri, reference);
    const expected = digests(reference);
    const { status, milliseconds } = whole;
    console.log(`undisturbed: status ${status}, ${expected.size} files, ${milliseconds} ms`);
    const moments = Number(values.moments);
    for (const [name, outage] of Object.entries({ kill, stop })) {
      for (let moment = 1; moment <= moments; moment++) {
        const afterMs = Math.round((whole.milliseconds * moment) / (moments + 1));
        const out = path.join(home, `${name}-${moment}`);
        const { status, said, milliseconds } = await convert(folder, server.uri, out, async () => {
          await sleep(afterMs);
          await outage();
        });
        const found = digests(out);
        const names = new Set([...expected.keys(), ...found.keys()]);
        const differing = [...names].filter((file) => expected.get(file) !== found.get(file));
        const again = said.match(/again when MongoDB is back/g)?.length ?? 0;
        console.log(
          `${name} after ${afterMs} ms: status ${status}, ${found.size} files, ` +
            `${differing.length} differ, done again ${again} times, ${milliseconds} ms`,
        );
        if (differing.length === 0) continue;
        console.log(`  ${differing.slice(0, 8).join('; ')}\n  ${said.trim()}`);
      }
    }
  } finally {
    signalAll([server.child.pid!], 'SIGTERM');
    fs.rmSync(home, { recursive: true, force: true });
  }
}

const [folder] = positionals;
if (folder === undefined) throw new Error('name a BIRD folder');
await main(folder);
