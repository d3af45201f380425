import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { expect, test } from 'vitest';

/** A process that writes to a full disk for a while: its exit status. */
function statusOf(stream: 'log' | 'error', prepare: string): Promise<number | null> {
  const script = `
    import { outliveFullLog } from './cli/full-log.ts';
    ${prepare}
    const timer = setInterval(() => console.${stream}('a message'), 20);
    setTimeout(() => clearInterval(timer), 500);`;
  const full = fs.openSync('/dev/full', 'w');
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', full, full],
  });
  fs.closeSync(full);
  return new Promise((resolve) => child.once('exit', resolve));
}

const isLinux = fs.existsSync('/dev/full');

test.skipIf(!isLinux).each(['log', 'error'] as const)(
  'a process whose console.%s meets a full disk goes on',
  async (stream) => {
    expect(await statusOf(stream, 'outliveFullLog();')).toBe(0);
  },
);

test.skipIf(!isLinux)('without a listener it would end', async () => {
  expect(await statusOf('log', '')).not.toBe(0);
});

test.skipIf(!isLinux)('another failure of its output ends it still', async () => {
  const script =
    `outliveFullLog(); process.stdout.emit('error', Object.assign(new ` +
    `Error('gone'), { code: 'EPIPE' }));`;
  expect(await statusOf('log', script)).not.toBe(0);
});
