'use client';
import { useRouter, useSearchParams } from 'next/navigation';
import { useState } from 'react';
import type { SessionResponse } from '../../lib/auth/account-api';
import { api } from '../api';
import { readPending } from '../review/pending-store';
import { Button } from '../ui/button';
import { Field, Input } from '../ui/field';
import { ErrorNote } from '../ui/notes';

export function LoginForm() {
  const router = useRouter();
  const search = useSearchParams();
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (form: FormData): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const body = { email: form.get('email'), password: form.get('password') };
      const { user } = await api<SessionResponse>('/api/session', { method: 'POST', body });
      // A decision that could not be saved is sent from the page of its task; a reload may have
      // lost where that was.
      const to = readPending().find((entry) => entry.by === user.id)?.address ?? search.get('to');
      // Only a place of ours: never a foreign address, never a protocol-relative one.
      router.replace(to && /^\/(?![/\\])/.test(to) ? to : '/');
      router.refresh();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(new FormData(event.currentTarget));
      }}
    >
      <Field label="E-mail address">
        <Input name="email" type="email" autoComplete="username" required autoFocus />
      </Field>
      <Field label="Password">
        <Input name="password" type="password" autoComplete="current-password" required />
      </Field>
      {error ? <ErrorNote error={error} /> : null}
      <Button type="submit" look="primary" disabled={busy} className="w-full justify-center py-1.5">
        {busy ? 'Signing in…' : 'Sign in'}
      </Button>
      <p className="text-xs text-muted">
        On its first start the server printed the administrator’s e-mail address and password.
      </p>
    </form>
  );
}
