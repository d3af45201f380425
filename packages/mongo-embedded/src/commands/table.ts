import { bulkWrite } from './bulk-write';
import * as catalogue from './catalogue';
import * as describe from './describe';
import type { Engine, Request } from './engine';
import * as indexes from './indexes';
import * as read from './read';
import * as write from './write';

/** A command that a worker runs. */
export interface WorkerCommand {
  readonly run: (engine: Engine, request: Request) => Buffer;
  /** Changes data or the catalogue: runs on the one worker that writes. */
  readonly writes: boolean;
}
const reads = (run: WorkerCommand['run']): WorkerCommand => ({ run, writes: false });
const writes = (run: WorkerCommand['run']): WorkerCommand => ({ run, writes: true });

/**
 * Commands that need storage, by lower-case name. What needs none is answered by the wire thread
 * itself.
 */
export const workerCommands: Readonly<Record<string, WorkerCommand>> = {
  find: reads(read.find),
  aggregate: reads(read.aggregate),
  count: reads(read.count),
  distinct: reads(read.distinct),
  explain: reads(read.explain),
  listindexes: reads(indexes.listIndexes),
  listcollections: reads(catalogue.listCollections),
  listdatabases: reads(catalogue.listDatabases),
  collstats: reads(describe.collStats),
  dbstats: reads(describe.dbStats),
  validate: reads(describe.validate),
  insert: writes(write.insert),
  update: writes(write.update),
  delete: writes(write.remove),
  bulkwrite: writes(bulkWrite),
  findandmodify: writes(write.findAndModify),
  create: writes(catalogue.create),
  collmod: writes(catalogue.collMod),
  drop: writes(catalogue.drop),
  dropdatabase: writes(catalogue.dropDatabase),
  renamecollection: writes(catalogue.renameCollection),
  createindexes: writes(indexes.createIndexes),
  dropindexes: writes(indexes.dropIndexes),
  deleteindexes: writes(indexes.dropIndexes),
};
