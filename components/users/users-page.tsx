'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { roles, type UserRow } from '../../lib/auth/account-api';
import { api } from '../api';
import { when } from '../format';
import { useSession, useUsers } from '../queries';
import { Page } from '../shell/page';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { Dialog } from '../ui/dialog';
import { Field, Input, Select } from '../ui/field';
import { ErrorNote, Loading } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';

interface Changed {
  readonly user: UserRow;
  readonly password?: string;
}

export function UsersPage() {
  const users = useUsers();
  const { data: me } = useSession();
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const [shown, setShown] = useState<Changed | null>(null);
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: ['users'] });
  const add = useMutation({
    mutationFn: (form: FormData) =>
      api<Changed>('/api/users', {
        method: 'POST',
        body: { email: form.get('email'), name: form.get('name'), role: form.get('role') },
      }),
    onSuccess: (changed) => {
      setAdding(false);
      setShown(changed);
      return refresh();
    },
  });
  const change = useMutation({
    mutationFn: ({ id, body }: { readonly id: string; readonly body: object }) =>
      api<Changed>(`/api/users/${id}`, { method: 'PATCH', body }),
    onSuccess: (changed) => {
      if (changed.password) setShown(changed);
      return refresh();
    },
  });
  return (
    <Page
      title="Users"
      actions={
        <Button look="primary" onClick={() => setAdding(true)}>
          Add user
        </Button>
      }
    >
      {change.error ? <ErrorNote error={change.error} /> : null}
      <Card padded={false}>
        {users.isPending ? <Loading what="the users" of={users} /> : null}
        {users.error ? <ErrorNote error={users.error} /> : null}
        {users.data ? (
          <UserTable
            users={users.data}
            ownId={me?.id}
            change={(id, body) => change.mutate({ id, body })}
          />
        ) : null}
      </Card>
      <Dialog
        open={adding}
        onClose={() => setAdding(false)}
        title="Add user"
        description="A password is generated and shown once."
      >
        <form
          className="space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate(new FormData(event.currentTarget));
          }}
        >
          <Field label="Name">
            <Input name="name" required autoFocus />
          </Field>
          <Field label="E-mail address">
            <Input name="email" type="email" required />
          </Field>
          <Field label="Role">
            <Select name="role" defaultValue="reviewer">
              {roles.map((role) => (
                <option key={role}>{role}</option>
              ))}
            </Select>
          </Field>
          {add.error ? <ErrorNote error={add.error} /> : null}
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAdding(false)}>Cancel</Button>
            <Button type="submit" look="primary" disabled={add.isPending}>
              Add
            </Button>
          </div>
        </form>
      </Dialog>
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        title={`Password of ${shown?.user.name ?? ''}`}
        description="It is shown this once. Hand it over; the person can change it."
      >
        <p className="rounded-md border border-line bg-bg p-3 font-mono text-base select-all">
          {shown?.password}
        </p>
      </Dialog>
    </Page>
  );
}

function UserTable({
  users,
  ownId,
  change,
}: {
  readonly users: readonly UserRow[];
  readonly ownId: string | undefined;
  readonly change: (id: string, body: object) => void;
}) {
  return (
    <PlainTable
      label="Users"
      align="middle"
      rows={users}
      rowKey={(row) => row.id}
      columns={[
        { head: 'Name', cell: (row) => <span className="font-medium">{row.name}</span> },
        { head: 'E-mail', cell: (row) => row.email },
        {
          head: 'Role',
          cell: (row) => (
            <Select
              aria-label={`Role of ${row.name}`}
              value={row.role}
              disabled={row.id === ownId}
              onChange={(event) => change(row.id, { role: event.target.value })}
            >
              {roles.map((role) => (
                <option key={role}>{role}</option>
              ))}
            </Select>
          ),
        },
        { head: 'Last seen', cell: (row) => (row.lastSeenAt ? when(row.lastSeenAt) : 'never') },
        {
          head: 'State',
          cell: (row) =>
            row.disabled ? <Badge tone="bad">disabled</Badge> : <Badge tone="good">active</Badge>,
        },
        {
          head: '',
          cell: (row) =>
            row.id === ownId ? null : (
              <span className="flex gap-1">
                <Button look="quiet" onClick={() => change(row.id, { resetPassword: true })}>
                  New password
                </Button>
                <Button look="quiet" onClick={() => change(row.id, { disabled: !row.disabled })}>
                  {row.disabled ? 'Enable' : 'Disable'}
                </Button>
              </span>
            ),
        },
      ]}
    />
  );
}
