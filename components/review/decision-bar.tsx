import type { TaskDetail } from '../../lib/review/task-api';
import { Button } from '../ui/button';
import type { DecisionFlow } from './use-decision-flow';

/** The dialogs of the review page. */
export type ReviewDialog = 'request' | 'edit' | 'keys' | 'exclude' | 'mark_source_defect';

interface Props {
  readonly task: TaskDetail;
  readonly flow: DecisionFlow;
  /** The task can be decided here and now. */
  readonly ready: boolean;
  readonly editable: boolean;
  /** There is no MQL to approve yet. */
  readonly needsMql: boolean;
  open(dialog: ReviewDialog): void;
  openEditor(): void;
}

/** The buttons below a task: the decisions that its gate has, undo, skip and the list of keys. */
export function DecisionBar(props: Props) {
  const { task, flow, ready, editable, needsMql, open, openEditor } = props;
  const { undoable } = flow;
  const requested = flow.drafts.draft.directives.length;
  return (
    <footer
      className={
        'sticky bottom-0 z-20 flex flex-wrap items-center gap-2 border-t border-line ' +
        'bg-surface px-4 py-2'
      }
    >
      {ready && needsMql ? null : (
        <Button
          look="good"
          shortcut="a"
          disabled={!ready}
          onClick={() => flow.submit({ verdict: 'approve' })}
        >
          Approve
        </Button>
      )}
      <Button look="danger" shortcut="r" disabled={!ready} onClick={() => open('request')}>
        Request changes{requested > 0 ? ` (${requested})` : ''}
      </Button>
      {editable ? (
        <Button shortcut="e" disabled={!ready} onClick={openEditor}>
          {needsMql ? 'Write the MQL' : 'Edit'}
        </Button>
      ) : null}
      {task.gate === 'optimised_query' ? (
        <Button
          shortcut="k"
          disabled={!ready}
          onClick={() => flow.submit({ verdict: 'keep_unoptimised' })}
        >
          Keep original
        </Button>
      ) : null}
      {task.gate === 'untranslated' ? (
        <>
          <Button shortcut="d" disabled={!ready} onClick={() => open('mark_source_defect')}>
            Mark source defect
          </Button>
          <Button shortcut="x" disabled={!ready} onClick={() => open('exclude')}>
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
        onClick={() => flow.undo(undoable)}
      >
        Undo{undoable ? ` “${undoable.verdict.replaceAll('_', ' ')}”` : ''}
      </Button>
      <Button look="quiet" shortcut="n" onClick={flow.skip}>
        Skip
      </Button>
      <Button look="quiet" shortcut="?" onClick={() => open('keys')}>
        Keys
      </Button>
    </footer>
  );
}
