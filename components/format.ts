import type { GateName, StageName } from '../lib/pipeline/stages/stage';

export const stageLabel: Readonly<Record<StageName, string>> = {
  profile: 'Profile',
  conceptual_design: 'Conceptual design',
  logical_design: 'Logical design',
  migration: 'Migration',
  collection_validation: 'Collection validation',
  cross_validation: 'Cross-collection validation',
  table_validation: 'Table validation',
  translation: 'Translation',
  optimisation: 'Optimisation',
  evidence: 'Evidence',
};

export const gateLabel: Readonly<Record<GateName, string>> = {
  conceptual_design: 'Conceptual design',
  collection_validation: 'Collection validation',
  cross_validation: 'Cross-collection validation',
  table_validation: 'Table validation',
  untranslated: 'Untranslated items',
  optimised_query: 'Optimised queries',
  evidence: 'Evidence',
};

export function bytes(count: number): string {
  if (count < 1000) return `${Math.round(count)} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let [value, at] = [count / 1000, 0];
  while (value >= 1000 && at < units.length - 1) [value, at] = [value / 1000, at + 1];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

export const number = (value: number): string => value.toLocaleString('en');

export const milliseconds = (value: number): string =>
  value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;

export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 3600 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export function when(iso: string): string {
  return new Date(iso).toLocaleString('en-GB', {
    day: '2-digit',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
}

/** A count with its noun: `1 item`, `2 items`. */
export const counted = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${number(count)} ${count === 1 ? noun : nouns}`;

/** Text of others as a sentence that another can follow. */
export const sentence = (text: string): string =>
  /[.!?…]["')\]”’]?\s*$/.test(text) ? text.trimEnd() : `${text.trimEnd()}.`;
