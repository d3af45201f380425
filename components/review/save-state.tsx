'use client';
import { CircleCheck, CloudOff, LoaderCircle } from 'lucide-react';
import Link from 'next/link';
import { ErrorNote } from '../ui/notes';
import { Button } from '../ui/button';
import { useDecisionSaver } from './decision-saver';

/** Saved, saving or not saved: always visible, in words. */
export function SaveState() {
  const { pending, offline } = useDecisionSaver();
  return (
    <span role="status" className="flex items-center gap-1.5 text-[13px] text-muted">
      <State pending={pending} offline={offline} />
    </span>
  );
}

function State({ pending, offline }: { readonly pending: number; readonly offline: boolean }) {
  if (pending === 0)
    return (
      <>
        <CircleCheck className="size-4 text-good" aria-hidden /> Saved
      </>
    );
  if (!offline)
    return (
      <>
        <LoaderCircle className="size-4 animate-spin" aria-hidden /> Saving {pending}…
      </>
    );
  return (
    <>
      <CloudOff className="size-4 text-bad" aria-hidden />{' '}
      <span className="text-bad">
        Not saved ({pending}): the server cannot be reached, trying again
      </span>
    </>
  );
}

/** Decisions that the server refused, each with the way back to its task. */
export function RefusedDecisions() {
  const { refused, dismiss } = useDecisionSaver();
  return refused.map((entry) => (
    <div key={entry.taskId} className="mx-auto max-w-[1500px] space-y-1 p-3 pb-0">
      <p className="text-[13px]">
        The decision on{' '}
        <Link
          className="text-accent underline"
          href={`/tasks/${entry.taskId}`}
          onClick={() => dismiss(entry.taskId)}
        >
          {entry.title}
        </Link>{' '}
        was not saved.{' '}
        <Button look="quiet" onClick={() => dismiss(entry.taskId)}>
          Dismiss
        </Button>
      </p>
      <ErrorNote error={entry.error} />
    </div>
  ));
}
