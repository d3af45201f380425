'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { SlidersHorizontal } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import type { BenchmarkDetail, BenchmarkPatch } from '../../lib/benchmarks/benchmark-api';
import { api } from '../api';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Field, Input, Select } from '../ui/field';
import { ErrorNote } from '../ui/notes';

type Settings = NonNullable<BenchmarkPatch['settings']>;

/** The settings of a benchmark that decide how its databases are designed. */
export function SettingsDialog({ benchmark }: { readonly benchmark: BenchmarkDetail }) {
  const [open, setOpen] = useState(false);
  const client = useQueryClient();
  const current = benchmark.settings as Settings;
  const change = useMutation({
    mutationFn: (settings: Settings) =>
      api(`/api/benchmarks/${benchmark.id}`, { method: 'PATCH', body: { settings } }),
    onSuccess: async () => {
      setOpen(false);
      await client.invalidateQueries({ queryKey: ['benchmarks'] });
    },
  });
  const save = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const chosen = (name: string): string => String(form.get(name));
    change.mutate({
      retype: chosen('retype') as 'proven' | 'never',
      identifiers: chosen('identifiers') as 'stored' | 'string',
      rules: chosen('rules') as 'all' | 'none',
      maxArrayP99: Number(chosen('maxArrayP99')),
      maxArray: Number(chosen('maxArray')),
    });
  };
  return (
    <>
      <Button icon={<SlidersHorizontal className="size-4" />} onClick={() => setOpen(true)}>
        Settings
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title="How databases are designed"
        description="Saving a change has every database designed again. Decisions on what comes out otherwise have to be made again; the others stand."
      >
        <form className="space-y-3" onSubmit={save}>
          <Field
            label="Dates, booleans and numbers written as text"
            hint="Only where every value of the column comes back exactly as it was; numbers, where no query needs the text."
          >
            <Select name="retype" defaultValue={current.retype ?? 'never'} className="w-full">
              <option value="proven">become what they say</option>
              <option value="never">stay text</option>
            </Select>
          </Field>
          <Field
            label="Integer keys"
            hint="The paper turns them into text; by default they stay what they are."
          >
            <Select
              name="identifiers"
              defaultValue={current.identifiers ?? 'stored'}
              className="w-full"
            >
              <option value="stored">stay integers</option>
              <option value="string">become text, with all that refers to them</option>
            </Select>
          </Field>
          <Field
            label="Optimisation rules"
            hint="Without them the gold stays as it was translated, for comparison."
          >
            <Select name="rules" defaultValue={current.rules ?? 'all'} className="w-full">
              <option value="all">all</option>
              <option value="none">none</option>
            </Select>
          </Field>
          <Field label="Entries of 99 % of the arrays, at most">
            <Input
              name="maxArrayP99"
              type="number"
              min={1}
              max={100000}
              required
              defaultValue={current.maxArrayP99}
            />
          </Field>
          <Field label="Entries of any array, at most">
            <Input
              name="maxArray"
              type="number"
              min={1}
              max={100000}
              required
              defaultValue={current.maxArray}
            />
          </Field>
          {change.error ? <ErrorNote error={change.error} /> : null}
          <div className="flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button type="submit" look="primary" disabled={change.isPending}>
              Save
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
