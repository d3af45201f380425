/** What the wire thread and its workers say to each other. */

export interface WorkerSettings {
  readonly file: string;
  readonly index: number;
  readonly writer: boolean;
  /** For all threads together. */
  readonly cacheBytes: number;
  /** How much of it each reader has taken. */
  readonly cacheShares: SharedArrayBuffer;
  /** Where all threads count the use of indexes. */
  readonly indexUse: SharedArrayBuffer;
  /**
   * Two int32: the operation that is to stop, and a count that is odd while a regular expression
   * runs.
   */
  readonly killSwitch: SharedArrayBuffer;
}
/** A whole wire message to run. */
export interface ToWorker {
  readonly operation: number;
  readonly bytes: ArrayBuffer;
}
/** A reply document. Operation 0 says that the worker is ready. */
export interface FromWorker {
  readonly operation: number;
  readonly bytes: ArrayBuffer;
}
