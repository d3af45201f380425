'use client';
import { InlineCode } from '../../text/inline-code';
import type { GoldContent } from '../../../lib/pipeline/stages/artefacts';
import { counted, milliseconds, number } from '../../format';
import { CodeDiff } from '../../text/code-diff';
import { printExtendedMql } from '../../../lib/mql/print-extended-json';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import type { GateProps } from '../gate-props';
import { ItemHead } from './item-head';

export function OptimisedQueryGate({
  task,
  content,
  directives,
  setDirectives,
  edit,
}: GateProps<GoldContent>) {
  const { documentsExamined: examined } = content;
  return (
    <div className="space-y-3">
      <ItemHead item={task.item} caveats={content.caveats} defects={content.defects} />
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone="good">results equal, {counted(content.rowCount, 'row')}</Badge>
        {examined.before !== null && examined.after !== null ? (
          <Badge tone={examined.after < examined.before ? 'good' : 'neutral'}>
            documents examined {number(examined.before)} → {number(examined.after)}
          </Badge>
        ) : null}
        {content.timing ? (
          <Badge title={`the fastest of ${counted(content.timing.runs, 'run')} each`}>
            time {milliseconds(content.timing.before)} → {milliseconds(content.timing.after)}
          </Badge>
        ) : null}
        {content.clock ? (
          <Badge tone="warn" title="Both sides used this as the current time.">
            clock pinned at {content.clock}
          </Badge>
        ) : null}
        <span className="text-[13px] text-muted">{content.verdict.detail}</span>
      </div>
      <Card
        title="Translation → optimised query"
        actions={
          edit ? (
            <Button onClick={() => edit()} shortcut="e">
              Edit
            </Button>
          ) : null
        }
      >
        <CodeDiff
          before={printExtendedMql(content.before)}
          after={printExtendedMql(content.mql)}
          language="mql"
          label="Pipeline"
        />
      </Card>
      <Card title="Rules applied">
        <ol className="list-decimal space-y-1.5 pl-5">
          {content.rules.map((rule, at) => {
            const dropped = directives.find(
              (directive) => directive.kind === 'drop_rule' && directive.rule === rule.rule,
            );
            return (
              <li key={at}>
                <span className="font-medium">{rule.rule}</span>: <InlineCode text={rule.reason} />{' '}
                {task.item ? (
                  <Button
                    look="quiet"
                    onClick={() =>
                      setDirectives(
                        dropped
                          ? directives.filter((directive) => directive !== dropped)
                          : [
                              ...directives,
                              {
                                kind: 'drop_rule',
                                questionId: task.item!.questionId,
                                rule: rule.rule,
                              },
                            ],
                      )
                    }
                  >
                    {dropped ? 'Cancel request' : 'Disable rule'}
                  </Button>
                ) : null}
              </li>
            );
          })}
        </ol>
        {content.undone.length > 0 ? (
          <ul className="mt-2 list-disc pl-5 text-warn">
            {content.undone.map((rule, at) => (
              <li key={at}>
                {rule.rule} was undone: <InlineCode text={rule.reason} />
              </li>
            ))}
          </ul>
        ) : null}
      </Card>
    </div>
  );
}
