import { Ban, CircleCheck, CircleDashed, CircleX, Clock, LoaderCircle } from 'lucide-react';
import type { StageRunRow } from '../lib/pipeline/stage-api';
import { duration, number } from './format';
import { ProgressBar } from './ui/progress-bar';

/** One stage: an icon and words, so that colour is never the only signal. */
export function StageState({
  run,
  label,
}: {
  readonly run: StageRunRow | null;
  readonly label: string;
}) {
  if (!run)
    return (
      <Line icon={<CircleDashed className="size-4 text-muted" aria-hidden />} text="not started" />
    );
  switch (run.state) {
    case 'done':
      return <Line icon={<CircleCheck className="size-4 text-good" aria-hidden />} text="done" />;
    case 'queued':
      return <Line icon={<Clock className="size-4 text-muted" aria-hidden />} text="queued" />;
    case 'cancelled':
      return <Line icon={<Ban className="size-4 text-warn" aria-hidden />} text="cancelled" />;
    case 'failed':
      return (
        <Line
          icon={<CircleX className="size-4 text-bad" aria-hidden />}
          text={run.failure ?? 'failed'}
          bad
        />
      );
    case 'running':
      return (
        <div className="min-w-40 space-y-1">
          <Line
            icon={<LoaderCircle className="size-4 animate-spin text-accent" aria-hidden />}
            text={
              run.total > 0
                ? `${number(run.done)} of ${number(run.total)} ${unitOf(run)}${timeLeft(run)}`
                : 'running'
            }
          />
          <ProgressBar done={run.done} total={run.total} label={label} />
        </div>
      );
  }
}

const Line = ({
  icon,
  text,
  bad = false,
}: {
  readonly icon: React.ReactNode;
  readonly text: string;
  readonly bad?: boolean;
}) => (
  <span className={`flex items-start gap-1.5 ${bad ? 'text-bad' : ''}`}>
    <span className="mt-0.5 shrink-0">{icon}</span>
    <span className="min-w-0 wrap-anywhere">{text}</span>
  </span>
);

const unitOf = ({ unit, total }: StageRunRow): string =>
  total === 1 ? unit.replace(/s$/, '') : unit;

const timeLeft = ({ remainingSeconds }: StageRunRow): string =>
  remainingSeconds ? `, about ${duration(remainingSeconds)} left` : '';
