import { useQueryClient } from '@tanstack/react-query';
import type { ReasonCode } from '../../lib/review/decision-api';
import type { TaskDetail } from '../../lib/review/task-api';
import type { ReviewDialog } from './decision-bar';
import { EditDialog } from './edit-dialog';
import { KeysDialog } from './keys-dialog';
import { ReasonDialog } from './reason-dialog';
import { RequestChanges } from './request-changes';
import type { DecisionFlow } from './use-decision-flow';

interface Props {
  readonly task: TaskDetail;
  readonly flow: DecisionFlow;
  readonly dialog: ReviewDialog | null;
  /** What the editor starts with; null for the current version. */
  readonly editorContent: unknown;
  onClose(): void;
}

/** The dialogs that a decision may need, at most one of them open. */
export function ReviewDialogs({ task, flow, dialog, editorContent, onClose }: Props) {
  const client = useQueryClient();
  const { draft, change } = flow.drafts;
  const requestChanges = (reason: ReasonCode, note: string): void =>
    flow.submit({
      verdict: 'request_changes',
      reason,
      directives: [...draft.directives],
      ...(note.trim() ? { note } : {}),
    });
  return (
    <>
      <RequestChanges
        task={task}
        open={dialog === 'request'}
        onClose={onClose}
        draft={draft}
        onChange={change}
        onRemove={(removed) =>
          change({ directives: draft.directives.filter((entry) => entry !== removed) })
        }
        onSubmit={requestChanges}
      />
      {dialog === 'edit' ? (
        <EditDialog
          task={task}
          draft={draft}
          onChange={change}
          start={editorContent}
          onClose={onClose}
          onSubmit={(content, approve) =>
            flow.submit(
              task.gate === 'table_validation' && approve
                ? { verdict: 'reclassify', content }
                : { verdict: 'edit', content, approve },
            )
          }
          onStale={() => void client.invalidateQueries({ queryKey: ['tasks', task.id] })}
        />
      ) : null}
      <ReasonDialog
        open={dialog === 'exclude'}
        title="Exclude this item"
        description="It ships without MQL and is counted as excluded, with your reason."
        action="Exclude"
        onClose={onClose}
        onSubmit={(note) => flow.submit({ verdict: 'exclude', note })}
      />
      <ReasonDialog
        open={dialog === 'mark_source_defect'}
        title="Mark a source defect"
        description={
          'The SQL is wrong at the source. It is not repaired: the item carries the caveat, ' +
          'with your finding.'
        }
        action="Mark"
        onClose={onClose}
        onSubmit={(note) => flow.submit({ verdict: 'mark_source_defect', note })}
      />
      <KeysDialog open={dialog === 'keys'} onClose={onClose} />
    </>
  );
}
