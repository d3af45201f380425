/** Text that is not a query in shell syntax or Extended JSON. `offset` counts UTF-16 units. */
export class MqlSyntaxError extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(`${message} (at offset ${String(offset)})`);
    this.name = 'MqlSyntaxError';
  }
}
