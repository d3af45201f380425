import { conceptualDesignStage, logicalDesignStage, profileStage } from './design-stages';
import { evidenceStage, optimisationStage, translationStage } from './item-stages';
import {
  collectionValidationStage,
  crossValidationStage,
  migrationStage,
  tableValidationStage,
} from './migration-stages';
import type { Stage, StageName } from './stage';

/**
 * Every stage as a pure function; the pipeline wraps them as jobs, the command line calls them
 * directly.
 */
export const stages: Readonly<Record<StageName, Stage>> = {
  profile: profileStage,
  conceptual_design: conceptualDesignStage,
  logical_design: logicalDesignStage,
  migration: migrationStage,
  collection_validation: collectionValidationStage,
  cross_validation: crossValidationStage,
  table_validation: tableValidationStage,
  translation: translationStage,
  optimisation: optimisationStage,
  evidence: evidenceStage,
};
