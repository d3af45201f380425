import type { PlantedFault, PlantedFaults } from '../../../lib/validation/planted-faults';

export interface FaultRow extends PlantedFault {
  /** The mapping that caught it; null: a hole. */
  readonly caughtBy: string | null;
}

/** Every planted fault that is named, the holes first. */
export const faultRows = ({ holes, caught }: PlantedFaults): FaultRow[] => [
  ...holes.map((fault) => ({ ...fault, caughtBy: null })),
  ...Object.entries(caught).flatMap(([mapping, faults]) =>
    typeof faults === 'number' ? [] : faults.map((fault) => ({ ...fault, caughtBy: mapping })),
  ),
];

/** What is known of faults that were caught before they were named. */
export const unnamedFaults = ({
  caught,
}: PlantedFaults): readonly { readonly mapping: string; readonly faults: number }[] =>
  Object.entries(caught).flatMap(([mapping, faults]) =>
    typeof faults === 'number' ? [{ mapping, faults }] : [],
  );
