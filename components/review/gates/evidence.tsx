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
          <p className="text-[13px] text-muted">No field names; unchanged.</p>
        ) : null}
        <div className="mt-2 flex flex-wrap gap-1.5">
          {content.paths.map((path) => (
            <Badge key={path.path} tone={pathUse(path).tone} title={pathUse(path).title}>
              {path.path} · {pathUse(path).label}
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

/** Where a field that the evidence names is found. */
function pathUse({ inDesign, inQuery }: EvidenceContent['paths'][number]) {
  if (!inDesign)
    return {
      tone: 'bad',
      title: 'the design has no such field',
      label: 'not in the design',
    } as const;
  return inQuery
    ? ({
        tone: 'good',
        title: 'in the design and in the gold query',
        label: 'in design and query',
      } as const)
    : ({
        tone: 'warn',
        title: 'in the design, but not used by the gold pipeline',
        label: 'not used by the gold pipeline',
      } as const);
}
