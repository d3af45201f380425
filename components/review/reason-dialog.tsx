'use client';
import { useState } from 'react';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { TextArea } from '../ui/field';

export function ReasonDialog({
  open,
  title,
  description,
  action,
  onClose,
  onSubmit,
}: {
  readonly open: boolean;
  readonly title: string;
  readonly description: string;
  readonly action: string;
  readonly onClose: () => void;
  readonly onSubmit: (note: string) => void;
}) {
  const [note, setNote] = useState('');
  return (
    <Dialog open={open} onClose={onClose} title={title} description={description}>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (note.trim() !== '') onSubmit(note);
        }}
      >
        <TextArea
          aria-label="Reason"
          rows={3}
          required
          autoFocus
          value={note}
          onChange={(event) => setNote(event.target.value)}
          placeholder="Why, for the record"
        />
        <div className="flex items-center justify-end gap-2">
          <span className="mr-auto text-xs text-muted">Ctrl+Enter sends.</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" disabled={note.trim() === ''}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
