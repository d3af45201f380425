'use client';

/** Monaco, loaded once and only where text is edited or compared; its workers come from our own bundle. */
export function loadMonaco(): Promise<typeof import('monaco-editor')> {
  loading ??= start();
  return loading;
}
let loading: Promise<typeof import('monaco-editor')> | undefined;

async function start(): Promise<typeof import('monaco-editor')> {
  globalThis.MonacoEnvironment = {
    getWorker: () => new Worker(new URL('monaco-editor/editor/editor.worker.js', import.meta.url), { type: 'module' }),
  };
  return import('monaco-editor');
}

export type TextLanguage = 'sql' | 'javascript' | 'markdown' | 'plaintext' | 'json';

export const monacoTheme = (): string => (isDark() ? 'vs-dark' : 'vs');

function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'dark' || chosen === 'light') return chosen === 'dark';
  return window.matchMedia('(prefers-color-scheme: dark)').matches;
}

export const commonOptions = {
  automaticLayout: true,
  minimap: { enabled: false },
  scrollBeyondLastLine: false,
  fontSize: 13,
  lineNumbersMinChars: 3,
  folding: false,
  wordWrap: 'on',
  renderLineHighlight: 'none',
  overviewRulerLanes: 0,
  // Ctrl+M still toggles it: by default Tab leaves the editor, as it does everywhere else on the page.
  tabFocusMode: true,
  // Suggestions from other text on the page are noise here.
  quickSuggestions: false,
  // The features behind these need language workers, for code that is not a program.
  hover: { enabled: 'off' },
} as const;
