import { inputOf, readDesign } from './design-stages';
import type { ProducedArtefact, StageInput } from './stage';

/** Nobody states which fields a hand-written query depends on: it depends on all of them. */
export async function allDesignInputs(input: StageInput): Promise<ProducedArtefact['inputs']> {
  const design = await readDesign(input);
  return Promise.all(
    design.logical.map((logical) =>
      inputOf(input, 'logical_design', `${input.source.name}/${logical.collection}`),
    ),
  );
}
