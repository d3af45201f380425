import type { Document } from 'mongodb';
import { MqlSyntaxError } from './mql-syntax-error';
import { ValueReader } from './parse-value';

export { MqlSyntaxError };

/** A query of one collection as a pipeline, whatever method it was written with. */
export interface ParsedMql {
  readonly collection: string;
  readonly pipeline: Document[];
}

interface Call {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly offset: number;
}

/**
 * Reads a query in shell syntax (`db.c.aggregate([…])`, `find`, `findOne`, `distinct`,
 * `countDocuments`, with the cursor methods behind them) or as Extended JSON `{collection,
 * pipeline}`, without evaluating anything. Throws `MqlSyntaxError`.
 */
export function parseMql(text: string): ParsedMql {
  const reader = new ValueReader(text);
  const parsed = reader.peek('{') ? fromJson(reader) : fromShell(reader);
  while (reader.take(';'));
  if (!reader.atEnd) reader.fail('expected the end of the query');
  return parsed;
}

function fromJson(reader: ValueReader): ParsedMql {
  const value = reader.value();
  const { collection, pipeline } = value as { collection?: unknown; pipeline?: unknown };
  if (typeof collection !== 'string' || collection === '')
    reader.fail('expected {"collection": …, "pipeline": […]}', 0);
  return { collection, pipeline: stages(pipeline, reader, 0) };
}

function fromShell(reader: ValueReader): ParsedMql {
  if (reader.word() !== 'db') reader.fail('expected db.<collection>.<method>(…)', 0);
  const { collection, method } = target(reader);
  const calls: Call[] = [];
  const reached: Document[] = [];
  for (
    let next: string | undefined = method;
    next !== undefined;
    next = reader.take('.') ? reader.word() : undefined
  ) {
    const { offset } = reader;
    if (reached.length > 0 || !reader.peek('(')) {
      if (!returnsDocument(calls, reached))
        reader.fail(`${next} is reached into before there is one document`, offset);
      reached.push(fieldOf(next, reader));
      break;
    }
    calls.push({ method: next, args: reader.args(), offset });
    if (reader.take('[')) reached.push(...entryOf(calls, reader));
  }
  const [first, ...rest] = calls;
  if (!first) throw new MqlSyntaxError('expected a method', 0);
  return { collection, pipeline: [...withCursorMethods(first, rest, reader), ...reached] };
}

/** `findOne()`, `next()` and `toArray()[0]` give a document, whose fields can be named. */
const returnsDocument = (calls: readonly Call[], reached: readonly Document[]): boolean =>
  reached.length > 0 || ['findOne', 'next'].includes(calls.at(-1)?.method ?? '');

function entryOf(calls: readonly Call[], reader: ValueReader): Document[] {
  const index = reader.value();
  reader.expect(']');
  if (
    calls.at(-1)?.method !== 'toArray' ||
    typeof index !== 'number' ||
    index < 0 ||
    !Number.isInteger(index)
  )
    reader.fail('only an entry of toArray() can be reached into');
  return [...(index > 0 ? [{ $skip: index }] : []), { $limit: 1 }];
}

/** `.a.b` behind a document keeps that one field. */
function fieldOf(first: string, reader: ValueReader): Document {
  let path = first;
  while (reader.take('.')) path += `.${reader.word()}`;
  return { $project: { _id: 0, [path.split('.').at(-1) ?? path]: `$${path}` } };
}

/** `db.a.b.find` names the collection `a.b`. */
function target(reader: ValueReader): { collection: string; method: string } {
  const parts: string[] = [];
  for (;;) {
    if (reader.take('[')) {
      parts.push(reader.string());
      reader.expect(']');
    } else {
      reader.expect('.');
      const word = reader.word();
      if (!reader.peek('(')) parts.push(word);
      else if (word === 'getCollection' || word === 'collection') parts.push(nameArgument(reader));
      else {
        if (parts.length === 0) reader.fail('expected a collection before the method');
        return { collection: parts.join('.'), method: word };
      }
    }
  }
}

function nameArgument(reader: ValueReader): string {
  const [name] = reader.args();
  if (typeof name !== 'string') reader.fail('getCollection() takes a name');
  return name;
}

const stages = (value: unknown, reader: ValueReader, offset: number): Document[] => {
  const list = Array.isArray(value) ? value : [value];
  for (const stage of list)
    if (!isObject(stage) || Object.keys(stage).length !== 1)
      reader.fail('a stage is a document with one key, such as {$match: …}', offset);
  return list as Document[];
};

const isObject = (value: unknown): value is Document =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !('_bsontype' in value) &&
  !(value instanceof Date);

function withCursorMethods(first: Call, rest: readonly Call[], reader: ValueReader): Document[] {
  const { pipeline, projection } = opening(first, reader);
  const settings: { sort?: unknown; skip?: number; limit?: number; projection?: unknown } =
    projection === undefined ? {} : { projection };
  if (first.method === 'findOne') settings.limit = 1;
  for (const { method, args, offset } of rest) {
    const [argument] = args;
    switch (method) {
      case 'sort':
      case 'projection':
        settings[method] = argument;
        break;
      case 'project':
        settings.projection = argument;
        break;
      case 'skip':
      case 'limit':
        if (typeof argument !== 'number') reader.fail(`${method}() takes a number`, offset);
        settings[method] = Math.abs(argument);
        break;
      case 'next':
        settings.limit = 1;
        break;
      case 'count':
      case 'itcount':
        return [...pipeline, ...tail(settings), { $count: 'count' }];
      case 'toArray':
      case 'pretty':
      case 'allowDiskUse':
      case 'batchSize':
      case 'hint':
      case 'maxTimeMS':
        break;
      default:
        reader.fail(`${method}() is not part of a query`, offset);
    }
  }
  return [...pipeline, ...tail(settings)];
}

function tail({
  sort,
  skip,
  limit,
  projection,
}: {
  sort?: unknown;
  skip?: number;
  limit?: number;
  projection?: unknown;
}): Document[] {
  const out: Document[] = [];
  if (isObject(sort) && Object.keys(sort).length > 0) out.push({ $sort: sort });
  if (skip !== undefined && skip > 0) out.push({ $skip: skip });
  if (limit !== undefined && limit > 0) out.push({ $limit: limit });
  if (isObject(projection) && Object.keys(projection).length > 0)
    out.push({ $project: projection });
  return out;
}

function opening(
  { method, args, offset }: Call,
  reader: ValueReader,
): { pipeline: Document[]; projection?: unknown } {
  const [first, second] = args;
  const filter = (value: unknown): Document[] => {
    if (value !== undefined && !isObject(value))
      reader.fail(`${method}() takes a document`, offset);
    return value === undefined || Object.keys(value).length === 0 ? [] : [{ $match: value }];
  };
  switch (method) {
    case 'aggregate':
      if (
        args.length > 1 &&
        isObject(first) &&
        args.every((stage) => isObject(stage) && Object.keys(stage)[0]?.startsWith('$'))
      )
        return { pipeline: stages(args, reader, offset) };
      return { pipeline: first === undefined ? [] : stages(first, reader, offset) };
    case 'find':
    case 'findOne':
      return { pipeline: filter(first), projection: second };
    case 'count':
    case 'countDocuments':
    case 'estimatedDocumentCount':
      return { pipeline: [...filter(first), { $count: 'count' }] };
    case 'distinct':
      if (typeof first !== 'string')
        return reader.fail('distinct() takes the name of a field', offset);
      return {
        pipeline: [
          ...filter(second),
          // distinct() looks into arrays, keeps null and passes over what is missing or empty.
          { $unwind: { path: `$${first}`, preserveNullAndEmptyArrays: true } },
          { $match: { [first]: { $exists: true } } },
          { $group: { _id: `$${first}` } },
          { $project: { _id: 0, [first.replaceAll('.', '_')]: '$_id' } },
        ],
      };
    default:
      return reader.fail(
        `${method}() does not read; aggregate, find, findOne, distinct and countDocuments do`,
        offset,
      );
  }
}
