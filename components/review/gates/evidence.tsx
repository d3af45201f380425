'use client';
import type { EvidenceContent, GoldContent } from '../../../lib/pipeline/stages/artefacts';
import { CodeBlock } from '../../text/code-block';
import { printExtendedMql } from '../../../lib/mql/print-extended-json';
import { WordDiff } from '../../text/word-diff';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import type { GateProps } from '../gate-props';

import { ItemHead } from './item-head';
import { useArtefact } from './use-artefact';

export function EvidenceGate({ task, content, edit }: GateProps<EvidenceContent>) {
  const gold = useArtefact<GoldContent>(task.databaseId, 'gold', task.key);
  return (
    <div className="space-y-3">
      <ItemHead item={task.item} sql={false} />
      <Card
        title="Evidence"
        actions={
          edit ? (
            <Button onClick={() => edit()} shortcut="e">
              Edit
            </Button>
          ) : null
        }
      >
        <WordDiff before={content.evidence} after={content.evidenceMql} />
        {content.evidence === content.evidenceMql ? (
          <p className="text-[13px] text-muted">It names no field, so it stays as it is.</p>
        ) : null}
        <div className="mt-2 flex flex-wrap gap-1.5">
          {content.paths.map((path) => (
            <Badge
              key={path.path}
              tone={!path.inDesign ? 'bad' : path.inQuery ? 'good' : 'warn'}
              title={
                !path.inDesign
                  ? 'the design has no such field'
                  : path.inQuery
                    ? 'in the design and in the gold query'
                    : 'in the design, but not in the gold query'
              }
            >
              {path.path}{' '}
              {!path.inDesign
                ? '· not in the design'
                : path.inQuery
                  ? '· in design and query'
                  : '· not in the query'}
            </Badge>
          ))}
          {content.unmatched.map((name) => (
            <Badge key={name} tone="warn">
              {name} · matched nothing
            </Badge>
          ))}
        </div>
      </Card>
      <div className="grid items-start gap-3 lg:grid-cols-2">
        <Card title="SQL">{task.item ? <CodeBlock text={task.item.sql} label="SQL" /> : null}</Card>
        <Card title="Gold MQL">
          {gold.data ? (
            <CodeBlock text={printExtendedMql(gold.data.mql)} label="Gold MQL" tall />
          ) : null}
        </Card>
      </div>
    </div>
  );
}
