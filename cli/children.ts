import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const projectFolder = path.resolve(import.meta.dirname, '..');
/** Ends a child whose parent is gone, however that ended. */
const endWithParent = `data:text/javascript,process.on('disconnect',()=>process.exit(0))`;

export interface SupervisedChild {
  stop(): Promise<void>;
}

/**
 * Keeps a Node process running: one that dies is started again, more slowly each time it dies
 * young. It is in a process group of its own, so that Ctrl-C reaches us alone, and we end it in
 * order.
 */
export function supervise(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  options: { readonly quiet?: boolean; readonly handlesParent?: boolean } = {},
): SupervisedChild {
  const stopping = new AbortController();
  let child: ChildProcess | undefined;

  const running = (async () => {
    for (let youngDeaths = 0; ;) {
      const started = Date.now();
      const [status, signal] = await once(args);
      if (stopping.signal.aborted) return;
      youngDeaths = Date.now() - started < 30_000 ? youngDeaths + 1 : 0;
      console.error(`The ${name} ended (${signal ?? `status ${status}`}) and is started again.`);
      await sleep(Math.min(30_000, 500 * 2 ** youngDeaths), undefined, {
        signal: stopping.signal,
      }).catch(() => {}); // woken by `stop`
      if (stopping.signal.aborted) return;
    }
  })();

  function once(given: readonly string[]): Promise<[number | null, NodeJS.Signals | null]> {
    return new Promise((resolve) => {
      const own = spawn(
        process.execPath,
        [...(options.handlesParent ? [] : ['--import', endWithParent]), ...given],
        {
          cwd: projectFolder,
          env,
          detached: process.platform !== 'win32',
          stdio: ['ignore', options.quiet ? 'ignore' : 'inherit', 'inherit', 'ipc'],
        },
      );
      child = own;
      own.once('error', (error) => {
        console.error(`The ${name} cannot be started: ${error.message}`);
        resolve([null, null]);
      });
      own.once('exit', (status, signal) => resolve([status, signal]));
    });
  }

  return {
    stop: async () => {
      stopping.abort();
      child?.kill('SIGTERM');
      const impatient = setTimeout(() => child?.kill('SIGKILL'), 20_000);
      await running;
      clearTimeout(impatient);
    },
  };
}
