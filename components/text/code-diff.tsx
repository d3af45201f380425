'use client';
import { useEffect, useRef, useState } from 'react';
import type * as Monaco from 'monaco-editor';
import { commonOptions, loadMonaco, monacoTheme, type TextLanguage } from './monaco';

/**
 * Two texts side by side with their differences marked; `onlyChanges` folds away what is the same.
 */
export function CodeDiff({
  before,
  after,
  language,
  label,
  onlyChanges = false,
}: {
  readonly before: string;
  readonly after: string;
  readonly language: TextLanguage;
  readonly label: string;
  readonly onlyChanges?: boolean;
}) {
  const holder = useRef<HTMLDivElement>(null);
  // Lines that wrap in half the width count as often as they wrap.
  const rows = (text: string): number =>
    text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 52)), 0);
  const [folded, setFolded] = useState(200);
  const height = onlyChanges
    ? folded
    : Math.min(560, Math.max(120, Math.max(rows(before), rows(after)) * 19 + 24));
  useEffect(() => {
    let editor: Monaco.editor.IStandaloneDiffEditor | undefined;
    let disposed = false;
    const retheme = (): void =>
      void loadMonaco().then((monaco) => monaco.editor.setTheme(monacoTheme()));
    void loadMonaco().then((monaco) => {
      if (disposed || !holder.current) return;
      editor = monaco.editor.createDiffEditor(holder.current, {
        ...commonOptions,
        readOnly: true,
        renderSideBySide: true,
        renderOverviewRuler: false,
        useInlineViewWhenSpaceIsLimited: true,
        originalEditable: false,
        hideUnchangedRegions: { enabled: onlyChanges, contextLineCount: 2, minimumLineCount: 2 },
        originalAriaLabel: `${label}, before`,
        modifiedAriaLabel: `${label}, after`,
        theme: monacoTheme(),
      });
      const made = editor;
      if (onlyChanges)
        made.onDidUpdateDiff(() =>
          setTimeout(
            () =>
              disposed ||
              setFolded(
                Math.min(
                  560,
                  Math.max(
                    80,
                    made.getModifiedEditor().getContentHeight(),
                    made.getOriginalEditor().getContentHeight(),
                  ) + 8,
                ),
              ),
            50,
          ),
        );
      editor.setModel({
        original: monaco.editor.createModel(before, language),
        modified: monaco.editor.createModel(after, language),
      });
    });
    window.addEventListener('themechange', retheme);
    const scheme = window.matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', retheme);
    return () => {
      disposed = true;
      window.removeEventListener('themechange', retheme);
      scheme.removeEventListener('change', retheme);
      const model = editor?.getModel();
      editor?.dispose();
      model?.original.dispose();
      model?.modified.dispose();
    };
  }, [before, after, language, label, onlyChanges]);
  return (
    <div
      ref={holder}
      className="overflow-hidden rounded-md border border-line"
      style={{ height }}
    />
  );
}
