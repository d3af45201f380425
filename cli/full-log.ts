const FULL_DISK = new Set(['ENOSPC', 'EDQUOT']);

/**
 * While the disk that takes this process's output is full, messages are lost. Without a listener
 * the failed write would end the process, and with the supervisor everything that it keeps running.
 */
export function outliveFullLog(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!FULL_DISK.has(error.code ?? '')) throw error;
    });
  }
}
