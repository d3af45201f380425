import { columnProfile, type Profile, type TableProfile } from '../sqlite/profile';
import { isEmbed, type DocumentDesign, type Field } from './document-design';

/** How large a collection will be, from row counts, mean bytes and the measured fan-out. */
export interface CollectionForecast {
  readonly collection: string;
  readonly documents: number;
  readonly meanBytes: number;
  /** The largest document that the widest values and the longest arrays could build together. */
  readonly largestBytes: number;
  /** Entries of the longest array, by path; 1 at most for `embedOne`. */
  readonly longestArrays: Readonly<Record<string, number>>;
}

// A BSON element is a type byte, its name, a terminator and the value's framing; names of the source are about this long.
const FIELD_BYTES = 20;

export function forecastCollections(design: DocumentDesign, profile: Profile): CollectionForecast[] {
  return design.logical.map((logical) => {
    const root = tableProfile(profile, logical.rootTable);
    const longestArrays: Record<string, number> = {};
    const sizes = sizeOf(logical.fields, logical.rootTable, '', profile, longestArrays);
    const documents = root?.rowCount ?? 0;
    return { collection: logical.collection, documents, meanBytes: FIELD_BYTES + (documents === 0 ? 0 : sizes.total / documents), largestBytes: FIELD_BYTES + sizes.largest, longestArrays };
  });
}

/** `total`: bytes of all rows of the table with what is in them; `largest`: of the largest row. */
function sizeOf(fields: readonly Field[], table: string, path: string, profile: Profile, longest: Record<string, number>): { total: number; largest: number } {
  const own = tableProfile(profile, table);
  const rows = own?.rowCount ?? 0;
  let total = rows * ((own?.meanRowBytes ?? 0) + fields.length * FIELD_BYTES);
  let largest = (own?.maxRowBytes ?? 0) + fields.length * FIELD_BYTES;
  for (const field of fields) {
    const at = path === '' ? field.name : `${path}.${field.name}`;
    if (isEmbed(field)) {
      const inner = sizeOf(field.fields, field.table, at, profile, longest);
      const max = profile.relationships.find(({ id }) => id === field.relationship)?.fanOut.max ?? 0;
      longest[at] = max;
      // The widest child once, the others at their mean: one that is widest in every column is no longer a guess.
      const childRows = tableProfile(profile, field.table)?.rowCount ?? 0;
      total += inner.total;
      largest += max === 0 ? 0 : inner.largest + (max - 1) * (childRows === 0 ? 0 : inner.total / childRows);
    } else if (field.kind === 'subset') {
      const widths = field.fields.map(({ column }) => columnProfile(profile, field.table, column));
      const fanOut = profile.relationships.find(({ id }) => id === field.relationship)?.fanOut;
      const entries = Math.min(field.limit, fanOut?.max ?? 0);
      longest[at] = entries;
      total += rows * Math.min(entries, fanOut?.mean ?? 0) * widths.reduce((sum, width) => sum + FIELD_BYTES + (width?.meanBytes ?? 0), 0);
      largest += entries * widths.reduce((sum, width) => sum + FIELD_BYTES + (width?.maxBytes ?? 0), 0);
    } else if (field.kind === 'extendedReference') {
      for (const { column } of field.fields) {
        const copied = columnProfile(profile, field.table, column);
        total += rows * (FIELD_BYTES + (copied?.meanBytes ?? 0));
        largest += FIELD_BYTES + (copied?.maxBytes ?? 0);
      }
    }
  }
  return { total, largest };
}

const tableProfile = (profile: Profile, table: string): TableProfile | undefined => profile.tables.find((candidate) => candidate.table === table);
