import { CsvSyntaxError, readCsvRows, type CsvRow } from './csv-rows';
import {
  isEmbed,
  isNested,
  type AttributeField,
  type BucketRule,
  type ColumnField,
  type ComputedField,
  type EmbedField,
  type ExtendedReferenceField,
  type Field,
  type JoinColumn,
  type LogicalDesign,
  type OutlierField,
  type SubsetField,
} from '../model/document-design';
import type { StoredTypes } from '../model/bson-types';
import { logicalDesignSchema } from '../model/schema';
import { parseTransform, TransformError } from '../model/transform';
import { type Transform } from '../model/transform-kind';
import { describe } from '../model/transform-kind';

/** The four columns of the paper's Table 7. */
const HEADER = ['Source (SQLite)', 'Target (MongoDB)', 'Type', 'Transformation'] as const;

/** An edited CSV that is no logical design; `line` counts from 1, the header being line 1. */
export class LogicalCsvError extends Error {
  constructor(
    readonly line: number,
    readonly detail: string,
  ) {
    super(`line ${line}: ${detail}`);
  }
}

/**
 * The logical design as CSV, complete: `parseLogicalCsv` gives the same design back. `types` says
 * what each column's field is stored as; without it, what its transformation says.
 */
export const logicalCsv = (design: LogicalDesign, types?: StoredTypes): string =>
  csvRows(design, types)
    .map((row) => `${written(row)}\r\n`)
    .join('');

function csvRows(design: LogicalDesign, types: StoredTypes = byTransform): string[][] {
  const rows: string[][] = [[...HEADER]];
  const { id, collection, rootTable } = design;
  rows.push(
    id.kind === 'column'
      ? [
          `${ref(rootTable)}.${ref(id.column)}`,
          `${collection}._id`,
          types(id.transform, rootTable, id.column),
          `_id from key; ${describe(id.transform)}`,
        ]
      : [
          ref(rootTable),
          `${collection}._id`,
          ORDINAL.type,
          id.kind === 'bucket' ? bucketNote(id) : ORDINAL.note,
        ],
  );
  const visit = (fields: readonly Field[], table: string, path: string): void => {
    for (const field of fields) {
      const target = `${path}.${field.name}`;
      if (field.kind === 'column') {
        rows.push([
          `${ref(table)}.${ref(field.column)}`,
          target,
          types(field.transform, table, field.column),
          describe(field.transform),
        ]);
        continue;
      }
      if (field.kind === 'attribute') {
        rows.push([ref(table), target, ATTRIBUTE.type, ATTRIBUTE.note]);
        visit(field.fields, table, target);
        continue;
      }
      const source =
        field.kind === 'computed' && field.column !== undefined
          ? `${ref(field.table)}.${ref(field.column)}`
          : ref(field.table);
      rows.push([source, target, KIND_TYPES[field.kind], noteFor(field)]);
      if (isNested(field)) visit(field.fields, field.table, target);
    }
  };
  visit(design.fields, rootTable, collection);
  return rows;
}

/** Every field that follows a relationship: what its note says of it. */
type NotedField = EmbedField | ExtendedReferenceField | SubsetField | OutlierField | ComputedField;

const KIND_TYPES = {
  embedOne: 'Document',
  embedMany: 'Array',
  extendedReference: 'Copy',
  subset: 'Subset',
  outlier: 'Outlier',
  computed: 'Computed',
} as const satisfies Record<NotedField['kind'], string>;
const bucketNote = ({ columns, size }: BucketRule): string =>
  `bucket: position, from 1, among buckets of up to ${size} rows with the same ` +
  `${columns.map(ref).join(', ')}`;
/** Its columns follow, each a field of the document that it repeats. */
const ATTRIBUTE = {
  type: 'Attribute',
  note: 'entries {k: name, v: value} of the fields below, without those that are null',
};
const ORDINAL = { type: 'Int', note: 'ordinal: position of the row in the source, from 1' };

function noteFor(field: NotedField): string {
  const relationship = `relationship ${JSON.stringify(field.relationship)}`;
  switch (field.kind) {
    case 'extendedReference':
      return (
        `extended reference: the row of ${ref(field.table)} where ` +
        `${joinText(field.join, 'own')}; ${relationship}`
      );
    case 'computed':
      return (
        `${field.aggregate} over the rows of ${ref(field.table)} where ` +
        `${joinText(field.join, 'child')}; ${relationship}`
      );
    case 'outlier':
      return (
        `all rows of ${ref(field.table)} where ${joinText(field.join, 'child')}, if ` +
        `${field.limit} at most; else none, and the key in ${JSON.stringify(field.flag)}; ` +
        `${relationship}`
      );
    default: {
      const order =
        field.orderBy.map(({ column, direction }) => `${ref(column)} ${direction}`).join(', ') ||
        'source order';
      return (
        `${field.kind === 'subset' ? `first ${field.limit} ` : ''}rows of ` +
        `${ref(field.table)} where ${joinText(field.join, 'child')}; order: ${order}; ` +
        `${relationship}`
      );
    }
  }
}

/**
 * Conditions as `column = parent column`, where `own` names the referring row and `child` the
 * child's.
 */
const joinText = (join: readonly JoinColumn[], side: 'own' | 'child'): string =>
  join
    .map(({ parent, child }) =>
      side === 'own'
        ? `${ref(parent)} = own ${ref(child)}`
        : `${ref(child)} = parent ${ref(parent)}`,
    )
    .join(' and ');

const BY_TRANSFORM: Readonly<Record<Transform['kind'], string>> = {
  identity: 'as stored',
  bool: 'Boolean',
  date: 'Date',
  number: 'Number',
  string: 'String',
  bytes: 'Binary',
};
const byTransform: StoredTypes = ({ kind }) => BY_TRANSFORM[kind];

/** The BSON types that a field with the transform can have, null aside. */
const BSON_NAMES: Readonly<Record<Transform['kind'], readonly string[]>> = {
  identity: ['int', 'long', 'double', 'string', 'bindata'],
  bool: ['bool'],
  date: ['date'],
  number: ['int', 'long', 'double'],
  string: ['string'],
  bytes: ['bindata'],
};

// Names are written plainly when they are plain words, else as JSON strings, so that dots and
// commas cannot mislead.
const ref = (name: string): string =>
  /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : JSON.stringify(name);

// A name is not looked for from the middle of a word: that would take a time that grows with the
// square of its length.
const WORD = String.raw`(?<![\p{L}\p{N}_])[\p{L}_][\p{L}\p{N}_]*`;
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const REF = `(?:${WORD}|${QUOTED})`;
/** A name in the shape of a note. */
const NOTED_REF = String.raw`(?:${WORD}|"\d+")`;

function unref(line: number, text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    throw new LogicalCsvError(
      line,
      `${text} is no quoted name: within quotes, a backslash is written as \\\\ and a quote as \\"`,
    );
  }
}

const written = (row: readonly string[]): string => row.map(quote).join(',');

// Spreadsheets run cells that begin with these as formulas; a leading apostrophe is their
// convention for plain text.
const quote = (cell: string): string =>
  `"${(/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`;

/** Reads a logical design back from (edited) CSV. Throws `LogicalCsvError` naming the line. */
export const parseLogicalCsv = (csv: string, types?: StoredTypes): LogicalDesign =>
  readLogicalCsv(csv, types).design;

/** The rows below the header, that of `_id` first. */
function designRows(csv: string): readonly [CsvRow, ...CsvRow[]] {
  const [header, idRow, ...body] = readRows(csv);
  if (!header || HEADER.some((name, index) => header.cells[index]?.trim() !== name))
    throw new LogicalCsvError(header?.line ?? 1, headerProblem(header));
  const overfull = [header, idRow, ...body].find((row) =>
    row?.cells.slice(HEADER.length).some((cell) => cell.trim() !== ''),
  );
  if (overfull)
    throw new LogicalCsvError(
      overfull.line,
      `a row has ${HEADER.length} cells; what stands behind them would be ignored: ` +
        `${overfull.cells.slice(HEADER.length).join(', ')}`,
    );
  if (!idRow) throw new LogicalCsvError(header.line + 1, 'the row of _id is missing');
  for (const row of [idRow, ...body]) requireFilled(row);
  return [idRow, ...body];
}

/** The same, with the line of each target, as `collection.path`. */
export function readLogicalCsv(
  csv: string,
  types?: StoredTypes,
): {
  readonly design: LogicalDesign;
  readonly lines: ReadonlyMap<string, number>;
} {
  const [idRow, ...body] = designRows(csv);
  const { collection, rootTable, id } = parseId(idRow, types);

  interface Open {
    readonly table: string;
    readonly fields: Field[];
    readonly isCopy: boolean;
  }
  const rootFields: Field[] = [];
  const open = new Map<string, Open>([
    [collection, { table: rootTable, fields: rootFields, isCopy: false }],
  ]);
  const places = new Map<unknown, FieldPlace>();
  for (const { line, cells } of body) {
    const [source = '', target = '', type = '', note = ''] = cells;
    const cut = target.lastIndexOf('.');
    const parent = open.get(target.slice(0, cut));
    const name = target.slice(cut + 1);
    if (cut < 0)
      throw new LogicalCsvError(
        line,
        `the target ${JSON.stringify(target)} names no field: it is written ${collection}.field`,
      );
    if (!parent) {
      const why = target.startsWith(`${collection}.`)
        ? `the row of ${JSON.stringify(target.slice(0, cut))} is missing, or stands below`
        : `the collection is ${collection}`;
      throw new LogicalCsvError(
        line,
        `the target ${JSON.stringify(target)} lies in no document or array above it: ${why}`,
      );
    }
    if (parent.fields.some((field) => field.name === name))
      throw new LogicalCsvError(line, `the target ${JSON.stringify(target)} occurs twice`);
    const fields: Field[] = [];
    const field =
      parseAttribute(line, source, name, type.trim(), note, fields, parent.table) ??
      parseNoted(line, source, name, type.trim(), note, fields) ??
      parseColumnField(line, source, name, { type, note }, parent.table, types);
    if (parent.isCopy && field.kind !== 'column')
      throw new LogicalCsvError(
        line,
        `the target ${JSON.stringify(target)} lies in a copy, and copies hold columns only`,
      );
    parent.fields.push(field);
    places.set(field, { line, target });
    if (isNested(field)) open.set(target, { table: field.table, fields, isCopy: !isEmbed(field) });
    if (field.kind === 'attribute') open.set(target, { table: parent.table, fields, isCopy: true });
  }
  const design: LogicalDesign = { collection, rootTable, id, fields: rootFields };
  const checked = logicalDesignSchema.safeParse(design);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0]!;
    throw errorAt(design, path, message, places, { line: idRow.line, target: `${collection}._id` });
  }
  return {
    design: checked.data,
    lines: new Map([
      [`${collection}._id`, idRow.line],
      ...[...places.values()].map(({ line, target }): [string, number] => [target, line]),
    ]),
  };
}

/**
 * Where the CSV places each source column (`table.column`) and the rows of each table: the target,
 * and the row as it is written.
 */
export function placedRows(
  design: LogicalDesign,
  types?: StoredTypes,
): ReadonlyMap<string, { readonly target: string; readonly row: string }> {
  const { id, rootTable, collection, fields } = design;
  const byTarget = new Map(csvRows(design, types).map((row) => [row[1]!, written(row)]));
  const placed = new Map<string, { target: string; row: string }>();
  const place = (source: string, target: string): unknown =>
    placed.set(source, { target, row: byTarget.get(target)! });
  const visit = (level: readonly Field[], table: string, path: string): void => {
    for (const field of level) {
      const target = `${path}.${field.name}`;
      if (field.kind === 'column' && field.transform.kind !== 'bytes')
        place(`${table}.${field.column}`, target);
      if (!isEmbed(field)) continue; // copies place nothing
      place(field.table, target);
      visit(field.fields, field.table, target);
    }
  };
  place(rootTable, `${collection}._id`);
  if (id.kind === 'column') place(`${rootTable}.${id.column}`, `${collection}._id`);
  visit(fields, rootTable, collection);
  return placed;
}

function headerProblem(header: CsvRow | undefined): string {
  const wanted = `the header must be ${HEADER.join(', ')}`;
  const [separator] = [';', '\t'].filter(
    (candidate) =>
      header?.cells.length === 1 && header.cells[0]!.split(candidate).length >= HEADER.length,
  );
  return separator === undefined
    ? wanted
    : `${wanted}; cells are separated by commas, not by ` +
        `${separator === ';' ? 'semicolons' : 'tabs'}`;
}

/** What belongs in each cell; a type follows from the transformation and may be left out. */
const CELLS: Readonly<Record<(typeof HEADER)[number], string | null>> = {
  'Source (SQLite)': 'the source column, as table.column, or the table of an array or a document',
  'Target (MongoDB)': 'the field, as collection.field',
  Type: null,
  Transformation:
    'how the values become those of the field: identity where they stay as they are, else for ' +
    'example date(YYYY-MM-DD), bool("true text", "false text"), integer→string',
};

function requireFilled({ line, cells }: CsvRow): void {
  if (cells.length < HEADER.length)
    throw new LogicalCsvError(
      line,
      `the row has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'} of ${HEADER.length}, ` +
        `which are ${HEADER.join(', ')}; is one missing, or a comma between two?`,
    );
  const empty = HEADER.find((name, index) => CELLS[name] !== null && cells[index]!.trim() === '');
  if (empty !== undefined)
    throw new LogicalCsvError(line, `the cell ${empty} is empty; there belongs ${CELLS[empty]}`);
}

interface FieldPlace {
  readonly line: number;
  readonly target: string;
}

/**
 * An error of the schema, told of the innermost field that it lies in; `outside` is for what lies
 * in none.
 */
function errorAt(
  design: LogicalDesign,
  path: readonly PropertyKey[],
  message: string,
  places: ReadonlyMap<unknown, FieldPlace>,
  outside: FieldPlace,
): LogicalCsvError {
  let value: unknown = design;
  let place = outside;
  let within = path;
  path.forEach((key, depth) => {
    value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
    const found = places.get(value);
    if (found) [place, within] = [found, path.slice(depth + 1)];
  });
  return new LogicalCsvError(
    place.line,
    `${JSON.stringify(place.target)}: ` +
      `${within.map((key) => `${String(key)}: `).join('')}${message}`,
  );
}

function readRows(csv: string): CsvRow[] {
  try {
    return readCsvRows(csv).map(({ line, cells }) => ({
      line,
      cells: cells.map((cell) => cell.replace(/^'(?=[=+\-@\t\r])/, '')),
    }));
  } catch (error) {
    if (error instanceof CsvSyntaxError) throw new LogicalCsvError(error.line, error.message);
    throw error;
  }
}

function parseId(
  { line, cells }: CsvRow,
  types: StoredTypes | undefined,
): Pick<LogicalDesign, 'collection' | 'rootTable' | 'id'> {
  const [source = '', target = '', type = '', note = ''] = cells;
  if (!target.endsWith('._id'))
    throw new LogicalCsvError(line, 'the first field must be <collection>._id');
  const collection = target.slice(0, -'._id'.length);
  if (note.trim().startsWith('ordinal')) {
    if (type.trim() !== '' && type.trim() !== ORDINAL.type)
      throw new LogicalCsvError(
        line,
        `the type ${JSON.stringify(type.trim())} does not follow from an ordinal, which gives ` +
          `${JSON.stringify(ORDINAL.type)}`,
      );
    requireUnderstood(readNote(line, note), ORDINAL.note);
    return { collection, rootTable: parseTable(line, source), id: { kind: 'ordinal' } };
  }
  if (note.trim().startsWith('bucket')) {
    if (type.trim() !== '' && type.trim() !== ORDINAL.type)
      throw new LogicalCsvError(
        line,
        `the type ${JSON.stringify(type.trim())} does not follow from the position of a bucket, ` +
          `which gives ${JSON.stringify(ORDINAL.type)}`,
      );
    const read = readNote(line, note);
    const match = new RegExp(
      `up to (\\d{1,9}) rows with the same (${NOTED_REF}(?:, ${NOTED_REF})*)$`,
      'u',
    ).exec(read.shape);
    if (!match)
      throw new LogicalCsvError(
        line,
        'buckets are written as "bucket: position, from 1, among buckets of up to 100 rows with ' +
          'the same c"',
      );
    const id: BucketRule = {
      kind: 'bucket',
      columns: [...match[2]!.matchAll(new RegExp(NOTED_REF, 'gu'))].map(([column]) =>
        read.name(column),
      ),
      size: Number(match[1]),
    };
    requireUnderstood(read, bucketNote(id));
    return { collection, rootTable: parseTable(line, source), id };
  }
  const { table, column } = parseColumn(line, source);
  return {
    collection,
    rootTable: table,
    id: {
      kind: 'column',
      column,
      transform: transformAt(
        { line, type, text: note.trim().replace(/^_id from key;\s*/, ''), table, column },
        types,
      ),
    },
  };
}

function parseTable(line: number, source: string): string {
  if (!new RegExp(`^${REF}$`, 'u').test(source.trim()))
    throw new LogicalCsvError(line, `the source ${JSON.stringify(source)} is no table`);
  return unref(line, source.trim());
}

function parseColumn(line: number, source: string): { table: string; column: string } {
  const match = new RegExp(`^(${REF})\\.(${REF})$`, 'u').exec(source.trim());
  if (!match)
    throw new LogicalCsvError(line, `the source ${JSON.stringify(source)} is not table.column`);
  return { table: unref(line, match[1]!), column: unref(line, match[2]!) };
}

function parseColumnField(
  line: number,
  source: string,
  name: string,
  { type, note }: { readonly type: string; readonly note: string },
  rowsOf: string,
  types: StoredTypes | undefined,
): ColumnField {
  if (new RegExp(`^${REF}$`, 'u').test(source.trim())) {
    const given = type.trim();
    const fault = given === '' ? 'is empty' : `${JSON.stringify(given)} is that of a column`;
    const ofTables = [...Object.values(KIND_TYPES), ATTRIBUTE.type].join(', ');
    throw new LogicalCsvError(
      line,
      `the source is a table, and the type ${fault}: of a table it is one of ${ofTables}; a ` +
        'column is written table.column',
    );
  }
  const { table, column } = parseColumn(line, source);
  if (table !== rowsOf)
    throw new LogicalCsvError(
      line,
      `${JSON.stringify(name)} lies among the rows of ${rowsOf}, not of ${table}`,
    );
  const given = { line, type, text: note, table, column };
  return { kind: 'column', name, column, transform: transformAt(given, types) };
}

interface Note {
  readonly line: number;
  /**
   * With single blanks, and each quoted name put aside as `"0"`, `"1"` …: nothing in a name reads
   * as a word of the note.
   */
  readonly shape: string;
  name(found: string): string;
}

function readNote(line: number, text: string): Note {
  const quoted: string[] = [];
  const shape = replaceQuoted(text, (literal) => `"${quoted.push(unref(line, literal)) - 1}"`)
    .replace(/\s+/g, ' ')
    .trim();
  return {
    line,
    shape,
    name: (found) => (found.startsWith('"') ? quoted[Number(found.slice(1, -1))]! : found),
  };
}

/** Where one quote is never closed, neither is any behind it: the search ends there. */
function replaceQuoted(text: string, replace: (literal: string) => string): string {
  const literal = new RegExp(QUOTED, 'suy');
  let [out, done] = ['', 0];
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', done)) {
    literal.lastIndex = start;
    const found = literal.exec(text)?.[0];
    if (found === undefined) break;
    out += text.slice(done, start) + replace(found);
    done = start + found.length;
  }
  return out + text.slice(done);
}

/** A note that, written again from what was read, differs holds something that would be ignored. */
function requireUnderstood(note: Note, understood: string): void {
  const plainly = ({ shape, name }: Note): string =>
    shape.replace(/"\d+"/g, (found) => ref(name(found)));
  if (plainly(note) !== plainly(readNote(note.line, understood)))
    throw new LogicalCsvError(
      note.line,
      `what the note says besides or otherwise would be ignored; understood was: ${understood}`,
    );
}

function parseAttribute(
  line: number,
  source: string,
  name: string,
  type: string,
  text: string,
  fields: Field[],
  rowsOf: string,
): AttributeField | undefined {
  if (type !== ATTRIBUTE.type) return undefined;
  if (parseTable(line, source) !== rowsOf)
    throw new LogicalCsvError(
      line,
      `${JSON.stringify(name)} repeats fields of the rows of ${rowsOf}, not of ${source}`,
    );
  requireUnderstood(readNote(line, text), ATTRIBUTE.note);
  return { kind: 'attribute', name, fields: fields as ColumnField[] };
}

/**
 * The field of which a note tells, to be filled with `fields`; undefined when the type is that of a
 * column.
 */
function parseNoted(
  line: number,
  source: string,
  name: string,
  type: string,
  text: string,
  fields: Field[],
): NotedField | undefined {
  const kind = (Object.keys(KIND_TYPES) as NotedField['kind'][]).find(
    (candidate) => KIND_TYPES[candidate] === type,
  );
  if (!kind) return undefined;
  const note = readNote(line, text);
  const match = new RegExp(FORMS[kind].form, 'u').exec(note.shape);
  const { joined, limit, aggregate, order, flag, relationship } = match?.groups ?? {};
  const side = kind === 'extendedReference' ? 'own' : 'parent';
  const join = [
    ...(joined ?? '').matchAll(new RegExp(`(${NOTED_REF}) = ${side} (${NOTED_REF})`, 'gu')),
  ].map(([, left, right]): JoinColumn => {
    const [a, b] = [note.name(left!), note.name(right!)];
    return side === 'own' ? { parent: a, child: b } : { parent: b, child: a };
  });
  if (relationship === undefined || join.length === 0)
    throw new LogicalCsvError(line, FORMS[kind].hint);
  const orderBy = [...(order ?? '').matchAll(new RegExp(`(${NOTED_REF}) (asc|desc)`, 'gu'))].map(
    ([, column, direction]) => ({
      column: note.name(column!),
      direction: direction as 'asc' | 'desc',
    }),
  );
  const common = { name, relationship: note.name(relationship), join };
  const field = ((): NotedField => {
    switch (kind) {
      case 'embedOne':
      case 'embedMany':
        return { kind, ...common, table: parseTable(line, source), orderBy, fields };
      case 'subset':
        return {
          kind,
          ...common,
          table: parseTable(line, source),
          orderBy,
          limit: Number(limit),
          fields: fields as ColumnField[],
        };
      case 'outlier':
        return {
          kind,
          ...common,
          table: parseTable(line, source),
          flag: note.name(flag!),
          limit: Number(limit),
          fields: fields as ColumnField[],
        };
      case 'extendedReference':
        return {
          kind,
          ...common,
          table: parseTable(line, source),
          fields: fields as ColumnField[],
        };
      case 'computed': {
        const of = new RegExp(`^${REF}$`, 'u').test(source.trim())
          ? { table: parseTable(line, source) }
          : parseColumn(line, source);
        return { kind, ...common, ...of, aggregate: aggregate as ComputedField['aggregate'] };
      }
    }
  })();
  requireUnderstood(note, noteFor(field));
  return field;
}

const RELATIONSHIP = String.raw`relationship (?<relationship>"\d+")$`;
const ROWS = String.raw`rows of \S+ where (?<joined>[^;]+); order: (?<order>[^;]+); ${RELATIONSHIP}`;
const EMBEDDED = {
  form: `^${ROWS}`,
  hint:
    'an embedded table is written as "rows of t where c = parent p; order: source order; ' +
    'relationship "…""',
};
const FORMS: Readonly<
  Record<NotedField['kind'], { readonly form: string; readonly hint: string }>
> = {
  embedOne: EMBEDDED,
  embedMany: EMBEDDED,
  extendedReference: {
    form: String.raw`^extended reference: the row of \S+ where (?<joined>[^;]+); ${RELATIONSHIP}`,
    hint:
      'a copy is written as "extended reference: the row of t where id = own t_id; ' +
      'relationship "…""',
  },
  subset: {
    form: String.raw`^first (?<limit>\d+) ${ROWS}`,
    hint:
      'a subset is written as "first 5 rows of t where c = parent p; order: d desc; ' +
      'relationship "…""',
  },
  outlier: {
    form: String.raw`^all rows of \S+ where (?<joined>[^;,]+), if (?<limit>\d+) at most; else none, and the key in (?<flag>"\d+"); ${RELATIONSHIP}`,
    hint:
      'a copy for all but outliers is written as "all rows of t where t_id = parent id, if ' +
      '100 at most; else none, and the key in "t_elsewhere"; relationship "…""',
  },
  computed: {
    form: String.raw`^(?<aggregate>count|sum|avg|min|max) over the rows of \S+ where (?<joined>[^;]+); ${RELATIONSHIP}`,
    hint:
      'a computed field is written as "count over the rows of t where t_id = parent id; ' +
      'relationship "…""',
  },
};

/**
 * The type follows from the transformation; one that says otherwise would be a wish that nothing
 * fulfils.
 */
function transformAt(
  { line, type, text, table, column }: GivenType,
  types: StoredTypes | undefined,
): Transform {
  const transform = parsedTransform(line, text);
  const given = type.trim().toLowerCase();
  const follows = (types ?? byTransform)(transform, table, column);
  if (!followsFrom(given, follows, transform, types)) {
    const ways = TYPE_EXAMPLES[given];
    throw new LogicalCsvError(
      line,
      `the type ${JSON.stringify(type.trim())} does not follow from the transformation ` +
        `${JSON.stringify(text.trim())}, which gives ` +
        `${JSON.stringify(follows)}${ways ? `; write the transformation ${ways}` : ''}`,
    );
  }
  return transform;
}

interface GivenType {
  readonly line: number;
  readonly type: string;
  /** The transformation. */
  readonly text: string;
  readonly table: string;
  readonly column: string;
}

/** As it is written here, in general or for this column; without a profile, as it could be. */
function followsFrom(
  given: string,
  follows: string,
  { kind }: Transform,
  types: StoredTypes | undefined,
): boolean {
  const general = BY_TRANSFORM[kind].toLowerCase();
  if (given === '' || given === general || given === follows.toLowerCase()) return true;
  const possible = [...BSON_NAMES[kind], 'null'];
  // Of a column without values, or that is not there, any type could be.
  const isOpen = !types || follows === 'null';
  return isOpen && given.split(' or ').every((name) => possible.includes(name));
}

const TYPE_EXAMPLES: Readonly<Record<string, string>> = {
  date: 'date(YYYY-MM-DD)',
  boolean: 'bool("true text", "false text")',
  bool: 'bool("true text", "false text")',
  int: 'number(0)',
  double: 'number(0.00)',
  number: 'number(0.00)',
  string: 'integer→string',
  'as stored': 'identity',
};

function parsedTransform(line: number, text: string): Transform {
  if (text.trim() === '')
    throw new LogicalCsvError(
      line,
      `no transformation is given; there belongs ${CELLS.Transformation}`,
    );
  try {
    return parseTransform(text.trim());
  } catch (error) {
    if (error instanceof TransformError) throw new LogicalCsvError(line, error.message);
    if (error instanceof SyntaxError)
      throw new LogicalCsvError(
        line,
        `the transformation ${JSON.stringify(text.trim())} holds a text that is not quoted ` +
          'as in JSON',
      );
    throw error;
  }
}
