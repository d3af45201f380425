import { createHash } from 'node:crypto';
import { rowKey } from './equality';
import type { Value } from './value';

/**
 * A digest of a bag of rows that does not depend on their order and takes no memory: the sum of a
 * 128-bit hash of every row, in four lanes. Equal digests mean equal bags; different ones may still
 * be equal within the tolerance of floats.
 */
export class BagDigest {
  readonly #lanes = new Uint32Array(4);
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  add(row: readonly Value[]): void {
    const hash = createHash('md5').update(rowKey(row)).digest();
    for (let lane = 0; lane < 4; lane++)
      this.#lanes[lane] = this.#lanes[lane]! + hash.readUInt32LE(lane * 4);
    this.#rows++;
  }

  equals(other: BagDigest): boolean {
    return (
      this.#rows === other.#rows && this.#lanes.every((lane, index) => lane === other.#lanes[index])
    );
  }
}
