import fs from 'node:fs';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { BSON } from 'mongodb';
import { gunzippedLines } from './files';

/**
 * Whether a dump and its Extended JSON hold the same bytes of BSON, in the same order.
 * @param home of the database in the bundle
 * @param expected number of documents, where it is known
 */
export async function documentProblems(
  folder: string,
  home: string,
  collection: string,
  expected?: number,
): Promise<string[]> {
  const name = `${home}/ejson/${collection}.jsonl.gz`;
  const dump = bsonDocuments(path.join(folder, home, 'dump', `${collection}.bson.gz`));
  let count = 0;
  for await (const line of gunzippedLines(path.join(folder, name))) {
    if (line === '') continue;
    const dumped = await dump.next();
    count++;
    const document = BSON.serialize(BSON.EJSON.parse(line, { relaxed: false }) as object);
    if (dumped.done || !dumped.value.equals(document))
      return [`${name}, line ${count}: is not the document of the dump`];
  }
  const rest = await dump.next();
  const isWhole = rest.done === true && (expected === undefined || expected === count);
  return isWhole
    ? []
    : [`${name}: holds ${count} documents instead of ${expected ?? 'those of the dump'}`];
}

/** The documents of a compressed dump, as their BSON bytes. */
async function* bsonDocuments(file: string): AsyncGenerator<Buffer, void> {
  const source = fs.createReadStream(file);
  const unzip = createGunzip();
  source.on('error', (error) => unzip.destroy(error));
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source.pipe(unzip)) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let offset = 0;
    while (rest.length - offset >= 4 && rest.length - offset >= rest.readInt32LE(offset)) {
      const size = rest.readInt32LE(offset);
      yield rest.subarray(offset, offset + size);
      offset += size;
    }
    rest = rest.subarray(offset);
  }
  if (rest.length > 0) throw new Error(`${file} ends in the middle of a document`);
}
