'use client';
import type * as Monaco from 'monaco-editor';

/**
 * Monaco, loaded once and only where text is edited or compared; its workers come from our own
 * bundle.
 */
export function loadMonaco(): Promise<typeof Monaco> {
  loading ??= start();
  return loading;
}
let loading: Promise<typeof Monaco> | undefined;

async function start(): Promise<typeof Monaco> {
  globalThis.MonacoEnvironment = {
    getWorker: () =>
      new Worker(new URL('monaco-editor/editor/editor.worker.js', import.meta.url), {
        type: 'module',
      }),
  };
  const monaco = await import('monaco-editor');
  monaco.languages.register({ id: 'mql' });
  monaco.languages.setLanguageConfiguration('mql', {
    brackets: [
      ['{', '}'],
      ['[', ']'],
      ['(', ')'],
    ],
    autoClosingPairs: ['{}', '[]', '()', '""', "''"].map(([open, close]) => ({
      open: open!,
      close: close!,
    })),
    comments: { lineComment: '//', blockComment: ['/*', '*/'] },
  });
  monaco.languages.setMonarchTokensProvider('mql', mqlTokens);
  return monaco;
}

// A pipeline is data, not a program: colours are all it needs, and no language service that would
// look for errors.
const mqlTokens: Monaco.languages.IMonarchLanguage = {
  tokenizer: {
    root: [
      [/\/\/.*$/, 'comment'],
      [/"(?:[^"\\]|\\.)*"(?=\s*:)/, 'type'],
      [/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/, 'string'],
      [/\$[\p{L}\w]+(?=\s*:)/u, 'keyword'],
      [/[\p{L}_][\p{L}\w]*(?=\s*:)/u, 'type'],
      [/\b(?:true|false|null)\b/, 'keyword'],
      [/\b(?:ISODate|ObjectId|NumberLong|NumberInt|NumberDecimal|Double|BinData)\b/, 'keyword'],
      [/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/, 'number'],
      [/[{}[\]()]/, '@brackets'],
    ],
  },
};

/** `mql` is also what JSON is shown as. */
export type TextLanguage = 'sql' | 'mql' | 'plaintext';

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
  // Ctrl+M still toggles it: by default Tab leaves the editor, as it does everywhere else on the
  // page.
  tabFocusMode: true,
  // Suggestions from other text on the page are noise here.
  quickSuggestions: false,
  // The features behind these need language workers, for code that is not a program.
  hover: { enabled: 'off' },
} as const;
