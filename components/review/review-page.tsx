'use client';
import { useQueryClient } from '@tanstack/react-query';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import Link from 'next/link';
import type {
  ClaimResponse,
  DecideInput,
  DirectiveInput,
  EmptyQueue,
  ReasonCode,
  SessionUser,
  TaskDetail,
} from '../../lib/review/api-types';
import { api, RequestFailed } from '../api';
import { counted, gateLabel } from '../format';
import { useSession, useTask } from '../queries';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { ErrorNote, Loading } from '../ui/notes';
import { taskTone } from '../database/artefact-list';
import { Changes } from './changes';
import { useDecisionSaver, type Saved } from './decision-saver';
import { useDraft } from './draft-store';
import { EditDialog } from './edit-dialog';
import { GateScreen } from './gate-screen';
import { canEdit } from './editable';
import { pendingTaskIds } from './pending-store';
import { ReasonDialog } from './reason-dialog';
import { RequestChanges } from './request-changes';
import { SaveState } from './save-state';
import { SidePanel } from './side-panel';
import { skipsOf, type Skips } from './skipped-store';
import { useEffort } from './use-effort';
import { useLease } from './use-lease';
import { useShortcuts } from './use-shortcuts';

/**
 * One task on screen; the next one is leased and loaded meanwhile, so that a decision shows it at
 * once. Which task is read from the address: going on to one that is loaded asks the server for
 * nothing, and works while it cannot be reached.
 */
export function ReviewPage({ id: opened }: { readonly id: string }) {
  const id = /^\/tasks\/([^/]+)/.exec(usePathname())?.[1] ?? opened;
  const task = useTask(id);
  const { data: user } = useSession();
  if (task.isPending) return <Loading what="the task" of={task} />;
  if (task.error)
    return (
      <div className="p-4">
        <ErrorNote error={task.error} retry={() => void task.refetch()} />
      </div>
    );
  return <Review key={id} task={task.data} user={user} />;
}

function Review({
  task,
  user,
}: {
  readonly task: TaskDetail;
  readonly user: SessionUser | undefined;
}) {
  const mayDecide = user !== undefined && user.role !== 'consumer';
  const router = useRouter();
  const search = useSearchParams();
  const client = useQueryClient();
  const saver = useDecisionSaver();
  const [dialog, setDialog] = useState<
    'request' | 'edit' | 'help' | 'exclude' | 'mark_source_defect' | null
  >(null);
  const [decided, setDecided] = useState(false);
  const { draft, change } = useDraft(task, mayDecide && !decided);
  const { directives } = draft;
  const setDirectives = useCallback(
    (wanted: readonly DirectiveInput[]): void => change({ directives: [...wanted] }),
    [change],
  );
  const [empty, setEmpty] = useState<EmptyQueue | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  /** What happens when the decision has been saved, where it did not happen at once. */
  const [onceSaved, setOnceSaved] = useState<'stay' | 'go on' | null>(null);
  const openedAt = useRef(task.current.id);
  const heading = useRef<HTMLHeadingElement>(null);
  // A new task is a new page: the reader starts at its name.
  useEffect(() => {
    document.title = `${task.title} · ${task.database} · AptMQL Studio`;
    heading.current?.focus({ preventScroll: true });
  }, [task.id, task.title, task.database]);
  /** The same as `decided`, at once: before anything that the decision sets off. */
  const decidedNow = useRef(false);
  const decideHere = useCallback((now: boolean): void => {
    decidedNow.current = now;
    setDecided(now);
  }, []);
  const lease = useLease(task.id, mayDecide && !decided && task.state !== 'closed', decidedNow);
  useEffort(task.id, mayDecide && !decided);

  const filters = useMemo(
    () => ({
      ...(search.get('benchmark') ? { benchmarkId: search.get('benchmark')! } : {}),
      ...(search.get('database') ? { databaseId: search.get('database')! } : {}),
      ...(search.get('gate') ? { gate: search.get('gate')! } : {}),
    }),
    [search],
  );
  const suffix = useMemo(() => (search.toString() === '' ? '' : `?${search.toString()}`), [search]);
  const skips = useMemo(() => skipsOf(user?.id ?? '', filters), [user?.id, filters]);
  const next = useNextTask(task.id, filters, skips, mayDecide && (lease.held || decided));

  const show = useCallback(
    (taskId: string): void => {
      window.history.pushState(null, '', `/tasks/${taskId}${suffix}`);
      window.scrollTo(0, 0);
    },
    [suffix],
  );
  const goOn = useCallback(
    (unreachable?: () => void): void => {
      void next.take().then(
        (response) => {
          if (response.task) show(response.task.id);
          else setEmpty(response.empty);
        },
        (error: unknown) =>
          unreachable && error instanceof RequestFailed && error.status === 0
            ? unreachable()
            : setFailed(error),
      );
    },
    [next, show],
  );

  /**
   * On to the next without deciding; this one is not offered again, unless the reviewer asks for
   * what they skipped.
   */
  const skip = (): void => {
    if (!decidedNow.current) skips.add(task.id);
    goOn();
  };
  const reviewSkipped = (): void => {
    skips.clear();
    setEmpty(null);
    goOn();
  };

  const submit = useCallback(
    (verdict: DecisionBody): void => {
      const body = {
        ...verdict,
        idempotencyKey: crypto.randomUUID(),
        versionId: task.current.id,
      } as DecideInput;
      saver.submit({ taskId: task.id, title: task.title, body });
      decideHere(true);
      setDialog(null);
      // An edit that is not approved yet is looked at again; without the server there is nothing to
      // go on to.
      if (verdict.verdict === 'edit' && !verdict.approve) setOnceSaved('stay');
      else if (saver.offline || !navigator.onLine) setOnceSaved('go on');
      else goOn(() => setOnceSaved('go on'));
    },
    [saver, task, goOn, decideHere],
  );
  const saving = saver.isPending(task.id);
  useEffect(() => {
    if (!onceSaved || saving) return;
    setOnceSaved(null);
    if (onceSaved === 'stay') decideHere(false);
    else goOn();
  }, [onceSaved, saving, goOn, decideHere]);

  // What stands here can be taken back after a reload, too: the server knows it. Without asking,
  // only one's own.
  const standing = task.decisions.find(
    (decision) => decision.standing !== 'superseded' && decision.standing !== 'undone',
  );
  const standingHere = standing && {
    taskId: task.id,
    title: task.title,
    decisionId: standing.id,
    verdict: standing.verdict,
  };
  const undoable =
    saver.last ??
    (standingHere && standing.standing === 'counts' && standing.by.id === user?.id
      ? standingHere
      : null);
  const undo = useCallback(
    (saved: Saved | null) => {
      if (!saved) return;
      setFailed(null);
      const undone = (): void => {
        decideHere(false);
        setEmpty(null);
        if (saved.taskId === task.id)
          change({}); // the decision had taken the draft with it
        else show(saved.taskId);
      };
      void saver.undo(saved).then(undone, setFailed);
    },
    [saver, show, change, decideHere, task.id],
  );

  // Once told that it was seen, the server no longer calls it unseen: it stays so while it is on
  // screen.
  const seenBefore = useRef(task.lastSeen);
  if (task.lastSeen) seenBefore.current = task.lastSeen;
  const unseen =
    seenBefore.current && seenBefore.current.id !== task.current.id ? seenBefore.current : null;
  const before = unseen ?? task.earlier;

  // The version that was on screen counts as seen when the reviewer decides or leaves it after a
  // look.
  useEffect(() => {
    const timer = setTimeout(
      () =>
        void api(`/api/tasks/${task.id}/seen`, {
          method: 'POST',
          body: { versionId: openedAt.current },
        }).catch(() => undefined),
      3000,
    );
    return () => clearTimeout(timer);
  }, [task.id]);

  const [start, setStart] = useState<unknown>(null);
  const openEditor = (content?: unknown): void => {
    setStart(content ?? null);
    setDialog('edit');
  };

  const editable = canEdit(task);
  const lockedByAnother = lease.error instanceof RequestFailed && lease.error.code === 'leased';
  // The server refuses it, too: what a colleague has decided is a lead's to reopen.
  const decidedByAnother =
    user?.role === 'reviewer' &&
    task.state === 'done' &&
    standing !== undefined &&
    standing.by.id !== user.id;
  const ready =
    mayDecide &&
    !decided &&
    !lockedByAnother &&
    !decidedByAnother &&
    task.state !== 'waiting' &&
    task.state !== 'closed';
  const needsMql =
    task.gate === 'untranslated' && (task.current.content as { mql: unknown }).mql === null;
  useShortcuts({
    ...(ready && !needsMql ? { a: () => submit({ verdict: 'approve' }) } : {}),
    ...(ready ? { r: () => setDialog('request') } : {}),
    ...(ready && editable ? { e: () => openEditor() } : {}),
    ...(ready && task.gate === 'optimised_query'
      ? { k: () => submit({ verdict: 'keep_unoptimised' }) }
      : {}),
    ...(ready && task.gate === 'untranslated'
      ? { x: () => setDialog('exclude'), d: () => setDialog('mark_source_defect') }
      : {}),
    u: () => undo(undoable),
    n: skip,
    q: () => router.push(`/queue${suffix}`),
    '?': () => setDialog('help'),
    Escape: () => setDialog(null),
  });

  const refresh = (): void => void client.invalidateQueries({ queryKey: ['tasks', task.id] });
  return (
    <div className="flex min-h-[calc(100vh-2.75rem)] flex-col">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface px-4 py-2">
        <nav aria-label="Breadcrumb" className="text-[13px] text-muted">
          <Link href={`/benchmarks/${task.benchmarkId}`} className="hover:underline">
            {task.benchmarkName}
          </Link>{' '}
          /{' '}
          <Link href={`/databases/${task.databaseId}`} className="hover:underline">
            {task.database}
          </Link>{' '}
          /{' '}
          <Link
            href={`/queue?benchmark=${task.benchmarkId}&database=${task.databaseId}&gate=${task.gate}`}
            className="hover:underline"
          >
            {gateLabel[task.gate]}
          </Link>{' '}
          /
        </nav>
        <h1
          ref={heading}
          tabIndex={-1}
          className="max-w-2xl truncate font-semibold outline-none"
          title={task.title}
        >
          {task.title}
        </h1>
        <Badge tone={taskTone[task.state] ?? 'neutral'}>
          {task.state === 'waiting' ? 'with the agents' : task.state}
        </Badge>
        {task.verdict ? (
          <span className="text-[13px] text-muted">
            last verdict: {task.verdict.replaceAll('_', ' ')}
          </span>
        ) : null}
        <span className="ml-auto" />
        <SaveState />
      </header>
      <div className="grid flex-1 gap-3 p-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0 space-y-3">
          {onceSaved === 'go on' ? (
            <p
              role="status"
              className="rounded-md border border-warn/40 bg-warn-soft p-3 text-warn"
            >
              Your decision is kept in this browser and sent as soon as the server can be reached;
              then the next task opens.
            </p>
          ) : null}
          {empty ? <EmptyQueueNote empty={empty} reviewSkipped={reviewSkipped} /> : null}
          {failed ? <ErrorNote error={failed} /> : null}
          {lease.error && !decided ? <ErrorNote error={lease.error} /> : null}
          {decidedByAnother ? (
            <p role="status" className="rounded-md border border-line bg-surface p-3">
              Decided by {standing.by.name}, and current. A lead can reopen it.
            </p>
          ) : null}
          {task.waitingFor ? (
            <p className="rounded-md border border-line bg-surface p-3 wrap-anywhere">
              {task.waitingFor}
            </p>
          ) : null}
          {before ? (
            <Changes
              key={`${before.id} ${task.current.id}`}
              task={task}
              before={before}
              unseen={unseen !== null}
            />
          ) : null}
          <GateScreen
            task={task}
            before={before?.content ?? null}
            directives={directives}
            setDirectives={setDirectives}
            edit={ready && editable ? openEditor : null}
          />
        </div>
        <SidePanel
          task={task}
          undo={
            standingHere &&
            (standing.by.id === user?.id || user?.role === 'lead' || user?.role === 'admin')
              ? { decisionId: standing.id, run: () => undo(standingHere) }
              : null
          }
        />
      </div>
      <footer className="sticky bottom-0 z-20 flex flex-wrap items-center gap-2 border-t border-line bg-surface px-4 py-2">
        {ready && needsMql ? null : (
          <Button
            look="good"
            shortcut="a"
            disabled={!ready}
            onClick={() => submit({ verdict: 'approve' })}
          >
            Approve
          </Button>
        )}
        <Button look="danger" shortcut="r" disabled={!ready} onClick={() => setDialog('request')}>
          Request changes{directives.length > 0 ? ` (${directives.length})` : ''}
        </Button>
        {editable ? (
          <Button shortcut="e" disabled={!ready} onClick={() => openEditor()}>
            {needsMql ? 'Write the MQL' : 'Edit'}
          </Button>
        ) : null}
        {task.gate === 'optimised_query' ? (
          <Button
            shortcut="k"
            disabled={!ready}
            onClick={() => submit({ verdict: 'keep_unoptimised' })}
          >
            Keep the unoptimised one
          </Button>
        ) : null}
        {task.gate === 'untranslated' ? (
          <>
            <Button shortcut="d" disabled={!ready} onClick={() => setDialog('mark_source_defect')}>
              Mark source defect
            </Button>
            <Button shortcut="x" disabled={!ready} onClick={() => setDialog('exclude')}>
              Exclude
            </Button>
          </>
        ) : null}
        <span className="ml-auto" />
        <Button
          look="quiet"
          shortcut="u"
          disabled={!undoable}
          title={undoable && undoable.taskId !== task.id ? `on ${undoable.title}` : undefined}
          onClick={() => undo(undoable)}
        >
          Undo{undoable ? ` “${undoable.verdict.replaceAll('_', ' ')}”` : ''}
        </Button>
        <Button look="quiet" shortcut="n" onClick={skip}>
          Skip
        </Button>
        <Button look="quiet" shortcut="?" onClick={() => setDialog('help')}>
          Keys
        </Button>
      </footer>
      <RequestChanges
        task={task}
        open={dialog === 'request'}
        onClose={() => setDialog(null)}
        draft={draft}
        onChange={change}
        onRemove={(gone) => setDirectives(directives.filter((entry) => entry !== gone))}
        onSubmit={(reason: ReasonCode, note) =>
          submit({
            verdict: 'request_changes',
            reason,
            directives: [...directives],
            ...(note.trim() ? { note } : {}),
          })
        }
      />
      {dialog === 'edit' ? (
        <EditDialog
          task={task}
          draft={draft}
          onChange={change}
          start={start}
          onClose={() => setDialog(null)}
          onSubmit={(content, approve) =>
            submit(
              task.gate === 'table_validation' && approve
                ? { verdict: 'reclassify', content }
                : { verdict: 'edit', content, approve },
            )
          }
          onStale={refresh}
        />
      ) : null}
      <ReasonDialog
        open={dialog === 'exclude'}
        title="Exclude this item"
        description="It ships without MQL and is counted as excluded, with your reason."
        action="Exclude"
        onClose={() => setDialog(null)}
        onSubmit={(note) => submit({ verdict: 'exclude', note })}
      />
      <ReasonDialog
        open={dialog === 'mark_source_defect'}
        title="Mark a source defect"
        description="The SQL is wrong at the source. It is not repaired: the item carries the caveat, with your finding."
        action="Mark"
        onClose={() => setDialog(null)}
        onSubmit={(note) => submit({ verdict: 'mark_source_defect', note })}
      />
      <HelpDialog open={dialog === 'help'} onClose={() => setDialog(null)} />
    </div>
  );
}

/** What a decision says beside its key and version. */
type DecisionBody = DecideInput extends infer One
  ? One extends DecideInput
    ? Omit<One, 'idempotencyKey' | 'versionId'>
    : never
  : never;

/** A quarter of a lease's length. */
const HEARTBEAT_MS = 30_000;

/** Leases and loads the next task while this one is looked at. */
function useNextTask(
  taskId: string,
  filters: Readonly<Record<string, string>>,
  skips: Skips,
  wanted: boolean,
): { take(): Promise<ClaimResponse> } {
  const client = useQueryClient();
  const ahead = useRef<Promise<ClaimResponse> | null>(null);
  const claim = useCallback((): Promise<ClaimResponse> => {
    const claimed = api<ClaimResponse>('/api/queue/claim', {
      method: 'POST',
      body: {
        ...filters,
        holding: [taskId],
        after: taskId,
        deciding: pendingTaskIds(),
        skipped: skips.list(),
      },
    });
    void claimed.then(
      (response) =>
        response.task ? client.setQueryData(['tasks', response.task.id], response.task) : undefined,
      () => (ahead.current = null),
    );
    return claimed;
  }, [client, filters, skips, taskId]);
  const taken = useRef(false);
  useEffect(() => {
    if (wanted) ahead.current ??= claim();
  }, [wanted, claim]);
  // What was leased ahead is kept as long as the task on screen is; where that fails, another one
  // is leased.
  useEffect(() => {
    const timer = setInterval(() => {
      const claimed = ahead.current;
      if (!claimed || taken.current) return;
      const renew = async (): Promise<void> => {
        const response = await claimed;
        if (response.task)
          await api(`/api/tasks/${response.task.id}/lease`, { method: 'POST', body: {} });
      };
      void renew().catch(() => {
        // the next one is claimed when it is needed
        if (ahead.current === claimed) ahead.current = null;
      });
    }, HEARTBEAT_MS);
    return () => clearInterval(timer);
  }, []);
  // Whoever goes elsewhere gives back what was leased ahead, so that a colleague can have it at
  // once.
  useEffect(() => {
    const giveBack = (): void => {
      const claimed = ahead.current;
      ahead.current = null;
      if (!taken.current)
        void claimed?.then(
          (response) =>
            response.task
              ? navigator.sendBeacon(`/api/tasks/${response.task.id}/lease/release`)
              : undefined,
          () => undefined,
        );
    };
    window.addEventListener('pagehide', giveBack);
    return () => {
      window.removeEventListener('pagehide', giveBack);
      giveBack();
    };
  }, []);
  return useMemo(
    () => ({
      async take() {
        const response = await (ahead.current ?? claim());
        taken.current = true;
        // An empty answer from a while ago may be outdated by now.
        return response.task ? response : claim();
      },
    }),
    [claim],
  );
}

function EmptyQueueNote({
  empty,
  reviewSkipped,
}: {
  readonly empty: EmptyQueue;
  readonly reviewSkipped: () => void;
}) {
  return (
    <div role="status" className="space-y-1 rounded-md border border-accent/40 bg-accent-soft p-3">
      <p className="font-medium">{empty.message}</p>
      {empty.reason === 'skipped' ? (
        <Button onClick={reviewSkipped}>Review skipped tasks</Button>
      ) : null}
      {empty.leasedTo.map((holder) => (
        <p key={holder.name} className="text-[13px]">
          {holder.name} holds {counted(holder.tasks, 'task')}
        </p>
      ))}
      {empty.stages.map((stage) => (
        <p key={`${stage.databaseId}${stage.stage}`} className="text-[13px]">
          <Link className="underline" href={`/databases/${stage.databaseId}`}>
            {stage.database}
          </Link>
          : {stage.stage.replaceAll('_', ' ')} {stage.state}
          {stage.failure ? <span className="wrap-anywhere">: {stage.failure}</span> : ''}
        </p>
      ))}
      <p className="text-[13px]">
        <Link className="underline" href="/queue">
          All tasks
        </Link>
      </p>
    </div>
  );
}

const keys: readonly (readonly [key: string, does: string])[] = [
  ['a', 'approve'],
  ['r', 'request changes (then a number for the reason)'],
  ['e', 'edit'],
  ['k', 'keep the unoptimised query'],
  ['d', 'mark a source defect'],
  ['x', 'exclude the item'],
  ['u', 'undo the last decision'],
  ['n', 'skip: next task without deciding; this one is not offered again'],
  ['q', 'back to the queue'],
  ['?', 'this list'],
  ['⌃⏎', 'Ctrl+Enter: send what a dialog asks, or a comment'],
];

function HelpDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Keys"
      description="They act when nothing is being typed."
    >
      <dl className="grid grid-cols-[3rem_1fr] gap-y-1.5">
        {keys.map(([key, does]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-surface-2 px-1.5 font-mono">{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
