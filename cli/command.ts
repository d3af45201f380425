/**
 * One command of the `aptmql` tool. Each lives in `commands/<name>.ts` and is loaded when it is
 * called.
 */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole text of `--help`. */
  readonly help: string;
  /**
   * Arguments after the command's name → exit status. Throws `UsageError` for arguments that make
   * no sense.
   */
  run(args: string[]): Promise<number>;
}

/** A mistake in how a command was called: printed with the command's help, exit status 2. */
export class UsageError extends Error {}
