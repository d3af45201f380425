import type { DirectiveInput } from '../../lib/review/decision-api';
import type { TaskDetail } from '../../lib/review/task-api';
import type { CsvFile } from './csv-file';

/**
 * What every gate's screen gets: the task, the instructions gathered so far, and the editor when it
 * is open.
 */
export interface GateProps<Content> {
  readonly task: TaskDetail;
  readonly content: Content;
  readonly before: Content | null;
  readonly directives: readonly DirectiveInput[];
  readonly setDirectives: (directives: readonly DirectiveInput[]) => void;
  /**
   * Opens the editor, where this gate has one; with a content, on that instead of the current one.
   * A CSV is content too.
   */
  readonly edit: ((content?: Content | CsvFile) => void) | null;
}
