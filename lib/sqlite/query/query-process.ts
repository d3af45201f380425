import { fork, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { ResultSet, Value } from '../../results/value';

export interface QueryRequest {
  readonly id: number;
  readonly file: string;
  readonly sql: string;
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly isReversed: boolean;
}

export type QueryReply =
  | {
      readonly id: number;
      readonly columns: string[];
      readonly rows: unknown[][];
      readonly more: boolean;
    }
  | {
      readonly id: number;
      readonly error: { readonly kind: QueryErrorKind; readonly message: string };
    };

export type QueryErrorKind =
  'error' | 'timeout' | 'forbidden' | 'too_large' | 'memory' | 'disk' | 'cancelled';

/**
 * A query that gave no result: `error` is the database's own complaint, `memory` a process that
 * ended under the query (at its limit of memory, or killed), `disk` a disk that is full or fails,
 * the others are limits of this executor.
 */
export class QueryError extends Error {
  constructor(
    readonly kind: QueryErrorKind,
    message: string,
  ) {
    super(message);
  }
}

export interface QueryLimits {
  readonly timeoutMs: number;
  readonly maxRows: number;
  readonly maxBytes: number;
  /**
   * Rows that nothing orders come in reverse: another answer that SQL allows.
   * https://www.sqlite.org/pragma.html#pragma_reverse_unordered_selects
   */
  readonly isReversed: boolean;
}
export const defaultQueryLimits: QueryLimits = {
  timeoutMs: 30_000,
  maxRows: 200_000,
  maxBytes: 64 * 1024 * 1024,
  isReversed: false,
};

export interface QueryResult extends ResultSet {
  /** True when the result was cut at `maxRows`. */
  readonly more: boolean;
}

const MAX_IDLE = 4;
/**
 * Of the process in which a query runs: a sort of a few million rows fits, a cross join of a large
 * table does not.
 */
const MOST_MEMORY = 1.5 * 2 ** 30;

/**
 * Runs SQL that we did not write (gold, agents', reviewers') on source databases: read-only, one
 * statement, in a child process that is killed when it takes too long. SQLite has no other way to
 * stop a running query from here.
 */
export class QueryProcess {
  #child: ChildProcess | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #nextId = 1;

  /** Queries run one after the other. Throws `QueryError`. */
  query(
    file: string,
    sql: string,
    limits: Partial<QueryLimits> = {},
    signal?: AbortSignal,
  ): Promise<QueryResult> {
    const result = this.#queue.then(() =>
      this.#run(file, sql, { ...defaultQueryLimits, ...limits }, signal),
    );
    this.#queue = result.catch(() => undefined);
    return result;
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  static readonly #idle: QueryProcess[] = [];

  /**
   * An executor that nobody else uses now. Starting a process costs more than most queries: give it
   * back.
   */
  static borrow(): QueryProcess {
    return QueryProcess.#idle.pop() ?? new QueryProcess();
  }

  giveBack(): void {
    if (QueryProcess.#idle.length < MAX_IDLE) QueryProcess.#idle.push(this);
    else this.close();
  }

  #run(file: string, sql: string, limits: QueryLimits, signal?: AbortSignal): Promise<QueryResult> {
    if (!isQuery(sql))
      return Promise.reject(
        new QueryError('forbidden', 'only SELECT, VALUES and WITH are run here'),
      );
    if (signal?.aborted)
      return Promise.reject(new QueryError('cancelled', 'the query was cancelled'));
    const child = (this.#child ??= this.#start());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        child.off('message', onMessage);
        child.off('exit', onExit);
        child.off('error', onError);
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const fail = (kind: QueryErrorKind, message: string): void =>
        finish(() => reject(new QueryError(kind, message)));
      const kill = (kind: QueryErrorKind, message: string): void => {
        fail(kind, message);
        this.close();
      };
      const onMessage = (reply: QueryReply): void => {
        if (reply.id !== id) return;
        if ('error' in reply) fail(reply.error.kind, reply.error.message);
        else
          finish(() =>
            resolve({ columns: reply.columns, rows: reply.rows as Value[][], more: reply.more }),
          );
      };
      const onExit = (code: number | null, killed: string | null): void => {
        this.#child = undefined;
        const how = killed ?? `status ${code}`;
        const most = `${MOST_MEMORY / 2 ** 30} GiB`;
        fail(
          'memory',
          `the query's process ended (${how}), as it does when it needs more memory than ${most}`,
        );
      };
      const onError = (error: Error): void => {
        this.#child = undefined;
        fail('memory', `the query's process cannot be started or reached: ${error.message}`);
      };
      const onAbort = (): void => kill('cancelled', 'the query was cancelled');
      const timer = setTimeout(
        () => kill('timeout', `the query took longer than ${limits.timeoutMs / 1000} s`),
        limits.timeoutMs,
      );
      child.on('message', onMessage);
      child.on('exit', onExit);
      child.on('error', onError);
      signal?.addEventListener('abort', onAbort, { once: true });
      child.send({
        id,
        file,
        sql,
        maxRows: limits.maxRows,
        maxBytes: limits.maxBytes,
        isReversed: limits.isReversed,
      } satisfies QueryRequest);
    });
  }

  #start(): ChildProcess {
    const script = path.join(
      /* turbopackIgnore: true */ process.cwd(),
      'lib/sqlite/query/query-child.ts',
    );
    if (!fs.existsSync(script))
      throw new Error(`${script} is missing: commands must run in the project's folder`);
    // Foreign SQL gets no secrets to look at, and a bounded heap.
    const child = fork(/* turbopackIgnore: true */ script, [String(MOST_MEMORY)], {
      execArgv: ['--max-old-space-size=1024', '--import', 'tsx'],
      serialization: 'advanced',
      env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production', TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    // A query that waits for the process hears of it by itself; without a listener the error would
    // end this process.
    child.on('error', () => undefined);
    child.on('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}

/**
 * True for text that begins a query; `PRAGMA` and `ATTACH` return rows too, or open files, and are
 * none.
 */
function isQuery(sql: string): boolean {
  const bare = sql.replace(/^(?:\s|\ufeff|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '');
  return /^[\s(]*(select|with|values)\b/i.test(bare);
}
