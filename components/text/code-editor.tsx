'use client';
import type * as Monaco from 'monaco-editor';
import { useEffect, useRef } from 'react';
import { commonOptions, loadMonaco, monacoTheme, type TextLanguage } from './monaco';

/**
 * The editor owns its text once it is open: writing it back from outside would disturb whoever is
 * typing.
 */
export function CodeEditor({
  initial,
  onChange,
  language,
  label,
  height = 280,
  readOnly = false,
}: {
  readonly initial: string;
  readonly onChange?: (text: string) => void;
  readonly language: TextLanguage;
  readonly label: string;
  readonly height?: number;
  readonly readOnly?: boolean;
}) {
  const holder = useRef<HTMLDivElement>(null);
  const editor = useRef<Monaco.editor.IStandaloneCodeEditor | null>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const first = useRef(initial);
  useEffect(() => {
    let disposed = false;
    const retheme = (): void =>
      void loadMonaco().then((monaco) => monaco.editor.setTheme(monacoTheme()));
    void loadMonaco().then((monaco) => {
      if (disposed || !holder.current) return;
      const made = monaco.editor.create(holder.current, {
        ...commonOptions,
        value: first.current,
        language,
        readOnly,
        ariaLabel: label,
        theme: monacoTheme(),
      });
      made.onDidChangeModelContent(() => changed.current?.(made.getValue()));
      editor.current = made;
      if (!readOnly) made.focus();
    });
    window.addEventListener('themechange', retheme);
    const scheme = window.matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', retheme);
    return () => {
      disposed = true;
      window.removeEventListener('themechange', retheme);
      scheme.removeEventListener('change', retheme);
      // The editor goes first: it still asks its model while it goes.
      const model = editor.current?.getModel();
      editor.current?.dispose();
      model?.dispose();
      editor.current = null;
    };
  }, [language, label, readOnly]);
  return (
    <div
      ref={holder}
      data-testid="code-editor"
      className="overflow-hidden rounded-md border border-line"
      style={{ height }}
    />
  );
}
