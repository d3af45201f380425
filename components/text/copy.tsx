'use client';
import { Check, Copy as CopyIcon } from 'lucide-react';
import { useState } from 'react';

export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button
      type="button"
      onClick={() => void copy()}
      aria-label={`Copy: ${what}`}
      className="absolute top-1 right-1 rounded border border-line bg-surface p-1 text-muted opacity-0 group-hover:opacity-100 hover:text-text focus-visible:opacity-100"
    >
      {copied ? <Check className="size-3.5 text-good" /> : <CopyIcon className="size-3.5" />}
    </button>
  );
}
