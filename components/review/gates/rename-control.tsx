'use client';
import { useEffect, useRef, useState } from 'react';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Input } from '../../ui/field';
import { KeepFocus } from '../../ui/keep-focus';

interface RenameControlProps {
  readonly what: string;
  readonly current: string;
  /** The name that is asked for, once one is. */
  readonly wanted: string | null;
  readonly onRequest: (name: string) => void;
  readonly onTakeBack: () => void;
}

/** Asks for another name: an instruction to the agent, as every other choice on the screen. */
export function RenameControl(props: RenameControlProps) {
  return (
    <KeepFocus>
      <Control {...props} />
    </KeepFocus>
  );
}

function Control({ what, current, wanted, onRequest, onTakeBack }: RenameControlProps) {
  const [writing, setWriting] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const wrote = useRef(false);
  useEffect(() => {
    if (writing) field.current?.select();
    // Whoever gives up writing stays where they were.
    else if (wrote.current) opener.current?.focus();
    wrote.current = writing;
  }, [writing]);
  if (wanted !== null) {
    return (
      <span className="inline-flex flex-wrap items-center gap-1">
        <Badge tone="accent">“{wanted}” requested</Badge>
        <Button look="quiet" aria-label={`Cancel request: rename ${what}`} onClick={onTakeBack}>
          Cancel request
        </Button>
      </span>
    );
  }
  if (!writing) {
    return (
      <Button
        ref={opener}
        look="quiet"
        aria-label={`Rename ${what}`}
        onClick={() => setWriting(true)}
      >
        Rename
      </Button>
    );
  }
  return (
    <form
      className="inline-flex flex-wrap items-center gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        const name = field.current?.value.trim() ?? '';
        setWriting(false);
        if (name !== '' && name !== current) onRequest(name);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') setWriting(false);
      }}
    >
      <Input
        ref={field}
        aria-label={`New name of ${what}`}
        defaultValue={current}
        required
        maxLength={200}
        className="w-40 py-0.5 text-[13px]"
      />
      <Button type="submit">Request</Button>
      <Button look="quiet" onClick={() => setWriting(false)}>
        Cancel
      </Button>
    </form>
  );
}
