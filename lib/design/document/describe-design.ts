import type { Catalog } from '../../sqlite/catalog';
import type { Profile } from '../../sqlite/profile/profile';
import type { TypeSettings } from '../logical/retype';
import type { ConceptualDesign, DesignDocument } from '../model/document-design';
import type { Workload } from '../model/workload';
import { describeDecisions, numberChoices } from './decisions-part';
import type { Draft } from './disposition';
import { text } from './markdown';
import { describeResult, type DesignOutcome } from './result-part';
import { describeSource } from './source-part';
import { describeWorkload } from './workload-part';

export interface DesignContext extends DesignOutcome {
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly workload: Workload;
  /** Absent: every value keeps its type. */
  readonly types?: TypeSettings | undefined;
}

/**
 * The four parts of the paper's §3.1, each Markdown. Names come from the source: they are escaped.
 */
export function describeDesign(design: Draft, context: DesignContext): DesignDocument {
  const { catalog, profile, workload, types } = context;
  return {
    source: describeSource(catalog, profile, workload),
    accessPatterns: describeWorkload(workload),
    decisions: describeDecisions(design, numberChoices(profile, types)),
    result: describeResult(design, profile, context),
  };
}

/** The whole document. */
export const designMarkdown = (design: ConceptualDesign): string =>
  [
    `# Document design of ${text(design.database)}`,
    `## 1. Source schema, domain, and entities\n\n${design.document.source}`,
    `## 2. Access patterns\n\n${design.document.accessPatterns}`,
    `## 3. Modelling decisions\n\n${design.document.decisions}`,
    `## 4. Collections, indexes, and transformations\n\n${design.document.result}`,
  ].join('\n\n') + '\n';
