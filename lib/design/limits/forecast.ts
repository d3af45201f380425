import {
  columnProfile,
  rowCount,
  type ColumnProfile,
  type Profile,
  type Relationship,
  relationshipById,
  tableProfile,
} from '../../sqlite/profile/profile';
import { documentCount } from '../model/document-count';
import {
  bucketRows,
  isEmbed,
  isKeptRows,
  type AttributeField,
  type ColumnField,
  type DocumentDesign,
  type LogicalDesign,
  type Field,
  type SubsetField,
  type OutlierField,
  type IdRule,
} from '../model/document-design';
import { outliersOf } from '../model/outlier-share';

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

/** Rows of a table where a design puts them, with those that are embedded in them. */
export interface PlacedRows {
  readonly table: string;
  /** Bytes of a row besides its values: names, types and lengths. */
  readonly framing: number;
  readonly below: readonly (PlacedRows & {
    /** Entries of the longest array. */ readonly longest: number;
  })[];
  /** Bytes of the copies that a row carries. */
  readonly copies?: { readonly mean: number; readonly largest: number };
}

/** A document's length and terminator, and its place in an array or the name of its `_id`. */
export const ROW_FRAMING = 10;
/**
 * A BSON element is a type, a name and a terminator; texts, bytes, arrays and documents have a
 * length as well.
 */
export const elementFraming = (name: string, column?: ColumnProfile): number =>
  Buffer.byteLength(name) + 2 + (column && column.stored.text + column.stored.blob === 0 ? 0 : 5);

/** `total`: bytes of all rows of the table with what is in them; `largest`: of the largest row. */
export function forecastRows(
  { table, framing, below, copies }: PlacedRows,
  profile: Profile,
): { total: number; largest: number } {
  const own = tableProfile(profile, table);
  const rows = own?.rowCount ?? 0;
  let total = rows * ((own?.meanRowBytes ?? 0) + framing + (copies?.mean ?? 0));
  let largest = (own?.maxRowBytes ?? 0) + framing + (copies?.largest ?? 0);
  for (const child of below) {
    const inner = forecastRows(child, profile);
    const childRows = rowCount(profile, child.table);
    total += inner.total;
    // The widest child once, the others at their mean: one that is widest in every column is no
    // longer a guess.
    largest +=
      child.longest === 0
        ? 0
        : inner.largest + (child.longest - 1) * (childRows === 0 ? 0 : inner.total / childRows);
  }
  return { total, largest };
}

export const forecastCollections = (
  design: DocumentDesign,
  profile: Profile,
): CollectionForecast[] => design.logical.map((logical) => forecastOf(logical, profile));

/** Candidates share the collections that they have in common. */
const forecasts = new WeakMap<Profile, WeakMap<LogicalDesign, CollectionForecast>>();

function forecastOf(logical: LogicalDesign, profile: Profile): CollectionForecast {
  const known = forecasts.get(profile) ?? new WeakMap<LogicalDesign, CollectionForecast>();
  forecasts.set(profile, known);
  const forecast = known.get(logical) ?? forecastCollection(logical, profile);
  known.set(logical, forecast);
  return forecast;
}

function forecastCollection(
  { collection, rootTable, id, fields }: LogicalDesign,
  profile: Profile,
): CollectionForecast {
  const longestArrays: Record<string, number> = {};
  const rows = bucketRows(fields);
  if (id.kind === 'bucket' && rows) {
    const longest = Math.min(id.size, rowCount(profile, rootTable));
    const { total, largest } = forecastRows(
      placedRows(rows.fields, rootTable, `${rows.name}.`, profile, longestArrays),
      profile,
    );
    const shared = sharedBytes(fields, rootTable, profile);
    const documents = documentCount({ rootTable, id }, profile);
    const mean = total / Math.max(1, rowCount(profile, rootTable));
    return {
      collection,
      documents,
      meanBytes: idBytes(id, rootTable, profile) + shared.mean + total / Math.max(1, documents),
      largestBytes:
        idBytes(id, rootTable, profile) +
        shared.largest +
        largest +
        Math.max(0, longest - 1) * mean,
      longestArrays: { [rows.name]: longest, ...longestArrays },
    };
  }
  const { total, largest } = forecastRows(
    placedRows(fields, rootTable, '', profile, longestArrays),
    profile,
  );
  const documents = rowCount(profile, rootTable);
  return {
    collection,
    documents,
    meanBytes: documents === 0 ? 0 : idBytes(id, rootTable, profile) + total / documents,
    largestBytes: idBytes(id, rootTable, profile) + largest,
    longestArrays,
  };
}

/**
 * What `_id` takes besides its name and what the row counts: a text's length, or a number that the
 * row does not have.
 */
const idBytes = (id: IdRule, table: string, profile: Profile): number =>
  id.kind === 'column' ? elementFraming('', columnProfile(profile, table, id.column)) - 2 : 4;

/** What a bucket holds once: its key, what is repeated of a parent, and the array itself. */
function sharedBytes(
  fields: readonly Field[],
  table: string,
  profile: Profile,
): { mean: number; largest: number } {
  const { framing, copies } = placedRows(
    fields.filter((field) => !isEmbed(field)),
    table,
    '',
    profile,
    {},
  );
  const keys = copyBytes(
    fields.filter((field): field is ColumnField => field.kind === 'column'),
    table,
    profile,
  );
  const rows = fields.find(isEmbed);
  const array = rows ? elementFraming(rows.name) : 0;
  // The keys' framing is in both; it is the array's own that is in neither.
  return {
    mean: framing - keys.framing + keys.mean + array + (copies?.mean ?? 0),
    largest: framing - keys.framing + keys.largest + array + (copies?.largest ?? 0),
  };
}

function placedRows(
  fields: readonly Field[],
  table: string,
  prefix: string,
  profile: Profile,
  longest: Record<string, number>,
): PlacedRows {
  const copies = { mean: 0, largest: 0 };
  let framing = ROW_FRAMING;
  const below: (PlacedRows & { longest: number })[] = [];
  for (const field of fields) {
    const path = prefix + field.name;
    framing += elementFraming(
      field.name,
      field.kind === 'column' ? columnProfile(profile, table, field.column) : undefined,
    );
    if (field.kind === 'computed')
      [copies.mean, copies.largest] = [
        copies.mean + COMPUTED_BYTES,
        copies.largest + COMPUTED_BYTES,
      ];
    if (field.kind === 'column' || field.kind === 'computed') continue;
    if (field.kind === 'attribute') {
      const entries = entryBytes(field, table, profile);
      longest[path] = field.fields.length;
      copies.mean += entries.mean;
      copies.largest += entries.largest;
      continue;
    }
    const relationship = relationshipById(profile, field.relationship);
    const fanOut = relationship?.fanOut;
    if (isEmbed(field)) {
      longest[path] = fanOut?.max ?? 0;
      below.push({
        ...placedRows(field.fields, field.table, `${path}.`, profile, longest),
        longest: longest[path],
      });
      continue;
    }
    const copy = copyBytes(field.fields, field.table, profile);
    const entries = isKeptRows(field) ? Math.min(field.limit, fanOut?.max ?? 0) : 1;
    if (isKeptRows(field)) longest[path] = entries;
    const mean = isKeptRows(field) ? meanEntries(field, relationship, profile) : 1;
    copies.mean += (ROW_FRAMING + copy.mean) * mean;
    copies.largest += (ROW_FRAMING + copy.largest) * entries;
  }
  return { table, framing, below, copies };
}

/** Copied rows for a parent on average. */
function meanEntries(
  field: SubsetField | OutlierField,
  relationship: Relationship | undefined,
  profile: Profile,
): number {
  if (field.kind === 'outlier' && relationship) return meanKept(relationship, field.limit, profile);
  const { max = 0, mean = 0 } = relationship?.fanOut ?? {};
  return Math.min(field.limit, max, mean);
}

/** Entries for a parent on average, where those with more children than the limit have none. */
function meanKept(relationship: Relationship, limit: number, profile: Profile): number {
  const parents = rowCount(profile, relationship.parentTable);
  return parents === 0
    ? 0
    : Math.max(
        0,
        relationship.fanOut.mean - outliersOf(relationship, limit, profile).children / parents,
      );
}

/** A number; its field's framing is counted as if it had a length, which makes up for the rest. */
const COMPUTED_BYTES = 4;

const copyBytes = (
  fields: readonly ColumnField[],
  table: string,
  profile: Profile,
): { mean: number; largest: number; framing: number } =>
  fields.reduce(
    (sum, { name, column }) => {
      const copied = columnProfile(profile, table, column);
      const framing = elementFraming(name, copied);
      return {
        mean: sum.mean + framing + (copied?.meanBytes ?? 0),
        largest: sum.largest + framing + (copied?.maxBytes ?? 0),
        framing: sum.framing + framing,
      };
    },
    { mean: 0, largest: 0, framing: 0 },
  );

// A document in an array: its own framing and its place, `k` and `v`, the framing of a name.
const ENTRY_BYTES = 24;

/** Of an array of names and values: only what is filled has an entry. */
const entryBytes = (
  { fields }: AttributeField,
  table: string,
  profile: Profile,
): { mean: number; largest: number } => {
  const rows = Math.max(1, rowCount(profile, table));
  return fields.reduce(
    (sum, { name, column }) => {
      const found = columnProfile(profile, table, column);
      const filled = found ? 1 - found.stored.null / rows : 0;
      const framing = ENTRY_BYTES + Buffer.byteLength(name);
      return {
        mean: sum.mean + filled * (framing + (found?.meanBytes ?? 0)),
        largest: sum.largest + framing + (found?.maxBytes ?? 0),
      };
    },
    { mean: 0, largest: 0 },
  );
};
