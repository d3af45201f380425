import { Double, Int32, Long } from 'mongodb';
import type { SqliteValue } from '../results/value';

/**
 * A named, invertible change of type between a source column and its field. `identity` keeps the storage class:
 * INTEGER → int (long where it does not fit), REAL → double, TEXT → string, BLOB → binary, NULL → null.
 */
export type Transform =
  | { readonly kind: 'identity' }
  | { readonly kind: 'bool'; readonly true: string; readonly false: string }
  | { readonly kind: 'date'; readonly format: DateFormat }
  | { readonly kind: 'string' };

export type DateFormat = 'YYYY-MM-DD' | 'YYYY-MM-DD HH:MM:SS' | 'M/D/YYYY' | 'MM/DD/YYYY';
