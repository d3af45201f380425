import Link from 'next/link';
import type { ReactNode } from 'react';

/** The frame of a page: where one is, what it is, and what can be done. */
export function Page({
  title,
  above,
  actions,
  children,
}: {
  readonly title: ReactNode;
  readonly above?: readonly { readonly href: string; readonly label: string }[];
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="mx-auto w-full max-w-[1500px] space-y-3 p-4">
      <header className="flex flex-wrap items-end justify-between gap-3">
        <div>
          {above ? (
            <nav aria-label="Breadcrumb" className="flex gap-1 text-xs text-muted">
              {above.map((step) => (
                <span key={step.href}>
                  <Link href={step.href} className="hover:text-text hover:underline">
                    {step.label}
                  </Link>{' '}
                  /
                </span>
              ))}
            </nav>
          ) : null}
          <h1 className="text-lg font-semibold">{title}</h1>
        </div>
        <div className="flex flex-wrap items-center gap-2">{actions}</div>
      </header>
      {children}
    </div>
  );
}
