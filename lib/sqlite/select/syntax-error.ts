/**
 * SQL that SQLite's grammar does not accept. `offset` counts UTF-16 units from the start of the
 * text.
 */
export class SqlSyntaxError extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(`${message} (at offset ${String(offset)})`);
    this.name = 'SqlSyntaxError';
  }
}
