import { useCallback, useEffect, useRef, useState } from 'react';
import type { SessionUser } from '../../lib/auth/account-api';
import type { DecideInput } from '../../lib/review/decision-api';
import type { EmptyQueue } from '../../lib/review/lease-api';
import type { TaskDetail } from '../../lib/review/task-api';
import { RequestFailed } from '../api';
import { useDecisionSaver, type Saved } from './decision-saver';
import { useDraft, type DraftStore } from './draft-store';
import type { Skips } from './skipped-store';
import { useEffort } from './use-effort';
import { useLease } from './use-lease';
import { useNextTask } from './use-next-task';

/** What a decision says beside its idempotency key and the version that it is about. */
export type DecisionBody = DecideInput extends infer One
  ? One extends DecideInput
    ? Omit<One, 'idempotencyKey' | 'versionId'>
    : never
  : never;

/** What happens when a decision has been saved, where it did not happen at once. */
type OnceSaved = 'stay' | 'go on';

interface Options {
  readonly task: TaskDetail;
  readonly user: SessionUser | undefined;
  readonly mayDecide: boolean;
  readonly filters: Readonly<Record<string, string>>;
  readonly skips: Skips;
  /** Opens another task. */
  show(taskId: string): void;
  /** Called when a decision was made here: its dialog is no longer needed. */
  onDecided(): void;
}

export interface DecisionFlow {
  /** The reviewer has decided here; the decision may still be on its way. */
  readonly decided: boolean;
  /** The decision waits in this browser until the server can be reached. */
  readonly waitsForServer: boolean;
  /** There is no next task, and why. */
  readonly empty: EmptyQueue | null;
  readonly failure: unknown;
  /** The lease could not be taken or renewed. */
  readonly leaseError: unknown;
  readonly drafts: DraftStore;
  /** The decision that `undo` would take back when no other one is named. */
  readonly undoable: Saved | null;
  /** The decision on this task that has not been superseded or undone. */
  readonly standing: (Saved & { readonly by: { id: string; name: string } }) | null;
  submit(verdict: DecisionBody): void;
  undo(saved: Saved | null): void;
  /** Opens the next task; this one is not offered again until skipped tasks are reviewed. */
  skip(): void;
  reviewSkipped(): void;
}

/** From a task on screen to the next one: deciding, skipping, undoing, and what can go wrong. */
export function useDecisionFlow(options: Options): DecisionFlow {
  const { task, user, mayDecide, filters, skips, show, onDecided } = options;
  const saver = useDecisionSaver();
  const [decided, setDecided] = useState(false);
  // The same as `decided`, without waiting for a render: set before anything that follows from it.
  const decidedNow = useRef(false);
  const setDecidedHere = useCallback((value: boolean): void => {
    decidedNow.current = value;
    setDecided(value);
  }, []);
  const [onceSaved, setOnceSaved] = useState<OnceSaved | null>(null);
  const [failure, setFailure] = useState<unknown>(null);

  const drafts = useDraft(task, mayDecide && !decided);
  const lease = useLease(task.id, mayDecide && !decided && task.state !== 'closed', decidedNow);
  useEffort(task.id, mayDecide && !decided);
  const next = useNextTask(task.id, filters, skips, mayDecide && (lease.held || decided));
  const { empty, setEmpty, goOn } = useAdvance(next, show, setFailure);

  const submit = (verdict: DecisionBody): void => {
    const body = {
      ...verdict,
      idempotencyKey: crypto.randomUUID(),
      versionId: task.current.id,
    } as DecideInput;
    saver.submit({ taskId: task.id, title: task.title, body });
    setDecidedHere(true);
    onDecided();
    // An edit that is not approved yet is looked at again; without the server there is nothing to
    // go on to.
    if (verdict.verdict === 'edit' && !verdict.approve) setOnceSaved('stay');
    else if (saver.offline || !navigator.onLine) setOnceSaved('go on');
    else goOn(() => setOnceSaved('go on'));
  };
  const saving = saver.isPending(task.id);
  useEffect(() => {
    if (!onceSaved || saving) return;
    setOnceSaved(null);
    if (onceSaved === 'stay') setDecidedHere(false);
    else goOn();
  }, [onceSaved, saving, goOn, setDecidedHere]);

  const undo = (saved: Saved | null): void => {
    if (!saved) return;
    setFailure(null);
    const undone = (): void => {
      setDecidedHere(false);
      setEmpty(null);
      // The decision had taken the draft with it.
      if (saved.taskId === task.id) drafts.change({});
      else show(saved.taskId);
    };
    void saver.undo(saved).then(undone, setFailure);
  };

  const standing = standingDecision(task);
  return {
    decided,
    waitsForServer: onceSaved === 'go on',
    empty,
    failure,
    leaseError: decided ? null : lease.error,
    drafts,
    // Undo survives a reload, since the server knows the decision; by default only one's own.
    undoable:
      saver.last ?? (standing?.current === true && standing.by.id === user?.id ? standing : null),
    standing,
    submit,
    undo,
    skip() {
      if (!decidedNow.current) skips.add(task.id);
      goOn();
    },
    reviewSkipped() {
      skips.clear();
      setEmpty(null);
      goOn();
    },
  };
}

/** Opens the next task, or says why there is none. */
function useAdvance(
  next: ReturnType<typeof useNextTask>,
  show: (taskId: string) => void,
  onFailure: (error: unknown) => void,
): {
  readonly empty: EmptyQueue | null;
  setEmpty(empty: EmptyQueue | null): void;
  goOn(unreachable?: () => void): void;
} {
  const [empty, setEmpty] = useState<EmptyQueue | null>(null);
  const goOn = useCallback(
    (unreachable?: () => void): void => {
      void next.take().then(
        (response) => {
          if (response.task) show(response.task.id);
          else setEmpty(response.empty);
        },
        (error: unknown) => {
          const noServer = error instanceof RequestFailed && error.status === 0;
          if (unreachable && noServer) unreachable();
          else onFailure(error);
        },
      );
    },
    [next, show, onFailure],
  );
  return { empty, setEmpty, goOn };
}

/** The decision on a task that has not been superseded or undone. */
function standingDecision(
  task: TaskDetail,
): (Saved & { readonly by: { id: string; name: string }; readonly current: boolean }) | null {
  const decision = task.decisions.find(
    ({ standing }) => standing !== 'superseded' && standing !== 'undone',
  );
  return decision === undefined
    ? null
    : {
        taskId: task.id,
        title: task.title,
        decisionId: decision.id,
        verdict: decision.verdict,
        by: decision.by,
        current: decision.standing === 'counts',
      };
}
