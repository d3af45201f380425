'use client';
import { CircleAlert, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Problem } from '../../lib/app-error';
import { RequestFailed } from '../api';
import { Button } from './button';

/** What went wrong, to what, and what to do next. */
export function ErrorNote({
  error,
  retry,
}: {
  readonly error: unknown;
  readonly retry?: (() => void) | undefined;
}) {
  const failed = error instanceof RequestFailed ? error : undefined;
  return (
    <div
      role="alert"
      className="flex gap-2 rounded-md border border-bad/40 bg-bad-soft p-3 text-bad"
    >
      <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="min-w-0 space-y-1">
        <p className="font-medium wrap-anywhere">
          {error instanceof Error ? error.message : String(error)}
        </p>
        {failed?.next ? <p className="text-sm wrap-anywhere">{failed.next}</p> : null}
        {failed?.problems.length ? (
          <ul className="list-disc pl-4 text-sm">
            {failed.problems.slice(0, 20).map((problem, at) => (
              <li key={at} className="wrap-anywhere">
                {placeOf(problem) ? (
                  <code className="font-mono text-xs">{placeOf(problem)}</code>
                ) : null}{' '}
                {problem.message}
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

/** Names of the interface, as the screens call what they stand for. */
const SPOKEN: Readonly<Record<string, string>> = {
  evidenceMql: 'evidence',
  csv: '',
  text: '',
  content: '',
  current: 'present password',
  next: 'new password',
  email: 'e-mail address',
  'settings.maxArrayP99': 'entries of 99 % of the arrays',
  'settings.maxArray': 'entries of any array',
};

/** Where a problem is, unless its message begins with that. */
function placeOf({ path, message }: Problem): string {
  const place = SPOKEN[path] ?? path;
  return message.startsWith(place) ? '' : place;
}

/** `of`: the query that is waited for, so that one that is tried again says so. */
export function Loading({
  what,
  of,
}: {
  readonly what: string;
  readonly of?: { readonly failureCount: number; readonly fetchStatus: string };
}) {
  const failing = of && of.failureCount > 0 ? 'the server does not answer, trying again' : null;
  const trouble =
    of?.fetchStatus === 'paused' ? 'this browser is offline; it goes on by itself' : failing;
  return (
    <p
      role="status"
      className={`flex items-center gap-2 p-4 ${trouble ? 'text-warn' : 'text-muted'}`}
    >
      <LoaderCircle className="size-4 shrink-0 animate-spin" aria-hidden /> Loading {what}
      {trouble ? `: ${trouble}` : ''}…
    </p>
  );
}

export function EmptyNote({ children }: { readonly children: ReactNode }) {
  return <p className="p-4 text-muted">{children}</p>;
}
