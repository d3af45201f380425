import { Dialog } from '../ui/dialog';

const keys: readonly (readonly [key: string, does: string])[] = [
  ['a', 'approve'],
  ['r', 'request changes (then a number for the reason)'],
  ['e', 'edit'],
  ['k', 'keep the original query'],
  ['d', 'mark a source defect'],
  ['x', 'exclude the item'],
  ['u', 'undo the last decision'],
  ['n', 'skip: next task without deciding; this one is not offered again'],
  ['q', 'back to the queue'],
  ['?', 'this list'],
  ['⌃⏎', 'Ctrl+Enter: send what a dialog asks, or a comment'],
];

/** The keys of the review page. */
export function KeysDialog({
  open,
  onClose,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
}) {
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
