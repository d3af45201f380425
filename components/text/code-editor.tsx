'use client';
import type * as Monaco from 'monaco-editor';
import { useEffect, useRef } from 'react';
import { commonOptions, loadMonaco, monacoTheme, type TextLanguage } from './monaco';

export function CodeEditor({ value, onChange, language, label, height = 280, readOnly = false }: { readonly value: string; readonly onChange?: (text: string) => void; readonly language: TextLanguage; readonly label: string; readonly height?: number; readonly readOnly?: boolean }) {
  const holder = useRef<HTMLDivElement>(null);
  const editor = useRef<Monaco.editor.IStandaloneCodeEditor | null>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const first = useRef(value);
  useEffect(() => {
    let disposed = false;
    const retheme = (): void => void loadMonaco().then((monaco) => monaco.editor.setTheme(monacoTheme()));
    void loadMonaco().then((monaco) => {
      if (disposed || !holder.current) return;
      const made = monaco.editor.create(holder.current, { ...commonOptions, value: first.current, language, readOnly, ariaLabel: label, theme: monacoTheme() });
      made.onDidChangeModelContent(() => changed.current?.(made.getValue()));
      editor.current = made;
      if (!readOnly) made.focus();
    });
    window.addEventListener('themechange', retheme);
    return () => {
      disposed = true;
      window.removeEventListener('themechange', retheme);
      editor.current?.getModel()?.dispose();
      editor.current?.dispose();
      editor.current = null;
    };
  }, [language, label, readOnly]);
  useEffect(() => {
    if (editor.current && editor.current.getValue() !== value) editor.current.setValue(value);
    first.current = value;
  }, [value]);
  return <div ref={holder} data-testid="code-editor" className="overflow-hidden rounded-md border border-line" style={{ height }} />;
}
