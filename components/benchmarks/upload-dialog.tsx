'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { ApiError } from '../../lib/http/api-error';
import { query, RequestFailed } from '../api';
import { bytes } from '../format';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Field, Input } from '../ui/field';
import { ErrorNote } from '../ui/notes';
import { ProgressBar } from '../ui/progress-bar';

export function UploadDialog({
  open,
  onClose,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState('');
  const [sent, setSent] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const request = useRef<XMLHttpRequest | null>(null);
  const close = (): void => {
    request.current?.abort();
    setSent(null);
    setError(null);
    onClose();
  };
  const start = async (): Promise<void> => {
    if (!file) return;
    setError(null);
    setSent(0);
    try {
      await upload(file, name, setSent, request);
      await client.invalidateQueries({ queryKey: ['imports'] });
      close();
    } catch (failure) {
      setError(failure);
      setSent(null);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Import a benchmark"
      description="A BIRD or Spider folder as a .zip file: question files at its top, SQLite databases, column descriptions."
    >
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <Field label="Archive">
          <Input
            type="file"
            accept=".zip,application/zip"
            required
            onChange={(event) => {
              const chosen = event.target.files?.[0] ?? null;
              setFile(chosen);
              if (chosen && name === '') setName(chosen.name.replace(/\.zip$/i, ''));
            }}
          />
        </Field>
        <Field label="Name" hint="As it will be shown, and as the bundle will be called.">
          <Input
            value={name}
            onChange={(event) => setName(event.target.value)}
            required
            maxLength={200}
          />
        </Field>
        {sent !== null && file ? (
          <div className="space-y-1">
            <ProgressBar done={sent} total={file.size} label="Upload" />
            <p className="text-xs text-muted">
              {bytes(sent)} of {bytes(file.size)} sent
            </p>
          </div>
        ) : null}
        {error ? <ErrorNote error={error} /> : null}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{sent === null ? 'Close' : 'Cancel the upload'}</Button>
          <Button type="submit" look="primary" disabled={!file || sent !== null}>
            Import
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** `fetch` tells nothing about upload progress. */
function upload(
  file: File,
  name: string,
  onSent: (bytes: number) => void,
  holder: { current: XMLHttpRequest | null },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    holder.current = request;
    request.open('POST', `/api/benchmarks/upload${query({ name, fileName: file.name })}`);
    request.setRequestHeader('content-type', 'application/zip');
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => {
      if (request.status < 300) return resolve();
      let failed: ApiError['error'] | undefined;
      try {
        failed = (JSON.parse(request.responseText) as ApiError).error;
      } catch {
        failed = undefined; // a proxy's own error page, not ours
      }
      reject(
        new RequestFailed(
          failed?.message ?? `The server answered ${request.status}.`,
          request.status,
          failed?.code ?? 'internal',
          failed?.next ?? '',
          failed?.problems,
        ),
      );
    };
    request.onerror = () =>
      reject(
        new RequestFailed(
          'The upload was interrupted.',
          0,
          'network',
          'Check the connection and start it again; nothing was imported.',
        ),
      );
    request.onabort = () =>
      reject(new RequestFailed('The upload was cancelled.', 0, 'network', 'Nothing was imported.'));
    request.send(file);
  });
}
