import { parse } from 'csv-parse/sync';
import { isEmbed, type ColumnField, type ComputedField, type EmbedField, type Field, type JoinColumn, type LogicalDesign, type SubsetField } from './document-design';
import { logicalDesignSchema } from './schema';
import { parseTransform, TransformError, type Transform } from './transform';
import { describe } from './transform-name';

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

/** The logical design as CSV, complete: `parseLogicalCsv` gives the same design back. */
export function logicalCsv(design: LogicalDesign): string {
  const rows: string[][] = [[...HEADER]];
  const { id, collection, rootTable } = design;
  rows.push(
    id.kind === 'column'
      ? [`${ref(rootTable)}.${ref(id.column)}`, `${collection}._id`, bsonType(id.transform.kind), `_id from key; ${describe(id.transform)}`]
      : [ref(rootTable), `${collection}._id`, 'Int', 'ordinal: position of the row in the source, from 1'],
  );
  const visit = (fields: readonly Field[], table: string, path: string): void => {
    for (const field of fields) {
      const target = `${path}.${field.name}`;
      if (field.kind === 'column') rows.push([`${ref(table)}.${ref(field.column)}`, target, bsonType(field.transform.kind), describe(field.transform)]);
      else if (isEmbed(field)) {
        rows.push([ref(field.table), target, field.kind === 'embedOne' ? 'Document' : 'Array', placeNote(field)]);
        visit(field.fields, field.table, target);
      } else if (field.kind === 'extendedReference') {
        rows.push([ref(field.table), target, 'Copy', `extended reference: the row of ${ref(field.table)} where ${joinText(field.join, 'own')}; relationship ${JSON.stringify(field.relationship)}`]);
        visit(field.fields, field.table, target);
      } else if (field.kind === 'subset') {
        rows.push([ref(field.table), target, 'Subset', `first ${field.limit} ${placeNote(field)}`]);
        visit(field.fields, field.table, target);
      } else {
        const of = field.column === undefined ? ref(field.table) : `${ref(field.table)}.${ref(field.column)}`;
        rows.push([of, target, 'Computed', `${field.aggregate} over the rows of ${ref(field.table)} where ${joinText(field.join, 'child')}; relationship ${JSON.stringify(field.relationship)}`]);
      }
    }
  };
  visit(design.fields, rootTable, collection);
  return rows.map((row) => row.map(quote).join(',')).join('\r\n') + '\r\n';
}

/** Conditions as `column = parent column`, where `own` names the referring row and `child` the child's. */
const joinText = (join: readonly JoinColumn[], side: 'own' | 'child'): string =>
  join.map(({ parent, child }) => (side === 'own' ? `${ref(parent)} = own ${ref(child)}` : `${ref(child)} = parent ${ref(parent)}`)).join(' and ');

const placeNote = (field: EmbedField | SubsetField): string => {
  const on = field.join.map(({ parent, child }) => `${ref(child)} = parent ${ref(parent)}`).join(' and ');
  const order = field.orderBy.map(({ column, direction }) => `${ref(column)} ${direction}`).join(', ') || 'source order';
  return `rows of ${ref(field.table)} where ${on}; order: ${order}; relationship ${JSON.stringify(field.relationship)}`;
};

const bsonType = (transform: string): string => ({ bool: 'Boolean', date: 'Date', string: 'String', bytes: 'Binary' })[transform] ?? 'as stored';

// Names are written plainly when they are plain words, else as JSON strings, so that dots and commas cannot mislead.
const ref = (name: string): string => (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : JSON.stringify(name));

const REF = String.raw`(?:[\p{L}_][\p{L}\p{N}_]*|"(?:[^"\\]|\\.)*")`;
const unref = (text: string): string => (text.startsWith('"') ? (JSON.parse(text) as string) : text);

// Spreadsheets run cells that begin with these as formulas; a leading apostrophe is their convention for plain text.
const quote = (cell: string): string => `"${(/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`;

/** Reads a logical design back from (edited) CSV. Throws `LogicalCsvError` naming the line. */
export function parseLogicalCsv(csv: string): LogicalDesign {
  const [header, idRow, ...body] = readRows(csv);
  if (!header || HEADER.some((name, at) => header.cells[at]?.trim() !== name)) throw new LogicalCsvError(1, `the header must be ${HEADER.join(', ')}`);
  if (!idRow) throw new LogicalCsvError(2, 'the row of _id is missing');
  const { collection, rootTable, id } = parseId(idRow);

  interface Open {
    readonly path: string;
    readonly table: string;
    /** A copy's list takes columns only; what is no column is refused by the schema below. */
    readonly fields: { push(field: Field): unknown; some(test: (field: Field) => boolean): boolean };
  }
  const rootFields: Field[] = [];
  const open = new Map<string, Open>([[collection, { path: collection, table: rootTable, fields: rootFields }]]);
  for (const { line, cells } of body) {
    const [source = '', target = '', type = '', note = ''] = cells;
    const cut = target.lastIndexOf('.');
    const parent = open.get(target.slice(0, cut));
    const name = target.slice(cut + 1);
    if (cut < 0 || !parent) throw new LogicalCsvError(line, `the target ${JSON.stringify(target)} lies in no document or array above it`);
    if (parent.fields.some((field) => field.name === name)) throw new LogicalCsvError(line, `the target ${JSON.stringify(target)} occurs twice`);
    if (type === 'Document' || type === 'Array') {
      const fields: Field[] = [];
      const embed = parseEmbed(line, source, name, type, note);
      parent.fields.push({ ...embed, fields });
      open.set(target, { path: target, table: embed.table, fields });
    } else if (type === 'Copy') {
      const fields: ColumnField[] = [];
      const match = /^extended reference: the row of .+? where (.+); relationship ("(?:[^"\\]|\\.)*")$/su.exec(note);
      const join = [...(match?.[1] ?? '').matchAll(new RegExp(`(${REF}) = own (${REF})`, 'gu'))].map(([, above, own]) => ({ parent: unref(above!), child: unref(own!) }));
      if (!match || join.length === 0) throw new LogicalCsvError(line, 'a copy is written as "extended reference: the row of t where id = own t_id; relationship "…""');
      const table = unref(source.trim());
      parent.fields.push({ kind: 'extendedReference', name, table, relationship: JSON.parse(match[2]!) as string, join, fields });
      open.set(target, { path: target, table, fields: fields as Field[] });
    } else if (type === 'Subset') {
      const fields: ColumnField[] = [];
      const limit = /^first (\d+) /.exec(note);
      if (!limit) throw new LogicalCsvError(line, 'a subset is written as "first 5 rows of t where c = parent p; order: d desc; relationship "…""');
      const { kind: _, ...embed } = parseEmbed(line, source, name, 'Array', note.slice(limit[0].length));
      parent.fields.push({ kind: 'subset', ...embed, limit: Number(limit[1]), fields });
      open.set(target, { path: target, table: embed.table, fields: fields as Field[] });
    } else if (type === 'Computed') {
      parent.fields.push(parseComputed(line, source, name, note));
    } else {
      const { table, column } = parseColumn(line, source);
      if (table !== parent.table) throw new LogicalCsvError(line, `${JSON.stringify(target)} holds rows of ${parent.table}, not of ${table}`);
      parent.fields.push({ kind: 'column', name, column, transform: transformAt(line, type, note) });
    }
  }
  const checked = logicalDesignSchema.safeParse({ collection, rootTable, id, fields: rootFields });
  if (!checked.success) {
    const issue = checked.error.issues[0]!;
    throw new LogicalCsvError(1, `${issue.path.join('.')}: ${issue.message}`);
  }
  return checked.data;
}

interface CsvRow {
  /** Where it begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

function readRows(csv: string): CsvRow[] {
  try {
    const records = parse(csv, { bom: true, relax_column_count: true, skip_empty_lines: true, info: true }) as unknown as { record: string[]; info: { lines: number } }[];
    // The parser counts to the end of a row; cells can hold line ends.
    return records.map(({ record, info }) => ({ line: info.lines - record.join('').split('\n').length + 1, cells: record.map((cell) => cell.replace(/^'(?=[=+\-@\t\r])/, '')) }));
  } catch (error) {
    const { lines } = error as { readonly lines?: unknown };
    throw new LogicalCsvError(typeof lines === 'number' ? lines : 1, `not CSV: ${error instanceof Error ? error.message.replace(/ (?:at|on) line \d+/, '') : String(error)}`);
  }
}

function parseId({ line, cells }: CsvRow): Pick<LogicalDesign, 'collection' | 'rootTable' | 'id'> {
  const [source = '', target = '', type = '', note = ''] = cells;
  if (!target.endsWith('._id')) throw new LogicalCsvError(line, 'the first field must be <collection>._id');
  const collection = target.slice(0, -'._id'.length);
  if (note.startsWith('ordinal')) return { collection, rootTable: unref(source), id: { kind: 'ordinal' } };
  const { table, column } = parseColumn(line, source);
  return { collection, rootTable: table, id: { kind: 'column', column, transform: transformAt(line, type, note.replace(/^_id from key; /, '')) } };
}

function parseColumn(line: number, source: string): { table: string; column: string } {
  const match = new RegExp(`^(${REF})\\.(${REF})$`, 'u').exec(source.trim());
  if (!match) throw new LogicalCsvError(line, `the source ${JSON.stringify(source)} is not table.column`);
  return { table: unref(match[1]!), column: unref(match[2]!) };
}

function parseEmbed(line: number, source: string, name: string, type: string, note: string): Omit<EmbedField, 'fields'> {
  const match = /^rows of .+? where (.+); order: (.+); relationship ("(?:[^"\\]|\\.)*")$/su.exec(note);
  if (!match) throw new LogicalCsvError(line, 'an embedded table is written as "rows of t where c = parent p; order: source order; relationship "…""');
  const join = [...match[1]!.matchAll(new RegExp(`(${REF}) = parent (${REF})`, 'gu'))].map(([, child, parent]) => ({ parent: unref(parent!), child: unref(child!) }));
  if (join.length === 0) throw new LogicalCsvError(line, 'the embedded table has no join column');
  const orderBy = match[2] === 'source order' ? [] : [...match[2]!.matchAll(new RegExp(`(${REF}) (asc|desc)`, 'gu'))].map(([, column, direction]) => ({ column: unref(column!), direction: direction as 'asc' | 'desc' }));
  return { kind: type === 'Document' ? 'embedOne' : 'embedMany', name, table: unref(source.trim()), relationship: JSON.parse(match[3]!) as string, join, orderBy };
}

function parseComputed(line: number, source: string, name: string, note: string): ComputedField {
  const match = /^(count|sum|avg|min|max) over the rows of .+? where (.+); relationship ("(?:[^"\\]|\\.)*")$/su.exec(note);
  const join = [...(match?.[2] ?? '').matchAll(new RegExp(`(${REF}) = parent (${REF})`, 'gu'))].map(([, child, parent]) => ({ parent: unref(parent!), child: unref(child!) }));
  if (!match || join.length === 0) throw new LogicalCsvError(line, 'a computed field is written as "count over the rows of t where t_id = parent id; relationship "…""');
  const whole = new RegExp(`^${REF}$`, 'u').test(source.trim());
  const { table, column } = whole ? { table: unref(source.trim()), column: undefined } : parseColumn(line, source);
  return { kind: 'computed', name, table, relationship: JSON.parse(match[3]!) as string, join, aggregate: match[1] as ComputedField['aggregate'], ...(column === undefined ? {} : { column }) };
}

/** The type follows from the transformation; one that says otherwise would be a wish that nothing fulfils. */
function transformAt(line: number, type: string, text: string): Transform {
  const transform = parsedTransform(line, text);
  const follows = bsonType(transform.kind);
  if (type.trim() !== '' && type.trim().toLowerCase() !== follows.toLowerCase()) {
    const ways = TYPE_EXAMPLES[type.trim().toLowerCase()];
    throw new LogicalCsvError(line, `the type ${JSON.stringify(type.trim())} does not follow from the transformation ${JSON.stringify(text.trim())}, which gives ${JSON.stringify(follows)}${ways ? `; write the transformation ${ways}` : ''}`);
  }
  return transform;
}

const TYPE_EXAMPLES: Readonly<Record<string, string>> = { date: 'date(YYYY-MM-DD)', boolean: 'bool("true text", "false text")', string: 'integer→string', 'as stored': 'identity' };

function parsedTransform(line: number, text: string): Transform {
  try {
    return parseTransform(text.trim());
  } catch (error) {
    if (error instanceof TransformError) throw new LogicalCsvError(line, error.message);
    throw error;
  }
}
