import * as admin from './admin';
import { bulkWrite } from './bulk-write';
import type { Engine, Request } from './engine';
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

/** Commands that need storage, by lower-case name. What needs none is answered by the wire thread itself. */
export const workerCommands: Readonly<Record<string, WorkerCommand>> = {
  find: reads(read.find),
  aggregate: reads(read.aggregate),
  count: reads(read.count),
  distinct: reads(read.distinct),
  explain: reads(read.explain),
  listindexes: reads(admin.listIndexes),
  listcollections: reads(admin.listCollections),
  listdatabases: reads(admin.listDatabases),
  collstats: reads(admin.collStats),
  dbstats: reads(admin.dbStats),
  validate: reads(admin.validate),
  insert: writes(write.insert),
  update: writes(write.update),
  delete: writes(write.remove),
  bulkwrite: writes(bulkWrite),
  findandmodify: writes(write.findAndModify),
  create: writes(admin.create),
  drop: writes(admin.drop),
  dropdatabase: writes(admin.dropDatabase),
  renamecollection: writes(admin.renameCollection),
  createindexes: writes(admin.createIndexes),
  dropindexes: writes(admin.dropIndexes),
  deleteindexes: writes(admin.dropIndexes),
};
