'use client';
import { useRef, useState } from 'react';
import type { GateName } from '../../lib/pipeline/stages/stage';
import type { DirectiveInput, ReasonCode } from '../../lib/review/decision-api';
import type { Draft, TaskDetail } from '../../lib/review/task-api';
import { WithArrows } from '../text/relationship-name';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { TextArea } from '../ui/field';

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

/** The reasons that make sense at a gate, in the order of their number keys. */
const gateReasons: Readonly<Record<GateName, readonly ReasonCode[]>> = {
  conceptual_design: [
    'wrong_structure',
    'inefficient',
    'wrong_name',
    'missing_information',
    'wording',
    'other',
  ],
  collection_validation: [
    'wrong_type_or_format',
    'wrong_name',
    'missing_information',
    'wrong_result',
    'wrong_structure',
    'other',
  ],
  cross_validation: ['wrong_result', 'wrong_structure', 'missing_information', 'other'],
  table_validation: [
    'missing_information',
    'wrong_type_or_format',
    'wrong_structure',
    'wrong_result',
    'other',
  ],
  untranslated: ['not_natural', 'wrong_result', 'missing_information', 'inefficient', 'other'],
  optimised_query: ['wrong_result', 'not_natural', 'inefficient', 'wrong_name', 'other'],
  evidence: ['wording', 'wrong_name', 'missing_information', 'other'],
};

export const directiveText = (directive: DirectiveInput): string => {
  switch (directive.kind) {
    case 'relationship':
      return `${directive.choice} ${directive.relationship}`;
    case 'without_field':
      return `do not keep ${directive.field} in the parents of ${directive.relationship}`;
    case 'without_attributes':
      return `do not repeat names and values in the documents of ${directive.table}`;
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

/** Where on its screen a gate's instructions are given. */
const instructionHint: Readonly<Record<GateName, string>> = {
  conceptual_design:
    'Ask for another choice of a relationship or another name of a collection on the screen to ' +
    'give one.',
  collection_validation: 'Keep a type or rename a field on the screen to give one.',
  cross_validation: 'Ask for another choice of a relationship on the screen to give one.',
  table_validation: 'Keep a type on the screen to give one.',
  untranslated: 'This gate has none: write the MQL yourself, or say in a note what is wrong.',
  optimised_query: 'Drop a rule on the screen to give one.',
  evidence: 'This gate has none: edit the evidence yourself, or say in a note what is wrong.',
};

interface RequestChangesProps {
  readonly task: TaskDetail;
  readonly open: boolean;
  readonly onClose: () => void;
  /**
   * With the instructions gathered on the screen (a choice that was switched, a rule that was
   * dropped).
   */
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly onRemove: (directive: DirectiveInput) => void;
  readonly onSubmit: (reason: ReasonCode, note: string) => void;
}

/**
 * A reason by number key, instructions from the screen, a note if one is needed: as cheap as
 * approving.
 */
export function RequestChanges({
  task,
  open,
  onClose,
  draft,
  onChange,
  onRemove,
  onSubmit,
}: RequestChangesProps) {
  const reasons = gateReasons[task.gate];
  const { directives, note, reason } = draft;
  const [asked, setAsked] = useState(false);
  const noteField = useRef<HTMLTextAreaElement>(null);
  const send = (): void => {
    if (reason) onSubmit(reason, note);
    else setAsked(true);
  };
  const choose = (code: ReasonCode): void => {
    onChange({ reason: code });
    noteField.current?.focus();
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Request changes"
      description="The agent answers with a new version, or says at once what it cannot act on."
    >
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        onKeyDown={(event) => {
          const at = Number(event.key) - 1;
          const typing = (event.target as HTMLElement).tagName === 'TEXTAREA';
          const code = reasons[at];
          if (code && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            choose(code);
          }
        }}
      >
        <fieldset>
          <legend className="mb-1 text-[13px] font-medium">Reason (1–{reasons.length})</legend>
          <div className="grid grid-cols-3 gap-1">
            {reasons.map((code, at) => (
              <label
                key={code}
                className={
                  'flex items-center gap-2 rounded-md border px-2 py-1 text-[13px] ' +
                  `${reason === code ? 'border-accent bg-accent-soft' : 'border-line'}`
                }
              >
                <input
                  type="radio"
                  name="reason"
                  value={code}
                  checked={reason === code}
                  onChange={() => onChange({ reason: code })}
                  autoFocus={reason === null ? at === 0 : reason === code}
                  className="peer sr-only"
                />
                <kbd className="font-mono text-xs text-muted">{at + 1}</kbd> {reasonLabel[code]}
              </label>
            ))}
          </div>
          {asked && !reason ? (
            <p role="alert" className="mt-1 text-[13px] text-bad">
              Choose a reason: press a number from 1 to {reasons.length}.
            </p>
          ) : null}
        </fieldset>
        <div>
          <p className="mb-1 text-[13px] font-medium">Instructions to the agent</p>
          {directives.length === 0 ? (
            <p className="text-[13px] text-muted">
              None. {instructionHint[task.gate]} The builtin agent acts on instructions only: a note
              alone comes back to the queue, marked “cannot act”.
            </p>
          ) : null}
          <ul className="space-y-1">
            {directives.map((directive) => (
              <li key={JSON.stringify(directive)} className="flex items-center gap-2">
                <Badge tone="accent">{directive.kind.replaceAll('_', ' ')}</Badge>
                <span className="text-[13px] wrap-anywhere">
                  <WithArrows text={directiveText(directive)} />
                </span>
                <Button look="quiet" onClick={() => onRemove(directive)}>
                  Remove
                </Button>
              </li>
            ))}
          </ul>
        </div>
        <label className="block space-y-1">
          <span className="text-[13px] font-medium">Note (optional)</span>
          <TextArea
            value={note}
            onChange={(event) => onChange({ note: event.target.value })}
            maxLength={20_000}
            rows={4}
            ref={noteField}
            placeholder="For the agent and for the record"
          />
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
