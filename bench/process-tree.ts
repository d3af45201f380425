import fs from 'node:fs';

/** A process and those that it started, directly or not, by what /proc says now (Linux only). */
export interface TreeProcess {
  readonly pid: number;
  readonly command: string;
}

export function processTree(root: number): TreeProcess[] {
  const children = new Map<number, number[]>();
  for (const name of fs.readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: TreeProcess[] = [];
  const visit = (pid: number): void => {
    found.push({ pid, command: read(pid, 'cmdline').replaceAll('\0', ' ') });
    for (const child of children.get(pid) ?? []) visit(child);
  };
  visit(root);
  return found;
}

function parentOf(pid: number): number | undefined {
  const fields = read(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields[1] === undefined ? undefined : Number(fields[1]);
}

/** Empty for a process that ended meanwhile. */
function read(pid: number, file: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Sends a signal to processes, those apart that ended meanwhile. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
