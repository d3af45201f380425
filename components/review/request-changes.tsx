'use client';
import { useRef, useState } from 'react';
import { reasonCodes, type DirectiveInput, type ReasonCode, type TaskDetail } from '../../lib/review/api-types';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { TextArea } from '../ui/field';
import { useDraft } from './draft-store';

export const reasonLabel: Readonly<Record<ReasonCode, string>> = {
  wrong_structure: 'Wrong structure',
  wrong_result: 'Wrong result',
  wrong_type_or_format: 'Wrong type or format',
  not_natural: 'Not natural MQL',
  missing_information: 'Something is missing',
  wrong_name: 'Wrong name',
  inefficient: 'Inefficient',
  wording: 'Wording',
  other: 'Other',
};

export const directiveText = (directive: DirectiveInput): string => {
  switch (directive.kind) {
    case 'relationship':
      return `${directive.choice} ${directive.relationship}`;
    case 'without_field':
      return `do not keep ${directive.field} in the parents of ${directive.relationship}`;
    case 'rename_collection':
      return `call the collection of ${directive.table} “${directive.name}”`;
    case 'rename_field':
      return `call ${directive.table}.${directive.column} “${directive.name}”`;
    case 'keep_type':
      return `keep the type of ${directive.table}.${directive.column}`;
    case 'keep_unoptimised':
      return 'keep the unoptimised query';
    case 'drop_rule':
      return `do not apply ${directive.rule}`;
    case 'free_text':
      return directive.note;
  }
};

interface RequestChangesProps {
  readonly task: TaskDetail;
  readonly open: boolean;
  readonly onClose: () => void;
  /** Instructions gathered on the screen (a choice that was switched, a rule that was dropped). */
  readonly directives: readonly DirectiveInput[];
  readonly onRemove: (directive: DirectiveInput) => void;
  readonly onSubmit: (reason: ReasonCode, note: string) => void;
}

/** A reason by number key, instructions from the screen, a note if one is needed: as cheap as approving. */
export function RequestChanges({ task, open, onClose, directives, onRemove, onSubmit }: RequestChangesProps) {
  const [reason, setReason] = useState<ReasonCode | null>(null);
  const [asked, setAsked] = useState(false);
  const noteField = useRef<HTMLTextAreaElement>(null);
  const send = (): void => {
    if (reason) onSubmit(reason, note);
    else setAsked(true);
  };
  const choose = (code: ReasonCode): void => {
    setReason(code);
    noteField.current?.focus();
  };
  const [note, setNote] = useState(task.draft ?? '');
  useDraft(task.id, note, task.draft ?? '');
  return (
    <Dialog open={open} onClose={onClose} title="Request changes" description="The agent answers with a new version, or says at once what it cannot act on.">
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        onKeyDown={(event) => {
          const at = Number(event.key) - 1;
          const typing = (event.target as HTMLElement).tagName === 'TEXTAREA';
          const code = reasonCodes[at];
          if (code && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            choose(code);
          }
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
        }}
      >
        <fieldset>
          <legend className="mb-1 text-[13px] font-medium">Reason (1–9)</legend>
          <div className="grid grid-cols-3 gap-1">
            {reasonCodes.map((code, at) => (
              <label key={code} className={`flex items-center gap-2 rounded-md border px-2 py-1 text-[13px] ${reason === code ? 'border-accent bg-accent-soft' : 'border-line'}`}>
                <input type="radio" name="reason" value={code} checked={reason === code} onChange={() => setReason(code)} autoFocus={at === 0} className="peer sr-only" />
                <kbd className="font-mono text-xs text-muted">{at + 1}</kbd> {reasonLabel[code]}
              </label>
            ))}
          </div>
          {asked && !reason ? (
            <p role="alert" className="mt-1 text-[13px] text-bad">
              Choose a reason: press a number from 1 to 9.
            </p>
          ) : null}
        </fieldset>
        <div>
          <p className="mb-1 text-[13px] font-medium">Instructions to the agent</p>
          {directives.length === 0 ? <p className="text-[13px] text-muted">None. Switch a choice or a rule on the screen to give one. The builtin agent acts on instructions only: a note alone comes back to the queue, marked “cannot act”.</p> : null}
          <ul className="space-y-1">
            {directives.map((directive) => (
              <li key={JSON.stringify(directive)} className="flex items-center gap-2">
                <Badge tone="accent">{directive.kind.replaceAll('_', ' ')}</Badge>
                <span className="text-[13px] break-words">{directiveText(directive)}</span>
                <Button look="quiet" onClick={() => onRemove(directive)}>
                  Remove
                </Button>
              </li>
            ))}
          </ul>
        </div>
        <label className="block space-y-1">
          <span className="text-[13px] font-medium">Note (optional)</span>
          <TextArea value={note} onChange={(event) => setNote(event.target.value)} rows={4} ref={noteField} placeholder="For the agent and for the record" />
        </label>
        <div className="flex items-center justify-end gap-2">
          <span className="mr-auto text-xs text-muted">Drafts are kept. Ctrl+Enter sends.</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger">
            Request changes
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
