'use client';
import type { ConceptualDesign } from '../../lib/design/model/document-design';
import type {
  EvidenceContent,
  GoldContent,
  TranslationContent,
} from '../../lib/pipeline/stages/artefacts';
import type { CollectionValidation } from '../../lib/validation/collection-validation';
import type { CrossValidation } from '../../lib/validation/cross-validation';
import type { TableValidation } from '../../lib/validation/table-validation';
import type { GateProps } from './gate-props';
import { CollectionValidationGate } from './gates/collection-validation';
import { ConceptualDesignGate } from './gates/conceptual-design';
import { CrossValidationGate } from './gates/cross-validation';
import { EvidenceGate } from './gates/evidence';
import { OptimisedQueryGate } from './gates/optimised-query';
import { TableValidationGate } from './gates/table-validation';
import { UntranslatedGate } from './gates/untranslated';

/**
 * The screen of the task's gate. Contents were checked before they were stored; here they are only
 * shown.
 */
export function GateScreen(props: Omit<GateProps<unknown>, 'content'>) {
  const { task, before } = props;
  const content = task.current.content;
  switch (task.gate) {
    case 'conceptual_design':
      return (
        <ConceptualDesignGate
          {...props}
          content={content as ConceptualDesign}
          before={before as ConceptualDesign | null}
        />
      );
    case 'collection_validation':
      return (
        <CollectionValidationGate
          {...props}
          content={content as CollectionValidation}
          before={before as CollectionValidation | null}
        />
      );
    case 'cross_validation':
      return (
        <CrossValidationGate
          {...props}
          content={content as CrossValidation}
          before={before as CrossValidation | null}
        />
      );
    case 'table_validation':
      return (
        <TableValidationGate
          {...props}
          content={content as TableValidation}
          before={before as TableValidation | null}
        />
      );
    case 'untranslated':
      return (
        <UntranslatedGate
          {...props}
          content={content as TranslationContent}
          before={before as TranslationContent | null}
        />
      );
    case 'optimised_query':
      return (
        <OptimisedQueryGate
          {...props}
          content={content as GoldContent}
          before={before as GoldContent | null}
        />
      );
    case 'evidence':
      return (
        <EvidenceGate
          {...props}
          content={content as EvidenceContent}
          before={before as EvidenceContent | null}
        />
      );
  }
}
