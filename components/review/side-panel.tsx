'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useState } from 'react';
import type { CommentRow, TaskDetail } from '../../lib/review/task-api';
import { api } from '../api';
import { when } from '../format';
import { WithArrows } from '../text/relationship-name';
import { Badge, type Tone } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { TextArea } from '../ui/field';
import { ErrorNote } from '../ui/notes';
import { directiveText, reasonLabel } from './request-changes';

const standingTone: Readonly<Record<string, Tone>> = {
  counts: 'good',
  stale: 'warn',
  superseded: 'neutral',
  undone: 'neutral',
  answered: 'neutral',
};

/** What this version depends on, what was decided and directed, and what people said. */
export function SidePanel({
  task,
  undo,
}: {
  readonly task: TaskDetail;
  readonly undo: { readonly decisionId: string; run(): void } | null;
}) {
  const changed = task.inputs.filter((input) => input.state !== 'current');
  return (
    <aside aria-label="History and comments" className="space-y-3">
      <Card
        title="Version"
        actions={
          <Link
            className="text-[13px] text-accent hover:underline"
            href={`/artefacts/${task.artefactId}`}
          >
            All versions
          </Link>
        }
      >
        <p className="text-[13px]">
          {task.current.seq}, by {task.current.author.name}{' '}
          <span className="text-muted">{when(task.current.createdAt)}</span>
        </p>
        {changed.length > 0 ? (
          <ul className="mt-2 space-y-1 text-[13px]">
            {changed.map((input, at) => (
              <li key={at}>
                <Badge tone="warn">
                  {input.state === 'changed' ? 'changed since' : 'update in progress'}
                </Badge>{' '}
                {input.taskId ? (
                  <Link className="text-accent hover:underline" href={`/tasks/${input.taskId}`}>
                    {input.kind.replaceAll('_', ' ')} {input.key}
                  </Link>
                ) : (
                  `${input.kind.replaceAll('_', ' ')} ${input.key}`
                )}
              </li>
            ))}
          </ul>
        ) : (
          <p className="mt-1 text-[13px] text-muted">Dependencies up to date.</p>
        )}
      </Card>
      {task.directives.length > 0 ? (
        <Card title="Instructions">
          <ul className="space-y-2 text-[13px]">
            {task.directives.map((row) => (
              <li
                key={row.id}
                className={`wrap-anywhere ${row.withdrawn ? 'text-muted line-through' : ''}`}
              >
                <WithArrows text={directiveText(row.directive)} />{' '}
                <span className="text-muted">({row.by})</span>
                {row.cannotAct ? (
                  <p className="text-warn">The agent cannot act on this: {row.cannotAct}</p>
                ) : null}
              </li>
            ))}
          </ul>
        </Card>
      ) : null}
      <Card title="Decisions">
        {task.decisions.length === 0 ? <p className="text-[13px] text-muted">None yet.</p> : null}
        <ol className="space-y-2 text-[13px]">
          {task.decisions.map((decision) => (
            <li key={decision.id}>
              <span className="font-medium">{decision.verdict.replaceAll('_', ' ')}</span>{' '}
              <Badge tone={standingTone[decision.standing] ?? 'neutral'}>{decision.standing}</Badge>
              <span className="text-muted">
                {' '}
                {decision.by.name}, {when(decision.at)}, version {decision.version}
              </span>
              {undo?.decisionId === decision.id ? (
                <Button
                  look="quiet"
                  aria-label={`Undo this decision: ${decision.verdict.replaceAll('_', ' ')}`}
                  onClick={undo.run}
                >
                  Undo
                </Button>
              ) : null}
              {decision.reason ? <p>{reasonLabel[decision.reason]}</p> : null}
              {decision.note ? (
                <p className="wrap-anywhere whitespace-pre-wrap text-muted">{decision.note}</p>
              ) : null}
            </li>
          ))}
        </ol>
      </Card>
      <Comments task={task} />
    </aside>
  );
}

function Comments({ task }: { readonly task: TaskDetail }) {
  const client = useQueryClient();
  const [body, setBody] = useState('');
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: ['tasks', task.id] });
  const add = useMutation({
    mutationFn: () =>
      api(`/api/tasks/${task.id}/comments`, {
        method: 'POST',
        body: { versionId: task.current.id, body },
      }),
    onSuccess: () => {
      setBody('');
      return refresh();
    },
  });
  const resolve = useMutation({
    mutationFn: (comment: CommentRow) =>
      api(`/api/comments/${comment.id}`, {
        method: 'PATCH',
        body: { resolved: comment.resolvedAt === null },
      }),
    onSuccess: refresh,
  });
  return (
    <Card title="Comments">
      <ul className="space-y-2 text-[13px]">
        {task.comments.map((comment) => (
          <li
            key={comment.id}
            id={`comment-${comment.id}`}
            className={comment.resolvedAt ? 'opacity-60' : ''}
          >
            <p className="text-muted">
              {comment.by.name}, {when(comment.at)}, on version {comment.version}
              {comment.anchor ? `, at ${comment.anchor}` : ''}
            </p>
            <p className="wrap-anywhere whitespace-pre-wrap">{comment.body}</p>
            <Button look="quiet" onClick={() => resolve.mutate(comment)}>
              {comment.resolvedAt ? 'Open again' : 'Resolve'}
            </Button>
          </li>
        ))}
      </ul>
      <form
        className="mt-2 space-y-2"
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <TextArea
          aria-label="New comment"
          aria-keyshortcuts="Control+Enter"
          onKeyDown={(event) => {
            if (
              event.key === 'Enter' &&
              (event.ctrlKey || event.metaKey) &&
              body.trim() !== '' &&
              !add.isPending
            )
              add.mutate();
          }}
          rows={2}
          value={body}
          onChange={(event) => setBody(event.target.value)}
          placeholder="Comment on this version"
        />
        {add.error ? <ErrorNote error={add.error} /> : null}
        {body.trim() !== '' ? (
          <Button type="submit" disabled={add.isPending}>
            Comment
          </Button>
        ) : null}
      </form>
    </Card>
  );
}
