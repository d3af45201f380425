'use client';
import { useMutation } from '@tanstack/react-query';
import type { SessionUser } from '../../lib/auth/account-api';
import { api } from '../api';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Field, Input } from '../ui/field';
import { ErrorNote } from '../ui/notes';

/** Who is signed in, and a new password: it ends all other sessions. */
export function AccountDialog({
  user,
  open,
  onClose,
}: {
  readonly user: SessionUser;
  readonly open: boolean;
  readonly onClose: () => void;
}) {
  const change = useMutation({
    mutationFn: (form: FormData) =>
      api('/api/session/password', {
        method: 'POST',
        body: { current: form.get('current'), next: form.get('next') },
      }),
  });
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={user.name}
      description={`${user.email}, ${user.role}`}
    >
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(new FormData(event.currentTarget));
        }}
      >
        <Field label="Current password">
          <Input name="current" type="password" autoComplete="current-password" required />
        </Field>
        <Field label="New password" hint="At least 12 characters. Other sessions end.">
          <Input name="next" type="password" autoComplete="new-password" minLength={12} required />
        </Field>
        {change.error ? <ErrorNote error={change.error} /> : null}
        {change.isSuccess ? (
          <p role="status" className="text-good">
            The password was changed.
          </p>
        ) : null}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" look="primary" disabled={change.isPending}>
            Change the password
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
