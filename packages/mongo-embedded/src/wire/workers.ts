import { Worker } from 'node:worker_threads';
import { threadBootstrap } from '../installation';
import type { FromWorker, ToWorker, WorkerSettings } from './worker-protocol';

/**
 * How long after its time limit a query may go on before its thread is ended (a regex cannot be
 * interrupted).
 */
const GRACE_MS = 1500;
/** How long an interrupted query may go on before its thread is ended. */
const KILL_GRACE_MS = 5000;

/** How long one regular expression may run on one text, in checks of one second each. */
const REGEX_CHECKS = 10;
/** Why a thread was ended in the middle of an operation. */
export type Loss = 'time' | 'interrupted' | 'regex' | 'memory';

interface Running {
  readonly operation: number;
  readonly resolve: (reply: Buffer) => void;
  readonly bytes: ArrayBuffer;
  readonly maxTimeMS: number;
  timer?: NodeJS.Timeout;
  watch?: NodeJS.Timeout;
  started: boolean;
}

export interface Handle {
  readonly reply: Promise<Buffer>;
  /** Asks the operation to stop; ends its thread if it does not. */
  kill(): void;
}

let operations = 0;

/** One worker thread with its queue. It is replaced when it dies. */
export class QueryThread {
  private worker: Worker | undefined;
  private ready = false;
  private failedStarts = 0;
  private announce: () => void = () => undefined;
  /** Resolves when the thread can work. */
  readonly started = new Promise<void>((resolve) => (this.announce = resolve));
  private readonly queue: Running[] = [];
  private readonly killSwitch = new SharedArrayBuffer(8);
  private closed = false;

  constructor(
    private readonly settings: Omit<WorkerSettings, 'killSwitch'>,
    /** The error reply for an operation whose thread was ended. */
    private readonly lost: (why: Loss) => Buffer,
  ) {
    this.spawn();
  }

  get load(): number {
    return this.queue.length;
  }

  private spawn(): void {
    const data: WorkerSettings = { ...this.settings, killSwitch: this.killSwitch };
    const worker = new Worker(threadBootstrap('worker'), {
      eval: true,
      workerData: data,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 3072, stackSizeMb: 8 },
    });
    this.worker = worker;
    this.ready = false;
    worker.on('message', (message: FromWorker) => {
      if (message.operation === 0) {
        this.ready = true;
        this.failedStarts = 0;
        this.announce();
        this.pump();
      } else this.finish(message.operation, Buffer.from(message.bytes));
    });
    let failure: Error | undefined;
    worker.on('error', (error) => (failure = error));
    worker.on('exit', () => {
      if (this.worker !== worker || this.closed) return;
      if (failure) console.error(`embedded server: a query thread ended: ${failure.message}`);
      // A thread that cannot even start would fail for ever.
      if (!this.ready && ++this.failedStarts > 3)
        throw new Error(`query threads do not start: ${failure?.message ?? 'unknown reason'}`);
      const outOfMemory =
        failure && 'code' in failure && failure.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.replace(outOfMemory ? 'memory' : 'interrupted');
    });
  }

  private replace(why: Loss): void {
    const current = this.queue[0];
    if (current?.started) this.finish(current.operation, this.lost(why), false);
    this.spawn();
  }

  run(bytes: ArrayBuffer, maxTimeMS: number): Handle {
    operations = (operations % 0x7ffffff0) + 1;
    const operation = operations;
    const reply = new Promise<Buffer>((resolve) => {
      this.queue.push({ operation, resolve, bytes, maxTimeMS, started: false });
    });
    this.pump();
    return { reply, kill: () => this.kill(operation) };
  }

  private pump(): void {
    const next = this.queue[0];
    if (!this.ready || !next || next.started) return;
    next.started = true;
    if (next.maxTimeMS > 0)
      next.timer = setTimeout(() => this.end(next.operation, 'time'), next.maxTimeMS + GRACE_MS);
    this.watchRegexes(next);
    this.worker?.postMessage({ operation: next.operation, bytes: next.bytes } satisfies ToWorker, [
      next.bytes,
    ]);
  }

  private finish(operation: number, reply: Buffer, pump = true): void {
    const current = this.queue[0];
    if (current?.operation !== operation) return;
    clearTimeout(current.timer);
    clearInterval(current.watch);
    this.queue.shift();
    current.resolve(reply);
    if (pump) this.pump();
  }

  private kill(operation: number): void {
    const i = this.queue.findIndex((r) => r.operation === operation);
    const running = this.queue[i];
    if (!running) return;
    if (!running.started) {
      this.queue.splice(i, 1);
      running.resolve(this.lost('interrupted'));
      return;
    }
    Atomics.store(new Int32Array(this.killSwitch), 0, operation);
    clearTimeout(running.timer);
    running.timer = setTimeout(() => this.end(operation, 'interrupted'), KILL_GRACE_MS);
  }

  /** Ends the thread when one regular expression backtracks for ever: nothing else can stop it. */
  private watchRegexes(running: Running): void {
    const progress = new Int32Array(this.killSwitch);
    let last = 0;
    let checks = 0;
    running.watch = setInterval(() => {
      const now = Atomics.load(progress, 1);
      checks = now === last && now % 2 !== 0 ? checks + 1 : 0;
      last = now;
      if (checks < REGEX_CHECKS) return;
      Atomics.store(progress, 1, 0);
      this.end(running.operation, 'regex');
    }, 1000);
  }

  private end(operation: number, why: Loss): void {
    if (this.queue[0]?.operation !== operation) return;
    const old = this.worker;
    this.worker = undefined;
    void old?.terminate();
    this.replace(why);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const running of this.queue) {
      clearTimeout(running.timer);
      clearInterval(running.watch);
    }
    await this.worker?.terminate();
  }
}
