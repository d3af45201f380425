/**
 * One line of progress on a terminal; silent where output is piped. Writes to stderr, so that
 * stdout stays clean.
 */
export class ProgressLine {
  #last = 0;
  readonly #live = process.stderr.isTTY === true;

  show(text: string): void {
    const now = Date.now();
    if (!this.#live || now - this.#last < 100) return;
    this.#last = now;
    const width = (process.stderr.columns ?? 80) - 1;
    process.stderr.write(`\r\x1b[K${text.slice(0, width)}`);
  }

  bar(label: string, done: number, total: number, unit: string): void {
    const share = total > 0 ? Math.min(1, done / total) : 0;
    const filled = Math.round(share * 24);
    this.show(
      `${label} [${'#'.repeat(filled)}${'.'.repeat(24 - filled)}] ${done}/${total} ${unit}`,
    );
  }

  clear(): void {
    if (this.#live) process.stderr.write('\r\x1b[K');
  }
}
