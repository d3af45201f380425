/** As many as a claim takes: the earliest are offered again when there are more. */
const MOST = 5000;

/**
 * Tasks that a reviewer has passed over, in this tab and under these filters: they are not offered
 * again.
 */
export interface Skips {
  list(): string[];
  add(taskId: string): void;
  clear(): void;
}

export function skipsOf(userId: string, filters: Readonly<Record<string, string>>): Skips {
  const name = `aptmql.skipped.${userId}.${JSON.stringify(Object.entries(filters).sort())}`;
  const list = (): string[] => {
    try {
      return JSON.parse(sessionStorage.getItem(name) ?? '[]') as string[];
    } catch {
      return []; // unreadable text of another version
    }
  };
  return {
    list,
    add: (taskId) =>
      sessionStorage.setItem(
        name,
        JSON.stringify([...list().filter((id) => id !== taskId), taskId].slice(-MOST)),
      ),
    clear: () => sessionStorage.removeItem(name),
  };
}
