import { fork, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { AppError } from '../../app-error';
import { parseCanonical } from '../../results/extended-json';

export interface WorkRequest {
  readonly id: number;
  readonly kind: string;
  readonly input: unknown;
}

/** `output` is canonical Extended JSON: BSON types do not survive the way between processes. */
export type WorkReply =
  | { readonly id: number; readonly output: string }
  | { readonly id: number; readonly error: WorkFailure };

/** An `AppError` by its parts, or another error by its message. */
export interface WorkFailure {
  readonly code?: AppError['code'];
  readonly message: string;
  readonly next?: string;
  readonly problems?: AppError['problems'];
}

const HEAP_MB = 1024;

/**
 * One process that does users' work, a piece at a time; it is ended when a piece takes too long,
 * and started again.
 */
export class WorkProcess {
  #child: ChildProcess | undefined;
  #nextId = 1;

  /** @param script relative to the project's folder */
  constructor(private readonly script = 'lib/review/user-work/work-child.ts') {}

  /** Starts the process before there is work for it: loading it takes seconds. */
  warm(): void {
    this.#child ??= this.#start();
  }

  /**
   * @throws AppError of the work itself, or `too_large` when it takes too long or ends the process
   */
  run(kind: string, input: unknown, limitMs: number, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const child = (this.#child ??= this.#start());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        child.off('message', onMessage);
        child.off('exit', onExit);
        signal.removeEventListener('abort', onAbort);
        act();
      };
      const end = (error: unknown): void => {
        settle(() => reject(error as Error));
        this.close();
      };
      const onMessage = (reply: WorkReply): void => {
        if (reply.id !== id) return;
        settle(() =>
          'error' in reply ? reject(errorOf(reply.error)) : resolve(parseCanonical(reply.output)),
        );
      };
      const onExit = (): void => end(endedWhile(kind));
      const onAbort = (): void => end(signal.reason);
      const timer = setTimeout(() => end(tooLong(kind, limitMs)), limitMs);
      child.on('message', onMessage);
      child.on('exit', onExit);
      signal.addEventListener('abort', onAbort, { once: true });
      child.send({ id, kind, input } satisfies WorkRequest);
    });
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const script = path.join(/* turbopackIgnore: true */ process.cwd(), this.script);
    if (!fs.existsSync(script))
      throw new Error(`${script} is missing: start in the project's folder`);
    const child = fork(/* turbopackIgnore: true */ script, [], {
      execArgv: [`--max-old-space-size=${HEAP_MB}`, '--import', 'tsx'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    child.on('error', (error) => console.error(`users' work: ${error.message}`));
    child.on('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}

const nouns: Readonly<Record<string, string>> = {
  check: 'The check of the edit',
  what_if: 'The estimate of the change',
  design_figures: 'The estimate of the design',
};
const nounOf = (kind: string): string => nouns[kind] ?? kind;

const tooLong = (kind: string, limitMs: number): AppError =>
  new AppError(
    'too_large',
    `${nounOf(kind)} does not finish in ${limitMs / 1000} s`,
    'Make the edit smaller, or change it in several steps; nothing was saved.',
  );

const endedWhile = (kind: string): AppError =>
  new AppError(
    'too_large',
    `${nounOf(kind)} needs more memory than there is for it`,
    'Make the edit smaller, or change it in several steps; nothing was saved.',
  );

function errorOf({ code, message, next, problems }: WorkFailure): Error {
  return code === undefined
    ? new Error(message)
    : new AppError(code, message, next ?? '', problems);
}
