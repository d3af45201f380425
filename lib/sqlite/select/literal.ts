/**
 * The value of a numeric literal: an integer unless it has a point, an exponent or more than 64
 * bits.
 */
export function numberValue(text: string): bigint | number {
  const plain = text.replaceAll('_', '');
  if (/^0x/i.test(plain)) return BigInt.asIntN(64, BigInt(plain));
  if (/^\d+$/.test(plain)) {
    const integer = BigInt(plain);
    if (integer <= 9223372036854775807n) return integer;
  }
  return Number(plain);
}
