import type { ReactNode } from 'react';
import { classes } from './classes';

export function Card({
  title,
  actions,
  children,
  className,
  padded = true,
}: {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  readonly padded?: boolean;
}) {
  return (
    <section className={classes('rounded-lg border border-line bg-surface', className)}>
      {title || actions ? (
        <header className="flex min-h-10 flex-wrap items-center justify-between gap-2 border-b border-line px-3 py-1.5">
          <h2 className="min-w-0 font-semibold wrap-anywhere">{title}</h2>
          <div className="ml-auto flex flex-wrap items-center justify-end gap-x-2 gap-y-1">
            {actions}
          </div>
        </header>
      ) : null}
      <div className={padded ? 'p-3' : ''}>{children}</div>
    </section>
  );
}
