/**
 * How long two pipelines take, in milliseconds: the fastest of `runs` runs each, since noise only
 * ever adds.
 */
export interface Timing {
  readonly before: number;
  readonly after: number;
  readonly runs: number;
}

/**
 * Runs of each; what takes longer than `LONG_MS` for both together has outlasted most noise in one.
 */
const RUNS = 2;
const LONG_MS = 1000;

/**
 * Runs both in turn, so that whatever else the machine does at the time slows both. `ran` is what
 * they took in a run that was needed anyway: it counts as the first.
 */
export async function timeBoth(
  before: () => Promise<unknown>,
  after: () => Promise<unknown>,
  ran?: Omit<Timing, 'runs'>,
  now: () => number = () => performance.now(),
): Promise<Timing> {
  const timed = async (run: () => Promise<unknown>): Promise<number> => {
    const started = now();
    await run();
    return now() - started;
  };
  let fastest = ran ?? { before: Infinity, after: Infinity };
  let spent = ran ? ran.before + ran.after : 0;
  let runs = ran ? 1 : 0;
  while (runs === 0 || (runs < RUNS && spent < LONG_MS)) {
    const turn = { before: await timed(before), after: await timed(after) };
    spent += turn.before + turn.after;
    fastest = {
      before: Math.min(fastest.before, turn.before),
      after: Math.min(fastest.after, turn.after),
    };
    runs++;
  }
  return { before: rounded(fastest.before), after: rounded(fastest.after), runs };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
