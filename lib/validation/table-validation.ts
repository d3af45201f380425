import { applyTransform, TransformError } from '../design/model/transform';
import { NumberTextFinder, type NumberTexts } from '../sqlite/profile/number-format';
import { type Transform } from '../design/model/transform-kind';
import { describe } from '../design/model/transform-kind';
import type { SqliteValue, Value } from '../results/value';
import { NULL_ID, type Place, type ValueIds } from './document-places';
import { IdColumn, IdCounts } from './id-column';
import { assignByRows, leastRowsApart, rowsApart, type Candidate } from './row-assignment';

/**
 * The content of a table_validation artefact. This pass reads the source and the documents, never
 * the design: what the design forgot cannot hide from it.
 */
export interface TableValidation {
  readonly table: string;
  readonly rows: number;
  /** The place whose leaves hold most of the table's values; null when nothing does. */
  readonly place: string | null;
  readonly columns: readonly ColumnDestination[];
  /** Source rows whose values are all there, but not together in one entry of the place. */
  readonly rowsApart: number;
  readonly flags: readonly LossFlag[];
}

export interface ColumnDestination {
  readonly column: string;
  readonly destination: string | null;
  /** Source values (with repetition) found there; nulls need no place. */
  readonly matched: number;
  readonly unmatched: number;
}

export interface LossFlag {
  readonly column: string;
  readonly values: number;
  readonly samples: readonly Value[];
  /** What each of the samples is stored as, where a transformation explains them. */
  readonly stored?: readonly Value[];
  readonly class: 'intentional_transformation' | 'genuine_loss';
  /** The transformation's name, or what is missing. */
  readonly explanation: string;
}

export const hasGenuineLoss = (validation: TableValidation): boolean =>
  validation.rowsApart > 0 || validation.flags.some((flag) => flag.class === 'genuine_loss');

/** Transformations that are recognised when a column's values are not found as they are. */
const KNOWN_TRANSFORMS: readonly Transform[] = [
  { kind: 'string' },
  { kind: 'date', format: 'YYYY-MM-DD' },
  { kind: 'date', format: 'YYYY-MM-DD HH:MM:SS' },
  { kind: 'date', format: 'M/D/YYYY' },
  { kind: 'date', format: 'MM/DD/YYYY' },
];

/** A column of two texts may have become a boolean, whichever of them is true. */
function possibleTransforms(values: readonly Value[]): Transform[] {
  const [one, other = '', ...more] = values;
  if (typeof one !== 'string' || typeof other !== 'string' || more.length > 0)
    return [...KNOWN_TRANSFORMS];
  return [
    ...KNOWN_TRANSFORMS,
    { kind: 'bool', true: one, false: other },
    { kind: 'bool', true: other, false: one },
  ];
}

/** The format of values that are all texts of numbers. */
function numbersOf(values: Iterable<Value>): NumberTexts | undefined {
  const finder = new NumberTextFinder();
  for (const value of values) {
    if (typeof value !== 'string') return undefined;
    finder.add(value);
  }
  return finder.found();
}

const SAMPLES = 20;

/**
 * The rows of a source table; each `read` starts anew, so that a table need not fit into memory.
 */
export interface TableSource {
  readonly columns: readonly string[];
  read(): Iterable<readonly Value[]>;
}

export interface NamedSource extends TableSource {
  readonly table: string;
}

/**
 * All tables of a source, since no two of them may be served by one place; `onTable` is called
 * before each.
 */
export function validateTables(
  tables: readonly NamedSource[],
  places: readonly Place[],
  ids: ValueIds,
  onTable: (at: number) => void = () => undefined,
): TableValidation[] {
  const found = tables.map((table, index) => {
    onTable(index);
    return findPlace(table, places, ids);
  });
  const { own, shared } = placesOfTheirOwn(tables, found, places, ids);
  return found.map((entry, index) => {
    if (own[index]) return validated(tables[index]!, entry.rows, own[index]);
    return shared[index] === undefined
      ? entry.validation
      : withoutPlace(new EncodedTable(tables[index]!, ids), tables[index]!.table, shared[index]);
  });
}

interface Found {
  readonly rows: number;
  readonly validation: TableValidation;
  /** Set where the place holds the whole table, and no more rows. */
  readonly perfect: Fit | undefined;
}

function findPlace(source: NamedSource, places: readonly Place[], ids: ValueIds): Found {
  const { table } = source;
  const encoded = new EncodedTable(source, ids);
  const { rows } = encoded;
  const found = (validation: TableValidation, perfect?: Fit): Found => ({
    rows,
    validation,
    perfect,
  });
  if (rows === 0)
    return found({
      table,
      rows,
      place: null,
      rowsApart: 0,
      columns: source.columns.map((column) => ({
        column,
        destination: null,
        matched: 0,
        unmatched: 0,
      })),
      flags: [],
    });

  let best: Fit | undefined;
  for (const place of likelyFirst(places, table, rows)) {
    const fit = fitPlace(table, encoded, place);
    if (!best || isBetter(fit, best)) best = fit;
    // A place of another name may hold the values as they are, where this one has them retyped.
    if (isPerfect(best) && (best.flags.length === 0 || likeness(place, table, rows) >= NAMED))
      break;
  }
  if (!best) return found(withoutPlace(encoded, table, 'the database holds no documents'));
  if (isPerfect(best)) return found(validated(source, rows, best), best);
  // All values are there, but these are the rows of something else, of which this table's are a
  // part.
  if (best.unmatched === 0 && best.rowsApart === 0)
    return found(
      withoutPlace(
        encoded,
        table,
        `no place of its own: its values are in ${best.place}, which has ${best.placeRows} rows ` +
          `where the table has ${rows}`,
      ),
    );
  return found(validated(source, rows, best));
}

const validated = (
  { table }: NamedSource,
  rows: number,
  { place, columns, rowsApart, flags }: Fit,
): TableValidation => ({ table, rows, place, columns, rowsApart, flags });

/** Values decide, then rows; of places that hold both, the one that has no other rows. */
const isBetter = (fit: Fit, than: Fit): boolean =>
  (fit.unmatched - than.unmatched ||
    fit.rowsApart - than.rowsApart ||
    Number(than.isWhole) - Number(fit.isWhole)) < 0;

const isPerfect = (fit: Fit): boolean => fit.unmatched === 0 && fit.rowsApart === 0 && fit.isWhole;

/**
 * Every column is lost; a table of nulls only has rows to lose, which its first column stands for.
 */
function withoutPlace(encoded: EncodedTable, table: string, explanation: string): TableValidation {
  const { rows, source } = encoded;
  const filled = source.columns.map((_, c) => encoded.filled(c));
  const isEmpty = filled.every((values) => values === 0);
  const flags = source.columns.map((column, c): LossFlag => ({
    column,
    values: isEmpty ? rows : filled[c]!,
    samples: encoded.samples(c, () => true),
    class: 'genuine_loss',
    explanation,
  }));
  const columns = source.columns.map((column, c) => ({
    column,
    destination: null,
    matched: 0,
    unmatched: filled[c]!,
  }));
  return {
    table,
    rows,
    place: null,
    rowsApart: 0,
    columns,
    flags: isEmpty ? flags.slice(0, 1) : flags.filter((flag) => flag.values > 0),
  };
}

/**
 * Tables of equal contents fit the same places, and a table that was left out fits the place of
 * another: each place is given to one table, so that as many as possible have one. Only for tables
 * in conflict are other places looked at.
 */
function placesOfTheirOwn(
  tables: readonly NamedSource[],
  found: readonly Found[],
  places: readonly Place[],
  ids: ValueIds,
): { own: (Fit | undefined)[]; shared: (string | undefined)[] } {
  const placeOf = new Map(places.map((place) => [place.name, place]));
  // Who has the place's name has it before a table that merely has the same contents.
  const perfect = found.flatMap(({ perfect: fit, rows }, index) =>
    fit
      ? [
          {
            at: index,
            fit,
            likeness: likeness(placeOf.get(fit.place)!, tables[index]!.table, rows),
          },
        ]
      : [],
  );
  const order = perfect.sort((a, b) => b.likeness - a.likeness).map(({ at }) => at);
  const fits = found.map(({ perfect: fit }) => new Map(fit ? [[fit.place, fit]] : []));
  const owners = assign(
    order,
    (at) => found[at]!.perfect!.place,
    (at) => {
      const { table } = tables[at]!;
      const encoded = new EncodedTable(tables[at]!, ids);
      for (const place of likelyFirst(places, table, encoded.rows)) {
        if (place.rows !== encoded.rows || fits[at]!.has(place.name)) continue;
        const fit = fitPlace(table, encoded, place);
        if (isPerfect(fit)) fits[at]!.set(place.name, fit);
      }
      return [...fits[at]!.keys()];
    },
  );
  const own = found.map((): Fit | undefined => undefined);
  for (const [place, at] of owners) own[at] = fits[at]!.get(place)!;
  const shared = found.map(({ perfect: fit }, index) =>
    fit && !own[index]
      ? `no place of its own: its values are in ${fit.place}, which holds the rows of ` +
        `${tables[owners.get(fit.place)!]!.table}`
      : undefined,
  );
  return { own, shared };
}

/**
 * Gives each of them something of its own among its possibilities; as many as can be get one, the
 * earlier ones first. Returns who has what. Possibilities are asked for only where the first choice
 * is taken.
 */
function assign(
  order: readonly number[],
  first: (at: number) => string,
  possibilities: (at: number) => readonly string[],
): Map<string, number> {
  const owners = new Map<string, number>();
  const late = order.filter((at) => {
    if (owners.has(first(at))) return true;
    owners.set(first(at), at);
    return false;
  });
  const known = new Map<number, readonly string[]>();
  const possible = (at: number): readonly string[] => {
    if (!known.has(at)) known.set(at, possibilities(at));
    return known.get(at)!;
  };
  // An owner makes room if there is something else for it.
  const give = (at: number, asked: Set<string>): boolean =>
    possible(at).some((wanted) => {
      if (asked.has(wanted)) return false;
      asked.add(wanted);
      const owner = owners.get(wanted);
      if (owner !== undefined && !give(owner, asked)) return false;
      owners.set(wanted, at);
      return true;
    });
  for (const at of late) give(at, new Set());
  return owners;
}

/** A table as columns of value ids: four bytes a value, whatever the value is. */
class EncodedTable {
  readonly codes: readonly IdColumn[];

  constructor(
    readonly source: TableSource,
    private readonly ids: ValueIds,
  ) {
    this.codes = source.columns.map(() => new IdColumn());
    for (const row of source.read()) row.forEach((value, c) => this.codes[c]!.push(ids.of(value)));
  }

  get rows(): number {
    return this.codes[0]?.length ?? 0;
  }

  filled(c: number): number {
    return this.codes[c]!.ids.reduce((sum, id) => sum + Number(id !== NULL_ID), 0);
  }

  counts(column: IdColumn): IdCounts {
    return new IdCounts(column, this.ids.size);
  }

  /** Distinct values of a column whose ids are wanted. */
  samples(c: number, wanted: (id: number) => boolean): Value[] {
    const found = new Map<number, Value>();
    for (const row of this.source.read()) {
      const value = row[c]!;
      const id = value === null ? NULL_ID : this.ids.of(value);
      if (id !== NULL_ID && wanted(id)) found.set(id, value);
      if (found.size >= SAMPLES) break;
    }
    return [...found.values()];
  }

  /** What may have become of the column's values, by some of them; for numbers, by all. */
  transforms(c: number): Transform[] {
    const samples = this.samples(c, () => true);
    const known = possibleTransforms(samples);
    const format = numbersOf(samples) && numbersOf(this.#values(c));
    return format ? [...known, { kind: 'number', format: format.format }] : known;
  }

  *#values(c: number): Generator<Value> {
    for (const row of this.source.read()) if (row[c] !== null) yield row[c]!;
  }

  /** The column after a transform; undefined when a value is outside its domain. */
  transformed(c: number, transform: Transform): IdColumn | undefined {
    const out = new IdColumn();
    try {
      for (const row of this.source.read())
        out.push(this.ids.of(applyTransform(transform, row[c]! as SqliteValue)));
    } catch (error) {
      if (error instanceof TransformError) return undefined;
      throw error;
    }
    return out;
  }
}

/**
 * Places that have the table's name and number of rows are looked at first: most often nothing else
 * needs to be.
 */
function likelyFirst(places: readonly Place[], table: string, rows: number): Place[] {
  return places
    .filter((place) => place.rows > 0)
    .sort((a, b) => likeness(b, table, rows) - likeness(a, table, rows));
}

const NAMED = 2;
const likeness = (place: Place, table: string, rows: number): number =>
  (plainName(place.name.slice(place.name.lastIndexOf('.') + 1)) === plainName(table) ? NAMED : 0) +
  (place.rows === rows ? 1 : 0);

const plainName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

interface Fit {
  readonly place: string;
  readonly columns: readonly ColumnDestination[];
  readonly flags: readonly LossFlag[];
  /** Values that are genuinely missing. */
  readonly unmatched: number;
  readonly rowsApart: number;
  readonly placeRows: number;
  /** A table's rows are the whole of a place, not some of its rows. */
  readonly isWhole: boolean;
}

const fitPlace = (table: string, source: EncodedTable, place: Place): Fit =>
  new PlaceFit(table, source, place).fit();

/** Finds for each column of a table the field of a place that has its values. */
class PlaceFit {
  private readonly counts = new Map<string, IdCounts>();
  private readonly candidates = new Map<number, Candidate[]>();
  private readonly columns: ColumnDestination[] = [];
  private readonly flags: LossFlag[] = [];
  /** By column: the field, and the values as they were found there. */
  private readonly chosen: (string | null)[] = [];
  private readonly codes: IdColumn[] = [];
  private readonly taken = new Set<string>();
  private unmatched = 0;

  constructor(
    private readonly table: string,
    private readonly source: EncodedTable,
    private readonly place: Place,
  ) {}

  fit(): Fit {
    const { source, place, columns, chosen, codes } = this;
    source.source.columns.forEach((column, c) => this.placeColumn(column, c));
    const used = this.byRank();
    const owners = assign(
      used,
      (c) => chosen[c]!,
      (c) => this.holders(codes[c]!),
    );
    const homeless = new Set(used);
    for (const [path, c] of owners) {
      homeless.delete(c);
      chosen[c] = path;
      columns[c] = { ...columns[c]!, destination: path };
    }
    const current = (): Candidate[] => used.map((c) => ({ path: chosen[c]!, code: codes[c]! }));
    const isShared = [...homeless].some((c) => !this.isRetyped(c));
    if (this.unmatched === 0 && !isShared && rowsApart(current(), source.rows, place) === 0)
      return this.fitOf(0);
    const candidates = (): Candidate[][] => used.map((c) => this.candidatesOf(c));
    if (this.unmatched === 0 && place.rows === source.rows) {
      const found = assignByRows(candidates(), source.rows, place);
      if (found) return { ...this.fitOf(0), ...assigned(source, columns, used, found, this.flags) };
    }
    this.flagHomeless(homeless, owners);
    return this.fitOf(
      this.unmatched > 0 ? 0 : leastRowsApart(current(), candidates(), source.rows, place),
    );
  }

  private fitOf(rows: number): Fit {
    const { source, place, columns, flags, unmatched } = this;
    return {
      place: place.name,
      columns,
      flags,
      unmatched,
      rowsApart: rows,
      placeRows: place.rows,
      isWhole: place.rows === source.rows,
    };
  }

  private countsAt(path: string): IdCounts {
    let found = this.counts.get(path);
    if (!found) this.counts.set(path, (found = this.source.counts(this.place.columns.get(path)!)));
    return found;
  }

  /** The likeliest field for a column: with its values as they are, else retyped, else with most. */
  private placeColumn(column: string, c: number): void {
    const { source, columns } = this;
    const best = (code: IdColumn): PathFit => this.bestFor(code, column);
    const direct = best(source.codes[c]!);
    const filled = source.filled(c);
    if (direct.lacking === 0) {
      const destination = filled === 0 ? null : direct.paths[0]!;
      columns.push({ column, destination, matched: filled, unmatched: 0 });
      this.choose(destination, direct.code);
      return;
    }
    const retyped = explain(c, source, best);
    if (retyped) {
      const destination = retyped.paths[0]!;
      columns.push({ column, destination, matched: filled, unmatched: 0 });
      this.choose(destination, retyped.code);
      this.flags.push(retypedFlag(c, source, retyped.transform, direct.lacking));
      return;
    }
    columns.push({
      column,
      destination: direct.paths[0] ?? null,
      matched: filled - direct.lacking,
      unmatched: direct.lacking,
    });
    this.choose(null, direct.code);
    this.unmatched += direct.lacking;
    const missing = new Set(direct.lackingIds);
    this.flags.push({
      column,
      values: direct.lacking,
      samples: source.samples(c, (id) => missing.has(id)),
      class: 'genuine_loss',
      explanation: `${direct.lacking} values are nowhere in ${direct.paths[0] ?? this.place.name}`,
    });
  }

  private bestFor(code: IdColumn, column: string): PathFit {
    const { place, table, taken } = this;
    return bestPath(
      code,
      this.source,
      place,
      (path) => this.countsAt(path),
      (path) => nameLikeness(path, place.name, table, column) - (taken.has(path) ? TAKEN : 0),
    );
  }

  private choose(path: string | null, code: IdColumn): void {
    this.chosen.push(path);
    this.codes.push(code);
    if (path !== null) this.taken.add(path);
  }

  /** Fields with every value of a column, as often as the column has it. */
  private holders(code: IdColumn): string[] {
    const wanted = this.source.counts(code);
    return [...this.place.columns.keys()].filter((path) =>
      wanted.distinct.every(
        (id) => id === NULL_ID || this.countsAt(path).get(id) >= wanted.get(id),
      ),
    );
  }

  private likelihood(path: string, c: number): number {
    return nameLikeness(path, this.place.name, this.table, this.columns[c]!.column);
  }

  private candidatesOf(c: number): Candidate[] {
    const known = this.candidates.get(c);
    if (known) return known;
    const all = readings(c, this.source).flatMap((reading) =>
      this.holders(reading.code).map((path): Candidate => ({ ...reading, path })),
    );
    all.sort((x, y) => this.likelihood(y.path, c) - this.likelihood(x.path, c));
    this.candidates.set(c, all);
    return all;
  }

  private isRetyped(c: number): boolean {
    return this.codes[c] !== this.source.codes[c];
  }

  /**
   * Columns with a field, the surest first. Those that are as they were go before retyped ones,
   * which might have become something else as well.
   */
  private byRank(): number[] {
    const rank = (c: number): number =>
      this.likelihood(this.chosen[c]!, c) - (this.isRetyped(c) ? TAKEN : 0);
    return this.chosen
      .flatMap((path, c) => (path === null ? [] : [c]))
      .sort((a, b) => rank(b) - rank(a));
  }

  /** Columns whose values are in fields that hold other columns are lost. */
  private flagHomeless(homeless: ReadonlySet<number>, owners: ReadonlyMap<string, number>): void {
    for (const c of homeless) {
      if (this.isRetyped(c)) continue;
      const { column, destination, matched } = this.columns[c]!;
      this.columns[c] = { column, destination, matched: 0, unmatched: matched };
      this.chosen[c] = null;
      this.unmatched += matched;
      this.flags.push({
        column,
        values: matched,
        samples: this.source.samples(c, () => true),
        class: 'genuine_loss',
        explanation:
          `no field of its own: its values are in ${destination}, which holds ` +
          `${this.columns[owners.get(destination!)!]!.column}`,
      });
    }
  }
}

/** A column's values as they are, then after each transformation that is recognised. */
function readings(c: number, source: EncodedTable): Omit<Candidate, 'path'>[] {
  const retyped = source.transforms(c).flatMap((transform) => {
    const code = source.transformed(c, transform);
    return code ? [{ code, transform }] : [];
  });
  const direct = { code: source.codes[c]! };
  return [
    direct,
    ...retyped.filter(({ code }) => code.ids.some((id, row) => id !== direct.code.at(row))),
  ];
}

/**
 * The columns and flags of a fit whose rows have decided which field holds which column, and how.
 */
function assigned(
  source: EncodedTable,
  columns: readonly ColumnDestination[],
  used: readonly number[],
  found: readonly Candidate[],
  before: readonly LossFlag[],
): Pick<Fit, 'columns' | 'flags'> {
  const out = [...columns];
  const flags: LossFlag[] = [];
  for (const [index, c] of used.entries()) {
    const { path, transform } = found[index]!;
    const { column, matched } = columns[c]!;
    out[c] = { column, destination: path, matched, unmatched: 0 };
    const values = before.find((flag) => flag.column === column)?.values ?? matched;
    if (transform) flags.push(retypedFlag(c, source, transform, values));
  }
  const position = new Map(columns.map(({ column }, c) => [column, c]));
  return {
    columns: out,
    flags: flags.sort((a, b) => position.get(a.column)! - position.get(b.column)!),
  };
}

function retypedFlag(
  c: number,
  source: EncodedTable,
  transform: Transform,
  values: number,
): LossFlag {
  const samples = source.samples(c, () => true);
  const stored = samples.map((value) => applyTransform(transform, value as SqliteValue));
  const column = source.source.columns[c]!;
  return {
    column,
    values,
    samples,
    stored,
    class: 'intentional_transformation',
    explanation: describe(transform),
  };
}

interface PathFit {
  /** Paths that lack least, the most likely first. */
  readonly paths: string[];
  readonly lacking: number;
  readonly lackingIds: number[];
  readonly code: IdColumn;
}

function bestPath(
  code: IdColumn,
  source: EncodedTable,
  place: Place,
  countsAt: (path: string) => IdCounts,
  likeness: (path: string) => number,
): PathFit {
  const wanted = source.counts(code);
  const isEmpty = code.ids.every((id) => id === NULL_ID);
  let lacking = Infinity;
  let lackingIds: number[] = [];
  let paths: string[] = [];
  for (const path of [...place.columns.keys()].sort((a, b) => likeness(b) - likeness(a))) {
    // Others that hold the same values matter only if rows turn out to be apart: see
    // `alternatives`.
    if (lacking === 0) break;
    const have = countsAt(path);
    let lack = 0;
    const missing: number[] = [];
    for (const id of wanted.distinct) {
      const short = id === NULL_ID ? 0 : wanted.get(id) - have.get(id);
      if (short > 0) {
        lack += short;
        missing.push(id);
        if (lack > lacking) break;
      }
    }
    if (lack < lacking) [lacking, lackingIds, paths] = [lack, missing, [path]];
    else if (lack === lacking) paths.push(path);
  }
  return { paths, lacking: isEmpty ? 0 : lacking, lackingIds, code };
}

/**
 * Two columns are hardly ever held by one field: a path that another column has taken comes last.
 */
const TAKEN = 100;

// Values decide; names only break ties: a field of the column's name, then one that lies in the
// place itself.
function nameLikeness(path: string, place: string, table: string, column: string): number {
  const leaf = path.slice(path.lastIndexOf('.') + 1);
  const own = path.slice(0, path.lastIndexOf('.')) === place;
  return (
    (plainName(leaf) === plainName(column) ? 4 : 0) +
    (own ? 2 : 0) +
    (plainName(path).includes(plainName(table)) ? 1 : 0)
  );
}

function explain(
  c: number,
  source: EncodedTable,
  fit: (code: IdColumn) => PathFit,
): (PathFit & { transform: Transform }) | undefined {
  for (const transform of source.transforms(c)) {
    const code = source.transformed(c, transform);
    const found = code && fit(code);
    if (found?.lacking === 0) return { ...found, transform };
  }
  return undefined;
}
