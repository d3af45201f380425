'use client';
import type { TranslationContent } from '../../../lib/pipeline/stages/artefacts';
import { CodeBlock } from '../../text/code-block';
import { printExtendedMql } from '../../../lib/mql/print-extended-json';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import type { GateProps } from '../gate-props';
import { ItemHead } from './item-head';

export function UntranslatedGate({ task, content, edit }: GateProps<TranslationContent>) {
  return (
    <div className="space-y-3">
      <ItemHead item={task.item} caveats={content.caveats} defects={content.defects} />
      {content.mql ? (
        <Card title="Translation">
          <CodeBlock text={printExtendedMql(content.mql)} label="MQL" tall />
        </Card>
      ) : (
        <Card
          title="Why it is not translated"
          actions={
            edit ? (
              <Button onClick={() => edit()} shortcut="e">
                Write the MQL
              </Button>
            ) : null
          }
        >
          <p>
            {content.reason ? <Badge tone="warn">reason {content.reason.code}</Badge> : null}{' '}
            {content.reason?.text}
          </p>
        </Card>
      )}
      {content.attempts.length > 0 ? (
        <Card title="Attempts">
          {content.attempts.map((attempt, at) => (
            <div key={at} className="space-y-1">
              <p className="text-[13px]">
                <Badge tone="bad">{attempt.verdict.kind.replaceAll('_', ' ')}</Badge>{' '}
                {attempt.verdict.detail}
              </p>
              <CodeBlock text={printExtendedMql(attempt.mql)} label={`Attempt ${at + 1}`} />
            </div>
          ))}
        </Card>
      ) : null}
    </div>
  );
}
