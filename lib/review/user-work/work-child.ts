import { failure } from './failure';
import { doUserWork } from './do-work';
import type { WorkReply, WorkRequest } from './work-process';
import { canonicalText } from '../../results/extended-json';
import type { UserWork, WorkKind } from './work';

/**
 * The process that does users' work, with connections of its own. Its parent ends it when a piece
 * takes too long.
 */

async function answer({ id, kind, input }: WorkRequest): Promise<WorkReply> {
  try {
    const signal = new AbortController().signal;
    const output = await doUserWork(
      '',
      kind as WorkKind,
      input as UserWork[WorkKind]['input'],
      signal,
    );
    return { id, output: canonicalText(output) };
  } catch (error) {
    return { id, error: failure(error) };
  }
}

process.on('message', (request: WorkRequest) => {
  void answer(request).then((reply) => process.send?.(reply));
});
// The parent is gone: nobody waits for an answer.
process.on('disconnect', () => process.exit(0));
