'use client';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useCallback, useMemo, useState } from 'react';
import type { SessionUser } from '../../lib/auth/account-api';
import type { DirectiveInput } from '../../lib/review/decision-api';
import type { TaskDetail } from '../../lib/review/task-api';
import { RequestFailed } from '../api';
import { useSession, useTask } from '../queries';
import { ErrorNote, Loading } from '../ui/notes';
import { Changes } from './changes';
import { DecisionBar, type ReviewDialog } from './decision-bar';
import { canEdit } from './editable';
import { GateScreen } from './gate-screen';
import { ReviewDialogs } from './review-dialogs';
import { ReviewHeader } from './review-header';
import { ReviewNotices } from './review-notices';
import { SidePanel } from './side-panel';
import { skipsOf } from './skipped-store';
import { useDecisionFlow, type DecisionFlow } from './use-decision-flow';
import { useShortcuts } from './use-shortcuts';
import { useUnseenVersion } from './use-unseen-version';

/**
 * One task on screen; the next one is leased and loaded meanwhile, so that a decision shows it at
 * once. Which task is read from the address: opening one that is loaded needs no request, and works
 * while the server cannot be reached.
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
  const router = useRouter();
  const { filters, suffix } = useQueueFilters();
  const skips = useMemo(() => skipsOf(user?.id ?? '', filters), [user?.id, filters]);
  const [dialog, setDialog] = useState<ReviewDialog | null>(null);
  const closeDialog = useCallback(() => setDialog(null), []);
  const show = useCallback(
    (taskId: string): void => {
      window.history.pushState(null, '', `/tasks/${taskId}${suffix}`);
      window.scrollTo(0, 0);
    },
    [suffix],
  );
  const mayDecide = user !== undefined && user.role !== 'consumer';
  const flow = useDecisionFlow({
    task,
    user,
    mayDecide,
    filters,
    skips,
    show,
    onDecided: closeDialog,
  });
  const { before, unseen } = useUnseenVersion(task);
  const { draft, change } = flow.drafts;
  const setDirectives = useCallback(
    (directives: readonly DirectiveInput[]): void => change({ directives: [...directives] }),
    [change],
  );

  const [editorContent, setEditorContent] = useState<unknown>(null);
  const openEditor = (content?: unknown): void => {
    setEditorContent(content ?? null);
    setDialog('edit');
  };
  const decidedBy = decidedByColleague(task, user, flow);
  const ready = mayDecide && canBeDecided(task, flow) && decidedBy === null;
  const editable = canEdit(task);
  const needsMql =
    task.gate === 'untranslated' && (task.current.content as { mql: unknown }).mql === null;
  useShortcuts({
    ...(ready ? decisionKeys(task, flow, setDialog) : {}),
    ...(ready && !needsMql ? { a: () => flow.submit({ verdict: 'approve' }) } : {}),
    ...(ready && editable ? { e: () => openEditor() } : {}),
    u: () => flow.undo(flow.undoable),
    n: flow.skip,
    q: () => router.push(`/queue${suffix}`),
    '?': () => setDialog('keys'),
    Escape: closeDialog,
  });

  const { standing } = flow;
  const mayUndo =
    standing !== null &&
    (standing.by.id === user?.id || user?.role === 'lead' || user?.role === 'admin');
  return (
    <div className="flex min-h-[calc(100vh-2.75rem)] flex-col">
      <ReviewHeader task={task} />
      <div className="grid flex-1 gap-3 p-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0 space-y-3">
          <ReviewNotices task={task} flow={flow} decidedBy={decidedBy} />
          {before ? (
            <Changes
              key={`${before.id} ${task.current.id}`}
              task={task}
              before={before}
              unseen={unseen}
            />
          ) : null}
          <GateScreen
            task={task}
            before={before?.content ?? null}
            directives={draft.directives}
            setDirectives={setDirectives}
            edit={ready && editable ? openEditor : null}
          />
        </div>
        <SidePanel
          task={task}
          undo={
            mayUndo ? { decisionId: standing.decisionId, run: () => flow.undo(standing) } : null
          }
        />
      </div>
      <DecisionBar
        task={task}
        flow={flow}
        ready={ready}
        editable={editable}
        needsMql={needsMql}
        open={setDialog}
        openEditor={() => openEditor()}
      />
      <ReviewDialogs
        task={task}
        flow={flow}
        dialog={dialog}
        editorContent={editorContent}
        onClose={closeDialog}
      />
    </div>
  );
}

/** The queue's filters, which the address of a task carries, and that part of the address. */
function useQueueFilters(): {
  readonly filters: Readonly<Record<string, string>>;
  readonly suffix: string;
} {
  const search = useSearchParams();
  return useMemo(() => {
    const names = { benchmark: 'benchmarkId', database: 'databaseId', gate: 'gate' };
    const set = Object.entries(names).flatMap(([parameter, name]) => {
      const value = search.get(parameter);
      return value ? [[name, value] as const] : [];
    });
    const text = search.toString();
    return { filters: Object.fromEntries(set), suffix: text === '' ? '' : `?${text}` };
  }, [search]);
}

function canBeDecided(task: TaskDetail, flow: DecisionFlow): boolean {
  const leasedByColleague =
    flow.leaseError instanceof RequestFailed && flow.leaseError.code === 'leased';
  const open = task.state !== 'waiting' && task.state !== 'closed';
  return open && !flow.decided && !leasedByColleague;
}

/** The server refuses it, too: only a lead reopens what a colleague has decided. */
function decidedByColleague(
  task: TaskDetail,
  user: SessionUser | undefined,
  { standing }: DecisionFlow,
): string | null {
  if (user?.role !== 'reviewer' || task.state !== 'done' || standing === null) return null;
  return standing.by.id === user.id ? null : standing.by.name;
}

/** The keys of the decisions that a gate has beside approving and editing. */
function decisionKeys(
  task: TaskDetail,
  flow: DecisionFlow,
  open: (dialog: ReviewDialog) => void,
): Readonly<Record<string, () => void>> {
  return {
    r: () => open('request'),
    ...(task.gate === 'optimised_query'
      ? { k: () => flow.submit({ verdict: 'keep_unoptimised' }) }
      : {}),
    ...(task.gate === 'untranslated'
      ? { x: () => open('exclude'), d: () => open('mark_source_defect') }
      : {}),
  };
}
