import type { ComponentPropsWithRef, ReactNode } from 'react';
import { classes } from './classes';

const looks = {
  primary: 'bg-accent-strong text-white border-transparent hover:brightness-90',
  plain: 'bg-surface text-text border-line hover:bg-surface-2',
  good: 'bg-good-soft text-good border-good/40 hover:border-good',
  danger: 'bg-bad-soft text-bad border-bad/40 hover:border-bad',
  quiet: 'border-transparent text-muted hover:text-text hover:bg-surface-2',
} as const;

interface ButtonProps extends ComponentPropsWithRef<'button'> {
  readonly look?: keyof typeof looks;
  /** The key that does the same, shown beside the label. */
  readonly shortcut?: string | undefined;
  readonly icon?: ReactNode;
}

export function Button({
  look = 'plain',
  shortcut,
  icon,
  className,
  children,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      className={classes(
        'inline-flex items-center gap-1.5 rounded-md border px-2.5 py-1 text-[13px] font-medium ' +
          'transition-colors disabled:opacity-50',
        looks[look],
        className,
      )}
      {...(shortcut ? { 'aria-keyshortcuts': shortcut } : {})}
      {...rest}
    >
      {icon}
      {children}
      {shortcut ? (
        <kbd className="ml-0.5 rounded border border-current/25 px-1 font-mono text-[11px] opacity-75">
          {shortcut}
        </kbd>
      ) : null}
    </button>
  );
}
