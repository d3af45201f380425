'use client';
import { CircleAlert, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { RequestFailed } from '../api';
import { Button } from './button';

/** What went wrong, to what, and what to do next. */
export function ErrorNote({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  const failed = error instanceof RequestFailed ? error : undefined;
  return (
    <div role="alert" className="flex gap-2 rounded-md border border-bad/40 bg-bad-soft p-3 text-bad">
      <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="min-w-0 space-y-1">
        <p className="font-medium break-words">{error instanceof Error ? error.message : String(error)}</p>
        {failed?.next ? <p className="text-sm">{failed.next}</p> : null}
        {failed?.problems.length ? (
          <ul className="list-disc pl-4 text-sm">
            {failed.problems.slice(0, 20).map((problem, at) => (
              <li key={at}>
                {problem.path ? <code className="font-mono text-xs">{problem.path}</code> : null} {problem.message}
              </li>
            ))}
          </ul>
        ) : null}
        {retry ? (
          <Button look="danger" onClick={retry}>
            Try again
          </Button>
        ) : null}
      </div>
    </div>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p role="status" className="flex items-center gap-2 p-4 text-muted">
      <LoaderCircle className="size-4 animate-spin" aria-hidden /> Loading {what}…
    </p>
  );
}

export function EmptyNote({ children }: { readonly children: ReactNode }) {
  return <p className="p-4 text-muted">{children}</p>;
}
