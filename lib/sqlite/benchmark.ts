/**
 * A benchmark as it lies in a BIRD or Spider folder. Read by `readBenchmarkFolder` in
 * `./benchmark-folder`.
 */
export interface SourceBenchmark {
  /** The folder's layout. */
  readonly kind: 'bird' | 'spider';
  readonly questionFiles: readonly QuestionFile[];
  readonly databases: readonly SourceDatabase[];
  readonly items: readonly Item[];
  /** What does not fit together, for the importer to show: never silently dropped. */
  readonly problems: readonly ImportProblem[];
}

export interface QuestionFile {
  /** File name without `.json`: the split's name in the bundle. */
  readonly split: string;
  /** A copy on this machine. */
  readonly path: string;
  readonly sha256: string;
  readonly items: number;
}

export interface SourceDatabase {
  readonly name: string;
  /** A copy of the SQLite file that nobody writes, made by `copySource`; opened read-only. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly descriptions: ColumnDescriptions;
}

/** table → column → text, names as the description files spell them. */
export type ColumnDescriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Item {
  /**
   * Unique among the items of its database, and what they are known by everywhere but in the files
   * of a bundle: the source's id, behind `<file>/` where two question files of the database have an
   * id in common.
   */
  readonly questionId: string;
  /**
   * The source's id, unique in its question file, where it is not `questionId`: see `sourceIdOf`.
   */
  readonly sourceId?: string;
  readonly split: string;
  readonly database: string;
  readonly question: string;
  readonly evidence: string;
  /** The source text, unaltered. */
  readonly sql: string;
  readonly difficulty: string | null;
}

/**
 * The item's id in its question file: BIRD's question_id, else `<file>:<position>`, e.g. `dev:12`.
 */
export const sourceIdOf = (item: Pick<Item, 'questionId' | 'sourceId'>): string =>
  item.sourceId ?? item.questionId;

export interface ImportProblem {
  readonly kind:
    | 'item_without_database'
    | 'database_without_items'
    | 'description_unreadable'
    | 'database_unreadable'
    | 'database_left_out'
    | 'table_left_out'
    | 'file_left_out'
    | 'item_malformed'
    | 'item_repeated';
  readonly subject: string;
  readonly detail: string;
}
