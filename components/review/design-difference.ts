import type { ConceptualDesign } from '../../lib/design/model/document-design';
import { decisionsOf, reasonLines } from './readable-content';

export interface TextPair {
  readonly before: string;
  readonly after: string;
}

/** One decision that is another one now; null: there was none, or is none any more. */
export interface ChangedDecision {
  readonly subject: string;
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Two versions of a design: changed decisions, then changed wording, then where
 * figures alone have moved.
 */
export interface DesignDifference {
  readonly decisions: readonly ChangedDecision[];
  readonly reasons: TextPair;
  readonly figures: TextPair;
  /** Lines in which figures alone have moved. */
  readonly moved: number;
}

export function designDifference(
  before: ConceptualDesign,
  after: ConceptualDesign,
): DesignDifference {
  const [old, now] = [reasonLines(before), reasonLines(after)];
  const gone = without(old, now);
  const reworded: string[] = [];
  const moved: (readonly [before: string, after: string])[] = [];
  for (const line of without(now, old)) {
    const at = gone.findIndex((other) => words(other) === words(line));
    if (at < 0) reworded.push(line);
    else moved.push([gone.splice(at, 1)[0]!, line]);
  }
  return {
    decisions: changedDecisions(before, after),
    reasons: { before: gone.join('\n'), after: reworded.join('\n') },
    figures: {
      before: moved.map(([line]) => line).join('\n'),
      after: moved.map(([, line]) => line).join('\n'),
    },
    moved: moved.length,
  };
}

function changedDecisions(before: ConceptualDesign, after: ConceptualDesign): ChangedDecision[] {
  const [old, now] = [before, after].map(
    (design) => new Map(decisionsOf(design).map(({ subject, text }) => [subject, text])),
  ) as [Map<string, string>, Map<string, string>];
  return [...new Set([...now.keys(), ...old.keys()])]
    .map((subject) => ({
      subject,
      before: old.get(subject) ?? null,
      after: now.get(subject) ?? null,
    }))
    .filter((change) => change.before !== change.after);
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
}

/** A sentence but for its numbers. */
const words = (line: string): string => line.replace(/\d[\d.,]*/g, '#');
