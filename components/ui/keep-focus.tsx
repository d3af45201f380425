'use client';
import { useLayoutEffect, useRef, type ReactNode } from 'react';

/**
 * Controls that replace each other when they are used: the focus goes from the one that goes to the
 * one that comes.
 */
export function KeepFocus({
  children,
  className,
}: {
  readonly children: ReactNode;
  readonly className?: string;
}) {
  const group = useRef<HTMLDivElement>(null);
  const used = useRef(false);
  useLayoutEffect(() => {
    const replaced = used.current && document.activeElement === document.body;
    used.current = false;
    if (replaced)
      group.current
        ?.querySelector<HTMLElement>('button:not(:disabled), input:not(:disabled)')
        ?.focus();
  });
  return (
    <div ref={group} className={className} onClickCapture={() => (used.current = true)}>
      {children}
    </div>
  );
}
