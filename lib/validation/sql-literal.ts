import type { Value } from '../results/value';

/** A source value as SQL; real numbers keep every digit. */
export function sqlLiteral(value: Value): string {
  if (value === null) return 'NULL';
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'number':
      if (!Number.isFinite(value)) return value > 0 ? '9e999' : '-9e999';
      return Number.isInteger(value) ? value.toFixed(1) : String(value);
    case 'string':
      // A NUL would end the text.
      return value.includes('\0')
        ? `CAST(x'${Buffer.from(value).toString('hex')}' AS TEXT)`
        : `'${value.replaceAll("'", "''")}'`;
    default:
      if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`;
      throw new TypeError('no source value');
  }
}
