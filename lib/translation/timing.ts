/** How long two pipelines take, in milliseconds: the fastest of `runs` runs each, since noise only ever adds. */
export interface Timing {
  readonly before: number;
  readonly after: number;
  readonly runs: number;
}

const MOST_RUNS = 3;
const ENOUGH_MS = 150;
/** What takes this long has outlasted most noise: it runs again only where the second looks slower. */
const LONG_MS = 1000;
/** Within this the clock of a busy machine cannot tell two pipelines apart; what is undone must be undone on every machine. */
const FACTOR = 1.5;
const SLACK_MS = 15;

/**
 * Runs both in turn, so that whatever else the machine does at the time slows both. Where the second looks slower they
 * run again: only what stays slower is. `ran` is what they took in a run that was needed anyway: it counts as the first.
 */
export async function timeBoth(before: () => Promise<unknown>, after: () => Promise<unknown>, ran?: Omit<Timing, 'runs'>, now: () => number = () => performance.now()): Promise<Timing> {
  const first = await turns(before, after, ran, now);
  if (!isSlower(first)) return first;
  const second = await turns(before, after, undefined, now);
  return { before: Math.min(first.before, second.before), after: Math.min(first.after, second.after), runs: first.runs + second.runs };
}

export const isSlower = ({ before, after }: Omit<Timing, 'runs'>): boolean => after > before * FACTOR + SLACK_MS;

async function turns(before: () => Promise<unknown>, after: () => Promise<unknown>, ran: Omit<Timing, 'runs'> | undefined, now: () => number): Promise<Timing> {
  const fastest = ran ? [ran.before, ran.after] : [Infinity, Infinity];
  const begun = now() - (ran ? ran.before + ran.after : 0);
  let runs = ran ? 1 : 0;
  const looksSlower = (): boolean => isSlower({ before: fastest[0]!, after: fastest[1]! });
  while (runs < (now() - begun < LONG_MS ? 2 : 1) || (runs < MOST_RUNS && looksSlower() && now() - begun < ENOUGH_MS)) {
    for (const [which, run] of [before, after].entries()) {
      const started = now();
      await run();
      fastest[which] = Math.min(fastest[which]!, now() - started);
    }
    runs++;
  }
  const rounded = (value: number): number => Math.round(value * 100) / 100;
  return { before: rounded(fastest[0]!), after: rounded(fastest[1]!), runs };
}
