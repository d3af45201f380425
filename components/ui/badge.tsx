import type { ReactNode } from 'react';
import { classes } from './classes';

const tones = {
  neutral: 'bg-surface-2 text-muted',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
} as const;
export type Tone = keyof typeof tones;

export function Badge({
  tone = 'neutral',
  children,
  title,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
  readonly title?: string;
}) {
  return (
    <span
      title={title}
      className={classes(
        'inline-flex items-center gap-1 rounded px-1.5 py-0.5 text-xs font-medium ' +
          'whitespace-nowrap',
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}
